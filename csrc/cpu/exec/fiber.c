/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cpu/exec/fiber.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Linux 6.13; older headers do not have it. */
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

/* Wide, because a big frame may step over a narrow guard; untouched, so it costs
 * nothing. */
#define GUARD_BYTES ((size_t)64 << 10)

/* Stacks at equal offsets modulo the cache's way size evict each other: a switch then
 * takes 60 ns instead of 6.  Stack i begins COLOUR_LINES * i cache lines lower, modulo
 * COLOUR_SPAN_BYTES; the step is odd, so all lines of the span are used. */
#define COLOUR_SPAN_BYTES ((size_t)16 << 10)
#define COLOUR_LINES 5u
#define CACHE_LINE_BYTES 64u

#define MAP_LIMIT_DEFAULT 65530L

static _Atomic long maps_used;
static _Atomic long map_limit;          /* 0: not read yet */
static _Atomic long map_limit_override; /* tests */
static atomic_bool advice_refused;

long
ha_fiber_map_limit(void)
{
    long limit = atomic_load_explicit(&map_limit_override, memory_order_relaxed);
    if (limit > 0) {
        return limit;
    }
    limit = atomic_load_explicit(&map_limit, memory_order_relaxed);
    if (limit > 0) {
        return limit;
    }
    FILE *file = fopen("/proc/sys/vm/max_map_count", "re");
    if (!file || fscanf(file, "%ld", &limit) != 1 || limit <= 0) {
        limit = MAP_LIMIT_DEFAULT;
    }
    if (file) {
        fclose(file);
    }
    atomic_store_explicit(&map_limit, limit, memory_order_relaxed);
    return limit;
}

void
ha_fiber_test_limits(bool no_advice, long limit)
{
    atomic_store(&advice_refused, no_advice);
    atomic_store(&map_limit_override, limit);
}

static size_t
page_bytes(void)
{
    long size = sysconf(_SC_PAGESIZE);
    return size > 0 ? (size_t)size : 4096;
}

