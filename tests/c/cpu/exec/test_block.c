/* SPDX-License-Identifier: MIT */
/* Blocks: handing out, lanes, block barriers, shared memory, pause. */
/* sources: core/dtype core/env core/log core/status cpu/base/check_kinds cpu/machine
   cpu/exec */
#include "exec_support.h"

#include <fenv.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum { BLOCK_SITE = 1 };

static void
sync_block(void)
{
    RT->block(HA_BLOCK_SYNC, 0, 10, BLOCK_SITE);
}

static uint64_t
global_index(const struct ha_lane *lane)
{
    return (uint64_t)lane->block_idx[0] * lane->grid->block_dim[0] +
           lane->thread_idx[0];
}

static uint32_t
linear_thread(const struct ha_lane *lane)
{
    const uint32_t *dim = lane->grid->block_dim;
    return lane->thread_idx[0] +
           dim[0] * (lane->thread_idx[1] + dim[1] * lane->thread_idx[2]);
}

/* args: x, y, n.  A ragged last block returns early, before the barrier. */
KERNEL
early_kernel(void *const *args, struct ha_lane *lane)
{
    const int *x = *(const int **)args[0];
    int *y = *(int **)args[1];
    uint64_t n = *(uint64_t *)args[2];
    int *tile = lane->shared;
    uint64_t i = global_index(lane);
    if (i >= n) {
        return;
    }
    uint32_t t = lane->thread_idx[0];
    tile[t] = x[i];
    sync_block();
    uint64_t first = i - t;
    uint64_t count =
        n - first < lane->grid->block_dim[0] ? n - first : lane->grid->block_dim[0];
    y[i] = tile[count - 1 - t] * 2;
}

static const struct ha_image_kernel early = {.name = "early",
                                             .reference = early_kernel,
                                             .flags = HA_KERNEL_BLOCK,
                                             .shared_static = 4096};

static void
test_early_return_before_barrier(void)
{
    enum { N = 1000 };
    int x[1024], y[1024];
    const int *px = x;
    int *py = y;
    for (uint64_t n = 1; n <= N; n += 37) {
        for (int i = 0; i < 1024; i++) {
            x[i] = i * 7;
            y[i] = -1;
        }
        void *args[] = {&px, &py, &n};
        struct shape shape = shape_1d((uint32_t)((n + 255) / 256), 256);
        shape.threads = 2;
        run_good(&early, args, &shape);
        for (uint64_t i = 0; i < 1024; i++) {
            uint64_t first = i / 256 * 256;
            uint64_t last = first + 256 < n ? first + 256 : n;
            CHECK_EQUAL(y[i], i < n ? x[first + last - 1 - i] * 2 : -1);
        }
    }
}

/* args: out.  A tree reduction in shared memory with a barrier in the loop. */
KERNEL
tree_kernel(void *const *args, struct ha_lane *lane)
{
    uint32_t *out = *(uint32_t **)args[0];
    uint32_t *sums = lane->shared;
    uint32_t t = linear_thread(lane);
    uint32_t count =
        lane->grid->block_dim[0] * lane->grid->block_dim[1] * lane->grid->block_dim[2];
    sums[t] = t + lane->block_idx[0];
    sync_block();
    for (uint32_t step = count / 2; step > 0; step /= 2) {
        if (t < step) {
            sums[t] += sums[t + step];
        }
        sync_block();
    }
    if (t == 0) {
        out[lane->block_idx[0]] = sums[0];
    }
}

static const struct ha_image_kernel tree = {
    .name = "tree", .reference = tree_kernel, .flags = HA_KERNEL_BLOCK};

