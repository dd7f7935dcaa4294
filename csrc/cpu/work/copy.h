/* SPDX-License-Identifier: MIT */
/* Copies and fills of one to three dimensions, as operations of streams.
 *
 * All memory of the device is memory of this process, so each direction is the same
 * copy; what differs is which addresses have to be known to the device.  Both sides are
 * checked against the allocations they lie in before anything is touched.  Big ones are
 * cut into chunks that several threads work on.  Small pageable sources are put aside
 * (cpu/work/copy_aside.c).
 *
 * Locks: none of its own. */
#ifndef HA_CPU_WORK_COPY_H
#define HA_CPU_WORK_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/hip.h"
#include "cpu/base/export.h"
#include "cpu/queue/stream.h"

struct ha_device;
struct ha_ticket;

/* `depth` slices of `height` rows of `width` bytes; one dimension is height 1, and
 * depth 0 or 1 is one slice. */
struct ha_copy {
    void *dst;
    const void *src;
    size_t dst_pitch; /* bytes from row to row */
    size_t src_pitch;
    size_t dst_slice; /* bytes from slice to slice */
    size_t src_slice;
    size_t width;
    size_t height;
    size_t depth;
    bool dst_known; /* refuse a destination that the device does not know */
    bool src_known;
    bool described; /* by a record: a pitch that is too small is a wrong value */
    bool in_order;  /* pageable memory too is touched in the stream's order only */
};

/* The same shape, filled with the lowest element_bytes of `value`. */
struct ha_fill {
    void *dst;
    size_t pitch;
    size_t slice;
    size_t width;
    size_t height;
    size_t depth;
    uint32_t value;
    uint32_t element_bytes; /* 1, 2 or 4 */
};

/* Checks a copy kind: hipErrorInvalidMemcpyDirection for a number that is none. */
hipError_t ha_copy_check_kind(hipMemcpyKind kind);

/* Whether `kind` says that the destination, or the source, is the device's. */
bool ha_copy_is_to_device(hipMemcpyKind kind);
bool ha_copy_is_from_device(hipMemcpyKind kind);

/* Checks against the memory that both sides lie in.  False in *work: nothing to do. */
hipError_t ha_copy_check(const struct ha_copy *copy, bool *work);
hipError_t ha_fill_check(const struct ha_fill *fill, bool *work);

/* Under check: looks whether such work in the stream comes behind a free of what it
 * touches (ha_found_late_access).  Pool lock held. */
void ha_copy_check_order(const struct ha_copy *copy, const struct ha_stream *stream);
void ha_fill_check_order(const struct ha_fill *fill, const struct ha_stream *stream);

/* For a copy from memory that HIP does not know: puts the bytes aside, lets `copy` read
 * them there, and returns what to free behind the copy.  NULL if there is nothing to
 * put aside; *wait then says whether the call has to wait for the copy instead. */
void *ha_copy_aside(struct ha_copy *copy, bool *wait);

/* A profiler's ticket (cpu/queue/ticket.h) for a copy that is about to be submitted;
 * NULL where none is wanted.  No lock held: tools run in it. */
struct ha_ticket *ha_copy_ticket(const struct ha_copy *copy, hipStream_t stream);

/* The same for a fill by a stream of this device: the launch of a kernel that AMD's
 * device has for it. */
struct ha_ticket *ha_fill_ticket(const struct ha_fill *fill, hipStream_t stream,
                                 int device);

/* The operation of a copy that was checked, or NULL without memory.  Steals `aside`
 * (ha_copy_aside), which may be NULL. Pool lock held. */
struct ha_op *ha_copy_op(const struct ha_copy *copy, void *aside);
struct ha_op *ha_fill_op(const struct ha_fill *fill);

/* ha_stream_run for such an operation, which is ordered with devices whose memory it
 * touches (cpu/work/device_order.h).  Gives the pool lock back. */
hipError_t ha_copy_run(struct ha_stream *stream, struct ha_op *op, enum ha_run how);

/* For language bindings that keep the memory of asynchronous copies until these are
 * done: this thread's copies neither wait for pageable memory at these addresses nor
 * put it aside, until the next call of this function (NULL: no memory). */
HA_EXPORT void hipadaptKeepsMemory(const void *dst, const void *src);

#endif
