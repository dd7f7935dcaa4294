/* SPDX-License-Identifier: MIT */
/* The first NaN and the first infinity of lanes, as findings: what cpu/exec/numbers.h
 * has noted of a launch, with the lines of the image (cpu/module/lines.h). */
#ifndef HA_CPU_WORK_CHECK_NUMBERS_H
#define HA_CPU_WORK_CHECK_NUMBERS_H

#include "cpu/exec/launch.h"
#include "cpu/module/module.h"

/* Before a launch of the function runs; it is watched where `nan` is checked and the
 * kernel was compiled for that. */
void ha_check_numbers_begin(struct ha_launch *launch,
                            const struct ha_function *function);
/* It has run: its findings. */
void ha_check_numbers_end(struct ha_launch *launch);

#endif