static void
test_barrier_in_loop_for_all_shapes(void)
{
    static const uint32_t blocks[][3] = {{1, 1, 1},  {2, 1, 1},   {32, 1, 1},
                                         {64, 1, 1}, {16, 16, 1}, {8, 8, 8},
                                         {1, 1, 64}, {1024, 1, 1}};
    uint32_t out[40];
    uint32_t *pout = out;
    void *args[] = {&pout};
    for (size_t b = 0; b < sizeof blocks / sizeof blocks[0]; b++) {
        for (uint32_t warp = 32; warp <= 64; warp *= 2) {
            struct shape shape = shape_1d(40, 1);
            memcpy(shape.block, blocks[b], sizeof shape.block);
            uint32_t lanes = blocks[b][0] * blocks[b][1] * blocks[b][2];
            shape.shared = lanes * 4;
            shape.warp_size = warp;
            shape.threads = 2;
            run_good(&tree, args, &shape);
            for (uint32_t i = 0; i < 40; i++) {
                CHECK_EQUAL(out[i], lanes * (lanes - 1) / 2 + lanes * i);
            }
        }
    }
}

/* args: out[3 * rounds].  Reductions at barriers, values change each round; lanes above
 * 100 have left. */
KERNEL
vote_kernel(void *const *args, struct ha_lane *lane)
{
    uint32_t *out = *(uint32_t **)args[0];
    uint32_t t = lane->thread_idx[0];
    if (t >= 100) {
        return;
    }
    for (uint32_t round = 0; round <= 101; round++) {
        uint32_t count = RT->block(HA_BLOCK_COUNT, t < round, 1, 1);
        uint32_t all = RT->block(HA_BLOCK_AND, t < round, 2, 2);
        uint32_t any = RT->block(HA_BLOCK_OR, t < round, 3, 3);
        atomic_fetch_add((_Atomic uint32_t *)&out[3 * round], count);
        atomic_fetch_add((_Atomic uint32_t *)&out[3 * round + 1], all);
        atomic_fetch_add((_Atomic uint32_t *)&out[3 * round + 2], any);
    }
}

static const struct ha_image_kernel vote = {
    .name = "vote", .reference = vote_kernel, .flags = HA_KERNEL_BLOCK};

static void
test_barrier_reductions(void)
{
    uint32_t out[3 * 102] = {0};
    uint32_t *pout = out;
    void *args[] = {&pout};
    struct shape shape = shape_1d(1, 128);
    run_good(&vote, args, &shape);
    for (uint32_t round = 0; round <= 101; round++) {
        uint32_t count = round < 100 ? round : 100;
        CHECK_EQUAL(out[3 * round], count * 100);
        CHECK_EQUAL(out[3 * round + 1], count == 100 ? 100 : 0);
        CHECK_EQUAL(out[3 * round + 2], count > 0 ? 100 : 0);
    }
}

/* Lanes leave a loop of barriers one by one. */
KERNEL
leave_kernel(void *const *args, struct ha_lane *lane)
{
    uint32_t *out = *(uint32_t **)args[0];
    uint32_t t = lane->thread_idx[0];
    uint32_t sum = 0;
    for (uint32_t round = 0; round <= t; round++) {
        sum += RT->block(HA_BLOCK_COUNT, 1, 7, 7);
    }
    out[t] = sum;
}

static const struct ha_image_kernel leave = {
    .name = "leave", .reference = leave_kernel, .flags = HA_KERNEL_BLOCK};

static void
test_lanes_end_one_by_one(void)
{
    enum { N = 200 };
    uint32_t out[N];
    uint32_t *pout = out;
    void *args[] = {&pout};
    struct shape shape = shape_1d(1, N);
    run_good(&leave, args, &shape);
    for (uint32_t t = 0; t < N; t++) {
        uint32_t want = 0;
        for (uint32_t round = 0; round <= t; round++) {
            want += N - round;
        }
        CHECK_EQUAL(out[t], want);
    }
}

KERNEL
diverged_kernel(void *const *args, struct ha_lane *lane)
{
    uint32_t limit = *(uint32_t *)args[0];
    if (linear_thread(lane) < limit) {
        RT->block(HA_BLOCK_SYNC, 0, 12, 1);
    } else {
        RT->block(HA_BLOCK_SYNC, 0, 17, 2);
    }
}

static const struct ha_image_kernel diverged = {
    .name = "diverged", .reference = diverged_kernel, .flags = HA_KERNEL_BLOCK};

