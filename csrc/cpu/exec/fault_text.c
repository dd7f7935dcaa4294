/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cpu/exec/fault_text.h"

#include <stdarg.h>
#include <stdio.h>
#ifdef HA_STRESS
#include <unistd.h>
#endif

#include "cpu/base/check_kinds.h"
#include "cpu/exec/fault.h"
#include "cpu/exec/fiber.h"
#include "cpu/exec/multi_grid.h"
#include "cpu/exec/print.h"
#include "cpu/exec/workgroup.h"

bool
ha_fault_record(struct ha_launch *launch, enum ha_fault_kind kind, const char *text)
{
    int none = HA_FAULT_NONE;
    if (!atomic_compare_exchange_strong(&launch->fault, &none, (int)kind)) {
        return false;
    }
#ifdef HA_STRESS
    (void)usleep(200); /* others see the fault before its text is there */
#endif
    (void)snprintf(launch->fault_text, sizeof launch->fault_text, "%s", text);
    atomic_store_explicit(&launch->fault_ready, 1, memory_order_release);
    return true;
}

/* Text that grows at its end and is cut at its size. */
struct text {
    char bytes[HA_FAULT_TEXT_BYTES];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void
add(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text->bytes + text->used, sizeof text->bytes - text->used,
                           format, args);
    va_end(args);
    if (length > 0) {
        text->used += (size_t)length;
    }
    if (text->used >= sizeof text->bytes) {
        text->used = sizeof text->bytes - 1;
    }
}

static void
add_block(struct text *text, const struct ha_launch *launch, uint64_t index)
{
    const uint32_t *dim = launch->grid.grid_dim;
    uint64_t row = index / dim[0];
    add(text, "(%u,%u,%u)", (unsigned)(index % dim[0]), (unsigned)(row % dim[1]),
        (unsigned)(row / dim[1]));
}

static void
add_thread(struct text *text, const uint32_t *index)
{
    add(text, "(%u,%u,%u)", index[0], index[1], index[2]);
}

/* " thread (..)", or " threads (..) to (..)" if a gang of them runs. */
static void
add_gang(struct text *text, const struct ha_launch *launch,
         const struct ha_place *place)
{
    const uint32_t *dim = launch->grid.block_dim;
    uint32_t width = launch->kernel->gang_width;
    uint32_t in_row = (dim[0] + width - 1) / width;
    uint32_t row = place->gang / in_row;
    uint32_t index[3] = {place->gang % in_row * width, row % dim[1], row / dim[1]};
    uint32_t lanes = dim[0] - index[0] < width ? dim[0] - index[0] : width;
    if (place->lane < lanes) {
        index[0] += place->lane;
        lanes = 1;
    }
    add(text, lanes > 1 ? " threads " : " thread ");
    add_thread(text, index);
    if (lanes > 1) {
        index[0] += lanes - 1;
        add(text, " to ");
        add_thread(text, index);
    }
}

/* " in block (..) thread (..)", as far as that is known: a lane of the reference
 * function is, and a fast function says where it is. */
static void
add_where(struct text *text, const struct ha_group *group,
          const struct ha_runner *runner, uint64_t first, uint64_t last)
{
    const struct ha_launch *launch = group->launch;
    const struct ha_place *place = (const void *)group->frame;
    bool placed = !runner->lane && launch->fast && place && place->blocks > 0 &&
                  place->block >= first && place->block < last;
    if (placed) {
        first = place->block;
        last = last - first < place->blocks ? last : first + place->blocks;
    }
    add(text, last - first > 1 ? " in blocks " : " in block ");
    add_block(text, launch, first);
    if (last - first > 1) {
        add(text, " to ");
        add_block(text, launch, last - 1);
    }
    if (runner->lane) {
        add(text, " thread ");
        add_thread(text, runner->lane->thread_idx);
    } else if (placed && launch->kernel->gang_width > 0) {
        add_gang(text, launch, place);
    }
}

static void
add_address(struct text *text, const struct ha_group *group,
            const struct ha_fault *fault)
{
    uintptr_t shared_end = (uintptr_t)group->shared_map + group->shared_map_bytes;
    if (fault->text) {
        add(text, "%s (0x%llx)", fault->text, (unsigned long long)fault->address);
    } else if (fault->signal == SIGSEGV && fault->code == SI_KERNEL) {
        add(text, "access to an address that cannot exist");
    } else {
        add(text, "invalid access at 0x%llx", (unsigned long long)fault->address);
    }
    if (fault->detail) {
        add(text, " (%s)", fault->detail);
    }
    if (!fault->text && fault->address >= (uintptr_t)group->shared_map &&
        fault->address < shared_end) {
        add(text, " (outside of shared memory)");
    }
}

static void
add_cause(struct text *text, const struct ha_group *group, const struct ha_fault *fault)
{
    switch (fault->kind) {
    case HA_FAULT_ADDRESS:
        add_address(text, group, fault);
        break;
    case HA_FAULT_STACK:
        add(text, "stack overflow");
        break;
    case HA_FAULT_MATH:
        add(text, fault->code == FPE_INTDIV ? "integer division by zero or overflow"
                                            : "arithmetic fault");
        break;
    case HA_FAULT_ASSERT:
        add(text, "assertion `%.80s' failed at line %u", fault->text, fault->line[0]);
        break;
    case HA_FAULT_RESOURCE:
        add(text, "no memory for the stacks of %u lanes (vm.max_map_count is %ld)",
            group->lane_count, ha_fiber_map_limit());
        break;
    default:
        add(text, "%s", fault->text ? fault->text : "trap");
        break;
    }
}

