/* SPDX-License-Identifier: MIT */
/* Cooperative launches: grid barriers, blocks that wait for each other, and faults. */
/* sources: core/dtype core/env core/log core/status cpu/base/check_kinds cpu/machine
   cpu/exec */
#include "exec_support.h"

#include <stdatomic.h>

#include "cpu/exec/cooperative.h"

/* The thread sanitizer counts each stack as a thread, and has room for some thousands.
 */
enum { LANES = 8, BLOCKS_MAX = HA_FIBER_TSAN ? 40 : 300 };

static void
sync_grid(uint32_t line)
{
    RT->block(HA_BLOCK_GRID, 0, line, line);
}

static void
sync_block(uint32_t line)
{
    RT->block(HA_BLOCK_SYNC, 0, line, line);
}

/* Like launch_run, with all blocks alive together. */
static int
run_together(struct ha_launch *launch, const struct ha_image_kernel *kernel,
             void *const *args, const struct shape *shape)
{
    launch_init(launch, kernel, args, shape);
    launch->cooperative = ha_cooperative_new(shape->threads);
    CHECK(launch->cooperative);
    int fault = launch_by(launch, shape->threads);
    ha_cooperative_free(launch->cooperative);
    return fault;
}

static void
run_good_together(const struct ha_image_kernel *kernel, void *const *args,
                  const struct shape *shape)
{
    struct ha_launch launch;
    int fault = run_together(&launch, kernel, args, shape);
    if (fault != HA_FAULT_NONE) {
        fprintf(report, "fault %d: %s\n", fault, launch.fault_text);
    }
    CHECK_EQUAL(fault, HA_FAULT_NONE);
}

static void
run_bad_together(const struct ha_image_kernel *kernel, void *const *args,
                 const struct shape *shape, int fault, const char *text)
{
    struct ha_launch launch;
    CHECK_EQUAL(run_together(&launch, kernel, args, shape), fault);
    if (!strstr(launch.fault_text, text)) {
        fprintf(report, "'%s' is not in '%s'\n", text, launch.fault_text);
        exit(1);
    }
}

static struct shape
shape_of(uint32_t blocks, unsigned threads)
{
    struct shape shape = shape_1d(blocks, LANES);
    shape.threads = threads;
    return shape;
}

/* args: x, rounds.  Each round, a block takes over what the next block had. */
KERNEL
rotate_kernel(void *const *args, struct ha_lane *lane)
{
    uint32_t *x = *(uint32_t **)args[0];
    uint32_t rounds = *(uint32_t *)args[1];
    uint32_t blocks = lane->grid->grid_dim[0];
    uint32_t block = lane->block_idx[0];
    uint32_t t = lane->thread_idx[0];
    for (uint32_t r = 0; r < rounds; r++) {
        uint32_t next = x[(block + 1) % blocks * LANES + t];
        sync_grid(1);
        x[block * LANES + t] = next * 3 + r;
        if (r % 2) {
            sync_block(2);
        }
        sync_grid(3);
    }
}

static const struct ha_image_kernel rotate = {
    .name = "rotate", .reference = rotate_kernel, .flags = HA_KERNEL_BLOCK};

/* The same, a block at a time; some are left to the reference function. */
static uint64_t
rotate_gangs(void *const *args, const struct ha_grid *grid, uint64_t first,
             uint64_t last, void *shared, void *frame)
{
    uint32_t *x = *(uint32_t **)args[0];
    uint32_t rounds = *(uint32_t *)args[1];
    uint64_t following = (first + 1) % grid->grid_dim[0];
    uint32_t next[LANES];
    (void)shared;
    (void)frame;
    CHECK_EQUAL(last, first + 1);
    if (first % 5 == 2) {
        return first | HA_FAST_REFUSED;
    }
    for (uint32_t r = 0; r < rounds; r++) {
        memcpy(next, x + following * LANES, sizeof next);
        sync_grid(1);
        for (uint32_t t = 0; t < LANES; t++) {
            x[first * LANES + t] = next[t] * 3 + r;
        }
        sync_grid(3);
    }
    return last;
}

static const struct ha_image_kernel rotate_fast = {.name = "rotate",
                                                   .reference = rotate_kernel,
                                                   .fast = rotate_gangs,
                                                   .gang_width = LANES,
                                                   .flags = HA_KERNEL_BLOCK |
                                                            HA_KERNEL_GRID};