static void
test_divergent_barriers_are_told(void)
{
    for (uint32_t limit = 1; limit < 64; limit += 3) {
        void *args[] = {&limit};
        struct shape shape = shape_1d(3, 64);
        shape.threads = 1 + limit % 2;
        char want[128];
        snprintf(
            want, sizeof want,
            "wait at different barriers: thread (0,0,0) at line 12, thread (%u,0,0) "
            "at line 17",
            limit);
        run_bad(&diverged, args, &shape, HA_FAULT_DIVERGED, want);
    }
    uint32_t all = 64;
    void *args[] = {&all};
    struct shape shape = shape_1d(3, 64);
    run_good(&diverged, args, &shape);
}

/* Without barriers: each lane once, the fields of the lane are right. */
KERNEL
plain_kernel(void *const *args, struct ha_lane *lane)
{
    _Atomic uint32_t *out = *(_Atomic uint32_t **)args[0];
    const uint32_t *grid = lane->grid->grid_dim;
    const uint32_t *block = lane->grid->block_dim;
    CHECK(RT->self() == lane);
    uint64_t b =
        lane->block_idx[0] +
        (uint64_t)grid[0] * (lane->block_idx[1] + grid[1] * lane->block_idx[2]);
    uint64_t lanes = (uint64_t)block[0] * block[1] * block[2];
    atomic_fetch_add(&out[b * lanes + linear_thread(lane)], 1);
}

static const struct ha_image_kernel plain = {
    .name = "plain", .reference = plain_kernel, .flags = HA_KERNEL_LANE};

static void
test_each_lane_runs_once(void)
{
    struct shape shape = {
        .grid = {5, 4, 3}, .block = {7, 3, 2}, .warp_size = 32, .threads = 3};
    static uint32_t out[60 * 42];
    uint32_t *pout = out;
    void *args[] = {&pout};
    memset(out, 0, sizeof out);
    run_good(&plain, args, &shape);
    for (size_t i = 0; i < sizeof out / sizeof out[0]; i++) {
        CHECK_EQUAL(out[i], 1);
    }
}

/* Block n waits for block n - 1 in a loop without calls: decoupled look-back. */
KERNEL
chain_kernel(void *const *args, struct ha_lane *lane)
{
    _Atomic uint32_t *flags = *(_Atomic uint32_t **)args[0];
    uint32_t b = lane->block_idx[0];
    if (lane->thread_idx[0] == 0 && b > 0) {
        while (atomic_load(&flags[b - 1]) == 0) {
            (void)sched_yield(); /* only so that two threads on one core go on */
        }
    }
    sync_block();
    if (lane->thread_idx[0] == 31) {
        atomic_store(&flags[b], b > 0 ? atomic_load(&flags[b - 1]) + 1 : 1);
    }
}

static const struct ha_image_kernel chain_of_blocks = {
    .name = "chain", .reference = chain_kernel, .flags = HA_KERNEL_BLOCK};

static void
test_blocks_may_wait_for_lower_ones(void)
{
    static _Atomic uint32_t flags[2000];
    _Atomic uint32_t *pflags = flags;
    void *args[] = {&pflags};
    struct shape shape = shape_1d(2000, 32);
    shape.threads = 3;
    memset((void *)flags, 0, sizeof flags);
    run_good(&chain_of_blocks, args, &shape);
    for (uint32_t i = 0; i < 2000; i++) {
        CHECK_EQUAL(atomic_load(&flags[i]), i + 1);
    }
}

/* The first lane waits for the last with pause, in a kernel that promised no barrier.
 */
KERNEL
pause_kernel(void *const *args, struct ha_lane *lane)
{
    _Atomic uint32_t *flag = lane->shared;
    uint32_t *out = *(uint32_t **)args[0];
    uint32_t t = lane->thread_idx[0];
    if (t + 1 == lane->grid->block_dim[0]) {
        atomic_store(flag, lane->block_idx[0] + 1);
    } else if (t < 40) {
        while (atomic_load(flag) != lane->block_idx[0] + 1) {
            RT->pause();
        }
    }
    out[global_index(lane)] = t;
}

static const struct ha_image_kernel pausing = {
    .name = "pausing", .reference = pause_kernel, .shared_static = 64};

