/* SPDX-License-Identifier: MIT */
#include "rocprofiler/stream_set.h"

#include <string.h>

#include "rocprofiler/api_call.h"
#include "rocprofiler/context.h"
#include "rocprofiler/hip_op.h"
#include "rocprofiler/sdk.h"
#include "rocprofiler/stamp.h"
#include "rocprofiler/want.h"

void
ha_stream_set(struct ha_api_call *call, rocprofiler_callback_phase_t phase)
{
    const struct ha_api_op *op = &ha_ops[call->op];
    const void *stream;

    if (op->stream == 0) {
        return;
    }
    const struct ha_op_arg *argument = &ha_op_args(op)[op->stream - 1];
    memcpy(&stream, (const char *)&call->data.args + argument->offset, sizeof stream);
    for (uint32_t i = 0; i < call->seen_count; i++) {
        struct ha_seen *seen = &call->seen[i];
        rocprofiler_callback_tracing_hip_stream_data_t data = {
            .size = sizeof data,
            .stream_id = {(uint64_t)(uintptr_t)stream},
            .stream_value = {.ptr = stream},
        };
        if (ha_wants_stream_set(ha_contexts[seen->watcher.context])) {
            ha_tell(&seen->watcher, &seen->stream_user, call->scope.internal,
                    call->scope.ancestor, ha_thread_id(),
                    ROCPROFILER_CALLBACK_TRACING_HIP_STREAM, ROCPROFILER_HIP_STREAM_SET,
                    phase, &data);
        }
    }
}
