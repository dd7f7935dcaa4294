/* SPDX-License-Identifier: MIT */
/* One reported call of roctx, or one range. */
#ifndef HA_ROCPROFILER_MARKER_CALL_H
#define HA_ROCPROFILER_MARKER_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "rocprofiler/context.h"
#include "rocprofiler/correlation.h"
#include "rocprofiler/sdk.h"

struct ha_marker_kinds {
    int callback;
    int buffer;
    rocprofiler_external_correlation_id_request_kind_t request;
};

struct ha_marker_seen {
    rocprofiler_user_data_t user;
    rocprofiler_user_data_t external;
};

struct ha_marker_call {
    struct ha_scope scope;
    const struct ha_marker_kinds *kinds;
    int operation;
    uint64_t callbacks; /* bits of contexts */
    uint64_t buffers;
    uint64_t start;
    rocprofiler_callback_tracing_marker_api_data_t data;
    struct ha_marker_seen seen[HA_CONTEXTS_MAX];
};

/* False where no context wants it; then nothing was done. */
bool ha_marker_begin(struct ha_marker_call *call, const struct ha_marker_kinds *kinds,
                     int operation);

/* Around the call itself, with the arguments, and the result, in call->data. */
void ha_marker_enter(struct ha_marker_call *call);
void ha_marker_leave(struct ha_marker_call *call);

/* The same for what other calls may begin and end within, and on another thread. */
void ha_marker_open(struct ha_marker_call *call);
void ha_marker_close(struct ha_marker_call *call);

#endif
