/* SPDX-License-Identifier: MIT */
#include "cpu/work/copy.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "abi/check.h"
#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/memory/check_deed.h"
#include "cpu/memory/check_found.h"
#include "cpu/memory/memory.h"
#include "cpu/module/fill_kernel.h"
#include "cpu/queue/order.h"
#include "cpu/queue/pool.h"
#include "cpu/queue/ticket.h"
#include "cpu/work/copy_rows.h"
#include "cpu/work/copy_shadow.h"
#include "cpu/work/device_order.h"

#define CHUNK_BYTES ((size_t)1 << 20)
#define PARALLEL_MIN_BYTES ((size_t)8 << 20)
#define HELPERS_MAX 7u                    /* a few threads fill the memory bus */
#define CHEAP_MAX_BYTES ((size_t)8 << 10) /* handing it over would take longer */

/* Launches of AMD's kernels that fill memory: threads of a block, bytes of a thread of
 * a line, and what a line has of blocks at most. */
enum {
    LINE_THREADS = 256,
    LINE_BYTES = 16,
    LINE_BLOCKS_MAX = 16,
    ROWS_THREADS = 16, /* to each side */
};

/* Rows are handed out in chunks; a row that is longer than a chunk is cut itself. */
struct transfer {
    struct ha_copy copy; /* src NULL = fill */
    void *aside;         /* owned: where the source was put aside, or NULL */
    struct ha_copy_origin origin;
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

static void
transfer_rows(const struct transfer *transfer, size_t first, size_t count)
{
    if (transfer->copy.src == NULL) {
        ha_fill_rows(&transfer->copy, first, count, transfer->value,
                     transfer->element_bytes);
    } else {
        ha_copy_rows(&transfer->copy, first, count);
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
        ha_fill_bytes(dst, bytes, transfer->value, transfer->element_bytes);
    } else {
        memcpy(dst, (const unsigned char *)copy->src + begin, bytes);
    }
}

static bool
transfer_run(struct ha_op *op)
{
    struct transfer *transfer = transfer_of(op);
    if (transfer->chunk_count == 1) {
        ha_copy_shadow(&transfer->copy, &transfer->origin);
        transfer_rows(transfer, 0, transfer->copy.height * transfer->copy.depth);
        return true;
    }
    for (;;) {
        uint64_t chunk =
            atomic_fetch_add_explicit(&transfer->next_chunk, 1, memory_order_relaxed);
        if (chunk >= transfer->chunk_count) {
            return false;
        }
        if (chunk == 0) {
            ha_copy_shadow(&transfer->copy, &transfer->origin);
        }
        if (transfer->rows_per_chunk == 0) {
            transfer_part(transfer, chunk);
        } else {
            size_t first = (size_t)chunk * transfer->rows_per_chunk;
            size_t left = transfer->copy.height * transfer->copy.depth - first;
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

static void
transfer_finish(struct ha_op *op)
{
    free(transfer_of(op)->aside);
}

static const struct ha_op_class transfer_class = {.name = "copy",
                                                  .flags = HA_OP_PARALLEL,
                                                  .run = transfer_run,
                                                  .finish = transfer_finish};

/* ---- shapes ---- */

/* Bytes from the first to the last one of a side; false if that overflows. */
static bool
extent_of(const struct ha_copy *copy, size_t pitch, size_t slice, size_t *extent)
{
    size_t rows;
    size_t slices;
    return !__builtin_mul_overflow(pitch, copy->height - 1, &rows) &&
           !__builtin_mul_overflow(slice, copy->depth - 1, &slices) &&
           !__builtin_add_overflow(rows, slices, extent) &&
           !__builtin_add_overflow(*extent, copy->width, extent) &&
           *extent <= SIZE_MAX / 2;
}

/* The same bytes in as few dimensions as possible. */
static void
flatten(struct ha_copy *copy)
{
    bool fill = copy->src == NULL;
    if (copy->depth > 1 && copy->dst_slice == copy->dst_pitch * copy->height &&
        (fill || copy->src_slice == copy->src_pitch * copy->height)) {
        copy->height *= copy->depth;
        copy->depth = 1;
    }
    if (copy->depth == 1 && copy->height > 1 && copy->dst_pitch == copy->width &&
        (fill || copy->src_pitch == copy->width)) {
        copy->width *= copy->height;
        copy->height = 1;
    }
}

static bool
overlap(const struct ha_copy *copy)
{
    size_t dst_extent = 0;
    size_t src_extent = 0;
    uintptr_t dst = (uintptr_t)copy->dst;
    uintptr_t src = (uintptr_t)copy->src;
    extent_of(copy, copy->dst_pitch, copy->dst_slice, &dst_extent);
    extent_of(copy, copy->src_pitch, copy->src_slice, &src_extent);
    return copy->src != NULL && dst < src + src_extent && src < dst + dst_extent;
}

/* Decides how many threads take part. */
static void
transfer_cut(struct transfer *transfer, struct ha_op *op)
{
    const struct ha_copy *copy = &transfer->copy;
    size_t all_rows = copy->height * copy->depth;
    transfer->chunk_count = 1;
    transfer->rows_per_chunk = all_rows;
    atomic_init(&transfer->next_chunk, 0);
    atomic_init(&transfer->chunks_done, 0);
    unsigned threads = ha_config()->thread_count;
    if (threads == 1 || copy->width * all_rows < PARALLEL_MIN_BYTES || overlap(copy)) {
        return;
    }
    if (all_rows == 1) {
        transfer->rows_per_chunk = 0;
        transfer->chunk_count = (copy->width + CHUNK_BYTES - 1) / CHUNK_BYTES;
    } else {
        size_t rows = CHUNK_BYTES / copy->width;
        transfer->rows_per_chunk = rows > 0 ? rows : 1;
        transfer->chunk_count =
            (all_rows + transfer->rows_per_chunk - 1) / transfer->rows_per_chunk;
    }
    uint64_t helpers = transfer->chunk_count - 1;
    if (helpers > threads - 1) {
        helpers = threads - 1;
    }
    op->helpers = (uint32_t)(helpers < HELPERS_MAX ? helpers : HELPERS_MAX);
}

/* ---- checks ---- */

struct side {
    const char *argument;
    const void *ptr;
    size_t pitch;
    size_t slice;
    bool known; /* it has to be memory that the device knows */
    bool written;
};

static hipError_t
side_check(const struct side *side, const struct ha_copy *copy)
{
    const char *argument = side->argument;
    const void *ptr = side->ptr;
    size_t pitch = side->pitch;
    size_t slice = side->slice;
    size_t extent;
    hipError_t narrow = copy->described || copy->src == NULL
                            ? hipErrorInvalidValue
                            : hipErrorInvalidPitchValue;
    if (ptr == NULL) {
        return ha_cpu_fail(hipErrorInvalidValue, "argument '%s' is NULL", argument);
    }
    if (copy->height > 1 && pitch < copy->width) {
        return ha_cpu_fail(
            narrow,
            "the pitch of argument '%s' is %zu bytes, less than the width "
            "of %zu bytes",
            argument, pitch, copy->width);
    }
    if (copy->depth > 1 && (slice < copy->width || slice / copy->height < pitch)) {
        return ha_cpu_fail(
            narrow,
            "a slice of argument '%s' is %zu bytes, less than %zu rows of %zu bytes",
            argument, slice, copy->height, pitch);
    }
    if (!extent_of(copy, pitch, slice, &extent)) {
        return ha_cpu_fail(
            hipErrorInvalidValue,
            "argument '%s': %zu slices of %zu rows of %zu bytes are more than there "
            "can be",
            argument, copy->depth, copy->height, pitch);
    }
    if ((uintptr_t)ptr > UINTPTR_MAX - extent) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument '%s': %zu bytes at %p run past the address space",
                           argument, extent, ptr);
    }
    return side->written
               ? ha_memory_check_write(argument, ptr, extent, side->known, NULL)
               : ha_memory_check(argument, ptr, extent, side->known, NULL);
}

static struct ha_copy
with_depth(const struct ha_copy *copy)
{
    struct ha_copy whole = *copy;
    whole.depth = copy->depth > 1 ? copy->depth : 1;
    return whole;
}

hipError_t
ha_copy_check(const struct ha_copy *given, bool *work)
{
    const struct ha_copy copy = with_depth(given);
    *work = copy.width != 0 && copy.height != 0;
    if (!*work) {
        return hipSuccess;
    }
    const struct side dst = {"dst",          copy.dst,       copy.dst_pitch,
                             copy.dst_slice, copy.dst_known, true};
    const struct side src = {"src",          copy.src,       copy.src_pitch,
                             copy.src_slice, copy.src_known, false};
    hipError_t code = side_check(&dst, &copy);
    return code == hipSuccess ? side_check(&src, &copy) : code;
}

/* A fill as a copy without a source. */
static struct ha_copy
copy_of_fill(const struct ha_fill *fill)
{
    return (struct ha_copy){.dst = fill->dst,
                            .dst_pitch = fill->pitch,
                            .dst_slice = fill->slice,
                            .width = fill->width,
                            .height = fill->height,
                            .depth = fill->depth > 1 ? fill->depth : 1};
}

/* The bytes were checked: they are as many as there can be. */
static void
side_check_order(const struct side *side, const struct ha_copy *copy,
                 const struct ha_stream *stream)
{
    size_t extent;
    if (side->ptr != NULL && extent_of(copy, side->pitch, side->slice, &extent)) {
        ha_found_late_access(side->ptr, extent,
                             side->written ? HA_CHECK_WRITES : HA_CHECK_READS,
                             ha_stream_place(stream));
    }
}

void
ha_copy_check_order(const struct ha_copy *given, const struct ha_stream *stream)
{
    const struct ha_copy copy = with_depth(given);
    const struct side dst = {"dst",          copy.dst,       copy.dst_pitch,
                             copy.dst_slice, copy.dst_known, true};
    const struct side src = {"src",          copy.src,       copy.src_pitch,
                             copy.src_slice, copy.src_known, false};
    side_check_order(&dst, &copy, stream);
    side_check_order(&src, &copy, stream);
}

void
ha_fill_check_order(const struct ha_fill *fill, const struct ha_stream *stream)
{
    const struct ha_copy copy = copy_of_fill(fill);
    const struct side dst = {"dst", fill->dst, fill->pitch, fill->slice, true, true};
    side_check_order(&dst, &copy, stream);
}

hipError_t
ha_fill_check(const struct ha_fill *fill, bool *work)
{
    const struct ha_copy copy = copy_of_fill(fill);
    *work = fill->width != 0 && fill->height != 0;
    if (!*work) {
        return hipSuccess;
    }
    const struct side dst = {"dst", fill->dst, fill->pitch, fill->slice, true, true};
    hipError_t code = side_check(&dst, &copy);
    if (code != hipSuccess) {
        return code;
    }
    if ((uintptr_t)fill->dst % fill->element_bytes != 0 ||
        (fill->height > 1 && fill->pitch % fill->element_bytes != 0) ||
        (fill->depth > 1 && fill->slice % fill->element_bytes != 0)) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'dst' (%p) or its pitch is not a multiple of the "
                           "element size %u",
                           fill->dst, fill->element_bytes);
    }
    return hipSuccess;
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

static bool
is_within_device(hipMemcpyKind kind)
{
    return kind == hipMemcpyDeviceToDevice || kind == hipMemcpyDeviceToDeviceNoCU;
}

bool
ha_copy_is_to_device(hipMemcpyKind kind)
{
    return kind == hipMemcpyHostToDevice || is_within_device(kind);
}

bool
ha_copy_is_from_device(hipMemcpyKind kind)
{
    return kind == hipMemcpyDeviceToHost || is_within_device(kind);
}

/* ---- operations ---- */

/* The device that has the memory; -1: the host. */
static int
device_of(const void *address)
{
    struct ha_range range;

    if (!ha_memory_find(address, &range) || range.kind == HA_MEMORY_HOST ||
        range.kind == HA_MEMORY_REGISTERED) {
        return -1;
    }
    return range.device;
}

/* What the copy or fill touches, for the check of races; NULL where there is none. */
static struct ha_deed *
deed_of(const struct ha_copy *copy, const void *aside)
{
    if (!ha_order_on()) {
        return NULL;
    }
    const struct ha_deed_rows to = {copy->dst,   copy->dst_pitch, copy->dst_slice,
                                    copy->width, copy->height,    copy->depth};
    const struct ha_deed_rows from = {copy->src,   copy->src_pitch, copy->src_slice,
                                      copy->width, copy->height,    copy->depth};
    int device = device_of(copy->dst);
    struct ha_deed *deed = ha_deed_of_call(
        device >= 0 || copy->src == NULL ? device : device_of(copy->src));
    if (copy->src != NULL && aside == NULL) {
        ha_deed_add_rows(deed, HA_CHECK_READS, &from);
    }
    ha_deed_add_rows(deed, HA_CHECK_WRITES, &to);
    return deed;
}

/* Steals `aside`, which may be NULL. */
static struct ha_op *
transfer_op(const struct ha_copy *copy, void *aside, uint32_t value,
            uint32_t element_bytes)
{
    struct ha_op *op = ha_op_new(&transfer_class);
    if (op == NULL) {
        free(aside);
        return NULL;
    }
    struct transfer *transfer = transfer_of(op);
    transfer->copy = *copy;
    transfer->aside = aside;
    transfer->origin = ha_copy_origin();
    transfer->value = value;
    transfer->element_bytes = element_bytes;
    flatten(&transfer->copy);
    op->deed = deed_of(&transfer->copy, aside);
    op->known = true;
    op->caller = true;
    transfer_cut(transfer, op);
    return op;
}

struct ha_op *
ha_copy_op(const struct ha_copy *copy, void *aside)
{
    const struct ha_copy whole = with_depth(copy);
    return transfer_op(&whole, aside, 0, 0);
}

struct ha_op *
ha_fill_op(const struct ha_fill *fill)
{
    const struct ha_copy copy = copy_of_fill(fill);
    return transfer_op(&copy, NULL, fill->value, fill->element_bytes);
}

hipError_t
ha_copy_run(struct ha_stream *stream, struct ha_op *op, enum ha_run how)
{
    const struct ha_copy *copy = &transfer_of(op)->copy;
    size_t bytes = copy->width * copy->height * copy->depth;
    if (how == HA_RUN_ASYNC && bytes <= CHEAP_MAX_BYTES) {
        how = HA_RUN_CHEAP;
    }
    struct ha_device_order order = {.count = 0};
    ha_device_order_add(&order, stream, copy->dst);
    ha_device_order_add(&order, stream, copy->src);
    return ha_device_order_run(&order, stream, op, how);
}

struct ha_ticket *
ha_copy_ticket(const struct ha_copy *copy, hipStream_t stream)
{
    size_t depth = copy->depth > 0 ? copy->depth : 1;

    if (!ha_activity_wants(HA_WANT_COPY)) {
        return NULL;
    }
    const struct ha_activity_copy record = {
        .queue = (uint64_t)(uintptr_t)stream,
        .source_device = device_of(copy->src),
        .target_device = device_of(copy->dst),
        .bytes = copy->width * copy->height * depth,
        .source = copy->src,
        .target = copy->dst,
    };
    return ha_ticket_copy(&record);
}

static uint32_t
blocks_of(size_t threads, size_t block)
{
    size_t blocks = (threads + block - 1) / block;
    return blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX;
}

/* Rows without gaps are a line. */
static bool
is_line(const struct ha_fill *fill)
{
    return (fill->height == 1 || fill->pitch == fill->width) &&
           (fill->depth <= 1 || fill->slice == fill->width * fill->height);
}

struct ha_ticket *
ha_fill_ticket(const struct ha_fill *fill, hipStream_t stream, int device)
{
    uint32_t depth = fill->depth > 1 ? blocks_of(fill->depth, 1) : 1;
    size_t bytes = fill->width * fill->height * depth;
    bool line = is_line(fill);

    if (!ha_activity_wants(HA_WANT_DISPATCH)) {
        return NULL;
    }
    struct ha_activity_dispatch dispatch = {
        .device = device,
        .queue = (uint64_t)(uintptr_t)stream,
        .kernel = ha_fill_kernel(device, !line),
        .filled_bytes = bytes,
    };
    if (line) {
        size_t blocks = blocks_of((bytes + LINE_BYTES - 1) / LINE_BYTES, LINE_THREADS);
        dispatch.grid[0] =
            blocks < LINE_BLOCKS_MAX ? (uint32_t)blocks : (uint32_t)LINE_BLOCKS_MAX;
        dispatch.grid[1] = dispatch.grid[2] = 1;
        dispatch.block[0] = LINE_THREADS;
        dispatch.block[1] = dispatch.block[2] = 1;
    } else {
        dispatch.grid[0] = blocks_of(fill->width / fill->element_bytes, ROWS_THREADS);
        dispatch.grid[1] = blocks_of(fill->height, ROWS_THREADS);
        dispatch.grid[2] = depth;
        dispatch.block[0] = dispatch.block[1] = ROWS_THREADS;
        dispatch.block[2] = 1;
    }
    return ha_ticket_dispatch(&dispatch);
}
