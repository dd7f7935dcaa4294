/* SPDX-License-Identifier: MIT */
/* Pageable memory in asynchronous copies.  HIP has read such memory, or written it,
 * when the call returns, so that a program may let go of it, or look at it.  A small
 * source is put aside; for all else the call waits, as it does for copies within the
 * host. */
#include "cpu/work/copy.h"

#include <stdlib.h>

#include "cpu/memory/memory.h"
#include "cpu/work/copy_rows.h"

/* As many operations as a queue may hold have to find room. */
#define ASIDE_MAX_BYTES ((size_t)256 << 10)

static _Thread_local const void *kept[2]; /* by the caller of this thread's copies */

void
hipadaptKeepsMemory(const void *dst, const void *src)
{
    kept[0] = dst;
    kept[1] = src;
}

enum place { PLACE_PAGEABLE, PLACE_KEPT, PLACE_HOST, PLACE_DEVICE };

static enum place
place_of(const void *ptr, bool known)
{
    struct ha_range range;
    if (known) {
        return PLACE_DEVICE;
    }
    if (!ha_memory_find(ptr, &range)) {
        return ptr == kept[0] || ptr == kept[1] ? PLACE_KEPT : PLACE_PAGEABLE;
    }
    return range.kind == HA_MEMORY_HOST || range.kind == HA_MEMORY_REGISTERED
               ? PLACE_HOST
               : PLACE_DEVICE;
}

void *
ha_copy_aside(struct ha_copy *copy, bool *wait)
{
    size_t depth = copy->depth > 1 ? copy->depth : 1;
    size_t bytes;
    bool fits = !__builtin_mul_overflow(copy->width, copy->height, &bytes) &&
                !__builtin_mul_overflow(bytes, depth, &bytes) &&
                bytes <= ASIDE_MAX_BYTES;
    enum place to = place_of(copy->dst, copy->dst_known);
    enum place from = place_of(copy->src, copy->src_known);
    *wait = to == PLACE_PAGEABLE ||
            (to == PLACE_HOST && (from == PLACE_PAGEABLE || from == PLACE_HOST));
    if (*wait || from != PLACE_PAGEABLE) {
        return NULL;
    }
    unsigned char *aside = fits ? malloc(bytes) : NULL;
    if (aside == NULL) {
        *wait = true;
        return NULL;
    }
    struct ha_copy packing = *copy;
    packing.dst = aside;
    packing.dst_pitch = copy->width;
    packing.dst_slice = copy->width * copy->height;
    ha_copy_rows(&packing, 0, copy->height * depth);
    copy->src = aside;
    copy->src_pitch = copy->width;
    copy->src_slice = copy->width * copy->height;
    return aside;
}
