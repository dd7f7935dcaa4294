/* SPDX-License-Identifier: MIT */
/* Traces calls of HIP and says how often each was begun and ended.
 *
 * -DTOOL_DECLINES: it doesn't want to be one; -DTOOL_INITIALIZE_ANSWERS=n: what its
 * initialize answers; -DTOOL_ENDS_AFTER=n: it calls its finalizer at call number n;
 * -DTOOL_FINALIZES_AGAIN: it calls it within its finalize. */
#include "tool.h"

static rocprofiler_context_id_t context;
static rocprofiler_client_finalize_t finalizer;
static long begun, ended;

static TOOL_UNUSED int
status_of(rocprofiler_status_t (*function)(int *))
{
    int status = 99;

    GOOD(function(&status));
    return status;
}

static void
on_call(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
        void *data)
{
    (void)user;
    (void)data;
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
        __atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED);
    } else {
        __atomic_fetch_add(&ended, 1, __ATOMIC_RELAXED);
#ifdef TOOL_ENDS_AFTER
        if (ended == TOOL_ENDS_AFTER) {
            finalizer(*tool_id);
            say("after finalizer: finalized %d", status_of(rocprofiler_is_finalized));
        }
#endif
    }
}

static int
tool_initialize(rocprofiler_client_finalize_t end, void *data)
{
    (void)data;
    finalizer = end;
    context.handle = 0;
    say("initialize: initialized %d", status_of(rocprofiler_is_initialized));
    GOOD(rocprofiler_create_context(&context));
    GOOD(rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, NULL, 0, on_call, NULL));
    GOOD(rocprofiler_start_context(context));
#ifdef TOOL_INITIALIZE_ANSWERS
    return TOOL_INITIALIZE_ANSWERS;
#else
    return 0;
#endif
}

static void
tool_finalize(void *data)
{
    (void)data;
#ifdef TOOL_FINALIZES_AGAIN
    finalizer(*tool_id);
#endif
    say("finalize: finalized %d calls %s", status_of(rocprofiler_is_finalized),
        begun == 0       ? "none"
        : begun == ended ? "paired"
                         : "unpaired");
}
