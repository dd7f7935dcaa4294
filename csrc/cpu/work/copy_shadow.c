/* SPDX-License-Identifier: MIT */
#include "cpu/work/copy_shadow.h"

#include "cpu/base/thread.h"
#include "cpu/check/stack.h"
#include "cpu/memory/check_found.h"
#include "cpu/memory/memory.h"
#include "cpu/memory/shadow.h"

struct ha_copy_origin
ha_copy_origin(void)
{
    if (!ha_shadow_any()) {
        return (struct ha_copy_origin){0};
    }
    return (struct ha_copy_origin){.call = ha_thread_self()->function,
                                   .stack = ha_check_stack_taken()};
}

static bool
is_host(const void *address)
{
    struct ha_range range;

    return !ha_memory_find(address, &range) || range.kind == HA_MEMORY_HOST ||
           range.kind == HA_MEMORY_REGISTERED;
}

/* A finding a copy is enough. */
static bool
row_found(const unsigned char *src, size_t bytes, const struct ha_copy_origin *origin)
{
    uint32_t number;

    if (!ha_shadow_computed((uintptr_t)src, bytes, &number)) {
        return false;
    }
    ha_found_computed(bytes, number, origin->call, origin->stack);
    return true;
}

void
ha_copy_shadow(const struct ha_copy *copy, const struct ha_copy_origin *origin)
{
    if (!ha_shadow_any()) {
        return;
    }
    bool out = copy->src != NULL && is_host(copy->dst), found = false;
    for (size_t i = 0; i < copy->depth * copy->height; i++) {
        size_t slice = i / copy->height, row = i % copy->height;
        uintptr_t dst =
            (uintptr_t)copy->dst + slice * copy->dst_slice + row * copy->dst_pitch;
        if (copy->src == NULL) {
            ha_shadow_written(dst, copy->width);
            continue;
        }
        const unsigned char *src = (const unsigned char *)copy->src +
                                   slice * copy->src_slice + row * copy->src_pitch;
        if (out) {
            found = found || row_found(src, copy->width, origin);
        } else {
            ha_shadow_copied(dst, (uintptr_t)src, copy->width);
        }
    }
}
