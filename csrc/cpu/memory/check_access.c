/* SPDX-License-Identifier: MIT */
#include "cpu/memory/check_access.h"

#include <stdlib.h>

#include "cpu/base/check_kinds.h"
#include "cpu/check/finding.h"
#include "cpu/check/race.h"
#include "cpu/check/summary.h"
#include "cpu/exec/checks.h"
#include "cpu/memory/check_bounds.h"
#include "cpu/memory/check_meeting.h"
#include "cpu/memory/check_memory.h"
#include "cpu/memory/check_race.h"
#include "cpu/memory/check_shadow.h"
#include "cpu/memory/check_side.h"
#include "cpu/memory/check_told.h"
#include "cpu/memory/shadow.h"
#include "cpu/memory/shadow_origin.h"

static void
check_alignment(const struct ha_told *access)
{
    if (!ha_told_is_aligned(access)) {
        ha_told_report(access, HA_FOUND_MISALIGNED, "misaligned",
                       ha_told_memory(access));
    }
}

/* Memory that other lanes cannot reach, or that nobody writes. */
static bool
is_private(const struct ha_told *access)
{
    enum ha_check_root root = access->site->root;

    return root == HA_ROOT_LOCAL || root == HA_ROOT_CONSTANT ||
           root == HA_ROOT_ARGUMENT || ha_told_on_stack(access);
}

/* ---- what nobody wrote ---- */

/* The value of the access is an origin. */
static void
report_unwritten(const struct ha_told *access)
{
    struct ha_check_memory memory;

    if ((ha_check_kinds() & HA_CHECK_INIT) == 0) {
        return;
    }
    ha_runner_busy(access->runner);
    ha_origin_tell((uint32_t)access->value, &memory);
    struct ha_check_finding found = {
        .what = HA_FOUND_UNINITIALISED,
        .device = (int)access->runner->group->launch->device,
        .address = memory.base,
        .here = ha_told_side(access),
        .memory = memory,
    };
    ha_finding_add(&found);
    ha_runner_idle(access->runner);
}

/* ---- the door ---- */

/* NULL: no memory. */
static struct ha_told_known *
checks_of(struct ha_runner *runner)
{
    if (runner->checks == NULL) {
        ha_runner_busy(runner);
        runner->checks = calloc(1, sizeof(struct ha_told_known));
        ha_runner_idle(runner);
    }
    return runner->checks;
}

/* What most accesses are where only bounds are asked for: aligned, and in memory that
 * is known.  Needs no stack to speak of. */
static bool
is_plainly_right(const struct ha_told *access)
{
    return ha_told_by_pointer(access) && access->known != NULL && access->size > 0 &&
           (access->site->what & (HA_SITE_FENCE | HA_SITE_UNWRITTEN)) == 0 &&
           access->runner->group->launch->checks == NULL &&
           ha_told_is_aligned(access) && ha_told_known_range(access);
}

static void
told_access(const void *address, uint64_t size, const struct ha_check_site *site,
            const void *root, uint64_t value)
{
    struct ha_runner *runner = ha_runner_self;
    const struct ha_told access = {.runner = runner,
                                   .known = checks_of(runner),
                                   .at = (uintptr_t)address,
                                   .size = size,
                                   .site = site,
                                   .root = (uintptr_t)root,
                                   .value = value};
    bool fence = (site->what & HA_SITE_FENCE) != 0, right = true, wild = false;
    bool unwritten = (site->what & HA_SITE_UNWRITTEN) != 0;

    if (is_plainly_right(&access)) {
        runner->group->launch->accesses++;
        return;
    }
    if ((size == 0 && !fence && !unwritten) || access.known == NULL) {
        return;
    }
    if (ha_runner_stack_short(runner, HA_CHECK_STACK_BYTES)) {
        runner->fault.kind = HA_FAULT_STACK;
        ha_runner_quit(runner);
    }
    if (unwritten) {
        report_unwritten(&access);
        return;
    }
    runner->group->launch->accesses += !fence;
    if (!fence && (ha_check_kinds() & HA_CHECK_MEMORY) != 0) {
        check_alignment(&access);
        right = ha_told_bounds(&access);
    } else if (!fence) {
        wild = ha_told_wild(&access);
    }
    if (right && runner->group->launch->checks != NULL && !is_private(&access)) {
        ha_told_race(&access, wild); /* who frees memory races with who still uses it */
    }
    if (wild) {
        ha_told_quit_wild(&access);
    }
}

/* ---- launches ---- */

bool
ha_check_launch_wanted(const struct ha_image_kernel *kernel)
{
    return (kernel->flags & (HA_KERNEL_CHECKED | HA_KERNEL_NUMBERS)) != 0 &&
           ha_check_kinds() != 0;
}

void
ha_check_launch_begin(struct ha_launch *launch)
{
    const uint32_t *dim = launch->grid.block_dim;
    uint32_t kinds = ha_check_kinds();

    launch->shadowed = (launch->kernel->flags & HA_KERNEL_SHADOWED) != 0;
    if ((kinds & HA_CHECK_RACE) != 0) {
        launch->checks = ha_race_start(dim[0] * dim[1] * dim[2], launch->warp_size,
                                       (kinds & HA_CHECK_RELAXED) != 0,
                                       launch->cooperative ? launch->block_count : 0);
    }
}

void
ha_check_launch_end(struct ha_launch *launch)
{
    if (launch->accesses > 0) {
        ha_summary_accesses(launch->accesses, 0);
        launch->accesses = 0;
    }
    ha_race_end(launch->checks);
    launch->checks = NULL;
}

static void
told_block(struct ha_launch *launch, uint64_t block)
{
    ha_race_block(launch->checks, block);
}

static void
told_barrier(struct ha_launch *launch)
{
    ha_runner_busy(ha_runner_self);
    ha_race_barrier(launch->checks);
    ha_runner_idle(ha_runner_self);
}

static void
told_warp(struct ha_launch *launch, uint32_t warp, uint64_t lanes)
{
    ha_runner_busy(ha_runner_self);
    ha_race_warp(launch->checks, warp, lanes);
    ha_runner_idle(ha_runner_self);
}

static void
told_grid(struct ha_launch *launch)
{
    ha_race_grid(launch->checks);
}

static void
told_gave(struct ha_launch *launch, void *at, uint64_t bytes)
{
    if ((ha_check_kinds() & HA_CHECK_MEMORY) != 0) {
        ha_checked_heap_add(at, bytes, (int)launch->device);
    }
    if (launch->checks != NULL) {
        ha_race_forget(launch->checks, (uintptr_t)at, bytes);
    }
}

static void
told_takes(struct ha_launch *launch, void *at)
{
    (void)launch;
    ha_checked_heap_freed(at);
}

const struct ha_checks ha_memory_checks = {
    .access = told_access,
    .block = told_block,
    .barrier = told_barrier,
    .warp = told_warp,
    .grid = told_grid,
    .meeting = ha_check_meeting,
    .gave = told_gave,
    .takes = told_takes,
    .shadow_calls = ha_shadowed_calls,
    .shadow = ha_shadowed_place,
    .shadow_do = ha_shadowed_do,
    .shadow_block = ha_shadowed_block,
    .shadow_warp = ha_shadowed_warp,
    .shadow_heap = ha_shadowed_heap,
};
