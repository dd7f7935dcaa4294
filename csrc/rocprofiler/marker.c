/* SPDX-License-Identifier: MIT */
#include "rocprofiler/marker.h"

#include "rocprofiler/marker_call.h"
#include "rocprofiler/marker_range.h"
#include "rocprofiler/sdk.h"

static roctxCoreApiTable_t core;
static roctxControlApiTable_t control;
static roctxNameApiTable_t names;

static const struct ha_marker_kinds core_kinds = {
    ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API,
    ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API,
    ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MARKER_CORE_API,
};
static const struct ha_marker_kinds control_kinds = {
    ROCPROFILER_CALLBACK_TRACING_MARKER_CONTROL_API,
    ROCPROFILER_BUFFER_TRACING_MARKER_CONTROL_API,
    ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MARKER_CONTROL_API,
};
static const struct ha_marker_kinds name_kinds = {
    ROCPROFILER_CALLBACK_TRACING_MARKER_NAME_API,
    ROCPROFILER_BUFFER_TRACING_MARKER_NAME_API,
    ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MARKER_NAME_API,
};

/* ---- wrappers ---- */

/* Reports the beginning of a call of the core table; false where no context wants it.
 */
static bool
enter(struct ha_marker_call *call, int operation, rocprofiler_marker_api_args_t args)
{
    if (!ha_marker_begin(call, &core_kinds, operation)) {
        return false;
    }
    call->data.args = args;
    ha_marker_enter(call);
    return true;
}

#define ENTER(call, function, ...)                                                     \
    enter(call, ROCPROFILER_MARKER_CORE_API_ID_##function,                             \
          (rocprofiler_marker_api_args_t){.function = {__VA_ARGS__}})

/* Reports its end, with the result in call->data. */
static void
leave(struct ha_marker_call *call, bool entered)
{
    if (entered) {
        ha_marker_leave(call);
    }
}

static void
mark(const char *message)
{
    struct ha_marker_call call;
    bool entered = ENTER(&call, roctxMarkA, message);

    core.roctxMarkA_fn(message);
    leave(&call, entered);
    ha_range_mark(message);
}

static int
range_push(const char *message)
{
    struct ha_marker_call call;
    bool entered = ENTER(&call, roctxRangePushA, message);
    int level = core.roctxRangePushA_fn(message);

    call.data.retval.int32_t_retval = level;
    leave(&call, entered);
    ha_range_push(message, level);
    return level;
}

static int
range_pop(void)
{
    struct ha_marker_call call;
    bool entered = ENTER(&call, roctxRangePop, {0});
    int level = core.roctxRangePop_fn();

    call.data.retval.int32_t_retval = level;
    leave(&call, entered);
    ha_range_pop(level);
    return level;
}

static roctx_range_id_t
range_start(const char *message)
{
    struct ha_marker_call call;
    bool entered = ENTER(&call, roctxRangeStartA, message);
    roctx_range_id_t id = core.roctxRangeStartA_fn(message);

    call.data.retval.roctx_range_id_t_retval = id;
    leave(&call, entered);
    ha_range_start(message, id);
    return id;
}

static void
range_stop(roctx_range_id_t id)
{
    struct ha_marker_call call;
    bool entered = ENTER(&call, roctxRangeStop, id);

    core.roctxRangeStop_fn(id);
    leave(&call, entered);
    ha_range_stop(id);
}

static int
get_thread_id(roctx_thread_id_t *tid)
{
    struct ha_marker_call call;
    bool entered = ENTER(&call, roctxGetThreadId, tid);
    int answer = core.roctxGetThreadId_fn(tid);

    call.data.retval.int32_t_retval = answer;
    leave(&call, entered);
    ha_range_thread_id(tid);
    return answer;
}

#define WRAP(table, kinds, function, operation, parameters, names, set)                \
    static int wrap_##function parameters                                              \
    {                                                                                  \
        struct ha_marker_call call;                                                    \
        if (!ha_marker_begin(&call, &kinds, operation##_##function)) {                 \
            return table.function##_fn names;                                          \
        }                                                                              \
        set;                                                                           \
        ha_marker_enter(&call);                                                        \
        int result = table.function##_fn names;                                        \
        call.data.retval.int32_t_retval = result;                                      \
        ha_marker_leave(&call);                                                        \
        return result;                                                                 \
    }

WRAP(control, control_kinds, roctxProfilerPause, ROCPROFILER_MARKER_CONTROL_API_ID,
     (roctx_thread_id_t tid), (tid), call.data.args.roctxProfilerPause.tid = tid)
WRAP(control, control_kinds, roctxProfilerResume, ROCPROFILER_MARKER_CONTROL_API_ID,
     (roctx_thread_id_t tid), (tid), call.data.args.roctxProfilerResume.tid = tid)
WRAP(names, name_kinds, roctxNameOsThread, ROCPROFILER_MARKER_NAME_API_ID,
     (const char *name), (name), call.data.args.roctxNameOsThread.name = name)
WRAP(names, name_kinds, roctxNameHsaAgent, ROCPROFILER_MARKER_NAME_API_ID,
     (const char *name, const struct hsa_agent_s *agent), (name, agent),
     call.data.args.roctxNameHsaAgent.name = name;
     call.data.args.roctxNameHsaAgent.agent = agent)
WRAP(names, name_kinds, roctxNameHipDevice, ROCPROFILER_MARKER_NAME_API_ID,
     (const char *name, int device_id), (name, device_id),
     call.data.args.roctxNameHipDevice.name = name;
     call.data.args.roctxNameHipDevice.device_id = device_id)
WRAP(names, name_kinds, roctxNameHipStream, ROCPROFILER_MARKER_NAME_API_ID,
     (const char *name, const struct ihipStream_t *stream), (name, stream),
     call.data.args.roctxNameHipStream.name = name;
     call.data.args.roctxNameHipStream.stream = stream)

void
ha_marker_wrap(void *const *tables)
{
    roctxCoreApiTable_t *core_table = tables[0];
    roctxControlApiTable_t *control_table = tables[1];
    roctxNameApiTable_t *name_table = tables[2];

    /* One instance: another one of the library keeps its own functions. */
    if (core.roctxMarkA_fn != NULL || core_table->size < sizeof core ||
        control_table->size < sizeof control || name_table->size < sizeof names) {
        return;
    }
    core = *core_table;
    control = *control_table;
    names = *name_table;
    core_table->roctxMarkA_fn = mark;
    core_table->roctxRangePushA_fn = range_push;
    core_table->roctxRangePop_fn = range_pop;
    core_table->roctxRangeStartA_fn = range_start;
    core_table->roctxRangeStop_fn = range_stop;
    core_table->roctxGetThreadId_fn = get_thread_id;
    control_table->roctxProfilerPause_fn = wrap_roctxProfilerPause;
    control_table->roctxProfilerResume_fn = wrap_roctxProfilerResume;
    name_table->roctxNameOsThread_fn = wrap_roctxNameOsThread;
    name_table->roctxNameHsaAgent_fn = wrap_roctxNameHsaAgent;
    name_table->roctxNameHipDevice_fn = wrap_roctxNameHipDevice;
    name_table->roctxNameHipStream_fn = wrap_roctxNameHipStream;
}