static void
check_rotation(const struct ha_image_kernel *kernel)
{
    static const uint32_t counts[] = {1, 2, 3, 17, BLOCKS_MAX};
    static uint32_t x[BLOCKS_MAX * LANES];
    static uint32_t want[BLOCKS_MAX * LANES];
    uint32_t *px = x;
    uint32_t rounds = 20;
    void *args[] = {&px, &rounds};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        uint32_t count = counts[c] * LANES;
        for (unsigned threads = 1; threads <= 8; threads = threads * 2 + 1) {
            for (uint32_t i = 0; i < count; i++) {
                x[i] = want[i] = i * 7;
            }
            for (uint32_t r = 0; r < rounds; r++) {
                uint32_t first[LANES];
                memcpy(first, want, sizeof first);
                for (uint32_t i = 0; i < count; i++) {
                    uint32_t next =
                        i + LANES < count ? want[i + LANES] : first[i + LANES - count];
                    want[i] = next * 3 + r;
                }
            }
            struct shape shape = shape_of(counts[c], threads);
            shape.fast = kernel->fast != NULL;
            run_good_together(kernel, args, &shape);
            CHECK(memcmp(x, want, count * sizeof x[0]) == 0);
        }
    }
}

static void
test_blocks_see_what_others_wrote_before_the_barrier(void)
{
    check_rotation(&rotate);
}

static void
test_gangs_see_what_other_blocks_wrote_before_the_barrier(void)
{
    check_rotation(&rotate_fast);
}

/* args: counter.  Blocks wait for each other by memory, not by the barrier. */
KERNEL
wait_kernel(void *const *args, struct ha_lane *lane)
{
    _Atomic uint32_t *counter = *(_Atomic uint32_t **)args[0];
    if (lane->thread_idx[0] == 0) {
        atomic_fetch_add(counter, 1);
        while (atomic_load(counter) < lane->grid->grid_dim[0]) {
            RT->pause();
        }
    }
    sync_block(1);
    atomic_fetch_add(counter + 1, 1);
}

static const struct ha_image_kernel wait_all = {
    .name = "wait", .reference = wait_kernel, .flags = HA_KERNEL_BLOCK};

static void
test_blocks_that_wait_for_memory_let_others_run(void)
{
    _Atomic uint32_t counter[2];
    _Atomic uint32_t *address = counter;
    void *args[] = {&address};
    for (unsigned threads = 1; threads <= 4; threads++) {
        atomic_store(&counter[0], 0);
        atomic_store(&counter[1], 0);
        struct shape shape = shape_of(BLOCKS_MAX, threads);
        run_good_together(&wait_all, args, &shape);
        CHECK_EQUAL(atomic_load(&counter[1]), BLOCKS_MAX * LANES);
    }
}

/* args: number of the block that leaves. */
KERNEL
leave_kernel(void *const *args, struct ha_lane *lane)
{
    if (lane->block_idx[0] != *(uint32_t *)args[0]) {
        sync_grid(77);
    }
}

static const struct ha_image_kernel leave = {
    .name = "leave", .reference = leave_kernel, .flags = HA_KERNEL_BLOCK};

static void
test_block_that_ends_without_the_barrier_is_found(void)
{
    static const uint32_t leaving[] = {0, 7, 19};
    for (unsigned i = 0; i < 12; i++) {
        char text[64];
        uint32_t who = leaving[i / 4];
        void *args[] = {&who};
        struct shape shape = shape_of(20, i % 4 + 1);
        (void)snprintf(text, sizeof text, "(line 77), and block (%u,0,0) has ended",
                       who);
        run_bad_together(&leave, args, &shape, HA_FAULT_DIVERGED, text);
    }
}

KERNEL
split_kernel(void *const *args, struct ha_lane *lane)
{
    (void)args;
    if (lane->thread_idx[0] < 3) {
        sync_grid(5);
    } else {
        sync_block(6);
    }
}

static const struct ha_image_kernel split = {
    .name = "split", .reference = split_kernel, .flags = HA_KERNEL_BLOCK};

/* args: number of the block that fails, and what is behind the barrier. */
KERNEL
fail_kernel(void *const *args, struct ha_lane *lane)
{
    sync_grid(1);
    if (lane->block_idx[0] == *(uint32_t *)args[0] && lane->thread_idx[0] == 2) {
        int *volatile nowhere = (int *)16;
        *nowhere = 1;
    }
    sync_grid(2);
}

static const struct ha_image_kernel fail = {
    .name = "fail", .reference = fail_kernel, .flags = HA_KERNEL_BLOCK};

/* args as for fail_kernel.  Of the last block not all lanes come to the barrier, says
 * the fast function. */
