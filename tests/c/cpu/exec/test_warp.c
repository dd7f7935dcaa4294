/* SPDX-License-Identifier: MIT */
/* Warp calls: what each operation gives, and who meets whom when lanes diverge. */
/* sources: core/dtype core/env core/log core/status cpu/base/check_kinds cpu/machine
   cpu/exec */
#include "exec_support.h"

#include <stdatomic.h>

#include "cpu/exec/warp.h"

static const struct ha_warp_site sites[] = {
    {.order = 0}, {.order = 1}, {.order = 2}, {.order = 3}, {.order = 4}};

#define SITE(number) (&sites[number])

static uint64_t
warp_call(uint32_t op, const struct ha_warp_site *site, uint64_t mask, uint64_t value,
          uint32_t operand, uint32_t width)
{
    return RT->warp(op, site, mask, value, operand, width);
}

/* One converged call of `op` by each lane; values are distinct in all 64 bits. */
struct single {
    uint32_t op;
    uint32_t operand;
    uint32_t width;
    uint64_t mask;
    uint64_t values[128];
    uint64_t results[128];
};

KERNEL
single_kernel(void *const *args, struct ha_lane *lane)
{
    static const struct ha_warp_site site = {.order = 1};
    struct single *single = *(struct single **)args[0];
    uint32_t t = lane->thread_idx[0];
    single->results[t] = warp_call(single->op, &site, single->mask, single->values[t],
                                   single->operand, single->width);
}

static const struct ha_image_kernel single_call = {
    .name = "single", .reference = single_kernel, .flags = HA_KERNEL_WARP};

/* What lane i of n reads, told apart from the executor's own code on purpose. */
static int
model_source(uint32_t op, int i, int operand, int width)
{
    int begin = i / width * width;
    int source;
    switch (op) {
    case HA_WARP_SHFL:
        return begin + ((operand % width) + width) % width;
    case HA_WARP_SHFL_UP:
        source = i - operand;
        return source < begin ? i : source;
    case HA_WARP_SHFL_DOWN:
        source = i + operand;
        return source >= begin + width ? i : source;
    default:
        source = i ^ operand;
        return source >= begin + width ? i : source;
    }
}

static void
test_shuffles_in_full_and_partial_warps(void)
{
    static struct single single;
    struct single *psingle = &single;
    void *args[] = {&psingle};
    for (uint32_t warp = 32; warp <= 64; warp *= 2) {
        for (uint32_t lanes = 1; lanes <= 128; lanes += lanes < 3 ? 1 : 25) {
            for (uint32_t op = HA_WARP_SHFL; op <= HA_WARP_SHFL_XOR; op++) {
                for (uint32_t width = 1; width <= warp; width *= 2) {
                    for (uint32_t operand = 0; operand < warp;
                         operand += 1 + operand / 4) {
                        single.op = op;
                        single.operand = operand;
                        single.width = width;
                        single.mask = (operand & 1) ? ~(uint64_t)0 : 0;
                        for (uint32_t i = 0; i < lanes; i++) {
                            single.values[i] = 0x9e3779b97f4a7c15u * (i + 1);
                        }
                        struct shape shape = shape_1d(1, lanes);
                        shape.warp_size = warp;
                        run_good(&single_call, args, &shape);
                        for (uint32_t i = 0; i < lanes; i++) {
                            uint32_t first = i / warp * warp;
                            uint32_t source = first + (uint32_t)model_source(
                                                          op, (int)(i - first),
                                                          (int)operand, (int)width);
                            if (source >= lanes) {
                                source = i;
                            }
                            CHECK_EQUAL(single.results[i], single.values[source]);
                        }
                    }
                }
            }
        }
    }
}

static void
test_votes_and_matches_in_partial_warps(void)
{
    static struct single single;
    struct single *psingle = &single;
    void *args[] = {&psingle};
    for (uint32_t warp = 32; warp <= 64; warp *= 2) {
        for (uint32_t lanes = 1; lanes <= 128; lanes += 9) {
            for (uint32_t op = HA_WARP_BALLOT; op <= HA_WARP_MATCH_ALL; op++) {
                for (uint32_t kind = 0; kind < 4; kind++) {
                    single.op = op;
                    single.width = warp;
                    for (uint32_t i = 0; i < lanes; i++) {
                        single.values[i] = kind == 0   ? 0
                                           : kind == 1 ? (uint64_t)7 << 40
                                           : kind == 2 ? i % 3
                                                       : i == 5;
                    }
                    struct shape shape = shape_1d(1, lanes);
                    shape.warp_size = warp;
                    run_good(&single_call, args, &shape);
                    for (uint32_t i = 0; i < lanes; i++) {
                        uint32_t first = i / warp * warp;
                        uint64_t ballot = 0, active = 0, equal = 0;
                        for (uint32_t k = first; k < lanes && k < first + warp; k++) {
                            uint64_t bit = (uint64_t)1 << (k - first);
                            active |= bit;
                            ballot |= single.values[k] ? bit : 0;
                            equal |= single.values[k] == single.values[i] ? bit : 0;
                        }
                        uint64_t want[] = {[HA_WARP_BALLOT] = ballot,
                                           [HA_WARP_ANY] = ballot != 0,
                                           [HA_WARP_ALL] = ballot == active,
                                           [HA_WARP_SYNC] = 0,
                                           [HA_WARP_ACTIVE] = active,
                                           [HA_WARP_MATCH_ANY] = equal,
                                           [HA_WARP_MATCH_ALL] =
                                               equal == active ? active : 0};
                        CHECK_EQUAL(single.results[i], want[op]);
                    }
                }
            }
        }
    }
}

