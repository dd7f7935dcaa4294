/* SPDX-License-Identifier: MIT */
#include "cpu/copy.h"

#include <stdatomic.h>
#include <string.h>

#include "cpu/device.h"
#include "cpu/error.h"
#include "cpu/memory.h"
#include "cpu/pool.h"
#include "cpu/runtime.h"

#define CHUNK_BYTES ((size_t)1 << 20)
#define PARALLEL_MIN_BYTES ((size_t)8 << 20)
#define HELPERS_MAX 7u                    /* a few threads fill the memory bus */
#define CHEAP_MAX_BYTES ((size_t)8 << 10) /* handing it over would take longer */

/* Rows are handed out in chunks; a row that is longer than a chunk is cut itself. */
struct transfer {
    struct ha_copy copy; /* src NULL = fill */
    uint32_t value;
    uint32_t element_bytes;
    size_t rows_per_chunk; /* 0 = one row, cut every CHUNK_BYTES */
    uint64_t chunk_count;
    _Atomic uint64_t next_chunk;
    _Atomic uint64_t chunks_done;
};

_Static_assert(sizeof(struct transfer) <= HA_OP_PAYLOAD_BYTES, "fits an operation");

static struct transfer *
transfer_of(struct ha_op *op)
{
    return (struct transfer *)(void *)op->payload;
}

/* Fills `bytes` (a multiple of the element) at dst. */
static void
fill_row(void *dst, size_t bytes, uint32_t value, uint32_t element_bytes)
{
    if (element_bytes == 4) {
        uint32_t *words = dst;
        for (size_t i = 0; i < bytes / 4; i++) {
            words[i] = value;
        }
    } else if (element_bytes == 2) {
        uint16_t *halves = dst;
        for (size_t i = 0; i < bytes / 2; i++) {
            halves[i] = (uint16_t)value;
        }
    } else {
        memset(dst, (int)(value & 0xffu), bytes);
    }
}

static void
transfer_rows(const struct transfer *transfer, size_t first, size_t count)
{
    const struct ha_copy *copy = &transfer->copy;
    unsigned char *dst = (unsigned char *)copy->dst + first * copy->dst_pitch;
    const unsigned char *src = copy->src;
    if (src == NULL) {
        for (size_t row = 0; row < count; row++, dst += copy->dst_pitch) {
            fill_row(dst, copy->width, transfer->value, transfer->element_bytes);
        }
        return;
    }
    src += first * copy->src_pitch;
    for (size_t row = 0; row < count; row++) {
        memmove(dst, src, copy->width);
        dst += copy->dst_pitch;
        src += copy->src_pitch;
    }
}

static void
transfer_part(const struct transfer *transfer, uint64_t chunk)
{
    const struct ha_copy *copy = &transfer->copy;
    size_t begin = (size_t)chunk * CHUNK_BYTES;
    size_t bytes =
        copy->width - begin < CHUNK_BYTES ? copy->width - begin : CHUNK_BYTES;
    unsigned char *dst = (unsigned char *)copy->dst + begin;
    if (copy->src == NULL) {
        fill_row(dst, bytes, transfer->value, transfer->element_bytes);
    } else {
        memcpy(dst, (const unsigned char *)copy->src + begin, bytes);
    }
}

static bool
transfer_run(struct ha_op *op)
{
    struct transfer *transfer = transfer_of(op);
    if (transfer->chunk_count == 1) {
        transfer_rows(transfer, 0, transfer->copy.height);
        return true;
    }
    for (;;) {
        uint64_t chunk =
            atomic_fetch_add_explicit(&transfer->next_chunk, 1, memory_order_relaxed);
        if (chunk >= transfer->chunk_count) {
            return false;
        }
        if (transfer->rows_per_chunk == 0) {
            transfer_part(transfer, chunk);
        } else {
            size_t first = (size_t)chunk * transfer->rows_per_chunk;
            size_t left = transfer->copy.height - first;
            transfer_rows(transfer, first,
                          left < transfer->rows_per_chunk ? left
                                                          : transfer->rows_per_chunk);
        }
        if (atomic_fetch_add_explicit(&transfer->chunks_done, 1, memory_order_acq_rel) +
                1 ==
            transfer->chunk_count) {
            return true;
        }
    }
}

static const struct ha_op_class transfer_class = {
    .name = "copy", .flags = HA_OP_PARALLEL, .run = transfer_run};

static bool
overlap(const struct ha_copy *copy, size_t dst_extent, size_t src_extent)
{
    uintptr_t dst = (uintptr_t)copy->dst;
    uintptr_t src = (uintptr_t)copy->src;
    return copy->src != NULL && dst < src + src_extent && src < dst + dst_extent;
}

/* Decides how many threads take part. */
static void
transfer_cut(struct transfer *transfer, struct ha_op *op, bool overlapping)
{
    const struct ha_copy *copy = &transfer->copy;
    transfer->chunk_count = 1;
    transfer->rows_per_chunk = copy->height;
    atomic_init(&transfer->next_chunk, 0);
    atomic_init(&transfer->chunks_done, 0);
    unsigned threads = ha_config()->thread_count;
    if (overlapping || threads == 1 ||
        copy->width * copy->height < PARALLEL_MIN_BYTES) {
        return;
    }
    if (copy->height == 1) {
        transfer->rows_per_chunk = 0;
        transfer->chunk_count = (copy->width + CHUNK_BYTES - 1) / CHUNK_BYTES;
    } else {
        size_t rows = CHUNK_BYTES / copy->width;
        transfer->rows_per_chunk = rows > 0 ? rows : 1;
        transfer->chunk_count =
            (copy->height + transfer->rows_per_chunk - 1) / transfer->rows_per_chunk;
    }
    uint64_t helpers = transfer->chunk_count - 1;
    if (helpers > threads - 1) {
        helpers = threads - 1;
    }
    op->helpers = (uint32_t)(helpers < HELPERS_MAX ? helpers : HELPERS_MAX);
}