static void
test_pause_gives_other_lanes_a_turn(void)
{
    static uint32_t out[4 * 300];
    uint32_t *pout = out;
    void *args[] = {&pout};
    struct shape shape = shape_1d(4, 300);
    shape.threads = 2;
    memset(out, 0xff, sizeof out);
    run_good(&pausing, args, &shape);
    for (uint32_t i = 0; i < 4 * 300; i++) {
        CHECK_EQUAL(out[i], i % 300);
    }
}

static uint64_t
fast_kernel(void *const *args, const struct ha_grid *grid, uint64_t first,
            uint64_t last, void *shared, void *frame)
{
    (void)frame;
    _Atomic uint32_t *out = *(_Atomic uint32_t **)args[0];
    CHECK(shared != NULL);
    for (uint64_t b = first; b < last; b++) {
        for (uint32_t t = 0; t < grid->block_dim[0]; t++) {
            atomic_fetch_add(&out[b * grid->block_dim[0] + t], 1);
        }
    }
    return last;
}

static const struct ha_image_kernel fast = {
    .name = "fast", .reference = plain_kernel, .fast = fast_kernel};

static void
test_fast_blocks_run_once(void)
{
    enum { BLOCKS = 5000, LANES = 16 };
    static uint32_t out[BLOCKS * LANES];
    uint32_t *pout = out;
    void *args[] = {&pout};
    struct shape shape = shape_1d(BLOCKS, LANES);
    shape.fast = true;
    for (unsigned threads = 1; threads <= 4; threads++) {
        memset(out, 0, sizeof out);
        shape.threads = threads;
        run_good(&fast, args, &shape);
        for (size_t i = 0; i < BLOCKS * LANES; i++) {
            CHECK_EQUAL(out[i], 1);
        }
    }
}

/* Gangs of 16 lanes with a frame of their own; blocks that are multiples of 3 are left
 * to the reference function, and with `diverges`, block 7 is told to be one whose lanes
 * do not meet. */
static bool diverges;

static uint64_t
gang_kernel(void *const *args, const struct ha_grid *grid, uint64_t first,
            uint64_t last, void *shared, void *frame)
{
    _Atomic uint32_t *out = *(_Atomic uint32_t **)args[0];
    uint32_t lanes = grid->block_dim[0];
    (void)shared;
    for (uint64_t b = first; b < last; b++) {
        if (b % 3 == 0) {
            return b | HA_FAST_REFUSED;
        }
        if (diverges && b == 7) {
            return b | HA_FAST_DIVERGED;
        }
        memset((struct ha_place *)frame + 1, (int)b, (size_t)(lanes + 15) / 16 * 192);
        for (uint32_t t = 0; t < lanes; t++) {
            atomic_fetch_add(&out[b * lanes + t], 1);
        }
    }
    return last;
}

static const struct ha_image_kernel gangs = {.name = "gangs",
                                             .reference = plain_kernel,
                                             .fast = gang_kernel,
                                             .flags = HA_KERNEL_LANE,
                                             .gang_width = 16,
                                             .gang_frame = 192};

static void
test_reference_runs_what_gangs_refuse(void)
{
    enum { BLOCKS = 500, LANES = 1000 };
    static uint32_t out[BLOCKS * LANES];
    uint32_t *pout = out;
    void *args[] = {&pout};
    struct shape shape = shape_1d(BLOCKS, LANES);
    shape.fast = true;
    diverges = false;
    for (unsigned threads = 1; threads <= 3; threads++) {
        memset(out, 0, sizeof out);
        shape.threads = threads;
        run_good(&gangs, args, &shape);
        for (size_t i = 0; i < BLOCKS * LANES; i++) {
            CHECK_EQUAL(out[i], 1);
        }
    }
}

/* The reference function is asked for the words; where it finds nothing, the launch
 * fails all the same. */
static void
test_gangs_that_do_not_meet_fail(void)
{
    static uint32_t out[20 * 32];
    uint32_t *pout = out;
    void *args[] = {&pout};
    struct shape shape = shape_1d(20, 32);
    shape.fast = true;
    diverges = true;
    run_bad(&gangs, args, &shape, HA_FAULT_DIVERGED,
            "kernel 'gangs': not all lanes of block (7,0,0) come to a barrier");
    diverges = false;
}

