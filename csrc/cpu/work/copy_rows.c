/* SPDX-License-Identifier: MIT */
#include "cpu/work/copy_rows.h"

#include <string.h>

#include "cpu/work/copy.h"

#define INLINED static inline __attribute__((always_inline))

/* Rows of one slice. */
struct rows {
    unsigned char *dst;
    const unsigned char *src; /* NULL: a fill */
    size_t dst_pitch;
    size_t src_pitch;
    size_t count;
};

/* Moves `width` bytes, which lie between `half` and twice as many: the first and the
 * last `half` of them, both read before either is written. */
INLINED void
move_halves(unsigned char *dst, const unsigned char *src, size_t width, size_t half)
{
    unsigned char head[16];
    unsigned char tail[16];
    memcpy(head, src, half);
    memcpy(tail, src + width - half, half);
    memcpy(dst, head, half);
    memcpy(dst + width - half, tail, half);
}

/* Moves `bytes`, which is a power of two up to 16. */
INLINED void
move_whole(unsigned char *dst, const unsigned char *src, size_t bytes)
{
    unsigned char all[16];
    memcpy(all, src, bytes);
    memcpy(dst, all, bytes);
}

/* Rows of a width that is one move.  With a constant it is instructions, not a call;
 * four rows a round, because a round costs as much as a row. */
INLINED void
move_single(const struct rows *rows, size_t width)
{
    unsigned char *dst = rows->dst;
    const unsigned char *src = rows->src;
    size_t dst_pitch = rows->dst_pitch;
    size_t src_pitch = rows->src_pitch;
    size_t row = 0;
    for (; row + 4 <= rows->count; row += 4) {
        move_whole(dst, src, width);
        move_whole(dst + dst_pitch, src + src_pitch, width);
        move_whole(dst + 2 * dst_pitch, src + 2 * src_pitch, width);
        move_whole(dst + 3 * dst_pitch, src + 3 * src_pitch, width);
        dst += 4 * dst_pitch;
        src += 4 * src_pitch;
    }
    for (; row < rows->count; row++) {
        move_whole(dst, src, width);
        dst += dst_pitch;
        src += src_pitch;
    }
}

/* Rows as wide as `half` or up to twice as wide. */
INLINED void
move_double(const struct rows *rows, size_t width, size_t half)
{
    unsigned char *dst = rows->dst;
    const unsigned char *src = rows->src;
    for (size_t row = 0; row < rows->count; row++) {
        move_halves(dst, src, width, half);
        dst += rows->dst_pitch;
        src += rows->src_pitch;
    }
}

static void
move_wide(const struct rows *rows, size_t width)
{
    unsigned char *dst = rows->dst;
    const unsigned char *src = rows->src;
    for (size_t row = 0; row < rows->count; row++) {
        memmove(dst, src, width);
        dst += rows->dst_pitch;
        src += rows->src_pitch;
    }
}

static void
move_rows(const struct rows *rows, size_t width)
{
    switch (width) {
    case 1:
        move_single(rows, 1);
        return;
    case 2:
        move_single(rows, 2);
        return;
    case 4:
        move_single(rows, 4);
        return;
    case 8:
        move_single(rows, 8);
        return;
    case 16:
        move_single(rows, 16);
        return;
    default:
        break;
    }
    if (width < 4) {
        move_double(rows, width, 2);
    } else if (width < 8) {
        move_double(rows, width, 4);
    } else if (width < 16) {
        move_double(rows, width, 8);
    } else if (width <= 32) {
        move_double(rows, width, 16);
    } else {
        move_wide(rows, width);
    }
}

/* The rows from `first` on that lie in its slice, at most `count`. */
static struct rows
rows_from(const struct ha_copy *copy, size_t first, size_t count)
{
    size_t slice = first / copy->height;
    size_t y = first - slice * copy->height;
    size_t left = copy->height - y;
    struct rows rows = {
        .dst =
            (unsigned char *)copy->dst + slice * copy->dst_slice + y * copy->dst_pitch,
        .dst_pitch = copy->dst_pitch,
        .src_pitch = copy->src_pitch,
        .count = left < count ? left : count,
    };
    if (copy->src != NULL) {
        rows.src = (const unsigned char *)copy->src + slice * copy->src_slice +
                   y * copy->src_pitch;
    }
    if (rows.count == 1) { /* its pitch may be any number */
        rows.dst_pitch = 0;
        rows.src_pitch = 0;
    }
    return rows;
}

/* Slices of one row each are the rows of one slice. */
static struct ha_copy
upright(const struct ha_copy *copy)
{
    struct ha_copy same = *copy;
    if (copy->height == 1 && copy->depth > 1) {
        same.height = copy->depth;
        same.depth = 1;
        same.dst_pitch = copy->dst_slice;
        same.src_pitch = copy->src_slice;
    }
    return same;
}

void
ha_copy_rows(const struct ha_copy *copy, size_t first, size_t count)
{
    struct ha_copy shape = upright(copy);
    while (count > 0) {
        struct rows rows = rows_from(&shape, first, count);
        move_rows(&rows, shape.width);
        first += rows.count;
        count -= rows.count;
    }
}

void
ha_fill_bytes(void *dst, size_t bytes, uint32_t value, uint32_t element_bytes)
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
fill_column(const struct rows *rows, unsigned char value)
{
    unsigned char *dst = rows->dst;
    for (size_t row = 0; row < rows->count; row++) {
        *dst = value;
        dst += rows->dst_pitch;
    }
}

void
ha_fill_rows(const struct ha_copy *copy, size_t first, size_t count, uint32_t value,
             uint32_t element_bytes)
{
    struct ha_copy shape = upright(copy);
    while (count > 0) {
        struct rows rows = rows_from(&shape, first, count);
        first += rows.count;
        count -= rows.count;
        if (shape.width == 1) {
            fill_column(&rows, (unsigned char)value);
            continue;
        }
        for (; rows.count > 0; rows.count--, rows.dst += rows.dst_pitch) {
            ha_fill_bytes(rows.dst, shape.width, value, element_bytes);
        }
    }
}
