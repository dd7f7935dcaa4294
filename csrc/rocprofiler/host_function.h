/* SPDX-License-Identifier: MIT */
/* Host functions that streams run, for an observer of our own (abi/host_function.h). */
#ifndef HA_ROCPROFILER_HOST_FUNCTION_H
#define HA_ROCPROFILER_HOST_FUNCTION_H

#include <stdbool.h>

#include "abi/activity.h"
#include "abi/host_function.h"

/* Members of the device's sink. */
void *ha_host_function_begin(const struct ha_activity_host *host);
void ha_host_function_end(void *ticket, uint64_t start, uint64_t end,
                          enum ha_activity_status status);

/* Whether there is an observer. */
bool ha_host_functions_wanted(void);

/* Another observer from now on; NULL: none. */
void ha_host_functions_observe(void (*told)(const struct ha_host_function *));

#endif
