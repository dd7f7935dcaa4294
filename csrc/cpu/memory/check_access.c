/* SPDX-License-Identifier: MIT */
#include "cpu/memory/check_access.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "cpu/base/check_kinds.h"
#include "cpu/check/finding.h"
#include "cpu/exec/workgroup.h"
#include "cpu/memory/access.h"
#include "cpu/memory/memory.h"

#define STACK_BYTES ((size_t)12 << 10)
#define ROOT_COUNT 8u /* a power of two */
#define NEAR_BYTES 256u

/* What a thread remembers: allocations that addresses were found to begin in. */
struct checks {
    uint64_t changes; /* ha_memory_changes when they were found */
    uint32_t next;
    struct {
        uintptr_t begin, end;
    } ranges[ROOT_COUNT];
};

/* One access. */
struct access {
    struct ha_runner *runner;
    struct checks *known;
    uintptr_t at;
    uint64_t size;
    const struct ha_check_site *site;
    uintptr_t root;
};

static bool
lies_in(const struct access *access, uintptr_t begin, uint64_t bytes)
{
    uintptr_t offset = access->at - begin;

    return access->at >= begin && offset <= bytes && access->size <= bytes - offset;
}

/* ---- findings ---- */

static enum ha_check_space
space_of_root(enum ha_check_root root)
{
    switch (root) {
    case HA_ROOT_SHARED:
    case HA_ROOT_DYNAMIC:
        return HA_SPACE_SHARED;
    case HA_ROOT_LOCAL:
        return HA_SPACE_LOCAL;
    case HA_ROOT_VARIABLE:
        return HA_SPACE_VARIABLE;
    case HA_ROOT_CONSTANT:
        return HA_SPACE_CONSTANT;
    case HA_ROOT_ARGUMENT:
        return HA_SPACE_ARGUMENT;
    default:
        return HA_SPACE_UNKNOWN;
    }
}

static enum ha_check_space
space_of_memory(enum ha_memory_kind kind)
{
    return kind == HA_MEMORY_MANAGED                                ? HA_SPACE_MANAGED
           : kind == HA_MEMORY_HOST || kind == HA_MEMORY_REGISTERED ? HA_SPACE_PINNED
           : kind == HA_MEMORY_VARIABLE                             ? HA_SPACE_VARIABLE
                                                                    : HA_SPACE_GLOBAL;
}

static const char *
word_of(uint32_t what)
{
    bool both = (what & HA_SITE_READ) != 0 && (what & HA_SITE_WRITE) != 0;

    return (what & HA_SITE_ATOMIC) != 0  ? both                         ? "atomic"
                                           : (what & HA_SITE_READ) != 0 ? "atomic read"
                                                                        : "atomic write"
           : (what & HA_SITE_WRITE) != 0 ? "write"
                                         : "read";
}

static struct ha_check_side
side_of(const struct access *access)
{
    const struct ha_check_site *site = access->site;
    const struct ha_lane *lane = access->runner->lane;
    struct ha_check_side side = {
        .bits = ((site->what & HA_SITE_READ) != 0 ? HA_CHECK_READS : 0u) |
                ((site->what & HA_SITE_WRITE) != 0 ? HA_CHECK_WRITES : 0u) |
                ((site->what & HA_SITE_ATOMIC) != 0 ? HA_CHECK_ATOMIC : 0u),
        .bytes = access->size > UINT32_MAX ? UINT32_MAX : (uint32_t)access->size,
        .kernel = access->runner->group->kernel->name,
        .function = site->function,
        .file = site->file,
        .text = site->text,
        .line = site->line,
        .column = site->column,
    };

    for (unsigned i = 0; i < 3; i++) {
        side.block[i] = lane->block_idx[i];
        side.thread[i] = lane->thread_idx[i];
    }
    return side;
}

/* Words, and the rest of the finding. */
static void
report(const struct access *access, enum ha_check_what what, const char *words,
       struct ha_check_memory memory)
{
    char message[96];
    struct ha_check_finding found = {
        .what = what,
        .device = (int)access->runner->group->launch->device,
        .address = access->at,
        .here = side_of(access),
        .memory = memory,
        .message = message,
    };

    (void)snprintf(message, sizeof message, "%s %s of %llu byte%s", words,
                   word_of(access->site->what), (unsigned long long)access->size,
                   access->size == 1 ? "" : "s");
    ha_runner_busy(access->runner);
    ha_finding_add(&found);
    ha_runner_idle(access->runner);
}

/* ---- bounds ---- */

static void
check_variable(const struct access *access, uint64_t bytes)
{
    if (lies_in(access, access->root, bytes)) {
        return;
    }
    report(access, HA_FOUND_OUT_OF_BOUNDS, "out-of-bounds",
           (struct ha_check_memory){.space = space_of_root(access->site->root),
                                    .name = access->site->root_name,
                                    .base = access->root,
                                    .bytes = bytes});
}

static bool
is_known(const struct access *access)
{
    const struct checks *known = access->known;

    if (known->changes != ha_memory_changes()) {
        return false;
    }
    for (uint32_t i = 0; i < ROOT_COUNT; i++) {
        uintptr_t begin = known->ranges[i].begin, end = known->ranges[i].end;
        if (lies_in(access, begin, end - begin) &&
            (access->site->root != HA_ROOT_POINTER ||
             (access->root >= begin && access->root < end))) {
            return true;
        }
    }
    return false;
}

