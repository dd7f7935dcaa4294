/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cpu/memory/check_shadow.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "cpu/exec/fault.h"
#include "cpu/exec/heap.h"
#include "cpu/exec/warp.h"
#include "cpu/memory/shadow.h"
#include "cpu/memory/shadow_origin.h"

#define STACK_BYTES ((size_t)8 << 10)
#define KNOWN_COUNT 4u /* a power of two */
#define PAGE_BYTES ((uintptr_t)4096)
#define WASTE_BYTES ((uint64_t)1 << 24) /* more than any access in one piece */
#define ARGUMENT_VALUE 2u               /* of __ha_warp */
#define ARGUMENT_OPERAND 3u             /* of __ha_shadow_atomic */

/* What lies before the shadow of a stack. */
struct head {
    struct ha_shadow_calls calls;
    uint64_t changes; /* ha_shadow_changes when these were found */
    uint32_t next;
    struct ha_shadow known[KNOWN_COUNT];
};

_Static_assert(sizeof(struct head) <= HA_FIBER_SHADOW_HEAD, "has room there");

/* ---- shadows ---- */

/* Ends the launch: there is no memory for what is known of a lane. */
__attribute__((noreturn)) static void
quit(struct ha_runner *runner)
{
    runner->fault.kind = HA_FAULT_RESOURCE;
    ha_runner_quit(runner);
}

static char *
shadow_of(struct ha_runner *runner, struct ha_fiber *fiber)
{
    if (fiber->shadow == NULL) {
        if (ha_runner_stack_short(runner, STACK_BYTES)) {
            runner->fault.kind = HA_FAULT_STACK;
            ha_runner_quit(runner);
        }
        ha_runner_busy(runner);
        char *shadow = ha_fiber_shadow(fiber);
        ha_runner_idle(runner);
        if (shadow == NULL) {
            quit(runner);
        }
    }
    return fiber->shadow;
}

struct ha_shadow_calls *
ha_shadowed_calls(void)
{
    struct ha_runner *runner = ha_runner_self;

    return (struct ha_shadow_calls *)(void *)shadow_of(runner, runner->fiber);
}

static struct ha_shadow
stack_shadow(struct ha_runner *runner, struct ha_fiber *fiber)
{
    uint64_t bytes = (uint64_t)(fiber->high - fiber->low);
    char *shadow = shadow_of(runner, fiber) + HA_FIBER_SHADOW_HEAD;

    return (struct ha_shadow){.base = (uintptr_t)fiber->low,
                              .bytes = bytes,
                              .bits = (uint8_t *)shadow,
                              .origins = (uint8_t *)shadow + bytes};
}

static bool
holds(const struct ha_fiber *fiber, uintptr_t at)
{
    return at >= (uintptr_t)fiber->low && at < (uintptr_t)fiber->high;
}

/* The stack of another lane of the block, whose variables a pointer may reach. */
static struct ha_fiber *
other_stack(const struct ha_group *group, uintptr_t at)
{
    const struct ha_fiber_set *set = &group->fibers;

    for (uint32_t i = 0; i < set->count / HA_FIBER_SEGMENT; i++) {
        uintptr_t offset = at - (uintptr_t)set->segments[i];
        if (at >= (uintptr_t)set->segments[i] &&
            offset < set->stride * HA_FIBER_SEGMENT) {
            struct ha_fiber *fiber =
                &set->fibers[i * HA_FIBER_SEGMENT + offset / set->stride];
            return holds(fiber, at) ? fiber : NULL;
        }
    }
    return NULL;
}

static uint64_t
shared_bytes(const struct ha_group *group)
{
    return (uint64_t)group->kernel->shared_static + group->launch->shared_dynamic_bytes;
}