/* if (odd) a(); else b(); c(): each side is a group of its own, then all meet. */
KERNEL
branch_kernel(void *const *args, struct ha_lane *lane)
{
    uint64_t *out = *(uint64_t **)args[0];
    uint32_t t = lane->thread_idx[0];
    if (t % 2) {
        out[t] = warp_call(HA_WARP_SHFL, SITE(1), 0, t, 4, 32); /* lane 4 is not here */
    } else {
        out[t] = warp_call(HA_WARP_SHFL, SITE(2), 0, t, 4, 32);
    }
    out[64 + t] = warp_call(HA_WARP_ACTIVE, SITE(3), 0, 0, 0, 32);
}

static const struct ha_image_kernel branch = {
    .name = "branch", .reference = branch_kernel, .flags = HA_KERNEL_WARP};

static void
test_branches_make_groups(void)
{
    uint64_t out[128];
    uint64_t *pout = out;
    void *args[] = {&pout};
    struct shape shape = shape_1d(1, 40);
    run_good(&branch, args, &shape);
    for (uint32_t t = 0; t < 40; t++) {
        CHECK_EQUAL(out[t], t % 2 ? t : (t < 32 ? 4 : 36));
        CHECK_EQUAL(out[64 + t], t < 32 ? 0xffffffff : 0xff);
    }
}

/* for (i < t + 1) { if (i % 3 == 1) continue; active() } then a call behind the loop:
 * lanes that left wait for lanes that are in. */
KERNEL
loop_kernel(void *const *args, struct ha_lane *lane)
{
    static const struct ha_warp_site inside = {.order = 1, .depth = 1, .loop = {5}};
    static const struct ha_warp_site behind = {.order = 2};
    uint64_t *out = *(uint64_t **)args[0];
    uint32_t t = lane->thread_idx[0];
    for (uint32_t i = 0; i <= t; i++, lane->trip[0]++) {
        if ((i + t) % 3 == 1) {
            continue;
        }
        out[32 * t + i] = warp_call(HA_WARP_ACTIVE, &inside, 0, 0, 0, 32);
    }
    out[32 * 32 + t] = warp_call(HA_WARP_ACTIVE, &behind, 0, 0, 0, 32);
}

static const struct ha_image_kernel loop = {
    .name = "loop", .reference = loop_kernel, .flags = HA_KERNEL_WARP};

static void
test_loops_with_continue_stay_in_step(void)
{
    static uint64_t out[33 * 32];
    uint64_t *pout = out;
    void *args[] = {&pout};
    struct shape shape = shape_1d(1, 32);
    run_good(&loop, args, &shape);
    for (uint32_t i = 0; i < 32; i++) {
        uint64_t want = 0;
        for (uint32_t t = i; t < 32; t++) {
            if ((i + t) % 3 != 1) {
                want |= (uint64_t)1 << t;
            }
        }
        for (uint32_t t = i; t < 32; t++) {
            if ((i + t) % 3 != 1) {
                CHECK_EQUAL(out[32 * t + i], want);
            }
        }
        CHECK_EQUAL(out[32 * 32 + i], 0xffffffff);
    }
}

/* Two sites in nested loops with bounds that differ by lane: the order of the trace
 * must be that of a machine in lock step. */
KERNEL
nest_kernel(void *const *args, struct ha_lane *lane)
{
    static const struct ha_warp_site first = {.order = 1, .depth = 1, .loop = {1}};
    static const struct ha_warp_site inner = {.order = 2, .depth = 2, .loop = {1, 2}};
    static const struct ha_warp_site last = {.order = 3, .depth = 1, .loop = {1}};
    uint64_t *out = *(uint64_t **)args[0];
    uint32_t t = lane->thread_idx[0];
    uint64_t hash = 1;
    for (uint32_t i = 0; i < 3; i++, lane->trip[0]++) {
        hash = hash * 31 + warp_call(HA_WARP_ACTIVE, &first, 0, 0, 0, 32);
        lane->trip[1] = 0;
        for (uint32_t k = 0; k < (t + i) % 4; k++, lane->trip[1]++) {
            hash = hash * 31 + warp_call(HA_WARP_ACTIVE, &inner, 0, 0, 0, 32);
        }
        hash = hash * 31 + warp_call(HA_WARP_ACTIVE, &last, 0, 0, 0, 32);
    }
    out[t] = hash;
}