/* Some lanes have ended when one waits at a call that the flags did not promise; those
 * behind it have not begun. */
KERNEL
unpromised_kernel(void *const *args, struct ha_lane *lane)
{
    uint32_t *out = *(uint32_t **)args[0];
    uint32_t t = lane->thread_idx[0];
    static const struct ha_warp_site site = {.order = 1};
    if (t < 37) {
        out[t] = 1000;
        return;
    }
    out[t] = (uint32_t)RT->warp(HA_WARP_SHFL, &site, 0, t, 40, 32);
    out[t] += RT->block(HA_BLOCK_COUNT, t != 50, 1, 1) * 100000;
}

static const struct ha_image_kernel unpromised = {.name = "unpromised",
                                                  .reference = unpromised_kernel};

static void
test_lanes_wait_in_a_kernel_that_promised_not_to(void)
{
    enum { LANES = 100 };
    uint32_t out[LANES];
    uint32_t *pout = out;
    void *args[] = {&pout};
    struct shape shape = shape_1d(3, LANES);
    run_good(&unpromised, args, &shape);
    for (uint32_t t = 0; t < LANES; t++) {
        /* Lane 40 modulo 32 of the warp; lane 104 is not there. */
        uint32_t from = t / 32 * 32 + 8;
        uint32_t want = t < 37 ? 1000 : 6200000 + (from < LANES ? from : t);
        CHECK_EQUAL(out[t], want);
    }
}

/* The host's rounding and flushing do not reach kernels, nor the other way round. */
KERNEL
third_kernel(void *const *args, struct ha_lane *lane)
{
    volatile double one = 1, three = 3;
    double *out = *(double **)args[0];
    out[lane->thread_idx[0]] = one / three;
    sync_block();
    out[64 + lane->thread_idx[0]] = -one / three;
    if (lane->thread_idx[0] == 7) {
        fesetround(FE_UPWARD);
    }
    sync_block();
    out[128 + lane->thread_idx[0]] = one / three;
    sync_block();
    out[192 + lane->thread_idx[0]] = one / three;
}

static const struct ha_image_kernel third = {.name = "third",
                                             .reference = third_kernel,
                                             .flags =
                                                 HA_KERNEL_BLOCK | HA_KERNEL_CONTROL};

/* The lanes of a kernel without barriers share a stack, not what they set. */
KERNEL
plain_third_kernel(void *const *args, struct ha_lane *lane)
{
    volatile double one = 1, three = 3;
    double *out = *(double **)args[0];
    out[lane->thread_idx[0]] = one / three;
    if (lane->thread_idx[0] == 7) {
        fesetround(FE_UPWARD);
    }
}

static const struct ha_image_kernel plain_third = {
    .name = "third", .reference = plain_third_kernel, .flags = HA_KERNEL_CONTROL};

static void
test_rounding_of_the_host_stays_there(void)
{
    double out[256];
    double *pout = out;
    void *args[] = {&pout};
    struct shape shape = shape_1d(2, 64);
    volatile double one = 1, three = 3;
    volatile double want = one / three;
    CHECK(fesetround(FE_UPWARD) == 0);
    volatile double upward = one / three;
    CHECK(upward > want);
    run_good(&third, args, &shape);
    CHECK(fegetround() == FE_UPWARD);
    CHECK(fesetround(FE_TONEAREST) == 0);
    for (int t = 0; t < 64; t++) {
        CHECK(out[t] == want && out[64 + t] == -want);
        CHECK(out[128 + t] == (t == 7 ? upward : want));
        CHECK(out[192 + t] == (t == 7 ? upward : want));
    }
    run_good(&plain_third, args, &shape);
    for (int t = 0; t < 64; t++) {
        CHECK(out[t] == want);
    }
}

/* Threads that come late may not look at a kernel whose launch is over: it may have
 * been unloaded.  Each launch has its kernel on a page of its own, which is taken away
 * by the thread that was told of the end. */
enum { LATE_LAUNCHES = 2000, LATE_PAGE = 4096 };