static void
remember(struct checks *known, const struct ha_range *range, uint64_t changes)
{
    if (known->changes != changes) {
        for (uint32_t i = 0; i < ROOT_COUNT; i++) {
            known->ranges[i].begin = known->ranges[i].end = 0;
        }
        known->changes = changes;
    }
    uint32_t place = known->next++ % ROOT_COUNT;
    known->ranges[place].begin = (uintptr_t)range->base;
    known->ranges[place].end = (uintptr_t)range->base + range->size;
}

/* The allocation that an address lies in. */
static bool
find_range(struct ha_runner *runner, uintptr_t at, struct ha_range *range,
           uint64_t *changes)
{
    ha_runner_busy(runner);
    *changes = ha_memory_changes(); /* before the look */
    bool found =
        ha_memory_find((const void *)at, range) && range->kind != HA_MEMORY_RESERVED;
    ha_runner_idle(runner);
    return found;
}

/* Ends the launch: the access would hit what is not HIP's. */
__attribute__((noreturn)) static void
quit(const struct access *access)
{
    access->runner->fault.kind = HA_FAULT_ADDRESS;
    access->runner->fault.address = access->at;
    access->runner->fault.detail = (access->site->what & HA_SITE_WRITE) != 0
                                       ? "a write to memory that HIP does not know"
                                       : "a read of memory that HIP does not know";
    ha_runner_quit(access->runner);
}

/* Whether an access hits nothing but the room around an allocation. */
static bool
is_near(const struct access *access, const struct ha_range *range)
{
    uintptr_t begin = (uintptr_t)range->base;

    return access->at + NEAR_BYTES >= begin &&
           access->at + access->size <= begin + range->size + NEAR_BYTES;
}

static void
report_beside(const struct access *access, const struct ha_range *range)
{
    report(access, HA_FOUND_OUT_OF_BOUNDS, "out-of-bounds",
           (struct ha_check_memory){.space = space_of_memory(range->kind),
                                    .base = (uintptr_t)range->base,
                                    .bytes = range->size});
}

/* An address that was computed from no variable. */
static void
check_memory(const struct access *access)
{
    struct ha_range range;
    uint64_t changes;
    bool beside = false, found = false;

    if (is_known(access)) {
        return;
    }
    if (access->site->root == HA_ROOT_POINTER &&
        find_range(access->runner, access->root, &range, &changes)) {
        if (lies_in(access, (uintptr_t)range.base, range.size)) {
            if (range.kind != HA_MEMORY_MAPPED) {
                remember(access->known, &range, changes);
            }
            return;
        }
        report_beside(access, &range);
        found = true;
    }
    ha_runner_busy(access->runner);
    bool allowed = ha_access_allowed((const void *)access->at, access->size, &beside);
    ha_runner_idle(access->runner);
    if (allowed || (found && is_near(access, &range))) {
        return;
    }
    if (!found && beside && find_range(access->runner, access->at, &range, &changes)) {
        report_beside(access, &range);
        return;
    }
    if (!found) {
        report(access, HA_FOUND_UNKNOWN_MEMORY,
               "unknown memory:", (struct ha_check_memory){0});
    }
    quit(access);
}

static void
check_bounds(const struct access *access)
{
    switch ((enum ha_check_root)access->site->root) {
    case HA_ROOT_SHARED:
    case HA_ROOT_LOCAL:
    case HA_ROOT_VARIABLE:
    case HA_ROOT_CONSTANT:
    case HA_ROOT_ARGUMENT:
        check_variable(access, access->site->root_bytes);
        break;
    case HA_ROOT_DYNAMIC:
        check_variable(access, access->runner->group->launch->shared_dynamic_bytes);
        break;
    case HA_ROOT_UNKNOWN:
    case HA_ROOT_POINTER:
        check_memory(access);
        break;
    }
}

static void
check_alignment(const struct access *access)
{
    uint64_t align = (uint64_t)1 << (access->site->what >> HA_SITE_ALIGN_SHIFT);

    if ((access->at & (align - 1)) != 0) {
        report(access, HA_FOUND_MISALIGNED, "misaligned", (struct ha_check_memory){0});
    }
}

/* NULL: no memory. */
static struct checks *
checks_of(struct ha_runner *runner)
{
    if (runner->checks == NULL) {
        ha_runner_busy(runner);
        runner->checks = calloc(1, sizeof(struct checks));
        ha_runner_idle(runner);
    }
    return runner->checks;
}

void
ha_check_access_call(const void *address, uint64_t size,
                     const struct ha_check_site *site, const void *root)
{
    struct ha_runner *runner = ha_runner_self;
    const struct access access = {.runner = runner,
                                  .known = checks_of(runner),
                                  .at = (uintptr_t)address,
                                  .size = size,
                                  .site = site,
                                  .root = (uintptr_t)root};

    if (size == 0 || access.known == NULL ||
        (ha_check_kinds() & HA_CHECK_MEMORY) == 0) {
        return;
    }
    if (ha_runner_stack_short(runner, STACK_BYTES)) {
        runner->fault.kind = HA_FAULT_STACK;
        ha_runner_quit(runner);
    }
    check_alignment(&access);
    check_bounds(&access);
}
