/* SPDX-License-Identifier: MIT */
/* The part that all entry points for copies and fills have in common: their name, the
 * stream, and how the work is run.  The bytes stand apart (cpu/work/copy.h).  No locks.
 */
#ifndef HA_CPU_ENTRY_CALL_H
#define HA_CPU_ENTRY_CALL_H

#include "abi/hip.h"
#include "cpu/queue/stream.h"
#include "cpu/submit/copy.h"

struct ha_device;

struct ha_call {
    const char *function; /* HIP's name of the entry point */
    hipStream_t stream;   /* as the program names it; NULL = the default stream */
    enum ha_run how;      /* HA_RUN_SYNC or HA_RUN_ASYNC */
};

/* Checks and runs; `device` is the one that ha_enter gave. */
static inline hipError_t
ha_call_copy(const struct ha_call *call, struct ha_device *device,
             const struct ha_copy *copy)
{
    return ha_submit_copy(call->stream, device, copy, call->how);
}

static inline hipError_t
ha_call_fill(const struct ha_call *call, struct ha_device *device,
             const struct ha_fill *fill)
{
    return ha_submit_fill(call->stream, device, fill, call->how);
}

#endif