static size_t
round_up(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static void *
map_stack(size_t bytes)
{
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

/* Takes `count` mappings out of the process's share; false if they are not there. */
static bool
take_maps(long count)
{
    long used = atomic_fetch_add(&maps_used, count);
    if (used + count <= ha_fiber_map_limit() / 2) {
        return true;
    }
    atomic_fetch_sub(&maps_used, count);
    return false;
}

/* Emulators take unknown advice for done: the guard must refuse to be read. */
static bool
guard_by_advice(char *guard)
{
    return madvise(guard, GUARD_BYTES, MADV_GUARD_INSTALL) == 0 &&
           madvise(guard, page_bytes(), MADV_POPULATE_READ) != 0 && errno == EFAULT;
}

static bool
guard_segment(char *base, size_t stride, bool *advised)
{
    *advised = !atomic_load_explicit(&advice_refused, memory_order_relaxed);
    for (uint32_t i = 0; *advised && i < HA_FIBER_SEGMENT; i++) {
        if (!guard_by_advice(base + i * stride)) {
            *advised = false;
        }
    }
    if (*advised) {
        return true;
    }
    if (!take_maps(2L * HA_FIBER_SEGMENT)) {
        return false;
    }
    for (uint32_t i = 0; i < HA_FIBER_SEGMENT; i++) {
        if (mprotect(base + i * stride, GUARD_BYTES, PROT_NONE) != 0) {
            atomic_fetch_sub(&maps_used, 2L * HA_FIBER_SEGMENT);
            return false;
        }
    }
    return true;
}

static void
fiber_create_tsan(struct ha_fiber *fiber)
{
#if HA_FIBER_TSAN
    fiber->tsan = __tsan_create_fiber(0);
#else
    (void)fiber;
#endif
}

static void
fiber_destroy_tsan(struct ha_fiber *fiber)
{
#if HA_FIBER_TSAN
    if (fiber->tsan) {
        __tsan_destroy_fiber(fiber->tsan);
    }
    fiber->tsan = NULL;
#else
    (void)fiber;
#endif
}

static bool
add_segment(struct ha_fiber_set *set)
{
    uint32_t segment = set->count / HA_FIBER_SEGMENT;
    size_t bytes = set->stride * HA_FIBER_SEGMENT;
    bool advised = false;
    char *base = map_stack(bytes);
    if (!base) {
        return false;
    }
    if (!guard_segment(base, set->stride, &advised)) {
        munmap(base, bytes);
        return false;
    }
    set->segments[segment] = base;
    if (advised) {
        set->advised |= 1u << segment;
    } else {
        set->advised &= ~(1u << segment);
    }
    for (uint32_t i = 0; i < HA_FIBER_SEGMENT; i++) {
        uint32_t index = set->count + i;
        struct ha_fiber *fiber = &set->fibers[index];
        size_t colour =
            (size_t)index * COLOUR_LINES * CACHE_LINE_BYTES % COLOUR_SPAN_BYTES;
        fiber->low = base + i * set->stride + GUARD_BYTES;
        fiber->high = base + (i + 1) * set->stride - colour;
        fiber_create_tsan(fiber);
    }
    set->count += HA_FIBER_SEGMENT;
    return true;
}

static size_t
shadow_bytes(const struct ha_fiber *fiber)
{
    return round_up(HA_FIBER_SHADOW_HEAD + 2 * (size_t)(fiber->high - fiber->low),
                    page_bytes());
}

char *
ha_fiber_shadow(struct ha_fiber *fiber)
{
    if (!fiber->shadow) {
        fiber->shadow = map_stack(shadow_bytes(fiber));
    }
    return fiber->shadow;
}

static void
drop_shadow(struct ha_fiber *fiber)
{
    if (fiber->shadow) {
        munmap(fiber->shadow, shadow_bytes(fiber));
        fiber->shadow = NULL;
    }
}

static void
drop_segments(struct ha_fiber_set *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        fiber_destroy_tsan(&set->fibers[i]);
        drop_shadow(&set->fibers[i]);
    }
    for (uint32_t i = 0; i < set->count / HA_FIBER_SEGMENT; i++) {
        munmap(set->segments[i], set->stride * HA_FIBER_SEGMENT);
        set->segments[i] = NULL;
        if (!(set->advised >> i & 1u)) {
            atomic_fetch_sub(&maps_used, 2L * HA_FIBER_SEGMENT);
        }
    }
    set->count = 0;
    set->advised = 0;
    set->stack_bytes = 0;
}

static bool
reserve_main(struct ha_fiber_set *set)
{
    if (set->main_map) {
        return true;
    }
    char *map = map_stack(GUARD_BYTES + HA_FIBER_MAIN_BYTES);
    if (!map) {
        return false;
    }
    if (mprotect(map, GUARD_BYTES, PROT_NONE) != 0) {
        munmap(map, GUARD_BYTES + HA_FIBER_MAIN_BYTES);
        return false;
    }
    set->main_map = map;
    set->main.low = map + GUARD_BYTES;
    set->main.high = set->main.low + HA_FIBER_MAIN_BYTES;
    fiber_create_tsan(&set->main);
    return true;
}

bool
ha_fiber_reserve(struct ha_fiber_set *set, uint32_t count, size_t stack_bytes)
{
    if (count > HA_FIBER_MAX || !reserve_main(set)) {
        return false;
    }
    if (count == 0) {
        return true;
    }
    if (!set->fibers) {
        set->fibers = calloc(HA_FIBER_MAX, sizeof *set->fibers);
        if (!set->fibers) {
            return false;
        }
    }
    if (stack_bytes < HA_FIBER_STACK_MIN_BYTES) {
        stack_bytes = HA_FIBER_STACK_MIN_BYTES;
    }
    if (stack_bytes > HA_FIBER_STACK_MAX_BYTES) {
        stack_bytes = HA_FIBER_STACK_MAX_BYTES;
    }
    stack_bytes = round_up(stack_bytes, page_bytes());
    if (set->count > 0 && set->stack_bytes < stack_bytes) {
        drop_segments(set);
    }
    if (set->count == 0) {
        set->stack_bytes = stack_bytes;
        set->stride =
            round_up(GUARD_BYTES + stack_bytes + COLOUR_SPAN_BYTES, page_bytes());
    }
    while (set->count < count) {
        if (!add_segment(set)) {
            return false;
        }
    }
    return true;
}

void
ha_fiber_release(struct ha_fiber_set *set)
{
    drop_segments(set);
    free(set->fibers);
    if (set->main_map) {
        fiber_destroy_tsan(&set->main);
        munmap(set->main_map, GUARD_BYTES + HA_FIBER_MAIN_BYTES);
    }
    memset(set, 0, sizeof *set);
}

size_t
ha_fiber_guard_bytes(void)
{
    return GUARD_BYTES;
}

void
ha_fiber_start(struct ha_fiber *fiber, void (*entry)(void *), void *argument)
{
    fiber->context = ha_context_make(fiber->high, entry, argument);
}

void
ha_fiber_home(struct ha_fiber *home)
{
    memset(home, 0, sizeof *home);
#if HA_FIBER_ASAN
    pthread_attr_t attributes;
    void *low = NULL;
    size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &low, &bytes) != 0) {
            bytes = 0;
        }
        pthread_attr_destroy(&attributes);
    }
    home->low = low;
    home->high = (char *)low + bytes;
#endif
#if HA_FIBER_TSAN
    home->tsan = __tsan_get_current_fiber();
#endif
}

void
ha_fiber_leave(void *ucontext, struct ha_fiber *home)
{
#if HA_FIBER_ASAN
    /* The handler still runs on the abandoned side, so its fake stack is kept. */
    static __thread void *abandoned __attribute__((tls_model("initial-exec")));
    __sanitizer_start_switch_fiber(&abandoned, home->low,
                                   (size_t)(home->high - home->low));
#endif
    ha_context_leave(ucontext, home->context);
}

/* Without instrumentation: it would enter in one call history and leave in another. */
__attribute__((no_sanitize("thread"))) void
ha_fiber_landed(struct ha_fiber *home, struct ha_fiber_set *set, uint32_t used)
{
    if (used > set->count) {
        used = set->count;
    }
#if HA_FIBER_ASAN
    __asan_unpoison_memory_region(set->main.low,
                                  (size_t)(set->main.high - set->main.low));
    for (uint32_t i = 0; i < used; i++) {
        __asan_unpoison_memory_region(
            set->fibers[i].low, (size_t)(set->fibers[i].high - set->fibers[i].low));
    }
#endif
#if HA_FIBER_TSAN
    /* An abandoned fiber's call history would grow for ever: begin a new one. */
    __tsan_switch_to_fiber(home->tsan, 0);
    fiber_destroy_tsan(&set->main);
    fiber_create_tsan(&set->main);
    for (uint32_t i = 0; i < used; i++) {
        fiber_destroy_tsan(&set->fibers[i]);
        fiber_create_tsan(&set->fibers[i]);
    }
#endif
    (void)home;
    (void)used;
}
