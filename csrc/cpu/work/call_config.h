/* SPDX-License-Identifier: MIT */
/* Launches in several steps: what `kernel<<<grid, block>>>(...)` and hipConfigureCall
 * leave behind for the step that follows.
 *
 * Each thread has a stack of configurations, because the arguments of a launch may
 * contain launches.  Arguments given one by one are kept with the configuration on top.
 *
 * No lock: a stack belongs to its thread and goes with it. */
#ifndef HA_CPU_WORK_CALL_CONFIG_H
#define HA_CPU_WORK_CALL_CONFIG_H

#include <stddef.h>

#include "abi/hip.h"

struct ha_call_config {
    dim3 grid;
    dim3 block;
    size_t shared_bytes;
    hipStream_t stream;
    unsigned char *arguments; /* owned; NULL = none were given */
    size_t argument_bytes;
};

/* A configuration without arguments on top: hipErrorOutOfMemory if there is no room. */
hipError_t ha_call_config_push(const struct ha_call_config *config);

/* Puts an argument at its offset; hipErrorMissingConfiguration without a configuration.
 */
hipError_t ha_call_config_argument(const void *argument, size_t size, size_t offset);

/* Takes the one on top, arguments included: the caller frees them.
 * hipErrorMissingConfiguration if there is none. */
hipError_t ha_call_config_pop(struct ha_call_config *config);

#endif
