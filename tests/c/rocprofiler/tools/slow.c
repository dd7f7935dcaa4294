/* SPDX-License-Identifier: MIT */
/* Is told of the end of each kernel, and takes its time over it: whoever is told behind
 * it is told late. */
#include <time.h>

#include "tool.h"

static rocprofiler_context_id_t context;

static void
on_kernel(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
          void *data)
{
    const struct timespec time = {0, 200 * 1000 * 1000};

    (void)user;
    (void)data;
    if (record.operation == ROCPROFILER_KERNEL_DISPATCH_COMPLETE) {
        (void)nanosleep(&time, NULL);
    }
}

static int
tool_initialize(rocprofiler_client_finalize_t end, void *data)
{
    (void)end;
    (void)data;
    context.handle = 0;
    GOOD(rocprofiler_create_context(&context));
    GOOD(rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH, NULL, 0, on_kernel,
        NULL));
    GOOD(rocprofiler_start_context(context));
    return 0;
}

static void
tool_finalize(void *data)
{
    (void)data;
}
