/* SPDX-License-Identifier: MIT */
#include "cpu/exec/print.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/base/config.h"
#include "cpu/exec/debug_event.h"
#include "cpu/exec/launch.h"
#include "cpu/exec/fault.h"
#include "cpu/machine/context.h"

#define TOTAL_MAX_BYTES ((size_t)64 << 20)
#define STRING_MAX_BYTES 4096u
#define FORMAT_MAX_BYTES (64u << 10)
#define POINTER_BYTES 24
#define NUMBER_MAX 1000    /* width and precision */
#define NUMBER_BYTES 2400u /* %1000.1000f of the largest double, and some */

/* libc needs up to 13 KiB for a long number; the rest is ours. */
#define PRINT_STACK_BYTES ((size_t)24 << 10)

static char *buffer; /* owned; this and the next two guarded by buffer_lock */
static size_t buffer_used;
static size_t buffer_size;
static pthread_mutex_t buffer_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t flush_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t limits_bytes[HA_DEVICE_MAX]; /* 0: HA_PRINT_LIMIT_BYTES */

/* Where formatted text goes: `length` counts on when `size` is used up. */
struct sink {
    char *text;
    size_t size;
    size_t length;
};

static void
put(struct sink *sink, const char *text, size_t length)
{
    if (sink->length < sink->size) {
        size_t room = sink->size - sink->length;
        memcpy(sink->text + sink->length, text, length < room ? length : room);
    }
    sink->length += length;
}

static void
put_spaces(struct sink *sink, size_t count)
{
    while (count-- > 0) {
        put(sink, " ", 1);
    }
}

/* Copies a string of at most size - 1 bytes; -1 if its first byte cannot be read. */
static long
read_string(char *to, const char *from, size_t size)
{
    const size_t step = 64; /* never reads across a boundary that the string does not */
    size_t done = 0;
    while (done < size - 1) {
        size_t chunk = step - (size_t)((uintptr_t)(from + done) % step);
        if (chunk > size - 1 - done) {
            chunk = size - 1 - done;
        }
        size_t copied = chunk - ha_context_read(to + done, from + done, chunk);
        const char *end = memchr(to + done, 0, copied);
        if (end) {
            return end - to;
        }
        if (copied == 0 && done == 0) {
            return -1;
        }
        done += copied;
        if (copied < chunk) {
            break;
        }
    }
    to[done] = 0;
    return (long)done;
}

/* True if a string ends there before it becomes unreadable. */
static bool
is_readable(const char *string)
{
    char piece[64];
    for (size_t done = 0; done < FORMAT_MAX_BYTES;) {
        size_t chunk =
            sizeof piece - (size_t)((uintptr_t)(string + done) % sizeof piece);
        size_t copied = chunk - ha_context_read(piece, string + done, chunk);
        if (memchr(piece, 0, copied)) {
            return true;
        }
        if (copied < chunk) {
            return false;
        }
        done += chunk;
    }
    return false;
}

enum length { LENGTH_INT, LENGTH_CHAR, LENGTH_SHORT, LENGTH_64 };

struct spec {
    char flags[6]; /* each at most once */
    int width;
    int precision; /* -1: none */
    enum length length;
    char conversion;
};

/* va_list behind a pointer, so that helpers advance the caller's on every ABI. */
struct arguments {
    va_list list;
};

static const char *
parse_number(const char *p, int *number, struct arguments *args)
{
    if (*p == '*') {
        *number = va_arg(args->list, int);
        return p + 1;
    }
    int value = 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (value <= NUMBER_MAX) {
            value = value * 10 + (*p - '0');
        }
    }
    *number = value;
    return p;
}

static const char *
parse_length(const char *p, struct spec *spec)
{
    spec->length = LENGTH_INT;
    if (p[0] == 'h') {
        spec->length = p[1] == 'h' ? LENGTH_CHAR : LENGTH_SHORT;
        return p + (p[1] == 'h' ? 2 : 1);
    }
    if (*p != 0 && strchr("lzjtL", *p)) {
        spec->length = LENGTH_64;
        return p + (p[0] == 'l' && p[1] == 'l' ? 2 : 1);
    }
    return p;
}

/* `p` stands behind the percent sign; returns the address behind the conversion. */
static const char *
parse_spec(const char *p, struct spec *spec, struct arguments *args)
{
    size_t flags = 0;
    memset(spec, 0, sizeof *spec);
    for (; *p != 0 && strchr("-+ #0", *p); p++) {
        if (!strchr(spec->flags, *p)) {
            spec->flags[flags++] = *p;
        }
    }
    p = parse_number(p, &spec->width, args);
    if (spec->width < 0) {
        if (!strchr(spec->flags, '-')) {
            spec->flags[flags++] = '-';
        }
        spec->width = spec->width < -NUMBER_MAX ? NUMBER_MAX : -spec->width;
    }
    spec->precision = -1;
    if (*p == '.') {
        p = parse_number(p + 1, &spec->precision, args);
        if (spec->precision < 0) {
            spec->precision = -1;
        }
    }
    if (spec->width > NUMBER_MAX) {
        spec->width = NUMBER_MAX;
    }
    if (spec->precision > NUMBER_MAX) {
        spec->precision = NUMBER_MAX;
    }
    p = parse_length(p, spec);
    spec->conversion = *p;
    return *p ? p + 1 : p;
}

