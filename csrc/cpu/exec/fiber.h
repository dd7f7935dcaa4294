/* SPDX-License-Identifier: MIT */
/* Stacks for lanes, and switching between them.
 *
 * A *fiber* is a stack with a suspended context on it.  A *set* holds the fibers that
 * one thread uses at a time: one *main* fiber with a big stack for code that never
 * blocks, and up to HA_FIBER_MAX small ones, mapped in segments of HA_FIBER_SEGMENT
 * when first needed and kept.  Below each stack lies a guard, so that an overflow
 * faults; where the kernel knows MADV_GUARD_INSTALL a whole segment is one mapping,
 * else each stack costs two of the process's vm.max_map_count, and sets stop growing
 * when half of these are used.
 *
 * A set belongs to one thread at a time and has no lock; the count of mappings is
 * atomic. Fibers never move between threads while something is suspended on them. */
#ifndef HA_CPU_EXEC_FIBER_H
#define HA_CPU_EXEC_FIBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu/machine/context.h"

#if defined(__has_feature)
#define HA_HAS_FEATURE(x) __has_feature(x)
#else
#define HA_HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HA_HAS_FEATURE(address_sanitizer)
#define HA_FIBER_ASAN 1
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#else
#define HA_FIBER_ASAN 0
#endif
#if defined(__SANITIZE_THREAD__) || HA_HAS_FEATURE(thread_sanitizer)
#define HA_FIBER_TSAN 1
#include <sanitizer/tsan_interface.h>
#else
#define HA_FIBER_TSAN 0
#endif

enum {
    HA_FIBER_MAX = 1024,
    HA_FIBER_SEGMENT = 32,
    HA_FIBER_SEGMENT_COUNT = HA_FIBER_MAX / HA_FIBER_SEGMENT,
};

/* Instrumented code needs several times the stack. */
#define HA_FIBER_STACK_MIN_BYTES                                                       \
    ((size_t)(HA_FIBER_ASAN || HA_FIBER_TSAN ? 256 : 64) << 10)
#define HA_FIBER_STACK_MAX_BYTES ((size_t)64 << 20)
#define HA_FIBER_MAIN_BYTES ((size_t)8 << 20)

struct ha_fiber {
    void *context; /* valid while suspended */
    char *high;    /* the stack grows down from here; NULL: never mapped */
    char *low;     /* first usable byte; the guard ends here */
    char *shadow;  /* owned mapping of ha_fiber_shadow, or NULL */
#if HA_FIBER_ASAN
    void *fake_stack; /* the sanitizer's, while suspended */
#endif
#if HA_FIBER_TSAN
    void *tsan; /* owned, except in a thread's own fiber */
#endif
};

struct ha_fiber_set {
    size_t stack_bytes; /* usable bytes of a small stack, 0 before the first one */
    size_t stride;      /* from one small stack to the next */
    uint32_t count;     /* small fibers that have a stack: fibers[0..count) */
    uint32_t advised;   /* bit per segment whose guards cost no mapping */
    struct ha_fiber main;
    struct ha_fiber *fibers;                /* owned, HA_FIBER_MAX entries */
    char *segments[HA_FIBER_SEGMENT_COUNT]; /* owned mappings */
    char *main_map;                         /* owned mapping */
};

/* Makes sure that the main stack and `count` small stacks of at least `stack_bytes` are
 * there.  Stacks that are too small are replaced, so with another size this may only be
 * called while nothing is suspended on the set.  Returns false, with the set still
 * usable as it was (or smaller), if memory or mappings ran out. */
bool ha_fiber_reserve(struct ha_fiber_set *set, uint32_t count, size_t stack_bytes);

/* Gives everything back; the set is then as if zeroed. */
void ha_fiber_release(struct ha_fiber_set *set);

/* Room for what is known of the stack's bytes: HA_FIBER_SHADOW_HEAD bytes, then one for
 * each byte from `low` on, and then as many again.  Zeros at first; goes with the
 * stack. NULL without memory.  Not for the main fiber. */
#define HA_FIBER_SHADOW_HEAD ((size_t)8 << 10)
char *ha_fiber_shadow(struct ha_fiber *fiber);

/* Size of the guard that lies directly below `low` of every fiber. */
size_t ha_fiber_guard_bytes(void);

/* Prepares `fiber` to call entry(argument) when it is first switched to. */
void ha_fiber_start(struct ha_fiber *fiber, void (*entry)(void *), void *argument);

/* Describes the running thread's own stack, so that fibers can switch back to it. */
void ha_fiber_home(struct ha_fiber *home);

/* For signal handlers: the thread comes back to `home`, which is suspended, when the
 * handler returns; what it ran is abandoned. */
void ha_fiber_leave(void *ucontext, struct ha_fiber *home);

/* On `home` again after fibers were abandoned half-way: tells the sanitizers.  `used`
 * says how many small fibers may have been in use.  Does nothing in other builds. */
void ha_fiber_landed(struct ha_fiber *home, struct ha_fiber_set *set, uint32_t used);

/* For tests: as if this kernel did not know MADV_GUARD_INSTALL, and a limit on mappings
 * (0: the system's). */
void ha_fiber_test_limits(bool no_advice, long map_limit);

/* vm.max_map_count as read at the first use, for messages. */
long ha_fiber_map_limit(void);

/* First call of every entry function. */
static inline __attribute__((always_inline)) void
ha_fiber_entered(void)
{
#if HA_FIBER_ASAN
    __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#endif
}

/* Suspends `from`, which is running, and resumes `to`. */
static inline __attribute__((always_inline)) void
ha_fiber_switch(struct ha_fiber *from, struct ha_fiber *to)
{
#if HA_FIBER_ASAN
    __sanitizer_start_switch_fiber(&from->fake_stack, to->low,
                                   (size_t)(to->high - to->low));
#endif
#if HA_FIBER_TSAN
    __tsan_switch_to_fiber(to->tsan, 0);
#endif
    ha_context_switch(&from->context, to->context);
#if HA_FIBER_ASAN
    __sanitizer_finish_switch_fiber(from->fake_stack, NULL, NULL);
#endif
}

/* Like ha_fiber_switch; the running fiber has ended, and its stack may be used anew. */
static inline __attribute__((always_inline, noreturn)) void
ha_fiber_end(struct ha_fiber *from, struct ha_fiber *to)
{
#if HA_FIBER_ASAN
    __sanitizer_start_switch_fiber(NULL, to->low, (size_t)(to->high - to->low));
#endif
#if HA_FIBER_TSAN
    __tsan_switch_to_fiber(to->tsan, 0);
#endif
    ha_context_switch(&from->context, to->context);
    __builtin_unreachable();
}

#endif
