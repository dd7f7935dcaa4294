/* SPDX-License-Identifier: MIT */
#include "rocprofiler/arg_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/readable.h"
#include "rocprofiler/hip_op.h"
#include "rocprofiler/sdk.h"

/* What the program gave may be no address at all: the kernel looks.  Returns the number
 * of bytes that could be read. */
static size_t
read_memory(const void *at, void *to, size_t bytes)
{
    struct iovec local = {to, bytes}, remote = {(void *)(uintptr_t)at, bytes};
    ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);

    if (got < 0 && (errno == ENOSYS || errno == EPERM)) { /* it isn't allowed to */
        if (!ha_memory_readable(at, bytes)) {
            return 0;
        }
        memcpy(to, at, bytes);
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