static struct ha_launch late_launches[LATE_LAUNCHES];
static _Atomic int late_ready;
static _Atomic int late_ended;
static char *late_pages;

static void *
late_main(void *argument)
{
    for (int i = 0; i < LATE_LAUNCHES; i++) {
        while (atomic_load(&late_ready) <= i) {
            sched_yield();
        }
        if (ha_exec_run(&late_launches[i])) {
            atomic_fetch_add(&late_ended, 1);
            CHECK(mprotect(late_pages + i * LATE_PAGE, LATE_PAGE, PROT_NONE) == 0);
        }
    }
    ha_exec_thread_exit();
    return argument;
}

static void
test_nobody_looks_at_a_kernel_that_is_over(void)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    static uint32_t out[64];
    uint32_t *pout = out;
    void *args[] = {&pout};
    struct shape shape = shape_1d(2, 16);
    shape.threads = THREADS;
    late_pages = mmap(NULL, LATE_LAUNCHES * LATE_PAGE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(late_pages != MAP_FAILED);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, late_main, NULL) == 0);
    }
    for (int i = 0; i < LATE_LAUNCHES; i++) {
        struct ha_image_kernel *kernel = (void *)(late_pages + i * LATE_PAGE);
        *kernel = plain;
        launch_init(&late_launches[i], kernel, args, &shape);
        atomic_store(&late_ready, i + 1);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    CHECK_EQUAL(atomic_load(&late_ended), LATE_LAUNCHES);
    munmap(late_pages, LATE_LAUNCHES * LATE_PAGE);
}

static void
test_block_too_big_is_refused(void)
{
    uint32_t out = 0;
    uint32_t *pout = &out;
    void *args[] = {&pout};
    struct shape shape = shape_1d(1, 1025);
    run_bad(&plain, args, &shape, HA_FAULT_RESOURCE, "1025 lanes");
}

/* Where guards cost mappings, a thread that gets no stacks leaves the work to others.
 */
static void
test_stacks_are_bounded_by_mappings(void)
{
    enum { N = 40 };
    uint32_t out[N];
    uint32_t *pout = out;
    void *args[] = {&pout};
    struct shape shape = shape_1d(N, 1024);
    shape.shared = 4096;
    shape.stack_bytes = 512 << 10; /* not what idle groups have: mapped anew */
    shape.threads = 4;
    ha_fiber_test_limits(true, 2 * 2 * 1024 + 200); /* one set of 1024 stacks */
    run_good(&tree, args, &shape);
    for (uint32_t i = 0; i < N; i++) {
        CHECK_EQUAL(out[i], 1024 * 1023 / 2 + 1024 * i);
    }
    shape.stack_bytes = 1 << 20;
    ha_fiber_test_limits(true, 1000);
    run_bad(&tree, args, &shape, HA_FAULT_RESOURCE, "vm.max_map_count");
    ha_fiber_test_limits(true, 0);
    shape.threads = 1;
    run_good(&tree, args, &shape);
    ha_fiber_test_limits(false, 0);
    run_good(&tree, args, &shape);
}

int
main(void)
{
    CHECK(ha_exec_init() == 0);
    RUN(test_early_return_before_barrier);
    RUN(test_barrier_in_loop_for_all_shapes);
    RUN(test_barrier_reductions);
    RUN(test_lanes_end_one_by_one);
    RUN(test_divergent_barriers_are_told);
    RUN(test_each_lane_runs_once);
    RUN(test_blocks_may_wait_for_lower_ones);
    RUN(test_pause_gives_other_lanes_a_turn);
    RUN(test_fast_blocks_run_once);
    RUN(test_reference_runs_what_gangs_refuse);
    RUN(test_gangs_that_do_not_meet_fail);
    RUN(test_lanes_wait_in_a_kernel_that_promised_not_to);
    RUN(test_rounding_of_the_host_stays_there);
    RUN(test_nobody_looks_at_a_kernel_that_is_over);
    RUN(test_block_too_big_is_refused);
    RUN(test_stacks_are_bounded_by_mappings);
    ha_exec_thread_exit();
    return 0;
}
