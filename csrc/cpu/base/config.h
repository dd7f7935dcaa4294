/* SPDX-License-Identifier: MIT */
/* What the environment says about the CPU device: read once at each start of the
 * runtime (cpu/entry/runtime.h) and constant from then on.  No lock. */
#ifndef HA_CPU_BASE_CONFIG_H
#define HA_CPU_BASE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#define HA_DEVICE_MAX 16

struct ha_config {
    int device_count;
    int ordinals[HA_DEVICE_MAX]; /* which device of the machine each one is */
    unsigned thread_count;       /* workers that run kernels */
    uint32_t warp_size;          /* 32 or 64 */
    bool reference;              /* HIPADAPT_CPU_EXEC=reference */
    bool guard;                  /* HIPADAPT_CPU_GUARD=1 */
    bool explain;                /* HIPADAPT_CPU_EXPLAIN=1 */
    bool proof;                  /* HIPADAPT_CHECK_PROOF=1 */
    uint64_t kernel_timeout_ns;  /* 0 = never */
};

/* Valid while the runtime is ready. */
const struct ha_config *ha_config(void);

/* Reads the environment anew.  Start lock held. */
void ha_config_read(uint32_t warp_size);

#endif