static const struct ha_image_kernel nest = {
    .name = "nest", .reference = nest_kernel, .flags = HA_KERNEL_WARP};

static void
test_nested_loops_stay_in_step(void)
{
    uint64_t out[32], want[32];
    uint64_t *pout = out;
    void *args[] = {&pout};
    struct shape shape = shape_1d(1, 32);
    run_good(&nest, args, &shape);
    for (int t = 0; t < 32; t++) {
        want[t] = 1;
    }
    for (uint32_t i = 0; i < 3; i++) {
        for (int t = 0; t < 32; t++) {
            want[t] = want[t] * 31 + 0xffffffff;
        }
        for (uint32_t k = 0; k < 3; k++) {
            uint64_t active = 0;
            for (uint32_t t = 0; t < 32; t++) {
                if (k < (t + i) % 4) {
                    active |= (uint64_t)1 << t;
                }
            }
            for (uint32_t t = 0; t < 32; t++) {
                if (active >> t & 1) {
                    want[t] = want[t] * 31 + active;
                }
            }
        }
        for (int t = 0; t < 32; t++) {
            want[t] = want[t] * 31 + 0xffffffff;
        }
    }
    for (int t = 0; t < 32; t++) {
        CHECK_EQUAL(out[t], want[t]);
    }
}

/* Masks: halves meet by name from different sites; a lane of the mask that ended does
 * not count; a mask that names lanes at the block barrier is served without them. */
KERNEL
mask_kernel(void *const *args, struct ha_lane *lane)
{
    uint64_t *out = *(uint64_t **)args[0];
    uint32_t t = lane->thread_idx[0];
    uint64_t low = 0xffff, high = 0xffff0000;
    if (t == 3) {
        return;
    }
    if (t < 16 && t % 2) {
        out[t] = warp_call(HA_WARP_BALLOT, SITE(1), low, 1, 0, 32);
    } else if (t < 16) {
        out[t] = warp_call(HA_WARP_BALLOT, SITE(2), low, t == 2, 0, 32);
    } else {
        out[t] = warp_call(HA_WARP_BALLOT, SITE(3), high, t == 20, 0, 32);
    }
    if (t >= 8) {
        RT->block(HA_BLOCK_SYNC, 0, 1, 1);
    } else {
        out[32 + t] = warp_call(HA_WARP_SHFL, SITE(4), 0xffffffff, t, 9, 32);
    }
    if (t < 8) {
        RT->block(HA_BLOCK_SYNC, 0, 1, 1);
    }
}

static const struct ha_image_kernel masks = {.name = "masks",
                                             .reference = mask_kernel,
                                             .flags = HA_KERNEL_WARP | HA_KERNEL_BLOCK};

static void
test_masks_meet_by_name(void)
{
    uint64_t out[64] = {0};
    uint64_t *pout = out;
    void *args[] = {&pout};
    struct shape shape = shape_1d(1, 32);
    run_good(&masks, args, &shape);
    for (uint32_t t = 0; t < 32; t++) {
        if (t != 3) {
            CHECK_EQUAL(out[t], t < 16 ? (0xaaaa & ~8u) | 4u : 1u << 20);
        }
    }
    for (uint32_t t = 0; t < 8; t++) {
        if (t != 3) {
            CHECK_EQUAL(out[32 + t], t);
        }
    }
}

/* Reduction in each warp, then in the first one: the usual two steps, also for blocks
 * that are no multiple of the warp. */
KERNEL
reduce_kernel(void *const *args, struct ha_lane *lane)
{
    static const struct ha_warp_site one = {.order = 1, .depth = 1, .loop = {1}};
    static const struct ha_warp_site two = {.order = 2, .depth = 1, .loop = {2}};
    double *out = *(double **)args[0];
    uint32_t size = *(uint32_t *)args[1];
    double *sums = lane->shared;
    uint32_t t = lane->thread_idx[0], count = lane->grid->block_dim[0];
    uint32_t warps = (count + size - 1) / size;
    union {
        double number;
        uint64_t bits;
    } v = {.number = t + 0.25};
    for (uint32_t step = size / 2; step > 0; step /= 2, lane->trip[0]++) {
        double own = v.number;
        v.bits = warp_call(HA_WARP_SHFL_DOWN, &one, 0, v.bits, step, size);
        v.number = t % size + step < size && t + step < count ? own + v.number : own;
    }
    if (t % size == 0) {
        sums[t / size] = v.number;
    }
    RT->block(HA_BLOCK_SYNC, 0, 1, 1);
    if (t >= size) {
        return;
    }
    lane->trip[0] = 0;
    v.number = t < warps ? sums[t] : 0;
    for (uint32_t step = size / 2; step > 0; step /= 2, lane->trip[0]++) {
        double own = v.number;
        v.bits = warp_call(HA_WARP_SHFL_DOWN, &two, 0, v.bits, step, size);
        v.number = t + step < size && t + step < count ? own + v.number : own;
    }
    if (t == 0) {
        out[lane->block_idx[0]] = v.number;
    }
}