/* Writes the specification for libc's own printf. */
static void
rebuild(const struct spec *spec, const char *length, char text[16])
{
    char *p = text;
    *p++ = '%';
    for (const char *flag = spec->flags; *flag; flag++) {
        *p++ = *flag;
    }
    *p++ = '*';
    *p++ = '.';
    *p++ = '*';
    while (*length) {
        *p++ = *length++;
    }
    *p++ = spec->conversion;
    *p = 0;
}

static void
put_number(struct sink *sink, const char *text, int length)
{
    if (length > 0) {
        put(sink, text,
            length < (int)NUMBER_BYTES ? (size_t)length : (size_t)NUMBER_BYTES - 1);
    }
}

static void
put_integer(struct sink *sink, const struct spec *spec, struct arguments *args)
{
    char format[16];
    char text[NUMBER_BYTES];
    bool is_signed = spec->conversion == 'd' || spec->conversion == 'i';
    long long value;
    if (spec->length == LENGTH_64) {
        value = va_arg(args->list, long long);
    } else if (is_signed) {
        value = va_arg(args->list, int);
    } else {
        value = va_arg(args->list, unsigned);
    }
    if (spec->length == LENGTH_CHAR) {
        value =
            is_signed ? (long long)(signed char)value : (long long)(unsigned char)value;
    } else if (spec->length == LENGTH_SHORT) {
        value = is_signed ? (long long)(short)value : (long long)(unsigned short)value;
    }
    rebuild(spec, "ll", format);
    put_number(
        sink, text,
        snprintf(text, sizeof text, format, spec->width, spec->precision, value));
}

static void
put_float(struct sink *sink, const struct spec *spec, struct arguments *args)
{
    char format[16];
    char text[NUMBER_BYTES];
    double value = va_arg(args->list, double);
    rebuild(spec, "", format);
    put_number(
        sink, text,
        snprintf(text, sizeof text, format, spec->width, spec->precision, value));
}

static void
put_padded(struct sink *sink, const struct spec *spec, const char *text, size_t length)
{
    size_t width = (size_t)spec->width;
    size_t pad = width > length ? width - length : 0;
    bool left = strchr(spec->flags, '-') != NULL;
    if (!left) {
        put_spaces(sink, pad);
    }
    put(sink, text, length);
    if (left) {
        put_spaces(sink, pad);
    }
}

/* %p, the same with every libc. */
static int
show_pointer(char text[POINTER_BYTES], const void *pointer)
{
    if (!pointer) {
        return snprintf(text, POINTER_BYTES, "(nil)");
    }
    return snprintf(text, POINTER_BYTES, "0x%llx",
                    (unsigned long long)(uintptr_t)pointer);
}

static void
put_string(struct sink *sink, const struct spec *spec, struct arguments *args)
{
    char text[STRING_MAX_BYTES];
    char pointer[POINTER_BYTES];
    const char *string = va_arg(args->list, const char *);
    size_t room = sizeof text;
    long length;
    if (spec->precision >= 0 && (size_t)spec->precision < room) {
        room = (size_t)spec->precision + 1;
    }
    if (!string) {
        length = snprintf(text, sizeof text, "(null)");
    } else if (spec->length == LENGTH_64) {
        length = snprintf(text, sizeof text, "(wide string)");
    } else {
        length = room > 1 ? read_string(text, string, room) : 0;
        if (length < 0) {
            (void)show_pointer(pointer, string);
            length = snprintf(text, sizeof text, "(bad address %s)", pointer);
        }
    }
    put_padded(sink, spec, text, (size_t)length);
}

static void
put_conversion(struct sink *sink, const struct spec *spec, struct arguments *args,
               const char *begin, const char *end)
{
    char character;
    char pointer[POINTER_BYTES];
    int length;
    switch (spec->conversion) {
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X':
        put_integer(sink, spec, args);
        return;
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        put_float(sink, spec, args);
        return;
    case 'c':
        character = (char)va_arg(args->list, int);
        put_padded(sink, spec, &character, 1);
        return;
    case 's':
        put_string(sink, spec, args);
        return;
    case 'p':
        length = show_pointer(pointer, va_arg(args->list, void *));
        put_padded(sink, spec, pointer, (size_t)length);
        return;
    case '%':
        put(sink, "%", 1);
        return;
    case 'n': /* would write memory: shown, and its argument passed over */
        (void)va_arg(args->list, void *);
        break;
    default:
        break;
    }
    put(sink, begin, (size_t)(end - begin));
}