static struct ha_shadow
shared_shadow(const struct ha_group *group)
{
    uint64_t bytes = shared_bytes(group), room = (bytes + 63) / 64 * 64;
    uint8_t *bits = (uint8_t *)group->shadow + (uintptr_t)group->shared % PAGE_BYTES;

    return (struct ha_shadow){.base = (uintptr_t)group->shared,
                              .bytes = bytes,
                              .bits = bits,
                              .origins = bits + room};
}

/* That of memory outside of the block; seldom asked for anew. */
static bool
device_shadow(struct ha_runner *runner, uintptr_t at, struct ha_shadow *shadow)
{
    struct head *head = (struct head *)(void *)shadow_of(runner, runner->fiber);
    uint64_t changes = ha_shadow_changes();

    for (uint32_t i = 0; i < KNOWN_COUNT && head->changes == changes; i++) {
        if (at - head->known[i].base < head->known[i].bytes) {
            *shadow = head->known[i];
            return true;
        }
    }
    if (ha_runner_stack_short(runner, STACK_BYTES)) {
        runner->fault.kind = HA_FAULT_STACK;
        ha_runner_quit(runner);
    }
    ha_runner_busy(runner);
    bool found = ha_shadow_find(at, shadow);
    if (head->changes != changes) {
        memset(head->known, 0, sizeof head->known);
        head->changes = changes;
    }
    if (found) {
        head->known[head->next++ % KNOWN_COUNT] = *shadow;
    }
    ha_runner_idle(runner);
    return found;
}

/* The shadow that has all of the bytes; false: they count as written. */
static bool
find(uintptr_t at, uint64_t size, struct ha_shadow *shadow)
{
    struct ha_runner *runner = ha_runner_self;
    const struct ha_group *group = runner->group;

    if (holds(runner->fiber, at)) {
        *shadow = stack_shadow(runner, runner->fiber);
    } else if (at - (uintptr_t)group->shared < shared_bytes(group)) {
        if (group->shadow == NULL || !group->launch->shadowed) {
            return false;
        }
        *shadow = shared_shadow(group);
    } else if (!device_shadow(runner, at, shadow)) {
        struct ha_fiber *other = other_stack(group, at);
        if (other == NULL) {
            return false;
        }
        *shadow = stack_shadow(runner, other);
    }
    return size <= shadow->bytes - (at - shadow->base);
}

/* Zeros that are read, and room that nobody reads; NULL without memory. */
static void *
waste(bool write)
{
    static void *_Atomic maps[2];
    void *map = atomic_load_explicit(&maps[write], memory_order_acquire);

    if (map != NULL) {
        return map;
    }
    ha_runner_busy(ha_runner_self);
    void *made = mmap(NULL, WASTE_BYTES, PROT_READ | (write ? PROT_WRITE : 0),
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) {
        made = NULL;
    } else if (!atomic_compare_exchange_strong(&maps[write], &map, made)) {
        (void)munmap(made, WASTE_BYTES);
        made = map;
    }
    ha_runner_idle(ha_runner_self);
    return made;
}

struct ha_image_shadow
ha_shadowed_place(const void *address, uint64_t size, uint32_t write)
{
    uintptr_t at = (uintptr_t)address;
    struct ha_shadow shadow;

    if (!find(at, size, &shadow)) {
        void *map = waste(write != 0);
        if (map == NULL || size > WASTE_BYTES) {
            quit(ha_runner_self);
        }
        return (struct ha_image_shadow){map, map};
    }
    uintptr_t offset = at - shadow.base;
    return (struct ha_image_shadow){shadow.bits + offset,
                                    shadow.origins + (offset & ~(uintptr_t)3)};
}

/* ---- what lanes do ---- */

static void
copy(uintptr_t to, uintptr_t from, uint64_t size)
{
    struct ha_shadow target, source;

    if (size == 0 || !find(to, size, &target)) {
        return;
    }
    if (find(from, size, &source)) {
        ha_shadow_move(&target, to, &source, from, size);
    } else {
        ha_shadow_fill(&target, to, size, 0);
    }
}

