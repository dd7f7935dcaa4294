/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cpu/memory/access.h"

#include <dlfcn.h>
#include <stdbool.h>

#include "cpu/exec/heap.h"
#include "cpu/exec/workgroup.h"
#include "cpu/memory/memory.h"
#include "cpu/memory/surface.h"
#include "cpu/memory/texture.h"

#define ACCESS_STACK_BYTES ((size_t)8 << 10)
#define RECENT_COUNT 4u /* a power of two; room for data of threads is scarce */

/* Ranges that were found to be allowed; the thread's own. */
static __thread struct {
    uint64_t changes; /* ha_memory_changes when they were found */
    uint32_t next;
    struct {
        uintptr_t begin, end;
    } ranges[RECENT_COUNT];
} recent __attribute__((tls_model("initial-exec")));

static bool
lies_in(uintptr_t at, uint64_t size, const void *begin, uint64_t bytes)
{
    uintptr_t offset = at - (uintptr_t)begin;
    return at >= (uintptr_t)begin && offset <= bytes && size <= bytes - offset;
}

static bool
is_recent(uintptr_t at, uint64_t size)
{
    if (recent.changes != ha_memory_changes()) {
        return false;
    }
    for (uint32_t i = 0; i < RECENT_COUNT; i++) {
        if (lies_in(at, size, (const void *)recent.ranges[i].begin,
                    recent.ranges[i].end - recent.ranges[i].begin)) {
            return true;
        }
    }
    return false;
}

static void
remember(const struct ha_range *range, uint64_t changes)
{
    if (recent.changes != changes) {
        for (uint32_t i = 0; i < RECENT_COUNT; i++) {
            recent.ranges[i].begin = recent.ranges[i].end = 0;
        }
        recent.changes = changes;
    }
    uint32_t place = recent.next++ % RECENT_COUNT;
    recent.ranges[place].begin = (uintptr_t)range->base;
    recent.ranges[place].end = (uintptr_t)range->base + range->size;
}

/* Stacks of lanes: also those of other lanes of the block. */
static bool
in_stacks(const struct ha_group *group, uintptr_t at, uint64_t size)
{
    const struct ha_fiber_set *set = &group->fibers;
    for (uint32_t i = 0; i < HA_FIBER_SEGMENT_COUNT; i++) {
        if (set->segments[i] != NULL &&
            lies_in(at, size, set->segments[i], set->stride * HA_FIBER_SEGMENT)) {
            return true;
        }
    }
    return lies_in(at, size, set->main.low, (uint64_t)(set->main.high - set->main.low));
}

static bool
in_arguments(const struct ha_launch *launch, uintptr_t at, uint64_t size)
{
    const struct ha_image_kernel *kernel = launch->kernel;
    for (uint32_t i = 0; i < kernel->arg_count; i++) {
        if (lies_in(at, size, launch->args[i], kernel->args[i].size)) {
            return true;
        }
    }
    return false;
}

/* Constants and variables of the kernel's own image. */
static bool
in_image(const struct ha_launch *launch, uintptr_t at)
{
    Dl_info own;
    Dl_info other;
    return dladdr(launch->kernel, &own) != 0 && dladdr((const void *)at, &other) != 0 &&
           own.dli_fbase == other.dli_fbase;
}

/* A range that HIP knows; `beside` says that the access runs out of it. */
static bool
in_memory(uintptr_t at, uint64_t size, bool *beside)
{
    struct ha_range range;
    uint64_t changes = ha_memory_changes(); /* before the look */
    if (!ha_memory_find((const void *)at, &range) || range.kind == HA_MEMORY_RESERVED) {
        return false;
    }
    *beside = !lies_in(at, size, range.base, range.size);
    if (*beside) {
        return false;
    }
    if (range.kind != HA_MEMORY_MAPPED) {
        remember(&range, changes);
    }
    return true;
}

static bool
is_allowed(const struct ha_runner *runner, uintptr_t at, uint64_t size, bool *beside)
{
    const struct ha_group *group = runner->group;
    const struct ha_launch *launch = group->launch;
    uint64_t shared = launch->kernel->shared_static + launch->shared_dynamic_bytes;
    return in_memory(at, size, beside) ||
           (!*beside &&
            (lies_in(at, size, group->shared, shared) || in_stacks(group, at, size) ||
             in_arguments(launch, at, size) ||
             ha_heap_holds(launch->device, (const void *)at, size) ||
             ha_texture_holds((const void *)at, size) ||
             ha_surface_holds((const void *)at, size) || in_image(launch, at)));
}

bool
ha_access_allowed(const void *address, uint64_t size, bool *beside)
{
    *beside = false;
    return is_allowed(ha_runner_self, (uintptr_t)address, size, beside);
}

void
ha_access_call(const void *address, uint64_t size, uint32_t write)
{
    struct ha_runner *runner = ha_runner_self;
    uintptr_t at = (uintptr_t)address;
    bool beside = false;
    if (size == 0 || is_recent(at, size) ||
        (at >= (uintptr_t)runner->fiber->low && at < (uintptr_t)runner->fiber->high)) {
        return;
    }
    if (ha_runner_stack_short(runner, ACCESS_STACK_BYTES)) {
        runner->fault.kind = HA_FAULT_STACK;
        ha_runner_quit(runner);
    }
    ha_runner_busy(runner);
    bool allowed = is_allowed(runner, at, size, &beside);
    ha_runner_idle(runner);
    if (allowed) {
        return;
    }
    runner->fault.kind = HA_FAULT_ADDRESS;
    runner->fault.address = at;
    runner->fault.detail =
        beside  ? write ? "a write beside an allocation" : "a read beside an allocation"
        : write ? "a write to memory that HIP does not know"
                : "a read of memory that HIP does not know";
    ha_runner_quit(runner);
}
