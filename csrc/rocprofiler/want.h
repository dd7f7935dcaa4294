/* SPDX-License-Identifier: MIT */
/* Reporting an operation to the callbacks of contexts. */
#ifndef HA_ROCPROFILER_WANT_H
#define HA_ROCPROFILER_WANT_H

#include <stdbool.h>
#include <stdint.h>

#include "rocprofiler/context.h"
#include "rocprofiler/in_tool.h"
#include "rocprofiler/sdk.h"

/* A context that something is reported to, found when it begins: the end is reported
 * too, even if the context was stopped meanwhile. */
struct ha_watcher {
    rocprofiler_user_data_t user;
    rocprofiler_user_data_t external;
    uint8_t context;
    bool callback;
    bool buffer;
};

/* Active contexts that have one of the two kinds, as bits. */
static inline uint64_t
ha_kinds_mask(int callback_kind, int buffer_kind)
{
    return atomic_load_explicit(&ha_callback_kinds_wanted[callback_kind],
                                memory_order_acquire) |
           atomic_load_explicit(&ha_buffer_kinds_wanted[buffer_kind],
                                memory_order_acquire);
}

static inline void
ha_tell(const struct ha_watcher *watcher, rocprofiler_user_data_t *user,
        uint64_t internal, uint64_t ancestor, uint64_t thread, int kind, int operation,
        rocprofiler_callback_phase_t phase, void *payload)
{
    const struct ha_context *context = ha_contexts[watcher->context];
    const struct ha_callback_service *service = &context->callbacks[kind];
    rocprofiler_callback_tracing_record_t record = {
        .context_id = ha_context_id(watcher->context),
        .thread_id = thread,
        .correlation_id = {internal, watcher->external, ancestor},
        .kind = (rocprofiler_callback_tracing_kind_t)kind,
        .operation = operation,
        .phase = phase,
        .payload = payload,
    };

    ha_in_tool_enter();
    if (ha_context_told(context)) {
        service->callback(record, user, service->data);
    }
    ha_in_tool_leave();
}

#endif