static void
set_origin(const struct ha_shadow *shadow, uintptr_t at, uint64_t size, uint32_t origin)
{
    for (uint64_t i = 0; i < size; i += 4) {
        uintptr_t offset = (at - shadow->base + i) & ~(uintptr_t)3;
        memcpy(shadow->origins + offset, &origin, sizeof origin);
    }
}

/* What depends on the bits, for an operation of so many bytes. */
static uint64_t
spread(uint64_t old, uint64_t operand, uint64_t kind, uint64_t size)
{
    uint64_t both = old | operand, all = UINT64_MAX >> (64 - 8 * size);

    switch ((enum ha_shadow_atomic)kind) {
    case HA_ATOMIC_VALUE:
    case HA_ATOMIC_COMPARED:
        return operand;
    case HA_ATOMIC_BITS:
        return both;
    case HA_ATOMIC_LOWER:
        return (both | (0 - both)) & all;
    default:
        return both != 0 ? all : 0;
    }
}

static void
before_atomic(uintptr_t at, uint64_t size, uint64_t kind)
{
    struct ha_shadow_calls *calls = ha_shadowed_calls();
    uint64_t operand = calls->params[ARGUMENT_OPERAND], old = 0;
    uint32_t origin = 0;
    struct ha_shadow shadow;

    if (size <= sizeof old && find(at, size, &shadow)) {
        uintptr_t offset = at - shadow.base;
        memcpy(&old, shadow.bits + offset, size);
        memcpy(&origin, shadow.origins + (offset & ~(uintptr_t)3), sizeof origin);
    }
    calls->result[0] = old;
    calls->result_origin = origin;
    calls->pending = size <= sizeof old ? spread(old, operand, kind, size) : 0;
    calls->pending_old = old;
    calls->pending_origin =
        (operand != 0 ? calls->param_origins[2 * ARGUMENT_OPERAND] : origin) |
        (kind == HA_ATOMIC_VALUE || kind == HA_ATOMIC_COMPARED
             ? 0
             : HA_SHADOW_COMPUTED_BIT);
}

static void
after_atomic(uintptr_t at, uint64_t size, bool stored)
{
    const struct ha_shadow_calls *calls = ha_shadowed_calls();
    uint64_t bits = stored ? calls->pending : calls->pending_old;
    struct ha_shadow shadow;

    if (size <= sizeof bits && find(at, size, &shadow)) {
        memcpy(shadow.bits + (at - shadow.base), &bits, size);
        if (bits != 0) {
            set_origin(&shadow, at, size, calls->pending_origin);
        }
    }
}

uint64_t
ha_shadowed_do(uint32_t op, void *to, const void *from, uint64_t size, uint64_t value)
{
    uintptr_t at = (uintptr_t)to;
    struct ha_shadow shadow;
    uint64_t answer = 0;

    switch ((enum ha_shadow_op)op) {
    case HA_SHADOW_COPY:
        copy(at, (uintptr_t)from, size);
        break;
    case HA_SHADOW_FILL:
        if (size > 0 && find(at, size, &shadow)) {
            ha_shadow_fill(&shadow, at, size, (uint32_t)value);
        }
        break;
    case HA_SHADOW_ORIGIN:
        if (size > 0 && find(at, size, &shadow)) {
            set_origin(&shadow, at, size, (uint32_t)value);
        }
        break;
    case HA_SHADOW_COMPUTED:
        if (size > 0 && find(at, size, &shadow)) {
            ha_shadow_mark(&shadow, at, size);
        }
        break;
    case HA_SHADOW_NAME:
        ha_runner_busy(ha_runner_self);
        answer = ha_origin_variable(from, size);
        ha_runner_idle(ha_runner_self);
        break;
    case HA_SHADOW_ATOMIC:
        before_atomic(at, size, value);
        break;
    case HA_SHADOW_ATOMIC_DONE:
        after_atomic(at, size, value != 0);
        break;
    }
    return answer;
}

/* ---- what the device does ---- */

