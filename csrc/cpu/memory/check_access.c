/* SPDX-License-Identifier: MIT */
#include "cpu/memory/check_access.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/base/check_kinds.h"
#include "cpu/check/finding.h"
#include "cpu/check/race.h"
#include "cpu/check/summary.h"
#include "cpu/exec/checks.h"
#include "cpu/exec/workgroup.h"
#include "cpu/memory/access.h"
#include "cpu/memory/check_meeting.h"
#include "cpu/memory/check_memory.h"
#include "cpu/memory/check_side.h"
#include "cpu/memory/check_shadow.h"
#include "cpu/memory/check_tree.h"
#include "cpu/memory/shadow.h"
#include "cpu/memory/shadow_origin.h"

#define ROOT_COUNT 8u /* a power of two */
/* What lies around an allocation (cpu/base/span.h). */
#define GAP_LEAST 256u
#define HEAP_GAP 64u /* of a block of the heap (cpu/exec/heap.c) */
#define GAP_MOST ((uint64_t)1 << 20)

#define VARIABLE_COUNT 64u

/* A variable in shared memory. */
struct variable {
    uintptr_t begin;
    uint64_t bytes;
    const char *name; /* borrowed from the image */
};

/* What a thread remembers: allocations that addresses were found to begin in, and
 * variables that a kernel has touched by name. */
struct checks {
    const struct ha_image_kernel *kernel;
    const char *shared; /* of the block; both: for which the variables hold */
    uint32_t variable_count;
    struct variable variables[VARIABLE_COUNT];

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
    uint64_t value;
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
    const struct ha_lane *lane = access->runner->lane;
    struct ha_check_side side =
        ha_check_side_at(access->runner->group->launch, access->site, access->size);

