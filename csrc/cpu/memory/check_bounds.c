/* SPDX-License-Identifier: MIT */
#include "cpu/memory/check_bounds.h"

#include <string.h>

#include "cpu/base/check_kinds.h"
#include "cpu/exec/checks.h"
#include "cpu/memory/access.h"
#include "cpu/memory/check_memory.h"
#include "cpu/memory/check_tree.h"

#define HEAP_GAP 64u /* of a block of the heap (cpu/exec/heap.c) */

/* Ends the launch: what others read there would not be what the program has. */
__attribute__((noreturn)) static void
report_constant(const struct ha_told *access)
{
    ha_told_report(access, HA_FOUND_READ_ONLY,
                   "read-only memory:", ha_told_memory(access));
    ha_told_quit(access, "a write to constant memory");
}

/* What is known of the block's shared variables; those of another kernel are not. */
static struct ha_told_known *
variables_of(const struct ha_told *access)
{
    const struct ha_group *group = access->runner->group;
    struct ha_told_known *known = access->known;

    if (known->kernel != group->launch->kernel || known->shared != group->shared) {
        known->kernel = group->launch->kernel;
        known->shared = group->shared;
        known->variable_count = 0;
    }
    return known;
}

static const struct ha_told_variable *
variable_at(const struct ha_told_known *known, uintptr_t at)
{
    for (uint32_t i = 0; i < known->variable_count; i++) {
        const struct ha_told_variable *variable = &known->variables[i];
        if (at >= variable->begin && at - variable->begin < variable->bytes) {
            return variable;
        }
    }
    return NULL;
}

static void
learn_variable(const struct ha_told *access, uint64_t bytes)
{
    struct ha_told_known *known = variables_of(access);

    if (known->variable_count < HA_TOLD_VARIABLES &&
        variable_at(known, access->root) == NULL) {
        known->variables[known->variable_count++] = (struct ha_told_variable){
            .begin = access->root, .bytes = bytes, .name = access->site->root_name};
    }
}

/* Behind what is told, memory must be there that the access may hit. */
static void
quit_if_far(const struct ha_told *access)
{
    const struct ha_group *group = access->runner->group;
    uint64_t bytes = (uint64_t)group->kernel->shared_static +
                     group->launch->shared_dynamic_bytes + 2 * HA_SHARED_SLACK;

    if (!ha_told_in(access, (uintptr_t)group->shared - HA_SHARED_SLACK, bytes)) {
        ha_told_quit(access, ha_told_writes(access) ? "a write far from shared memory"
                                                    : "a read far from shared memory");
    }
}

/* Behind what is told the access is made: it must hit memory of kernels, or room around
 * it where nothing else is.  Anything else belongs to the process.  Within a busy
 * section. */
static void
quit_if_foreign(const struct ha_told *access)
{
    bool beside;

    if (!ha_memory_owns((const void *)access->at, access->size) &&
        !ha_access_allowed((const void *)access->at, access->size, &beside)) {
        ha_told_quit(access, ha_told_writes(access) ? "a write far from its allocation"
                                                    : "a read far from its allocation");
    }
}

/* By the variable in shared memory that a pointer points to, if that is known. */
static bool
check_pointed(const struct ha_told *access)
{
    const struct ha_told_variable *variable =
        variable_at(variables_of(access), access->root);

    if (variable == NULL || ha_told_in(access, variable->begin, variable->bytes)) {
        return true;
    }
    ha_told_report(access, HA_FOUND_OUT_OF_BOUNDS, "out-of-bounds",
                   (struct ha_check_memory){.space = HA_SPACE_SHARED,
                                            .name = variable->name,
                                            .base = variable->begin,
                                            .bytes = variable->bytes});
    quit_if_far(access);
    return false;
}

