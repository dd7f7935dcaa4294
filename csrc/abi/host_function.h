/* SPDX-License-Identifier: MIT */
/* Host functions of streams, which rocprofiler-sdk has no record of: what our own
 * profiler's library tells its one observer, by a function that AMD's doesn't have. */
#ifndef HA_ABI_HOST_FUNCTION_H
#define HA_ABI_HOST_FUNCTION_H

#include <stdint.h>

struct ha_host_function {
    uint64_t correlation; /* of the call that enqueued it */
    uint64_t ancestor;
    uint64_t thread; /* that made the call */
    uint64_t stream; /* as the queue of a kernel */
    uint64_t function;
    uint64_t start; /* ns of CLOCK_BOOTTIME; both 0: it never ran */
    uint64_t end;
    int device;
    int status; /* enum ha_activity_status */
};

/* Calls `told` on whatever thread the function has run on; NULL: nobody from now on. */
typedef void ha_host_functions_tell(void (*told)(const struct ha_host_function *));

#define HA_HOST_FUNCTIONS_TELL "hipadapt_rocprofiler_host_functions"

#endif