    memcpy(side.block, lane->block_idx, sizeof side.block);
    memcpy(side.thread, lane->thread_idx, sizeof side.thread);
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

static bool
is_on_stack(const struct access *access)
{
    const struct ha_fiber *fiber = access->runner->fiber;

    return access->at >= (uintptr_t)fiber->low && access->at < (uintptr_t)fiber->high;
}

static bool
in_block(const struct access *access)
{
    const struct ha_group *group = access->runner->group;
    const struct ha_launch *launch = group->launch;

    return lies_in(access, (uintptr_t)group->shared,
                   (uint64_t)launch->kernel->shared_static +
                       launch->shared_dynamic_bytes);
}

/* What an access is in. */
static struct ha_check_memory
memory_of(const struct access *access)
{
    const struct ha_launch *launch = access->runner->group->launch;
    const struct ha_check_site *site = access->site;
    bool dynamic = site->root == HA_ROOT_DYNAMIC;
    struct ha_check_memory memory = {.space = space_of_root(site->root)};

    if (memory.space != HA_SPACE_UNKNOWN) {
        memory.name = site->root_name;
        memory.base = access->root;
        memory.bytes = dynamic ? launch->shared_dynamic_bytes : site->root_bytes;
    } else if (in_block(access)) {
        memory.space = HA_SPACE_SHARED;
    } else {
        ha_runner_busy(access->runner);
        ha_checked_describe(access->at, access->size, &memory);
        ha_runner_idle(access->runner);
    }
    return memory;
}

/* ---- bounds ---- */

/* Ends the launch: the access would hit what is not the kernel's. */
__attribute__((noreturn)) static void
quit(const struct access *access, const char *detail)
{
    access->runner->busy = 0;
    access->runner->fault.kind = HA_FAULT_ADDRESS;
    access->runner->fault.address = access->at;
    access->runner->fault.detail = detail;
    ha_runner_quit(access->runner);
}

static bool
writes(const struct access *access)
{
    return (access->site->what & HA_SITE_WRITE) != 0;
}

/* Ends the launch: what others read there would not be what the program has. */
__attribute__((noreturn)) static void
report_constant(const struct access *access, uint64_t bytes)
{
    report(access, HA_FOUND_READ_ONLY, "read-only memory:",
           (struct ha_check_memory){.space = HA_SPACE_CONSTANT,
                                    .name = access->site->root_name,
                                    .base = access->root,
                                    .bytes = bytes});
    quit(access, "a write to constant memory");
}

/* What is known of the block's shared variables; those of another kernel are not. */
static struct checks *
variables_of(const struct access *access)
{
    const struct ha_group *group = access->runner->group;
    struct checks *known = access->known;

    if (known->kernel != group->launch->kernel || known->shared != group->shared) {
        known->kernel = group->launch->kernel;
        known->shared = group->shared;
        known->variable_count = 0;
    }
    return known;
}

static const struct variable *
variable_at(const struct checks *known, uintptr_t at)
{
    for (uint32_t i = 0; i < known->variable_count; i++) {
        const struct variable *variable = &known->variables[i];
        if (at >= variable->begin && at - variable->begin < variable->bytes) {
            return variable;
        }
    }
    return NULL;
}

static void
learn_variable(const struct access *access, uint64_t bytes)
{
    struct checks *known = variables_of(access);

    if (known->variable_count < VARIABLE_COUNT &&
        variable_at(known, access->root) == NULL) {
        known->variables[known->variable_count++] = (struct variable){
            .begin = access->root, .bytes = bytes, .name = access->site->root_name};
    }
}

__attribute__((noreturn)) static void
quit_wild(const struct access *access)
{
    quit(access, writes(access) ? "a write to memory that HIP does not know"
                                : "a read of memory that HIP does not know");
}

/* Behind what is told, memory must be there that the access may hit. */
static void
quit_if_far(const struct access *access)
{
    const struct ha_group *group = access->runner->group;
    uint64_t bytes = (uint64_t)group->kernel->shared_static +
                     group->launch->shared_dynamic_bytes + 2 * HA_SHARED_SLACK;

    if (!lies_in(access, (uintptr_t)group->shared - HA_SHARED_SLACK, bytes)) {
        quit(access, writes(access) ? "a write far from shared memory"
                                    : "a read far from shared memory");
    }
}

/* By the variable in shared memory that a pointer points to, if that is known. */
static bool
check_pointed(const struct access *access)
{
    const struct variable *variable = variable_at(variables_of(access), access->root);

    if (variable == NULL || lies_in(access, variable->begin, variable->bytes)) {
        return true;
    }
    report(access, HA_FOUND_OUT_OF_BOUNDS, "out-of-bounds",
           (struct ha_check_memory){.space = HA_SPACE_SHARED,
                                    .name = variable->name,
                                    .base = variable->begin,
                                    .bytes = variable->bytes});
    quit_if_far(access);
    return false;
}

static bool
check_variable(const struct access *access, uint64_t bytes)
{
    enum ha_check_root root = access->site->root;
    bool shared = root == HA_ROOT_SHARED || root == HA_ROOT_DYNAMIC;

    if (root == HA_ROOT_CONSTANT && writes(access)) {
        report_constant(access, bytes);
    }
    if (lies_in(access, access->root, bytes)) {
        if (shared) {
            learn_variable(access, bytes);
        }
        return true;
    }
    report(access, HA_FOUND_OUT_OF_BOUNDS, "out-of-bounds",
           (struct ha_check_memory){.space = space_of_root(access->site->root),
                                    .name = access->site->root_name,
                                    .base = access->root,
                                    .bytes = bytes});
    if (root == HA_ROOT_LOCAL && writes(access)) {
        quit(access, "a write beyond a variable of the lane");
    }
    if (shared) {
        quit_if_far(access);
    }
    return false;
}

static bool
is_known(const struct access *access)
{
    const struct checks *known = access->known;

    if (known->changes != ha_checked_changes()) {
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

/* Whether an access hits nothing but the room around an allocation. */
static bool
is_near(const struct access *access, const struct ha_checked_range *range)
{
    uint64_t gap = range->bytes / 4 < GAP_MOST ? range->bytes / 4 : GAP_MOST;

    gap = gap < GAP_LEAST ? GAP_LEAST : gap;
    return access->at + gap >= range->begin &&
           access->at + access->size <= range->begin + range->bytes + gap;
}

/* An access that is not in the memory that `at` belongs to. */
static void
report_memory(const struct access *access, enum ha_check_what what, uintptr_t at,
              uint64_t bytes)
{
    struct ha_check_memory memory = {0};

    if (what != HA_FOUND_UNKNOWN_MEMORY) {
        ha_checked_describe(at, bytes, &memory);
    }
    if (what == HA_FOUND_OUT_OF_BOUNDS && writes(access)) {
        struct ha_record record;
        /* So that what was written over is not told again when it is freed. */
        (void)ha_checked_look(memory.base, true, &record);
    }
    report(access, what,
           what == HA_FOUND_USE_AFTER_FREE   ? "use after free:"
           : what == HA_FOUND_UNKNOWN_MEMORY ? "unknown memory:"
           : what == HA_FOUND_READ_ONLY      ? "read-only memory:"
                                             : "out-of-bounds",
           memory);
}

static void
remember(const struct access *access, const struct ha_checked_range *range,
         uint64_t changes)
{
    struct checks *known = access->known;

    if (range->space == HA_SPACE_CONSTANT) {
        if (writes(access)) {
            report_memory(access, HA_FOUND_READ_ONLY, access->at, access->size);
            quit(access, "a write to constant memory");
        }
        return;
    }
    if (known->changes != changes) {
        for (uint32_t i = 0; i < ROOT_COUNT; i++) {
            known->ranges[i].begin = known->ranges[i].end = 0;
        }
        known->changes = changes;
    }
    uint32_t place = known->next++ % ROOT_COUNT;
    known->ranges[place].begin = range->begin;
    known->ranges[place].end = range->begin + range->bytes;
}

/* Freed by a call of hipFreeAsync that came after the launch: whether it is freed
 * before the access is for threads to decide.  The check of races goes by the calls. */
static bool
is_freed_later(const struct access *access, const struct ha_checked_range *range)
{
    return range->freed && range->free_number > access->runner->group->launch->frees &&
           (ha_check_kinds() & HA_CHECK_RACE) != 0 &&
           lies_in(access, range->begin, range->bytes);
}

/* By hipFreeAsync: the check of races tells whether the access was ordered before it.
 */
static bool
was_freed(const struct access *access)
{
    struct ha_checked_range range;

    ha_runner_busy(access->runner);
    (void)ha_checked_find(access->at, access->size, &range);
    ha_runner_idle(access->runner);
    return range.freed && range.free_number != 0 &&
           lies_in(access, range.begin, range.bytes);
}

/* By the allocation that the address was computed from.  True: that says all, and
 * *right is the answer. */
static bool
check_root(const struct access *access, bool *right)
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
    if (alive && lies_in(access, range.begin, range.bytes)) {
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
    if (!is_near(access, &range)) {
        bool beside;
        if (!ha_access_allowed((const void *)access->at, access->size, &beside)) {
            quit(access, writes(access) ? "a write far from its allocation"
                                        : "a read far from its allocation");
        }
    }
    return true;
}

/* In the heap, of which all is allowed: in what was freed, or right behind the end of
 * what a checked kernel was given. */
static bool
is_beside_block(const struct access *access, const struct ha_checked_range *range)
{
    uintptr_t offset = access->at - range->begin;

    return range->space == HA_SPACE_HEAP && access->at >= range->begin &&
           offset < range->bytes + (range->freed ? 0 : HEAP_GAP);
}

/* An address that was computed from no variable.  Within a busy section. */
static bool
check_memory(const struct access *access)
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
        quit_wild(access);
    }
    return false;
}

static bool
check_bounds(const struct access *access)
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
    if (is_known(access)) {
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

/* Where bounds are not asked for: a pointer must not lead into the checks' own memory.
 */
static bool
is_wild(const struct access *access)
{
    bool beside, pointer = access->site->root == HA_ROOT_POINTER ||
                           access->site->root == HA_ROOT_UNKNOWN;

    if (!pointer || is_on_stack(access)) {
        return false;
    }
    ha_runner_busy(access->runner);
    bool allowed = ha_access_allowed((const void *)access->at, access->size, &beside);
    ha_runner_idle(access->runner);
    return !allowed;
}

static void
check_alignment(const struct access *access)
{
    uint64_t align = (uint64_t)1 << (access->site->what >> HA_SITE_ALIGN_SHIFT);

    if ((access->at & (align - 1)) != 0) {
        report(access, HA_FOUND_MISALIGNED, "misaligned", memory_of(access));
    }
}

/* ---- races ---- */

/* Sites lie near the kernel, in the same image: their distance in words. */
static uint32_t
mark_of(const struct ha_image_kernel *kernel, const struct ha_check_site *site)
{
    intptr_t words = ((intptr_t)site - (intptr_t)kernel) / 8;

    return (uint32_t)words & (HA_RACE_MARKS - 1);
}

static const struct ha_check_site *
site_of(const struct ha_image_kernel *kernel, uint32_t mark)
{
    intptr_t words = mark >= HA_RACE_MARKS / 2
                         ? (intptr_t)mark - (intptr_t)HA_RACE_MARKS
                         : (intptr_t)mark;

    return (const struct ha_check_site *)((intptr_t)kernel + 8 * words);
}

struct ha_check_side
ha_check_side_of_mark(const struct ha_launch *launch, uint32_t mark)
{
    const struct ha_check_site *site = site_of(launch->kernel, mark);

    return ha_check_side_at(launch, site, site->bytes);
}

static uint32_t
lane_number(const struct ha_lane *lane)
{
    const uint32_t *dim = lane->grid->block_dim, *at = lane->thread_idx;

    return at[0] + dim[0] * (at[1] + dim[1] * at[2]);
}

/* That stores a value which is told. */
static bool
is_plain_store(const struct ha_check_site *site)
{
    return (site->what & (HA_SITE_READ | HA_SITE_ATOMIC | HA_SITE_VALUED)) ==
           HA_SITE_VALUED;
}

static void
report_race(const struct access *access, const struct ha_race_other *other)
{
    const struct ha_launch *launch = access->runner->group->launch;
    const struct ha_check_site *site = site_of(launch->kernel, other->mark);
    bool equal = other->equal && is_plain_store(site);
    char message[96];
    struct ha_check_finding found = {
        .what = equal ? HA_FOUND_EQUAL_RACE : HA_FOUND_RACE,
        .device = (int)launch->device,
        .address = other->at,
        .here = side_of(access),
        .other = ha_check_side_at(launch, site,
                                  site->bytes > 0 ? site->bytes : access->size),
        .message = message,
    };

    if (equal && (ha_check_kinds() & HA_CHECK_EQUAL) == 0) {
        return;
    }
    ha_check_side_place(&found.other, &launch->grid, other->block, other->lane);
    found.memory = memory_of(access);
    (void)snprintf(message, sizeof message, "race: %s after %s without an order%s",
                   word_of(access->site->what), word_of(site->what),
                   equal ? ", of one value" : "");
    ha_finding_add(&found);
}

/* For lanes of the block, or for fewer. */
static bool
is_narrow(uint32_t what)
{
    uint32_t scope = what & HA_SITE_SCOPE_MASK;

    return scope == HA_SITE_SCOPE_BLOCK || scope == HA_SITE_SCOPE_WARP ||
           scope == HA_SITE_SCOPE_LANE;
}

/* A compare-and-swap that is not going to swap only reads; of memory that may have gone
 * nobody knows. */
static bool
will_write(const struct access *access, bool gone)
{
    return writes(access) &&
           ((access->site->what & HA_SITE_EXCHANGE) == 0 || gone ||
            memcmp((const void *)access->at, &access->value, access->size) == 0);
}

static void
check_race(const struct access *access, bool gone)
{
    struct ha_runner *runner = access->runner;
    struct ha_launch *launch = runner->group->launch;
    uint32_t what = access->site->what;
    struct ha_race_other others[HA_RACE_OTHERS];
    bool writes = will_write(access, gone);
    const struct ha_race_access told = {
        .at = access->at,
        .bytes = access->size,
        .lane = lane_number(runner->lane),
        .mark = mark_of(launch->kernel, access->site),
        .reads = (what & HA_SITE_READ) != 0,
        .writes = writes,
        .atomic = (what & (HA_SITE_ATOMIC | HA_SITE_VOLATILE)) != 0,
        .acquire = (what & HA_SITE_ACQUIRE) != 0,
        .release = writes && (what & HA_SITE_RELEASE) != 0,
        .narrow = is_narrow(what),
        .shared = in_block(access),
        .value = is_plain_store(access->site) ? &access->value : NULL,
    };

    ha_runner_busy(runner);
    if ((what & HA_SITE_FENCE) != 0) {
        ha_race_fence(launch->checks, told.lane, told.acquire,
                      (what & HA_SITE_RELEASE) != 0, told.narrow);
    } else {
        unsigned count = ha_race_access(launch->checks, &told, others);
        for (unsigned i = 0; i < count; i++) {
            report_race(access, &others[i]);
        }
    }
    ha_runner_idle(runner);
}

/* Memory that other lanes cannot reach, or that nobody writes. */
static bool
is_private(const struct access *access)
{
    enum ha_check_root root = access->site->root;

    return root == HA_ROOT_LOCAL || root == HA_ROOT_CONSTANT ||
           root == HA_ROOT_ARGUMENT || is_on_stack(access);
}

/* ---- what nobody wrote ---- */

/* The value of the access is an origin. */
static void
report_unwritten(const struct access *access)
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
        .here = side_of(access),
        .memory = memory,
    };
    ha_finding_add(&found);
    ha_runner_idle(access->runner);
}

/* ---- the door ---- */

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

static void
told_access(const void *address, uint64_t size, const struct ha_check_site *site,
            const void *root, uint64_t value)
{
    struct ha_runner *runner = ha_runner_self;
    const struct access access = {.runner = runner,
                                  .known = checks_of(runner),
                                  .at = (uintptr_t)address,
                                  .size = size,
                                  .site = site,
                                  .root = (uintptr_t)root,
                                  .value = value};
    bool fence = (site->what & HA_SITE_FENCE) != 0, right = true, wild = false;
    bool unwritten = (site->what & HA_SITE_UNWRITTEN) != 0;

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
    ha_summary_accesses(fence ? 0 : 1, 0);
    if (!fence && (ha_check_kinds() & HA_CHECK_MEMORY) != 0) {
        check_alignment(&access);
        right = check_bounds(&access);
    } else if (!fence) {
        wild = is_wild(&access);
    }
    /* Who frees memory races with who still uses it. */
    if ((right || was_freed(&access)) && runner->group->launch->checks != NULL &&
        !is_private(&access)) {
        check_race(&access, wild || !right);
    }
    if (wild) {
        quit_wild(&access);
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