static bool
check_variable(const struct ha_told *access, uint64_t bytes)
{
    enum ha_check_root root = access->site->root;
    bool shared = root == HA_ROOT_SHARED || root == HA_ROOT_DYNAMIC;

    if (root == HA_ROOT_CONSTANT && ha_told_writes(access)) {
        report_constant(access);
    }
    if (ha_told_in(access, access->root, bytes)) {
        if (shared) {
            learn_variable(access, bytes);
        }
        return true;
    }
    ha_told_report(access, HA_FOUND_OUT_OF_BOUNDS, "out-of-bounds",
                   ha_told_memory(access));
    if (root == HA_ROOT_LOCAL && ha_told_writes(access)) {
        ha_told_quit(access, "a write beyond a variable of the lane");
    }
    if (shared) {
        quit_if_far(access);
    } else if (root != HA_ROOT_LOCAL) {
        ha_runner_busy(access->runner);
        quit_if_foreign(access);
        ha_runner_idle(access->runner);
    }
    return false;
}

/* Where bounds are not asked for, what is known is what a kernel may touch at all. */
static bool
by_bounds(void)
{
    return (ha_check_kinds() & HA_CHECK_MEMORY) != 0;
}

static bool
is_in_range(const struct ha_told *access, uint32_t number)
{
    const struct ha_told_range *range = &access->known->ranges[number];

    return ha_told_in(access, range->begin, range->end - range->begin) &&
           (access->site->root != HA_ROOT_POINTER ||
            (access->root >= range->begin && access->root < range->end));
}

bool
ha_told_known_range(const struct ha_told *access)
{
    struct ha_told_known *known = access->known;

    if (known->changes != ha_checked_changes() || known->by_bounds != by_bounds()) {
        return false;
    }
    if (is_in_range(access, known->newest)) {
        return true;
    }
    for (uint32_t i = 0; i < HA_TOLD_RANGES; i++) {
        if (is_in_range(access, i)) {
            known->newest = i;
            return true;
        }
    }
    return false;
}

/* Remembers memory that was there when there were so many changes. */
static void
keep(struct ha_told_known *known, uintptr_t begin, uint64_t bytes, uint64_t changes)
{
    if (known->changes != changes || known->by_bounds != by_bounds()) {
        memset(known->ranges, 0, sizeof known->ranges);
        known->changes = changes;
        known->by_bounds = by_bounds();
    }
    known->newest = known->next++ % HA_TOLD_RANGES;
    known->ranges[known->newest] = (struct ha_told_range){begin, begin + bytes};
}

/* An access that is not in the memory that `at` belongs to. */
static void
report_memory(const struct ha_told *access, enum ha_check_what what, uintptr_t at,
              uint64_t bytes)
{
    struct ha_check_memory memory = {0};

    if (what != HA_FOUND_UNKNOWN_MEMORY) {
        ha_checked_describe(at, bytes, &memory);
    }
    if (what == HA_FOUND_OUT_OF_BOUNDS && ha_told_writes(access)) {
        struct ha_record record;
        /* So that what was written over is not told again when it is freed. */
        (void)ha_checked_look(memory.base, true, &record);
    }
    ha_told_report(access, what,
                   what == HA_FOUND_USE_AFTER_FREE   ? "use after free:"
                   : what == HA_FOUND_UNKNOWN_MEMORY ? "unknown memory:"
                   : what == HA_FOUND_READ_ONLY      ? "read-only memory:"
                                                     : "out-of-bounds",
                   memory);
}

static void
remember(const struct ha_told *access, const struct ha_checked_range *range,
         uint64_t changes)
{
    if (range->space != HA_SPACE_CONSTANT) {
        keep(access->known, range->begin, range->bytes, changes);
    } else if (ha_told_writes(access)) {
        report_memory(access, HA_FOUND_READ_ONLY, access->at, access->size);
        ha_told_quit(access, "a write to constant memory");
    }
}

/* Freed by a call of hipFreeAsync that came after the launch: whether it is freed
 * before the access is for threads to decide.  The check of races goes by the calls. */
static bool
is_freed_later(const struct ha_told *access, const struct ha_checked_range *range)
{
    return range->freed && range->free_number > access->runner->group->launch->frees &&
           (ha_check_kinds() & HA_CHECK_RACE) != 0 &&
           ha_told_in(access, range->begin, range->bytes);
}