static const struct ha_image_kernel reduce = {.name = "reduce",
                                              .reference = reduce_kernel,
                                              .flags = HA_KERNEL_WARP | HA_KERNEL_BLOCK,
                                              .shared_static = 256};

static void
test_two_step_reduction(void)
{
    double out[5];
    double *pout = out;
    for (uint32_t warp = 32; warp <= 64; warp *= 2) {
        for (uint32_t lanes = 1; lanes <= 1024; lanes += 93) {
            void *args[] = {&pout, &warp};
            struct shape shape = shape_1d(5, lanes);
            shape.warp_size = warp;
            shape.threads = 2;
            run_good(&reduce, args, &shape);
            for (int i = 0; i < 5; i++) {
                CHECK(out[i] == lanes * (lanes - 1) / 2.0 + 0.25 * lanes);
            }
        }
    }
}

/* Some lanes spin with pause on a flag that another block sets, some see it at once:
 * all must be in the warp call behind the loop. */
KERNEL
spin_kernel(void *const *args, struct ha_lane *lane)
{
    _Atomic uint32_t *flag = *(_Atomic uint32_t **)args[0];
    uint64_t *out = *(uint64_t **)args[1];
    uint32_t t = lane->thread_idx[0], b = lane->block_idx[0];
    while (atomic_load(flag) < b) {
        RT->pause();
    }
    out[b * 32 + t] = warp_call(HA_WARP_ACTIVE, SITE(1), 0, 0, 0, 32);
    if (t == 31) {
        atomic_fetch_add(flag, 1);
    }
}

static const struct ha_image_kernel spin = {
    .name = "spin", .reference = spin_kernel, .flags = HA_KERNEL_WARP};

static void
test_spinning_lanes_join_again(void)
{
    enum { BLOCKS = 500 };
    static uint64_t out[BLOCKS * 32];
    _Atomic uint32_t flag = 0;
    _Atomic uint32_t *pflag = &flag;
    uint64_t *pout = out;
    void *args[] = {&pflag, &pout};
    struct shape shape = shape_1d(BLOCKS, 32);
    shape.threads = 3;
    run_good(&spin, args, &shape);
    for (int i = 0; i < BLOCKS * 32; i++) {
        CHECK_EQUAL(out[i], 0xffffffff);
    }
}

/* A lane spins until others of its warp have passed a warp call: they go without it. */
KERNEL
depend_kernel(void *const *args, struct ha_lane *lane)
{
    _Atomic uint32_t *flag = lane->shared;
    uint64_t *out = *(uint64_t **)args[0];
    uint32_t t = lane->thread_idx[0];
    if (t == 0) {
        atomic_store(flag, 0);
    }
    RT->block(HA_BLOCK_SYNC, 0, 1, 1);
    if (t == 0) {
        while (!atomic_load(flag)) {
            RT->pause();
        }
    } else {
        out[t] = warp_call(HA_WARP_ACTIVE, SITE(1), 0, 0, 0, 32);
        atomic_store(flag, 1);
    }
}

static const struct ha_image_kernel depend = {.name = "depend",
                                              .reference = depend_kernel,
                                              .flags = HA_KERNEL_WARP | HA_KERNEL_BLOCK,
                                              .shared_static = 64};

static void
test_spinning_lane_is_left_behind(void)
{
    uint64_t out[32];
    uint64_t *pout = out;
    void *args[] = {&pout};
    struct shape shape = shape_1d(1, 32);
    run_good(&depend, args, &shape);
    for (int t = 1; t < 32; t++) {
        CHECK_EQUAL(out[t], 0xfffffffe);
    }
}

int
main(void)
{
    CHECK(ha_exec_init() == 0);
    RUN(test_shuffles_in_full_and_partial_warps);
    RUN(test_votes_and_matches_in_partial_warps);
    RUN(test_branches_make_groups);
    RUN(test_loops_with_continue_stay_in_step);
    RUN(test_nested_loops_stay_in_step);
    RUN(test_masks_meet_by_name);
    RUN(test_two_step_reduction);
    RUN(test_spinning_lanes_join_again);
    RUN(test_spinning_lane_is_left_behind);
    ha_exec_thread_exit();
    return 0;
}
