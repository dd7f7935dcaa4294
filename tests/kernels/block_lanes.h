/* SPDX-License-Identifier: MIT */
/* What random kernels with barriers and warp calls need as plain C, by gcc.
 *
 * Each lane of a block is a coroutine with a stack of its own.  It runs until it stands
 * at a barrier or a warp call, or ends; then the next one runs.  The meaning of the calls
 * is written down here from HIP's documentation, and from docs/kernel_language.md where
 * that leaves something open: a lane that reads from a lane outside of its group gets
 * its own value.  Nothing of the CPU device has a part in it.
 *
 * Where a lane stands is its *path*: for each loop around, the loop's number and the
 * round; for each function around, the number of the call; at the end the number of the
 * call itself.  Numbers grow with the program's text.  So paths have the order in which
 * lanes in lock step get there, and the lanes with the first path are a group: none that
 * runs can come to it any more. */
#include <math.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define UNWATCHED __attribute__((no_sanitize_thread))
#define KERNEL static
#define HIPADAPT_LOCKSTEP
#define FUNCTION static
#define NOINLINE
#define LAUNCH_BOUNDS(lanes)
#define SHARED static __attribute__((section("block_shared")))
#define DYNAMIC_SHARED(type, name) type *name = (type *)dynamic_memory
#define LANES_MOST 1024
#define PATH_MOST 64
#define STACK_BYTES 65536

enum state { READY, AT_WARP, AT_BARRIER, LEFT };
enum op {
    SHFL,
    UP,
    DOWN,
    XOR,
    BALLOT,
    ANY,
    ALL,
    ACTIVE,
    MATCH_ANY,
    MATCH_ALL,
    MEET,
    R_ADD,
    R_AND,
    R_OR,
    R_XOR,
    R_MIN,
    R_MAX,
    R_UMIN,
    R_UMAX,
    COUNT,
    AND,
    OR,
};
struct place {
    unsigned x, y, z;
};
struct lane {
    jmp_buf stopped;
    ucontext_t start;
    int started, in_warp;
    enum state state;
    int path[PATH_MOST];
    int base, length; /* of the path: where the function began, and all */
    enum op op;
    unsigned long mask; /* 0 if the call names no lanes */
    unsigned long value;
    int operand, width;
    int barrier; /* its number, which no other one has */
};
static struct place threadIdx, blockIdx, blockDim, gridDim;
static struct lane lanes_[LANES_MOST];
static struct lane *volatile now;
static jmp_buf scheduler;
static char dynamic_memory[65536] __attribute__((section("block_shared"), aligned(64), used));

static UNWATCHED void
bad(const char *text)
{
    fprintf(stderr, "lane %d: %s\n", (int)(now - lanes_), text);
    exit(5);
}

/* Let the scheduler go on. */
static UNWATCHED void
stop(enum state state)
{
    now->state = state;
    if (_setjmp(now->stopped) == 0)
        _longjmp(scheduler, 1);
}

/* ---- paths; k counts the loops around, in this function ---- */

static UNWATCHED void
step_to(int k, int number)
{
    int at = now->base + 2 * k;
    if (at + 2 >= PATH_MOST)
        bad("too deep");
    now->path[at] = number;
    now->path[at + 1] = 0;
    now->length = at + 1;
}
#define ENTER(k) step_to(k, __COUNTER__)
#define TRIP(k) now->path[now->base + 2 * (k) + 1]++,
#define AT(k, e) (step_to(k, __COUNTER__), (e))
#define STEP(k) AT(k, __syncwarp())
#define CALL(k, e)                                                                     \
    ({                                                                                 \
        int base_ = now->base;                                                         \
        step_to(k, __COUNTER__);                                                       \
        now->base += 2 * (k) + 1;                                                      \
        __auto_type result_ = (e);                                                     \
        now->base = base_;                                                             \
        result_;                                                                       \
    })

/* ---- calls ---- */

static UNWATCHED unsigned long
meet(enum op op, unsigned long mask, unsigned long value, int operand, int width)
{
    now->op = op;
    now->mask = mask;
    now->value = value;
    now->operand = operand;
    now->width = width;
    stop(AT_WARP);
    return now->value;
}

static UNWATCHED int
barrier(enum op op, int value, int number)
{
    now->barrier = number;
    now->op = op;
    now->value = value != 0;
    stop(AT_BARRIER);
    return (int)now->value;
}
#define __syncthreads() ((void)barrier(MEET, 0, __COUNTER__))
#define __syncthreads_count(p) barrier(COUNT, (p), __COUNTER__)
#define __syncthreads_and(p) barrier(AND, (p), __COUNTER__)
#define __syncthreads_or(p) barrier(OR, (p), __COUNTER__)

/* A width that is left out is the whole warp. */
#define LAST_OF(...)                                                                   \
    ((int[]){__VA_ARGS__})[sizeof((int[]){__VA_ARGS__}) / sizeof(int) - 1]