/* By the allocation that the address was computed from.  True: that says all, and
 * *right is the answer. */
static bool
check_root(const struct ha_told *access, bool *right)
{
    uint64_t changes = ha_checked_changes(); /* before the look */
    struct ha_checked_range range;

    *right = false;
    if (access->site->root != HA_ROOT_POINTER) {
        return false;
    }
    bool alive = ha_checked_find(access->root, 1, &range);
    if (range.space == HA_SPACE_UNKNOWN || access->root < range.begin ||
        access->root - range.begin >= range.bytes) {
        return false;
    }
    if (alive && ha_told_in(access, range.begin, range.bytes)) {
        remember(access, &range, changes);
        *right = true;
        return true;
    }
    if (is_freed_later(access, &range)) {
        *right = true;
        return true;
    }
    report_memory(access, alive ? HA_FOUND_OUT_OF_BOUNDS : HA_FOUND_USE_AFTER_FREE,
                  alive ? access->root : access->at, 1);
    quit_if_foreign(access);
    return true;
}

/* In the heap, of which all is allowed: in what was freed, or right behind the end of
 * what a checked kernel was given. */
static bool
is_beside_block(const struct ha_told *access, const struct ha_checked_range *range)
{
    uintptr_t offset = access->at - range->begin;

    return range->space == HA_SPACE_HEAP && access->at >= range->begin &&
           offset < range->bytes + (range->freed ? 0 : HEAP_GAP);
}

/* An address that was computed from no variable.  Within a busy section. */
static bool
check_memory(const struct ha_told *access)
{
    struct ha_checked_range range;
    bool beside, right;

    if (check_root(access, &right)) {
        return right;
    }
    uint64_t changes = ha_checked_changes();
    if (ha_checked_find(access->at, access->size, &range)) {
        remember(access, &range, changes);
        return true;
    }
    if (is_freed_later(access, &range)) {
        return true;
    }
    if (!is_beside_block(access, &range) &&
        ha_access_allowed((const void *)access->at, access->size, &beside)) {
        return true;
    }
    enum ha_check_what what = ha_checked_what(access->at, access->size);
    report_memory(access, what, access->at, access->size);
    if (what == HA_FOUND_UNKNOWN_MEMORY) {
        ha_told_quit_wild(access);
    }
    quit_if_foreign(access);
    return false;
}

bool
ha_told_bounds(const struct ha_told *access)
{
    switch ((enum ha_check_root)access->site->root) {
    case HA_ROOT_SHARED:
    case HA_ROOT_LOCAL:
    case HA_ROOT_VARIABLE:
    case HA_ROOT_CONSTANT:
    case HA_ROOT_ARGUMENT:
        return check_variable(access, access->site->root_bytes);
    case HA_ROOT_DYNAMIC:
        return check_variable(access,
                              access->runner->group->launch->shared_dynamic_bytes);
    case HA_ROOT_UNKNOWN:
    case HA_ROOT_POINTER:
        break;
    }
    if (ha_told_known_range(access)) {
        return true;
    }
    if (access->site->root == HA_ROOT_POINTER && !check_pointed(access)) {
        return false;
    }
    ha_runner_busy(access->runner);
    bool right = check_memory(access);
    ha_runner_idle(access->runner);
    return right;
}

bool
ha_told_wild(const struct ha_told *access)
{
    struct ha_range range;
    bool beside;

    if (!ha_told_by_pointer(access) || ha_told_on_stack(access) ||
        ha_told_known_range(access)) {
        return false;
    }
    ha_runner_busy(access->runner);
    uint64_t changes = ha_checked_changes(); /* before the look */
    bool allowed = ha_access_allowed((const void *)access->at, access->size, &beside);
    if (allowed && ha_memory_find((const void *)access->at, &range)) {
        keep(access->known, (uintptr_t)range.base, range.size, changes);
    }
    ha_runner_idle(access->runner);
    return !allowed;
}
