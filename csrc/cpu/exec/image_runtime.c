/* SPDX-License-Identifier: MIT */
#include "cpu/exec/image_runtime.h"

#include "core/clock.h"
#include "cpu/exec/checks.h"
#include "cpu/exec/debug.h"
#include "cpu/exec/fault.h"
#include "cpu/exec/heap.h"
#include "cpu/exec/multi_grid.h"
#include "cpu/exec/numbers.h"
#include "cpu/exec/print.h"
#include "cpu/exec/workgroup.h"

static struct ha_lane *
runtime_self(void)
{
    return ha_runner_self->lane;
}

static uint64_t
runtime_clock(void)
{
    return ha_clock_ns();
}

static uint64_t
runtime_query(uint32_t what)
{
    const struct ha_launch *launch = ha_runner_self->group->launch;
    const struct ha_cooperative *cooperative = launch->cooperative;
    const struct ha_multi *multi = cooperative ? cooperative->multi : NULL;
    switch (what) {
    case HA_QUERY_COOPERATIVE:
        return cooperative != NULL;
    case HA_QUERY_SHARED_DYNAMIC:
        return launch->shared_dynamic_bytes;
    case HA_QUERY_GRID_COUNT:
        return multi ? multi->count : 0;
    case HA_QUERY_GRID_RANK:
        return multi ? cooperative->rank : 0;
    case HA_QUERY_MULTI_SIZE:
        return multi ? multi->size : 0;
    case HA_QUERY_MULTI_FIRST:
        return multi ? multi->grids[cooperative->rank].first : 0;
    default:
        return 0;
    }
}

static void
runtime_assert_fail(const char *text, const char *file, uint32_t line,
                    const char *function)
{
    struct ha_runner *runner = ha_runner_self;
    runner->fault.kind = HA_FAULT_ASSERT;
    runner->fault.text = text;
    runner->fault.file = file;
    runner->fault.line[0] = line;
    runner->fault.function = function;
    ha_runner_quit(runner);
}

/* The memory room's answer: it lies above this room. */
static void (*access_question)(const void *address, uint64_t size, uint32_t write);

void
ha_exec_set_access(void (*question)(const void *address, uint64_t size, uint32_t write))
{
    access_question = question;
}

static void
runtime_access(const void *address, uint64_t size, uint32_t write)
{
    access_question(address, size, write);
}

const struct ha_checks *ha_exec_checks;

void
ha_exec_set_checks(const struct ha_checks *checks)
{
    ha_exec_checks = checks;
}

static void
runtime_check(const void *address, uint64_t size, const struct ha_check_site *site,
              const void *root, uint64_t value)
{
    struct ha_lane *lane = ha_runner_self->lane;
    if (site->what & HA_SITE_MEETS) {
        ((struct ha_lane_record *)(void *)lane)->site = site;
        return;
    }
    ha_exec_checks->access(address, size, site, root, value);
}

static struct ha_shadow_calls *
runtime_shadow_calls(void)
{
    return ha_exec_checks->shadow_calls();
}

static struct ha_image_shadow
runtime_shadow(const void *address, uint64_t size, uint32_t write)
{
    return ha_exec_checks->shadow(address, size, write);
}

static uint64_t
runtime_shadow_do(uint32_t op, void *to, const void *from, uint64_t size,
                  uint64_t value)
{
    return ha_exec_checks->shadow_do(op, to, from, size, value);
}

static void *
runtime_alloc(uint64_t size)
{
    void *ptr = ha_heap_call_alloc(size);
    if (ptr != NULL && ha_runner_self->group->launch->shadowed) {
        ha_exec_checks->shadow_heap(ptr, size);
    }
    return ptr;
}

const struct ha_image_runtime ha_exec_runtime = {
    .self = runtime_self,
    .block = ha_group_call_block,
    .warp = ha_group_call_warp,
    .print = ha_print_call,
    .assert_fail = runtime_assert_fail,
    .alloc = runtime_alloc,
    .release = ha_heap_call_release,
    .clock = runtime_clock,
    .pause = ha_group_call_pause,
    .query = runtime_query,
    .access = runtime_access,
    .check = runtime_check,
    .made = ha_numbers_call_made,
    .debug_tensor = ha_debug_call,
    .shadow_calls = runtime_shadow_calls,
    .shadow = runtime_shadow,
    .shadow_do = runtime_shadow_do,
};
