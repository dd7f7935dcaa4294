/* SPDX-License-Identifier: MIT */
/* Arguments of a call, one by one, with their text. */
#include "rocprofiler/args.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "rocprofiler/marker_call.h"

/* What the program gave may be no address at all: the kernel looks.  Returns the number
 * of bytes that could be read. */
static size_t
read_memory(const void *at, void *to, size_t bytes)
{
    struct iovec local = {to, bytes}, remote = {(void *)(uintptr_t)at, bytes};
    ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);

    if (got < 0 && (errno == ENOSYS || errno == EPERM)) {
        memcpy(to, at, bytes); /* it isn't allowed to look */
        return bytes;
    }
    return got > 0 ? (size_t)got : 0;
}

/* The text at `at`, or its address. */
static void
print_text(char text[HA_ARG_TEXT_BYTES], const char *at)
{
    size_t got = 0;

    if (at == NULL) {
        (void)snprintf(text, HA_ARG_TEXT_BYTES, "(null)");
        return;
    }
    /* Not over the end of a page, behind which nothing may be. */
    while (got < HA_ARG_TEXT_BYTES - 1) {
        size_t page = 4096 - ((uintptr_t)at + got) % 4096;
        size_t rest = HA_ARG_TEXT_BYTES - 1 - got;
        size_t bytes = read_memory(at + got, text + got, page < rest ? page : rest);
        if (bytes == 0) {
            break;
        }
        got += bytes;
        if (memchr(text, '\0', got) != NULL) {
            return;
        }
    }
    text[got] = '\0';
    if (got == 0) {
        (void)snprintf(text, HA_ARG_TEXT_BYTES, "%p", (const void *)at);
    }
}

/* What is at the end of the pointers, as text. */
static void
print_value(char text[HA_ARG_TEXT_BYTES], enum ha_op_arg_kind kind, const void *at,
            size_t bytes)
{
    union {
        int8_t i8;
        uint8_t u8;
        int16_t i16;
        uint16_t u16;
        int32_t i32;
        uint32_t u32;
        int64_t i64;
        uint64_t u64;
        float f32;
        double f64;
        const char *text;
        rocprofiler_dim3_t dim3;
    } value;

    memset(&value, 0, sizeof value);
    memcpy(&value, at, bytes < sizeof value ? bytes : sizeof value);
    switch (kind) {
    case HA_ARG_CHAR:
    case HA_ARG_I8:
        (void)snprintf(text, HA_ARG_TEXT_BYTES, "%d", value.i8);
        break;
    case HA_ARG_U8:
        (void)snprintf(text, HA_ARG_TEXT_BYTES, "%u", value.u8);
        break;
    case HA_ARG_I16:
        (void)snprintf(text, HA_ARG_TEXT_BYTES, "%d", value.i16);
        break;
    case HA_ARG_U16:
        (void)snprintf(text, HA_ARG_TEXT_BYTES, "%u", value.u16);
        break;
    case HA_ARG_I32:
        (void)snprintf(text, HA_ARG_TEXT_BYTES, "%" PRId32, value.i32);
        break;
    case HA_ARG_U32:
        (void)snprintf(text, HA_ARG_TEXT_BYTES, "%" PRIu32, value.u32);
        break;
    case HA_ARG_I64:
        (void)snprintf(text, HA_ARG_TEXT_BYTES, "%" PRId64, value.i64);
        break;
    case HA_ARG_U64:
        (void)snprintf(text, HA_ARG_TEXT_BYTES, "%" PRIu64, value.u64);
        break;
    case HA_ARG_F32:
        (void)snprintf(text, HA_ARG_TEXT_BYTES, "%.9g", (double)value.f32);
        break;
    case HA_ARG_F64:
        (void)snprintf(text, HA_ARG_TEXT_BYTES, "%.17g", value.f64);
        break;
    case HA_ARG_DIM3:
        (void)snprintf(text, HA_ARG_TEXT_BYTES,
                       "{%" PRIu32 ", %" PRIu32 ", %" PRIu32 "}", value.dim3.x,
                       value.dim3.y, value.dim3.z);
        break;
    case HA_ARG_TEXT:
        print_text(text, value.text);
        break;
    case HA_ARG_RECORD:
        (void)snprintf(text, HA_ARG_TEXT_BYTES, "{%zu bytes}", bytes);
        break;
    case HA_ARG_POINTER:
    case HA_ARG_VOID:
        (void)snprintf(text, HA_ARG_TEXT_BYTES, "0x%" PRIx64, value.u64);
        break;
    }
}

static size_t
kind_bytes(enum ha_op_arg_kind kind)
{
    switch (kind) {
    case HA_ARG_CHAR:
    case HA_ARG_I8:
    case HA_ARG_U8:
        return 1;
    case HA_ARG_I16:
    case HA_ARG_U16:
        return 2;
    case HA_ARG_I32:
    case HA_ARG_U32:
    case HA_ARG_F32:
        return 4;
    case HA_ARG_DIM3:
        return sizeof(rocprofiler_dim3_t);
    default:
        return 8;
    }
}