/* Bytes from the first to the last one of `height` rows; false if that overflows. */
static bool
extent_of(size_t pitch, size_t width, size_t height, size_t *extent)
{
    size_t rows;
    return !__builtin_mul_overflow(pitch, height - 1, &rows) &&
           !__builtin_add_overflow(rows, width, extent) && *extent <= SIZE_MAX / 2;
}

static hipError_t
side_check(const char *argument, const void *ptr, size_t pitch,
           const struct ha_copy *copy, bool required, size_t *extent)
{
    if (ptr == NULL) {
        return ha_cpu_fail(hipErrorInvalidValue, "argument '%s' is NULL", argument);
    }
    if (copy->height > 1 && pitch < copy->width) {
        return ha_cpu_fail(
            hipErrorInvalidPitchValue,
            "the pitch of argument '%s' is %zu bytes, less than the width "
            "of %zu bytes",
            argument, pitch, copy->width);
    }
    if (!extent_of(pitch, copy->width, copy->height, extent)) {
        return ha_cpu_fail(
            hipErrorInvalidValue,
            "argument '%s': %zu rows of %zu bytes are more than there can "
            "be",
            argument, copy->height, pitch);
    }
    if ((uintptr_t)ptr > UINTPTR_MAX - *extent) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument '%s': %zu bytes at %p run past the address space",
                           argument, *extent, ptr);
    }
    return ha_memory_check(argument, ptr, *extent, required, NULL);
}

static hipError_t
transfer_submit(hipStream_t handle, struct ha_device *device,
                const struct transfer *transfer, bool overlapping, bool sync)
{
    struct ha_stream *stream;
    size_t bytes = transfer->copy.width * transfer->copy.height;
    hipError_t code = ha_stream_lock(handle, device, &stream);
    if (code != hipSuccess) {
        return code;
    }
    struct ha_op *op = ha_op_new(&transfer_class);
    if (op == NULL) {
        ha_pool_unlock();
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another operation");
    }
    struct transfer *payload = transfer_of(op);
    *payload = *transfer;
    op->caller = true;
    transfer_cut(payload, op, overlapping);
    enum ha_run how = bytes <= CHEAP_MAX_BYTES ? HA_RUN_CHEAP : HA_RUN_ASYNC;
    return ha_stream_run(stream, op, sync ? HA_RUN_SYNC : how);
}

hipError_t
ha_copy_check_kind(hipMemcpyKind kind)
{
    int number = (int)kind;
    if ((number >= hipMemcpyHostToHost && number <= hipMemcpyDefault) ||
        number == hipMemcpyDeviceToDeviceNoCU) {
        return hipSuccess;
    }
    return ha_cpu_fail(hipErrorInvalidMemcpyDirection,
                       "argument 'kind' is %d, which is no hipMemcpyKind", number);
}

hipError_t
ha_copy(hipStream_t stream, struct ha_device *device, const struct ha_copy *copy,
        bool sync)
{
    size_t dst_extent;
    size_t src_extent;
    if (copy->width == 0 || copy->height == 0) {
        return hipSuccess;
    }
    hipError_t code = side_check("dst", copy->dst, copy->dst_pitch, copy,
                                 copy->dst_known, &dst_extent);
    if (code == hipSuccess) {
        code = side_check("src", copy->src, copy->src_pitch, copy, copy->src_known,
                          &src_extent);
    }
    if (code != hipSuccess) {
        return code;
    }
    struct transfer transfer = {.copy = *copy};
    if (copy->height > 1 && copy->dst_pitch == copy->width &&
        copy->src_pitch == copy->width) {
        /* Rows without gaps are one long row. */
        transfer.copy.width = dst_extent;
        transfer.copy.height = 1;
    }
    return transfer_submit(stream, device, &transfer,
                           overlap(copy, dst_extent, src_extent), sync);
}

hipError_t
ha_fill(hipStream_t stream, struct ha_device *device, const struct ha_fill *fill,
        bool sync)
{
    size_t extent;
    if (fill->width == 0 || fill->height == 0) {
        return hipSuccess;
    }
    struct transfer transfer = {
        .copy = {.dst = fill->dst,
                 .dst_pitch = fill->pitch,
                 .width = fill->width,
                 .height = fill->height},
        .value = fill->value,
        .element_bytes = fill->element_bytes,
    };
    hipError_t code =
        side_check("dst", fill->dst, fill->pitch, &transfer.copy, true, &extent);
    if (code != hipSuccess) {
        return code;
    }
    if ((uintptr_t)fill->dst % fill->element_bytes != 0 ||
        (fill->height > 1 && fill->pitch % fill->element_bytes != 0)) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'dst' (%p) or its pitch is not a multiple of the "
                           "element size %u",
                           fill->dst, fill->element_bytes);
    }
    return transfer_submit(stream, device, &transfer, false, sync);
}
