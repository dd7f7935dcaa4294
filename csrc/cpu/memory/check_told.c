/* SPDX-License-Identifier: MIT */
#include "cpu/memory/check_told.h"

#include <stdio.h>
#include <string.h>

#include "cpu/check/finding.h"
#include "cpu/memory/check_memory.h"
#include "cpu/memory/check_side.h"

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

const char *
ha_told_word(uint32_t what)
{
    bool both = (what & HA_SITE_READ) != 0 && (what & HA_SITE_WRITE) != 0;

    return (what & HA_SITE_ATOMIC) != 0  ? both                         ? "atomic"
                                           : (what & HA_SITE_READ) != 0 ? "atomic read"
                                                                        : "atomic write"
           : (what & HA_SITE_WRITE) != 0 ? "write"
                                         : "read";
}

struct ha_check_side
ha_told_side(const struct ha_told *access)
{
    const struct ha_lane *lane = access->runner->lane;
    struct ha_check_side side =
        ha_check_side_at(access->runner->group->launch, access->site, access->size);

    memcpy(side.block, lane->block_idx, sizeof side.block);
    memcpy(side.thread, lane->thread_idx, sizeof side.thread);
    return side;
}

void
ha_told_report(const struct ha_told *access, enum ha_check_what what, const char *words,
               struct ha_check_memory memory)
{
    char message[96];
    struct ha_check_finding found = {
        .what = what,
        .device = (int)access->runner->group->launch->device,
        .address = access->at,
        .here = ha_told_side(access),
        .memory = memory,
        .message = message,
    };

    (void)snprintf(message, sizeof message, "%s %s of %llu byte%s", words,
                   ha_told_word(access->site->what), (unsigned long long)access->size,
                   access->size == 1 ? "" : "s");
    ha_runner_busy(access->runner);
    ha_finding_add(&found);
    ha_runner_idle(access->runner);
}

bool
ha_told_in_block(const struct ha_told *access)
{
    const struct ha_group *group = access->runner->group;
    const struct ha_launch *launch = group->launch;

    return ha_told_in(access, (uintptr_t)group->shared,
                      (uint64_t)launch->kernel->shared_static +
                          launch->shared_dynamic_bytes);
}

struct ha_check_memory
ha_told_memory(const struct ha_told *access)
{
    const struct ha_launch *launch = access->runner->group->launch;
    const struct ha_check_site *site = access->site;
    bool dynamic = site->root == HA_ROOT_DYNAMIC;
    struct ha_check_memory memory = {.space = space_of_root(site->root)};

    if (memory.space != HA_SPACE_UNKNOWN) {
        memory.name = site->root_name;
        memory.base = access->root;
        memory.bytes = dynamic ? launch->shared_dynamic_bytes : site->root_bytes;
    } else if (ha_told_in_block(access)) {
        memory.space = HA_SPACE_SHARED;
    } else {
        ha_runner_busy(access->runner);
        ha_checked_describe(access->at, access->size, &memory);
        ha_runner_idle(access->runner);
    }
    return memory;
}

void
ha_told_quit(const struct ha_told *access, const char *detail)
{
    access->runner->busy = 0;
    access->runner->fault.kind = HA_FAULT_ADDRESS;
    access->runner->fault.address = access->at;
    access->runner->fault.detail = detail;
    ha_runner_quit(access->runner);
}

void
ha_told_quit_wild(const struct ha_told *access)
{
    ha_told_quit(access, ha_told_writes(access)
                             ? "a write to memory that HIP does not know"
                             : "a read of memory that HIP does not know");
}