void
ha_shadowed_block(struct ha_group *group)
{
    uint64_t bytes = shared_bytes(group);
    size_t need = (size_t)(PAGE_BYTES + 2 * ((bytes + 63) / 64 * 64));

    if (bytes == 0) {
        return;
    }
    if (need > group->shadow_bytes) {
        void *map = mmap(NULL, need, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (group->shadow != NULL) {
            (void)munmap(group->shadow, group->shadow_bytes);
        }
        group->shadow = map == MAP_FAILED ? NULL : map;
        group->shadow_bytes = map == MAP_FAILED ? 0 : need;
    }
    if (group->shadow != NULL) {
        const struct ha_shadow shadow = shared_shadow(group);
        ha_shadow_fill(&shadow, shadow.base, bytes, HA_ORIGIN_SHARED);
        memset(group->shared, 0, bytes); /* so that runs are alike */
    }
}

static struct ha_shadow_calls *
calls_of(const struct ha_group *group, uint32_t warp, uint32_t lane)
{
    uint32_t index = (warp << group->warp_shift) + lane;

    return (struct ha_shadow_calls *)(void *)group->fiber_of[index]->shadow;
}

/* What bits of a result lack a value: of a vote those whose lanes do, of a comparison
 * all if any lane does. */
static uint64_t
common_bits(const struct ha_lane_record *lanes, const uint64_t *bits, uint64_t group,
            uint32_t op)
{
    uint64_t without = 0, all = UINT64_MAX;
    bool decided = false;

    for (uint64_t rest = group; rest != 0; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctzll(rest);
        bool value = lanes[lane].call.value != 0;
        if (bits[lane] != 0) {
            without |= (uint64_t)1 << lane;
        } else {
            decided = decided || (op == HA_WARP_ANY && value) ||
                      (op == HA_WARP_ALL && !value);
        }
    }
    return op == HA_WARP_BALLOT ? without : without == 0 || decided ? 0 : all;
}

void
ha_shadowed_warp(struct ha_group *group, uint32_t warp, uint64_t lanes)
{
    const struct ha_lane_record *records =
        group->lanes + ((size_t)warp << group->warp_shift);
    uint64_t bits[HA_WARP_SIZE_MAX] = {0};
    uint32_t origins[HA_WARP_SIZE_MAX] = {0}, any = 0;
    bool shuffles = records[__builtin_ctzll(lanes)].call.op <= HA_WARP_SHFL_XOR;

    for (uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctzll(rest);
        const struct ha_shadow_calls *calls = calls_of(group, warp, lane);
        if (calls != NULL) {
            bits[lane] = calls->params[ARGUMENT_VALUE];
            origins[lane] = calls->param_origins[2 * ARGUMENT_VALUE];
            any = bits[lane] != 0 ? origins[lane] : any;
        }
    }
    for (uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctzll(rest);
        const struct ha_warp_call *call = &records[lane].call;
        struct ha_shadow_calls *calls = calls_of(group, warp, lane);
        uint32_t source = ha_warp_source(call, lane, group->warp_size);
        source = (lanes >> source & 1) != 0 ? source : lane;
        if (calls != NULL) {
            calls->result[0] =
                shuffles ? bits[source] : common_bits(records, bits, lanes, call->op);
            calls->result_origin = shuffles ? origins[source] : any;
        }
    }
}

/* The shadow of the whole heap at once, so that it stays where it is. */
void
ha_shadowed_heap(void *address, uint64_t size)
{
    struct ha_runner *runner = ha_runner_self;
    struct ha_shadow shadow;

    ha_runner_busy(runner);
    if (!ha_shadow_find((uintptr_t)address, &shadow)) {
        uint64_t bytes;
        void *range = ha_heap_range(runner->launch->device, &bytes);
        ha_shadow_add((uintptr_t)range, bytes, 0);
    }
    ha_shadow_lost((uintptr_t)address, size, HA_ORIGIN_HEAP);
    ha_runner_idle(runner);
}
