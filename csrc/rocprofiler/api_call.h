/* SPDX-License-Identifier: MIT */
/* One traced call of an API, from its beginning to its end. */
#ifndef HA_ROCPROFILER_API_CALL_H
#define HA_ROCPROFILER_API_CALL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "rocprofiler/context.h"
#include "rocprofiler/correlation.h"
#include "rocprofiler/sdk.h"
#include "rocprofiler/want.h"

struct ha_seen {
    struct ha_watcher watcher;
    rocprofiler_user_data_t stream_user; /* of HIP_STREAM's callbacks */
};

struct ha_api_call {
    struct ha_scope scope;
    uint32_t op;
    uint32_t seen_count;
    bool streamed; /* some of them want HIP_STREAM_SET */
    uint64_t start;
    rocprofiler_callback_tracing_hip_api_data_t data;
    struct ha_seen seen[HA_CONTEXTS_MAX];
};

/* Whether a context wants HIP's operation `op` (HA_OP_*). */
static inline bool
ha_api_wanted(uint32_t op)
{
    return __builtin_expect(
        atomic_load_explicit(&ha_op_wanted[op], memory_order_acquire) != 0, 0);
}

/* False where no context wants HIP's operation `op`, or the call is a tool's own, from
 * within a callback; then nothing was done. */
bool ha_api_begin(struct ha_api_call *call, uint32_t op);

/* With the arguments in call->data.args. */
void ha_api_enter(struct ha_api_call *call);

/* With the result in call->data.retval.  Keeps errno. */
void ha_api_exit(struct ha_api_call *call);

#endif
