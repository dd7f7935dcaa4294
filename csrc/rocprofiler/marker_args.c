/* SPDX-License-Identifier: MIT */
#include "rocprofiler/marker_args.h"

#include "rocprofiler/arg_text.h"
#include "rocprofiler/hip_op.h"
#include "rocprofiler/sdk.h"

enum { ARGUMENTS_MAX = 2 };

struct argument {
    const char *type; /* NULL: there is none */
    const char *name;
    struct ha_op_arg place;
};

#define ARGUMENT(function, member, type, kind, stars)                                  \
    {                                                                                  \
        type, #member,                                                                 \
        {                                                                              \
            .offset = offsetof(rocprofiler_marker_api_args_t, function.member),        \
            .bytes = sizeof(((rocprofiler_marker_api_args_t *)0)->function.member),    \
            HA_ARG_##kind, stars                                                       \
        }                                                                              \
    }

#define OPERATION(table, function) [ROCPROFILER_MARKER_##table##_API_ID_##function]
#define TEXT(function, member) ARGUMENT(function, member, "const char *", TEXT, 1)

typedef struct argument arguments[ARGUMENTS_MAX];

static const arguments core[ROCPROFILER_MARKER_CORE_API_ID_LAST] = {
    OPERATION(CORE, roctxMarkA) = {TEXT(roctxMarkA, message)},
    OPERATION(CORE, roctxRangePushA) = {TEXT(roctxRangePushA, message)},
    OPERATION(CORE, roctxRangeStartA) = {TEXT(roctxRangeStartA, message)},
    OPERATION(CORE, roctxRangeStop) = {ARGUMENT(roctxRangeStop, id, "roctx_range_id_t",
                                                U64, 0)},
    OPERATION(CORE, roctxGetThreadId) = {ARGUMENT(roctxGetThreadId, tid,
                                                  "roctx_thread_id_t *", U64, 1)},
};

static const arguments ranges[ROCPROFILER_MARKER_CORE_RANGE_API_ID_LAST] = {
    OPERATION(CORE_RANGE, roctxMarkA) = {TEXT(roctxMarkA, message)},
    OPERATION(CORE_RANGE, roctxThreadRangeA) = {TEXT(roctxThreadRangeA, message)},
    OPERATION(CORE_RANGE, roctxProcessRangeA) = {TEXT(roctxProcessRangeA, message)},
    OPERATION(CORE_RANGE, roctxGetThreadId) = {ARGUMENT(roctxGetThreadId, tid,
                                                        "roctx_thread_id_t *", U64, 1)},
};

static const arguments control[ROCPROFILER_MARKER_CONTROL_API_ID_LAST] = {
    OPERATION(CONTROL, roctxProfilerPause) = {ARGUMENT(roctxProfilerPause, tid,
                                                       "roctx_thread_id_t", U64, 0)},
    OPERATION(CONTROL, roctxProfilerResume) = {ARGUMENT(roctxProfilerResume, tid,
                                                        "roctx_thread_id_t", U64, 0)},
};

static const arguments names[ROCPROFILER_MARKER_NAME_API_ID_LAST] = {
    OPERATION(NAME, roctxNameOsThread) = {TEXT(roctxNameOsThread, name)},
    OPERATION(NAME,
              roctxNameHsaAgent) = {TEXT(roctxNameHsaAgent, name),
                                    ARGUMENT(roctxNameHsaAgent, agent,
                                             "const struct hsa_agent_s *", VOID, 1)},
    OPERATION(NAME, roctxNameHipDevice) = {TEXT(roctxNameHipDevice, name),
                                           ARGUMENT(roctxNameHipDevice, device_id,
                                                    "int", I32, 0)},
    OPERATION(NAME,
              roctxNameHipStream) = {TEXT(roctxNameHipStream, name),
                                     ARGUMENT(roctxNameHipStream, stream,
                                              "const struct ihipStream_t *", VOID, 1)},
};

/* The operations of a kind, or NULL. */
static const arguments *
operations_of(rocprofiler_callback_tracing_kind_t kind, int *count)
{
    switch (kind) {
    case ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API:
        *count = ROCPROFILER_MARKER_CORE_API_ID_LAST;
        return core;
    case ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_RANGE_API:
        *count = ROCPROFILER_MARKER_CORE_RANGE_API_ID_LAST;
        return ranges;
    case ROCPROFILER_CALLBACK_TRACING_MARKER_CONTROL_API:
        *count = ROCPROFILER_MARKER_CONTROL_API_ID_LAST;
        return control;
    case ROCPROFILER_CALLBACK_TRACING_MARKER_NAME_API:
        *count = ROCPROFILER_MARKER_NAME_API_ID_LAST;
        return names;
    default:
        *count = 0;
        return NULL;
    }
}

rocprofiler_status_t
ha_marker_arguments(const rocprofiler_callback_tracing_record_t *record,
                    rocprofiler_callback_tracing_operation_args_cb_t callback,
                    int follow_max, void *data)
{
    const rocprofiler_callback_tracing_marker_api_data_t *payload = record->payload;
    char text[HA_ARG_TEXT_BYTES];
    int count = 0, answer = 0;
    const arguments *operations = operations_of(record->kind, &count);

    if (operations == NULL) {
        return ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
    }
    if (payload == NULL || callback == NULL) {
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    }
    if (record->operation < 0 || record->operation >= count) {
        return ROCPROFILER_STATUS_ERROR_OPERATION_NOT_FOUND;
    }
    const struct argument *list = operations[record->operation];
    for (uint32_t i = 0; i < ARGUMENTS_MAX && list[i].type != NULL && answer == 0;
         i++) {
        const void *at = (const char *)&payload->args + list[i].place.offset;
        int followed = ha_arg_print(text, &list[i].place, at, follow_max);
        answer = callback(record->kind, record->operation, i, at, list[i].place.stars,
                          list[i].type, list[i].name, text, followed, data);
    }
    return ROCPROFILER_STATUS_SUCCESS;
}