static void
describe(struct text *text, const struct ha_group *group,
         const struct ha_runner *runner, uint64_t first, uint64_t last)
{
    const struct ha_launch *launch = group->launch;
    const struct ha_fault *fault = &runner->fault;
    text->used = 0;
    add(text, "kernel '%.100s': ", launch->kernel->name);
    if (fault->kind == HA_FAULT_DIVERGED) {
        add(text, "lanes of block ");
        add_block(text, launch, first);
        add(text, " wait at different barriers: thread ");
        add_thread(text, group->lanes[fault->lane[0]].lane.thread_idx);
        add(text, " at line %u, thread ", fault->line[0]);
        add_thread(text, group->lanes[fault->lane[1]].lane.thread_idx);
        add(text, " at line %u", fault->line[1]);
        return;
    }
    add_cause(text, group, fault);
    add_where(text, group, runner, first, last);
}

/* What says more, where the text has room for it. */
static void
add_advice(struct text *text, enum ha_fault_kind kind)
{
    static const char advice[] =
        "; `python -m hipadapt check -- PROGRAM` shows the line of source";
    if ((kind == HA_FAULT_ADDRESS || kind == HA_FAULT_DIVERGED) &&
        ha_check_kinds() == 0 && text->used + sizeof advice <= sizeof text->bytes) {
        add(text, "%s", advice);
    }
}

static void
report_assert(const struct ha_group *group, const struct ha_runner *runner,
              uint64_t first, uint64_t last)
{
    const struct ha_fault *fault = &runner->fault;
    struct text where = {.used = 0};
    add_where(&where, group, runner, first, last);
    ha_print_flush();
    (void)fprintf(stderr, "%s:%u: %s: Device-side assertion `%s' failed%s.\n",
                  fault->file ? fault->file : "", fault->line[0],
                  fault->function ? fault->function : "",
                  fault->text ? fault->text : "", where.bytes);
    (void)fflush(stderr);
}

bool
ha_fault_record_blocks(const struct ha_group *group, const struct ha_runner *runner,
                       uint64_t first, uint64_t last)
{
    struct text text;
    if (runner->fault.kind == HA_FAULT_NONE) {
        return false;
    }
    describe(&text, group, runner, first, last);
    add_advice(&text, runner->fault.kind);
    if (!ha_fault_record(group->launch, runner->fault.kind, text.bytes)) {
        return false;
    }
    if (runner->fault.kind == HA_FAULT_ASSERT) {
        report_assert(group, runner, first, last);
    }
    return true;
}

bool
ha_fault_record_unmet(struct ha_launch *launch, uint64_t block)
{
    struct text text = {.used = 0};
    if (atomic_load(&launch->fault) != HA_FAULT_NONE) {
        return false;
    }
    add(&text, "kernel '%.100s': not all lanes of block ", launch->kernel->name);
    add_block(&text, launch, block);
    add(&text, " come to a barrier");
    return ha_fault_record(launch, HA_FAULT_DIVERGED, text.bytes);
}

bool
ha_fault_record_resources(struct ha_launch *launch)
{
    struct text text = {.used = 0};
    const uint32_t *dim = launch->grid.block_dim;
    add(&text,
        "kernel '%.100s': no memory for the stacks and shared memory of a block of "
        "%llu lanes (vm.max_map_count is %ld)",
        launch->kernel->name, (unsigned long long)dim[0] * dim[1] * dim[2],
        ha_fiber_map_limit());
    return ha_fault_record(launch, HA_FAULT_RESOURCE, text.bytes);
}

bool
ha_fault_record_grid(struct ha_launch *launch, uint64_t waiting, uint32_t line,
                     uint64_t ended)
{
    struct text text = {.used = 0};
    add(&text, "kernel '%.100s': block ", launch->kernel->name);
    add_block(&text, launch, waiting);
    add(&text, " waits at a grid barrier (line %u), and block ", line);
    add_block(&text, launch, ended);
    add(&text, " has ended without it");
    return ha_fault_record(launch, HA_FAULT_DIVERGED, text.bytes);
}

bool
ha_fault_record_mixed(struct ha_launch *launch, uint64_t waiting, uint64_t other)
{
    struct text text = {.used = 0};
    add(&text, "kernel '%.100s': one of the blocks ", launch->kernel->name);
    add_block(&text, launch, waiting);
    add(&text, " and ");
    add_block(&text, launch, other);
    add(&text, " waits at a grid barrier, the other at a multi-grid barrier");
    return ha_fault_record(launch, HA_FAULT_DIVERGED, text.bytes);
}

bool
ha_fault_record_peer(struct ha_launch *launch)
{
    struct text text = {.used = 0};
    add(&text, "kernel '%.100s': %s", launch->kernel->name,
        launch->cooperative->multi->text);
    return ha_fault_record(launch, HA_FAULT_PEER, text.bytes);
}
