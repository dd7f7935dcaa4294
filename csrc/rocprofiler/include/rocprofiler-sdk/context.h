/* SPDX-License-Identifier: MIT */
/* Contexts: services that are started and stopped together. */
#ifndef ROCPROFILER_SDK_CONTEXT_H
#define ROCPROFILER_SDK_CONTEXT_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

#define ROCPROFILER_CONTEXT_NONE                                                       \
    ROCPROFILER_HANDLE_LITERAL(rocprofiler_context_id_t, 0UL)

/* Only within a tool's `initialize`: else ..._CONFIGURATION_LOCKED.
 * `context_id->handle` must be 0: else ..._CONTEXT_ID_NOT_ZERO. */
rocprofiler_status_t
rocprofiler_create_context(rocprofiler_context_id_t *context_id) ROCPROFILER_API
    ROCPROFILER_NONNULL(1);

/* Any time until the end.  A context that is started stays started. */
rocprofiler_status_t
rocprofiler_start_context(rocprofiler_context_id_t context_id) ROCPROFILER_API;

/* What was enqueued while the context was active is still reported. */
rocprofiler_status_t
rocprofiler_stop_context(rocprofiler_context_id_t context_id) ROCPROFILER_API;

rocprofiler_status_t rocprofiler_context_is_active(rocprofiler_context_id_t context_id,
                                                   int *status) ROCPROFILER_API
    ROCPROFILER_NONNULL(2);

rocprofiler_status_t rocprofiler_context_is_valid(rocprofiler_context_id_t context_id,
                                                  int *status) ROCPROFILER_API
    ROCPROFILER_NONNULL(2);

ROCPROFILER_EXTERN_C_FINI

#endif
