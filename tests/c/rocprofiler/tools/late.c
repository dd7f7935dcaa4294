/* SPDX-License-Identifier: MIT */
/* Takes its time when a kernel has ended; says in which order it is told of the ends of
 * kernels, and that their names go. */
#include "tool.h"

#include <time.h>

static rocprofiler_buffer_id_t buffer;
static int ended, recorded;

static void
on_event(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
         void *data)
{
    const struct timespec while_ = {.tv_nsec = 50000000};

    (void)user;
    (void)data;
    if (record.kind == ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH) {
        if (record.operation == ROCPROFILER_KERNEL_DISPATCH_COMPLETE) {
            nanosleep(&while_, NULL);
            say("kernel ended %d", __atomic_add_fetch(&ended, 1, __ATOMIC_SEQ_CST));
        }
    } else if (record.phase == ROCPROFILER_CALLBACK_PHASE_UNLOAD) {
        say("kernel goes");
    }
}

static void
on_batch(rocprofiler_context_id_t context, rocprofiler_buffer_id_t id,
         rocprofiler_record_header_t **headers, size_t count, void *data, uint64_t lost)
{
    (void)context;
    (void)id;
    (void)headers;
    (void)data;
    (void)lost;
    recorded += (int)count;
}

static int
tool_initialize(rocprofiler_client_finalize_t end, void *data)
{
    const rocprofiler_tracing_operation_t symbols[] = {
        ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER};
    rocprofiler_context_id_t context = {0};

    (void)end;
    (void)data;
    GOOD(rocprofiler_create_context(&context));
    GOOD(rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT, symbols, 1, on_event, NULL));
    GOOD(rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH, NULL, 0, on_event,
        NULL));
    GOOD(rocprofiler_create_buffer(context, 4096, 4096,
                                   ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_batch, NULL,
                                   &buffer));
    GOOD(rocprofiler_configure_buffer_tracing_service(
        context, ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, NULL, 0, buffer));
    GOOD(rocprofiler_start_context(context));
    return 0;
}

static void
tool_finalize(void *data)
{
    (void)data;
    GOOD(rocprofiler_flush_buffer(buffer));
    say("%d ended, %d recorded", ended, recorded);
}