size_t
ha_print_format(char *text, size_t size, const char *format, va_list list)
{
    char note[64];
    char pointer[POINTER_BYTES];
    struct arguments args;
    struct sink sink = {text, size > 0 ? size - 1 : 0, 0};
    if (!format || !is_readable(format)) {
        (void)show_pointer(pointer, format);
        int bytes = snprintf(note, sizeof note, "(bad format %s)\n", pointer);
        put(&sink, note, (size_t)bytes);
        goto done;
    }
    va_copy(args.list, list);
    for (const char *p = format; *p;) {
        size_t plain = strcspn(p, "%");
        put(&sink, p, plain);
        p += plain;
        if (*p) {
            struct spec spec;
            const char *end = parse_spec(p + 1, &spec, &args);
            put_conversion(&sink, &spec, &args, p, end);
            p = end;
        }
    }
    va_end(args.list);
done:
    if (size > 0) {
        text[sink.length < sink.size ? sink.length : sink.size] = 0;
    }
    return sink.length;
}

/* Appends with buffer_lock held; false if there is no memory. */
static bool
append(const char *text, size_t length)
{
    if (length > buffer_size - buffer_used) {
        size_t size = buffer_size ? buffer_size : 4096;
        while (size - buffer_used < length && size < TOTAL_MAX_BYTES) {
            size *= 2;
        }
        if (size - buffer_used < length) {
            return false;
        }
        char *grown = realloc(buffer, size);
        if (!grown) {
            return false;
        }
        buffer = grown;
        buffer_size = size;
    }
    memcpy(buffer + buffer_used, text, length);
    buffer_used += length;
    return true;
}

static bool
submit(struct ha_launch *launch, const char *text, size_t length)
{
    uint64_t limit = ha_print_limit(launch->device);
    uint64_t used =
        atomic_fetch_add_explicit(&launch->print_bytes, length, memory_order_relaxed);
    bool kept = false;
    if (used + length <= limit) {
        (void)pthread_mutex_lock(&buffer_lock);
        kept = append(text, length);
        (void)pthread_mutex_unlock(&buffer_lock);
    }
    if (!kept) {
        atomic_fetch_sub_explicit(&launch->print_bytes, length, memory_order_relaxed);
        atomic_fetch_add_explicit(&launch->print_lost, 1, memory_order_relaxed);
    }
    return kept;
}

int
ha_print_call(const char *format, ...)
{
    struct ha_runner *runner = ha_runner_self;
    char small[512];
    char *text = small;
    va_list list;
    bool kept = false;
    if (ha_runner_stack_short(runner, PRINT_STACK_BYTES)) {
        runner->fault.kind = HA_FAULT_STACK;
        ha_runner_quit(runner);
    }
    ha_runner_busy(runner);
    va_start(list, format);
    size_t length = ha_print_format(small, sizeof small, format, list);
    if (length >= sizeof small) {
        text = malloc(length + 1);
        if (text) {
            /* Strings may have changed since they were measured. */
            size_t again = ha_print_format(text, length + 1, format, list);
            length = again < length ? again : length;
        }
    }
    va_end(list);
    if (text) {
        kept = submit(runner->launch, text, length);
        ha_debug_event_print(runner, text, length);
    } else {
        atomic_fetch_add_explicit(&runner->launch->print_lost, 1, memory_order_relaxed);
    }
    if (text != small) {
        free(text);
    }
    ha_runner_idle(runner);
    return kept ? (int)length : -1;
}

void
ha_print_finish(struct ha_launch *launch, const char *kernel)
{
    char text[256];
    uint64_t lost = atomic_load_explicit(&launch->print_lost, memory_order_relaxed);
    if (lost == 0) {
        return;
    }
    int length = snprintf(text, sizeof text,
                          "hipadapt: printf of kernel '%.100s': %llu calls lost (the "
                          "buffer holds %llu bytes)\n",
                          kernel, (unsigned long long)lost,
                          (unsigned long long)ha_print_limit(launch->device));
    (void)pthread_mutex_lock(&buffer_lock);
    (void)append(text, (size_t)length);
    (void)pthread_mutex_unlock(&buffer_lock);
}

void
ha_print_flush(void)
{
    (void)pthread_mutex_lock(&flush_lock);
    (void)pthread_mutex_lock(&buffer_lock);
    char *text = buffer;
    size_t length = buffer_used;
    buffer = NULL;
    buffer_used = 0;
    buffer_size = 0;
    (void)pthread_mutex_unlock(&buffer_lock);
    if (length > 0) {
        (void)fwrite(text, 1, length, stdout);
        (void)fflush(stdout);
    }
    free(text);
    (void)pthread_mutex_unlock(&flush_lock);
}

void
ha_print_set_limit(uint32_t device, uint64_t bytes)
{
    atomic_store(&limits_bytes[device], bytes > 0 ? bytes : 1);
}

uint64_t
ha_print_limit(uint32_t device)
{
    uint64_t bytes = atomic_load_explicit(&limits_bytes[device], memory_order_relaxed);
    return bytes != 0 ? bytes : HA_PRINT_LIMIT_BYTES;
}

void
ha_print_reset(uint32_t device)
{
    atomic_store(&limits_bytes[device], 0);
}

void
ha_print_after_fork_child(void)
{
    (void)pthread_mutex_init(&buffer_lock, NULL);
    (void)pthread_mutex_init(&flush_lock, NULL);
    free(buffer);
    buffer = NULL;
    buffer_used = 0;
    buffer_size = 0;
}
