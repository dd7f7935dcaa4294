/* SPDX-License-Identifier: MIT */
/* Writes each call of HIP into the file TOOL_OUT, one line for the beginning, each
 * argument and the end, with tabs between. */
#include "tool.h"

#include <fcntl.h>

static int file = -1;

static void
write_line(const char *format, ...)
{
    char line[2048];
    va_list values;

    va_start(values, format);
    int used = vsnprintf(line, sizeof line - 1, format, values);
    va_end(values);
    used = used < (int)sizeof line - 1 ? used : (int)sizeof line - 2;
    for (int i = 0; i < used; i++) {
        line[i] = line[i] == '\n' ? ' ' : line[i];
    }
    line[used++] = '\n';
    if (write(file, line, (size_t)used) != used) {
        say("FAILED: the file can't be written");
    }
}

static int
on_argument(rocprofiler_callback_tracing_kind_t kind,
            rocprofiler_tracing_operation_t operation, uint32_t number,
            const void *const at, int32_t indirections, const char *type,
            const char *name, const char *value, int32_t followed, void *data)
{
    (void)kind;
    (void)operation;
    (void)data;
    if (at == NULL || followed > indirections) {
        say("FAILED: %s is nowhere", name);
    }
    write_line("argument\t%u\t%s\t%s\t%d\t%s", number, name, type, indirections, value);
    return 0;
}

static void
on_call(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
        void *data)
{
    const rocprofiler_callback_tracing_hip_api_data_t *payload =
        (const rocprofiler_callback_tracing_hip_api_data_t *)record.payload;
    const char *name = NULL;

    (void)user;
    (void)data;
    GOOD(rocprofiler_query_callback_tracing_kind_operation_name(
        record.kind, record.operation, &name, NULL));
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
        write_line("begin\t%s\t%d\t%d", name, (int)record.kind, (int)record.operation);
        GOOD(rocprofiler_iterate_callback_tracing_kind_operation_args(
            record, on_argument, 1, NULL));
    } else {
        write_line("end\t%s\t%d", name, (int)payload->retval.hipError_t_retval);
    }
}

static int
tool_initialize(rocprofiler_client_finalize_t end, void *data)
{
    rocprofiler_context_id_t context;

    (void)data;
    (void)end;
    context.handle = 0;
    file = open(getenv("TOOL_OUT"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0) {
        return -1;
    }
    GOOD(rocprofiler_create_context(&context));
    GOOD(rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, NULL, 0, on_call, NULL));
    GOOD(rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API, NULL, 0, on_call,
        NULL));
    GOOD(rocprofiler_start_context(context));
    return 0;
}

static void
tool_finalize(void *data)
{
    (void)data;
}