static uint64_t
fail_gangs(void *const *args, const struct ha_grid *grid, uint64_t first, uint64_t last,
           void *shared, void *frame)
{
    struct ha_place *place = frame;
    uint32_t who = *(uint32_t *)args[0];
    (void)shared;
    place->block = first;
    place->blocks = 1;
    place->gang = 1;
    place->lane = 2;
    sync_grid(1);
    if (who >= grid->grid_dim[0] && first + 1 == grid->grid_dim[0]) {
        return first | HA_FAST_DIVERGED;
    }
    if (first == who) {
        int *volatile nowhere = (int *)16;
        *nowhere = 1;
    }
    sync_grid(2);
    return last;
}

static const struct ha_image_kernel fail_fast = {.name = "fail",
                                                 .reference = fail_kernel,
                                                 .fast = fail_gangs,
                                                 .gang_width = 4,
                                                 .flags =
                                                     HA_KERNEL_BLOCK | HA_KERNEL_GRID};

static void
test_faults_of_gangs_end_launches_whose_blocks_wait(void)
{
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct shape shape = shape_of(30, threads);
        uint32_t who = 3;
        void *args[] = {&who};
        shape.fast = true;
        run_bad_together(&fail_fast, args, &shape, HA_FAULT_ADDRESS,
                         "block (3,0,0) thread (6,0,0)");
        who = 30;
        run_bad_together(&fail_fast, args, &shape, HA_FAULT_DIVERGED,
                         "not all lanes of block (29,0,0) come to a barrier");
    }
}

static void
test_faults_end_launches_whose_blocks_wait(void)
{
    uint32_t who = 3;
    void *args[] = {&who};
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct shape shape = shape_of(30, threads);
        run_bad_together(&split, args, &shape, HA_FAULT_DIVERGED, "different barriers");
        run_bad_together(&fail, args, &shape, HA_FAULT_ADDRESS,
                         "block (3,0,0) thread (2,0,0)");
    }
}

static void
test_grid_barrier_needs_a_cooperative_launch(void)
{
    uint32_t none = 100;
    void *args[] = {&none};
    struct shape shape = shape_of(4, 1);
    run_bad(&leave, args, &shape, HA_FAULT_TRAP, "not cooperative");
}

static void *
cancel_main(void *argument)
{
    usleep(20000);
    ha_exec_cancel(argument, "long enough");
    return NULL;
}

/* args: word.  Block 0 never comes. */
KERNEL
endless_kernel(void *const *args, struct ha_lane *lane)
{
    volatile uint32_t *word = *(volatile uint32_t **)args[0];
    if (lane->block_idx[0] > 0) {
        sync_grid(1);
    }
    while (*word == 0) {
    }
}

static const struct ha_image_kernel endless = {
    .name = "endless", .reference = endless_kernel, .flags = HA_KERNEL_BLOCK};

static void
test_launch_that_waits_for_ever_is_cancelled(void)
{
    uint32_t word = 0;
    uint32_t *address = &word;
    void *args[] = {&address};
    pthread_t canceller, helper;
    struct ha_launch launch;
    struct shape shape = shape_of(8, 2);
    if (HA_FIBER_TSAN) {
        return; /* endless code takes no signals there */
    }
    launch_init(&launch, &endless, args, &shape);
    launch.cooperative = ha_cooperative_new(2);
    struct helper other = {&launch, 0};
    CHECK(pthread_create(&canceller, NULL, cancel_main, &launch) == 0);
    CHECK(pthread_create(&helper, NULL, helper_main, &other) == 0);
    int last = ha_exec_run(&launch);
    CHECK(pthread_join(canceller, NULL) == 0);
    CHECK(pthread_join(helper, NULL) == 0);
    CHECK_EQUAL(last + other.last, 1);
    CHECK_EQUAL(atomic_load(&launch.fault), HA_FAULT_TIMEOUT);
    CHECK_EQUAL(atomic_load(&launch.blocks_done), launch.block_count);
    ha_cooperative_free(launch.cooperative);
}

int
main(void)
{
    CHECK_EQUAL(ha_exec_init(), 0);
    RUN(test_blocks_see_what_others_wrote_before_the_barrier);
    RUN(test_blocks_that_wait_for_memory_let_others_run);
    RUN(test_block_that_ends_without_the_barrier_is_found);
    RUN(test_gangs_see_what_other_blocks_wrote_before_the_barrier);
    RUN(test_faults_end_launches_whose_blocks_wait);
    RUN(test_faults_of_gangs_end_launches_whose_blocks_wait);
    RUN(test_grid_barrier_needs_a_cooperative_launch);
    RUN(test_launch_that_waits_for_ever_is_cancelled);
    return 0;
}
