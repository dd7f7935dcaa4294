/* SPDX-License-Identifier: MIT */
/* Who is told what kernels do that are compiled for checks (HA_KERNEL_CHECKED).  All
 * but `access` only for launches with `checks`. */
#ifndef HA_CPU_EXEC_CHECKS_H
#define HA_CPU_EXEC_CHECKS_H

#include <stdint.h>

#include "cpu/base/image.h"

struct ha_launch;

struct ha_checks {
    /* In kernel code: as `check` of struct ha_image_runtime. */
    void (*access)(const void *address, uint64_t size, const struct ha_check_site *site,
                   const void *root, uint64_t value);
    /* A block begins, or goes on. */
    void (*block)(struct ha_launch *launch, uint64_t block);
    /* All lanes of it have met. */
    void (*barrier)(struct ha_launch *launch);
    /* Lanes of a warp of it have met by __syncwarp. */
    void (*warp)(struct ha_launch *launch, uint32_t warp, uint64_t lanes);
    /* All lanes of the grid have met. */
    void (*grid)(struct ha_launch *launch);
};

extern const struct ha_checks *ha_exec_checks;

/* Constant; must be set before the first launch. */
void ha_exec_set_checks(const struct ha_checks *checks);

#endif