#define SHUFFLE(op, mask, v, operand, ...)                                             \
    ({                                                                                 \
        __typeof__(v) value_ = (v);                                                    \
        unsigned long bits_ = 0;                                                       \
        memcpy(&bits_, &value_, sizeof value_);                                        \
        bits_ = meet(op, mask, bits_, operand, LAST_OF(WARP, ##__VA_ARGS__));          \
        memcpy(&value_, &bits_, sizeof value_);                                        \
        value_;                                                                        \
    })
#define __shfl(v, from, ...) SHUFFLE(SHFL, 0, v, from, ##__VA_ARGS__)
#define __shfl_up(v, by, ...) SHUFFLE(UP, 0, v, by, ##__VA_ARGS__)
#define __shfl_down(v, by, ...) SHUFFLE(DOWN, 0, v, by, ##__VA_ARGS__)
#define __shfl_xor(v, bits, ...) SHUFFLE(XOR, 0, v, bits, ##__VA_ARGS__)
#define __shfl_sync(m, v, from, ...) SHUFFLE(SHFL, m, v, from, ##__VA_ARGS__)
#define __shfl_up_sync(m, v, by, ...) SHUFFLE(UP, m, v, by, ##__VA_ARGS__)
#define __shfl_down_sync(m, v, by, ...) SHUFFLE(DOWN, m, v, by, ##__VA_ARGS__)
#define __shfl_xor_sync(m, v, bits, ...) SHUFFLE(XOR, m, v, bits, ##__VA_ARGS__)
#define __ballot(p) meet(BALLOT, 0, (p) != 0, 0, WARP)
#define __any(p) ((int)meet(ANY, 0, (p) != 0, 0, WARP))
#define __all(p) ((int)meet(ALL, 0, (p) != 0, 0, WARP))
#define __activemask() meet(ACTIVE, 0, 0, 0, WARP)
#define __ballot_sync(m, p) meet(BALLOT, m, (p) != 0, 0, WARP)
#define __any_sync(m, p) ((int)meet(ANY, m, (p) != 0, 0, WARP))
#define __all_sync(m, p) ((int)meet(ALL, m, (p) != 0, 0, WARP))
#define __match_any(v) meet(MATCH_ANY, 0, (unsigned long)(v), 0, WARP)
#define __match_any_sync(m, v) meet(MATCH_ANY, m, (unsigned long)(v), 0, WARP)
#define __match_all(v, same)                                                           \
    ({                                                                                 \
        unsigned long mask_ = meet(MATCH_ALL, 0, (unsigned long)(v), 0, WARP);         \
        *(same) = mask_ != 0;                                                          \
        mask_;                                                                         \
    })
#define __syncwarp() ((void)meet(MEET, 0, 0, 0, WARP))
#define REDUCE(op, m, v) ((__typeof__(v))meet(op, m, (unsigned long)(v), 0, WARP))
#define SIGNED(v) ((__typeof__(v))-1 < 0)
#define __reduce_add_sync(m, v) REDUCE(R_ADD, m, v)
#define __reduce_and_sync(m, v) REDUCE(R_AND, m, v)
#define __reduce_or_sync(m, v) REDUCE(R_OR, m, v)
#define __reduce_xor_sync(m, v) REDUCE(R_XOR, m, v)
#define __reduce_min_sync(m, v) REDUCE(SIGNED(v) ? R_MIN : R_UMIN, m, v)
#define __reduce_max_sync(m, v) REDUCE(SIGNED(v) ? R_MAX : R_UMAX, m, v)

/* Lanes change at calls only, so these are atomic. */
#define FETCH(p, expression)                                                           \
    ({                                                                                 \
        __auto_type at_ = (p);                                                         \
        atomic_ = 1;                                                                   \
        __typeof__(*at_) old_ = *at_;                                                  \
        *at_ = (expression);                                                           \
        atomic_ = 0;                                                                   \
        old_;                                                                          \
    })
static volatile int atomic_; /* the access is a part of an atomic operation */
#define atomicAdd(p, v) FETCH(p, (unsigned long)old_ + (unsigned long)(v))
#define atomicSub(p, v) FETCH(p, (unsigned long)old_ - (unsigned long)(v))
#define atomicAnd(p, v) FETCH(p, old_ & (v))
#define atomicOr(p, v) FETCH(p, old_ | (v))
#define atomicXor(p, v) FETCH(p, old_ ^ (v))
#define atomicMin(p, v) FETCH(p, (__typeof__(old_))(v) < old_ ? (__typeof__(old_))(v) : old_)
#define atomicMax(p, v) FETCH(p, (__typeof__(old_))(v) > old_ ? (__typeof__(old_))(v) : old_)
#define atomicExch(p, v) FETCH(p, (v))
#define atomicCAS(p, c, v)                                                             \
    FETCH(p, old_ == (__typeof__(old_))(c) ? (__typeof__(old_))(v) : old_)

/* ---- numbers ---- */

#define warpSize WARP
#define __popc(v) __builtin_popcount(v)
#define __popcll(v) __builtin_popcountl(v)
#define __clz(v) ((v) == 0 ? 32 : __builtin_clz(v))
#define __ffs(v) __builtin_ffs(v)
#define __ffsll(v) __builtin_ffsl(v)
#define __umulhi(a, b) ((unsigned)((unsigned long)(a) * (b) >> 32))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