int
ha_arg_print(char text[HA_ARG_TEXT_BYTES], const struct ha_op_arg *argument,
             const void *at, int follow_max)
{
    enum ha_op_arg_kind kind = (enum ha_op_arg_kind)argument->kind;
    int stars = kind == HA_ARG_TEXT ? 0 : argument->stars, followed = 0;
    char behind[16]; /* the longest kind */
    bool opaque = kind == HA_ARG_VOID || kind == HA_ARG_RECORD || kind == HA_ARG_CHAR;

    while (stars > 0) {
        void *next;
        memcpy(&next, at, sizeof next);
        size_t bytes = stars == 1 ? kind_bytes(kind) : sizeof(void *);
        if (next == NULL || followed >= follow_max || (stars == 1 && opaque) ||
            read_memory(next, behind, bytes) != bytes) {
            (void)snprintf(text, HA_ARG_TEXT_BYTES, "%p", next);
            return followed;
        }
        at = behind;
        stars--;
        followed++;
    }
    print_value(text, kind, at, followed > 0 ? kind_bytes(kind) : argument->bytes);
    return followed;
}

struct visit {
    rocprofiler_callback_tracing_operation_args_cb_t callback;
    rocprofiler_buffer_tracing_operation_args_cb_t buffered;
    rocprofiler_callback_tracing_kind_t kind;
    rocprofiler_buffer_tracing_kind_t buffer_kind;
    rocprofiler_tracing_operation_t operation;
    int follow_max;
    void *data;
};

static void
visit_arguments(const struct visit *visit, unsigned op,
                const rocprofiler_hip_api_args_t *args)
{
    char text[HA_ARG_TEXT_BYTES];
    int answer = 0;

    for (unsigned i = 0; i < ha_ops[op].count && answer == 0; i++) {
        const struct ha_op_arg *argument = &ha_op_args(&ha_ops[op])[i];
        const void *at = (const char *)args + argument->offset;
        int followed = ha_arg_print(text, argument, at, visit->follow_max);
        const char *type = ha_op_text(argument->type);
        const char *name = ha_op_text(argument->name);
        if (visit->callback != NULL) {
            answer =
                visit->callback(visit->kind, visit->operation, i, at, argument->stars,
                                type, name, text, followed, visit->data);
        } else {
            answer = visit->buffered(visit->buffer_kind, visit->operation, i, at,
                                     argument->stars, type, name, text, visit->data);
        }
    }
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_iterate_callback_tracing_kind_operation_args(
    rocprofiler_callback_tracing_record_t record,
    rocprofiler_callback_tracing_operation_args_cb_t callback,
    int32_t max_dereference_count, void *user_data)
{
    const rocprofiler_callback_tracing_hip_api_data_t *data = record.payload;
    struct visit visit = {.callback = callback,
                          .kind = record.kind,
                          .operation = record.operation,
                          .follow_max = max_dereference_count,
                          .data = user_data};
    unsigned first, count;

    switch (record.kind) {
    case ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API:
        first = 0;
        count = HA_OP_RUNTIME_COUNT;
        break;
    case ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API:
        first = HA_OP_RUNTIME_COUNT;
        count = HA_OP_COMPILER_COUNT;
        break;
    case ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API:
    case ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_RANGE_API:
    case ROCPROFILER_CALLBACK_TRACING_MARKER_CONTROL_API:
    case ROCPROFILER_CALLBACK_TRACING_MARKER_NAME_API:
        return ha_marker_arguments(&record, callback, max_dereference_count, user_data);
    default:
        return record.kind > ROCPROFILER_CALLBACK_TRACING_NONE &&
                       record.kind < ROCPROFILER_CALLBACK_TRACING_LAST
                   ? ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED
                   : ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
    }
    if (data == NULL || callback == NULL) {
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    }
    if (record.operation < 0 || (unsigned)record.operation >= count) {
        return ROCPROFILER_STATUS_ERROR_OPERATION_NOT_FOUND;
    }
    visit_arguments(&visit, first + (unsigned)record.operation, &data->args);
    return ROCPROFILER_STATUS_SUCCESS;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_iterate_buffer_tracing_record_args(
    rocprofiler_record_header_t record,
    rocprofiler_buffer_tracing_operation_args_cb_t callback, void *user_data)
{
    const rocprofiler_buffer_tracing_hip_api_ext_record_t *data = record.payload;
    bool runtime = record.kind == ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT;

    if (record.category != ROCPROFILER_BUFFER_CATEGORY_TRACING ||
        (!runtime && record.kind != ROCPROFILER_BUFFER_TRACING_HIP_COMPILER_API_EXT)) {
        return ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED;
    }
    if (data == NULL || callback == NULL) {
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    }
    unsigned first = runtime ? 0 : HA_OP_RUNTIME_COUNT;
    unsigned count = runtime ? HA_OP_RUNTIME_COUNT : HA_OP_COMPILER_COUNT;
    if (data->operation < 0 || (unsigned)data->operation >= count) {
        return ROCPROFILER_STATUS_ERROR_OPERATION_NOT_FOUND;
    }
    struct visit visit = {.buffered = callback,
                          .buffer_kind = (rocprofiler_buffer_tracing_kind_t)record.kind,
                          .operation = data->operation,
                          .data = user_data};
    visit_arguments(&visit, first + (unsigned)data->operation, &data->args);
    return ROCPROFILER_STATUS_SUCCESS;
}
