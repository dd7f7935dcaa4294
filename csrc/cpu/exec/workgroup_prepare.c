/* SPDX-License-Identifier: MIT */
/* The memory of a group: records and stacks of its lanes, and its shared memory between
 * guards. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cpu/exec/workgroup.h"
#include "cpu/exec/checks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SHARED_GUARD_BYTES ((size_t)64 << 10)
#define SHARED_ALIGN_BYTES ((size_t)64)

static bool
grow_lanes(struct ha_group *group, uint32_t count)
{
    if (count <= group->lane_capacity) {
        return true;
    }
    struct ha_lane_record *lanes =
        aligned_alloc(_Alignof(struct ha_lane_record), count * sizeof *lanes);
    struct ha_fiber **fiber_of = calloc(count, sizeof *fiber_of);
    struct ha_fiber **recycled = calloc(count, sizeof *recycled);
    /* One more, because the executor looks at the lane behind the next. */
    void **suspended = calloc(count + 1u, sizeof *suspended);
    if (!lanes || !fiber_of || !recycled || !suspended) {
        free(lanes);
        free(suspended);
        free(fiber_of);
        free(recycled);
        return false;
    }
    memset(lanes, 0, count * sizeof *lanes);
    free(group->lanes);
    free(group->suspended);
    free(group->fiber_of);
    free(group->recycled);
    group->lanes = lanes;
    group->suspended = suspended;
    group->fiber_of = fiber_of;
    group->recycled = recycled;
    group->lane_capacity = count;
    memset(group->lane_dim, 0, sizeof group->lane_dim);
    return true;
}

/* With `slack` on both sides: what comes there is told, and hits nothing. */
static bool
grow_shared(struct ha_group *group, size_t bytes, size_t slack)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    size_t need = (bytes + 2 * slack + page_bytes) / page_bytes * page_bytes +
                  2 * SHARED_GUARD_BYTES;
    if (need > group->shared_map_bytes) {
        char *map = mmap(NULL, need, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map == MAP_FAILED) {
            return false;
        }
        if (mprotect(map + SHARED_GUARD_BYTES, need - 2 * SHARED_GUARD_BYTES,
                     PROT_READ | PROT_WRITE) != 0) {
            munmap(map, need);
            return false;
        }
        if (group->shared_map) {
            munmap(group->shared_map, group->shared_map_bytes);
        }
        group->shared_map = map;
        group->shared_map_bytes = need;
    }
    size_t rounded =
        (bytes + slack + SHARED_ALIGN_BYTES - 1) & ~(SHARED_ALIGN_BYTES - 1);
    group->shared =
        group->shared_map + group->shared_map_bytes - SHARED_GUARD_BYTES - rounded;
    return true;
}

static void
number_lanes(struct ha_group *group, const uint32_t dim[3])
{
    if (memcmp(group->lane_dim, dim, sizeof group->lane_dim) == 0) {
        return;
    }
    struct ha_lane_record *record = group->lanes;
    for (uint32_t z = 0; z < dim[2]; z++) {
        for (uint32_t y = 0; y < dim[1]; y++) {
            for (uint32_t x = 0; x < dim[0]; x++, record++) {
                record->lane.thread_idx[0] = x;
                record->lane.thread_idx[1] = y;
                record->lane.thread_idx[2] = z;
            }
        }
    }
    memcpy(group->lane_dim, dim, sizeof group->lane_dim);
}

/* The place, and the frames of all gangs of a block. */
static bool
grow_frame(struct ha_group *group)
{
    const struct ha_image_kernel *kernel = group->kernel;
    const uint32_t *dim = group->launch->grid.block_dim;
    uint32_t width = kernel->gang_width > 0 ? kernel->gang_width : 1;
    size_t gangs = (size_t)((dim[0] + width - 1) / width) * dim[1] * dim[2];
    size_t need = sizeof(struct ha_place) + gangs * kernel->gang_frame;
    if (need <= group->frame_bytes) {
        return true;
    }
    char *map =
        mmap(NULL, need, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) {
        return false;
    }
    if (group->frame) {
        munmap(group->frame, group->frame_bytes);
    }
    group->frame = map;
    group->frame_bytes = need;
    return true;
}

bool
ha_group_prepare_reference(struct ha_group *group)
{
    const struct ha_image_kernel *kernel = group->kernel;
    bool blocks = (kernel->flags & (HA_KERNEL_BLOCK | HA_KERNEL_WARP)) != 0;
    if (!ha_fiber_reserve(&group->fibers, blocks ? group->lane_count : 1,
                          group->launch->stack_bytes) ||
        !grow_lanes(group, group->lane_count)) {
        return false;
    }
    number_lanes(group, group->launch->grid.block_dim);
    return true;
}

bool
ha_group_prepare(struct ha_group *group, struct ha_launch *launch)
{
    const struct ha_image_kernel *kernel = launch->kernel;
    const uint32_t *dim = launch->grid.block_dim;
    uint64_t lanes = (uint64_t)dim[0] * dim[1];
    if (dim[0] == 0 || dim[1] == 0 || dim[2] == 0 || lanes > HA_GROUP_LANES_MAX) {
        return false;
    }
    lanes *= dim[2];
    if (lanes > HA_GROUP_LANES_MAX ||
        (launch->warp_size != 32 && launch->warp_size != 64)) {
        return false;
    }
    group->launch = launch;
    group->kernel = kernel;
    group->controlled = (kernel->flags & HA_KERNEL_CONTROL) != 0;
    group->lane_count = (uint32_t)lanes;
    group->warp_size = launch->warp_size;
    group->warp_shift = (uint32_t)__builtin_ctz(launch->warp_size);
    group->warp_count = (group->lane_count + group->warp_size - 1) >> group->warp_shift;
    if (!grow_shared(group,
                     (size_t)kernel->shared_static + launch->shared_dynamic_bytes,
                     launch->checked ? HA_SHARED_SLACK : 0)) {
        return false;
    }
    if (launch->fast && kernel->fast) {
        return ha_fiber_reserve(&group->fibers, 0, 0) && grow_frame(group);
    }
    return ha_group_prepare_reference(group);
}

void
ha_group_release(struct ha_group *group)
{
    ha_fiber_release(&group->fibers);
    free(group->lanes);
    free(group->suspended);
    free(group->fiber_of);
    free(group->recycled);
    if (group->shared_map) {
        munmap(group->shared_map, group->shared_map_bytes);
    }
    if (group->shadow) {
        munmap(group->shadow, group->shadow_bytes);
    }
    if (group->frame) {
        munmap(group->frame, group->frame_bytes);
    }
    memset(group, 0, sizeof *group);
}
