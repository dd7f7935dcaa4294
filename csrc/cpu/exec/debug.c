/* SPDX-License-Identifier: MIT */
#include "cpu/exec/debug.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/dtype.h"
#include "core/log.h"
#include "cpu/exec/fault.h"
#include "cpu/machine/context.h"
#include "cpu/exec/launch.h"

/* The log formats a line. */
#define DEBUG_STACK_BYTES ((size_t)24 << 10)

static const struct ha_debug_sink *_Atomic current_sink;
/* It lies above this room. */
static bool (*may_touch)(const void *address, uint64_t size, bool *beside);

void
ha_debug_set_access(bool (*question)(const void *address, uint64_t size, bool *beside))
{
    may_touch = question;
}

void
ha_debug_set_sink(const struct ha_debug_sink *sink)
{
    atomic_store(&current_sink, sink);
}

const struct ha_debug_sink *
ha_debug_get_sink(void)
{
    return atomic_load_explicit(&current_sink, memory_order_acquire);
}

/* What a lane has given, as it was found in memory. */
struct given {
    struct ha_image_tensor image;
    struct ha_debug_tensor tensor;
    char prefix[HA_DEBUG_TEXT_BYTES];
    char dtype[HA_DEBUG_DTYPE_BYTES];
};

/* Reads a text that must end within the room. */
static bool
read_text(char *to, size_t room, const char *from)
{
    size_t read = room - ha_context_read(to, from, room);

    return memchr(to, 0, read) != NULL;
}

__attribute__((format(printf, 2, 3))) static bool
refuse(const struct given *given, const char *format, ...)
{
    struct ha_launch *launch = ha_runner_self->launch;
    char text[200];
    va_list list;

    if (!atomic_exchange(&launch->debug_told, true)) {
        va_start(list, format);
        (void)vsnprintf(text, sizeof text, format, list);
        va_end(list);
        ha_log(1, "ha_debug_tensor '%.100s' of a kernel on device %u: %s",
               given->prefix, launch->device, text);
    }
    return false;
}

/* Sets shape and bytes. */
static bool
measure(struct given *given)
{
    struct ha_debug_tensor *tensor = &given->tensor;
    uint32_t dimensions = given->image.dimensions;
    const struct ha_dtype *dtype = ha_dtype_find(given->dtype);

    if (dtype == NULL) {
        return refuse(given, "'%s' is the name of no dtype", given->dtype);
    }
    if (dimensions > HA_DEBUG_DIMENSIONS) {
        return refuse(given, "the shape has %u dimensions, at most %d are possible",
                      dimensions, HA_DEBUG_DIMENSIONS);
    }
    uint64_t bytes = dtype->bytes;
    memset(tensor->shape, 0, sizeof tensor->shape);
    if (dimensions == 0) {
        tensor->shape[0] = 1;
    }
    for (uint32_t i = 0; i < dimensions; i++) {
        tensor->shape[i] = given->image.shape[i];
        if (tensor->shape[i] == 0) {
            return refuse(given, "dimension %u of the shape is 0", i);
        }
        if (__builtin_mul_overflow(bytes, tensor->shape[i], &bytes)) {
            return refuse(given, "the shape has more than 2**64 bytes");
        }
    }
    tensor->bytes = bytes;
    return true;
}

static bool
look(struct given *given, const struct ha_image_tensor *image)
{
    given->prefix[0] = 0;
    if (ha_context_read(&given->image, image, sizeof *image) != 0) {
        return refuse(given, "it can't be read");
    }
    if (!read_text(given->prefix, sizeof given->prefix, given->image.prefix)) {
        given->prefix[0] = 0;
        return refuse(given, "the prefix can't be read, or has more than %d bytes",
                      HA_DEBUG_TEXT_BYTES - 1);
    }
    if (!read_text(given->dtype, sizeof given->dtype, given->image.dtype)) {
        return refuse(given, "the name of the dtype can't be read, or is too long");
    }
    if (!measure(given)) {
        return false;
    }
    bool beside;
    if (may_touch(given->image.data, given->tensor.bytes, &beside)) {
        return true;
    }
    return beside ? refuse(given, "%llu bytes of shape run out of the allocation of %p",
                           (unsigned long long)given->tensor.bytes, given->image.data)
                  : refuse(given, "%p is no memory of a kernel's", given->image.data);
}

static bool
send(const struct ha_debug_sink *sink, struct given *given)
{
    void *data;

    given->tensor.size = sizeof given->tensor;
    given->tensor.device = (int)ha_runner_self->launch->device;
    given->tensor.pipe = given->image.pipe;
    given->tensor.prefix = given->prefix;
    given->tensor.dtype = given->dtype;
    void *ticket = sink->tensor_begin(&given->tensor, &data);
    if (ticket == NULL) {
        return true;
    }
    bool there = ha_context_read(data, given->image.data, given->tensor.bytes) == 0;
    sink->tensor_end(ticket, there);
    return there || refuse(given, "the memory at %p can't be read", given->image.data);
}

uint32_t
ha_debug_call(const struct ha_image_tensor *tensor)
{
    const struct ha_debug_sink *sink = atomic_load(&current_sink);
    struct ha_runner *runner = ha_runner_self;
    struct given given;

    if (sink == NULL) {
        return 0;
    }
    if (ha_runner_stack_short(runner, DEBUG_STACK_BYTES)) {
        runner->fault.kind = HA_FAULT_STACK;
        ha_runner_quit(runner);
    }
    ha_runner_busy(runner);
    bool sent = look(&given, tensor) && send(sink, &given);
    ha_runner_idle(runner);
    return !sent;
}
