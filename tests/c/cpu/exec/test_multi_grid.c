/* SPDX-License-Identifier: MIT */
/* Several cooperative launches that meet at multi-grid barriers: order, questions of
 * kernels, and faults of one grid while others wait. */
/* sources: core/dtype core/env core/log core/status cpu/base/check_kinds cpu/machine
   cpu/exec */
#include "exec_support.h"

#include <stdatomic.h>

#include "abi/hip.h"
#include "cpu/exec/cooperative.h"
#include "cpu/exec/multi_grid.h"

enum { LANES = 8, GRIDS_MAX = 4, BLOCKS_MAX = 12 };

/* One grid, run by threads of its own. */
struct member {
    struct ha_launch launch;
    struct shape shape;
    struct ha_multi *multi;
    uint32_t rank;
    int fault;
    uint32_t rounds; /* of the grids' barrier when the grid was over, */
    bool failed;     /* and whether another one had failed */
};

static void
sync_grids(uint32_t line)
{
    RT->block(HA_BLOCK_MULTI, 0, line, line);
}

static void *
member_main(void *argument)
{
    struct member *member = argument;
    struct ha_launch *launch = &member->launch;
    member->fault = launch_by(launch, member->shape.threads);
    member->rounds = atomic_load(&member->multi->round);
    member->failed = atomic_load(&member->multi->failed);
    ha_multi_leave(member->multi, member->rank, member->fault,
                   member->fault ? launch->fault_text : NULL);
    ha_exec_thread_exit();
    return NULL;
}

/* Runs `count` grids of different sizes; `threads` for each. */
static void
run_grids(struct member *members, uint32_t count, const struct ha_image_kernel *kernel,
          void *const *args, unsigned threads)
{
    pthread_t others[GRIDS_MAX];
    struct ha_multi *multi = ha_multi_new(count);
    CHECK(multi);
    for (uint32_t i = 0; i < count; i++) {
        struct member *member = &members[i];
        member->shape = shape_1d(BLOCKS_MAX - 3 * i, LANES);
        member->shape.threads = threads;
        member->multi = multi;
        member->rank = i;
        launch_init(&member->launch, kernel, args, &member->shape);
        multi->grids[i].device = (int)(10 + i);
        multi->grids[i].first = multi->size;
        multi->size += member->launch.block_count * LANES;
        member->launch.cooperative = ha_cooperative_new(threads);
        CHECK(member->launch.cooperative);
        member->launch.cooperative->multi = multi;
        member->launch.cooperative->rank = i;
        ha_multi_retain(multi);
    }
    for (uint32_t i = 0; i < count; i++) {
        CHECK(pthread_create(&others[i], NULL, member_main, &members[i]) == 0);
    }
    for (uint32_t i = 0; i < count; i++) {
        CHECK(pthread_join(others[i], NULL) == 0);
        ha_cooperative_free(members[i].launch.cooperative);
    }
    ha_multi_release(multi);
}

/* args: counter, rounds, wrong.  Nobody may be ahead of anybody. */
KERNEL
count_kernel(void *const *args, struct ha_lane *lane)
{
    _Atomic uint64_t *counter = *(_Atomic uint64_t **)args[0];
    uint32_t rounds = *(uint32_t *)args[1];
    _Atomic uint64_t *wrong = *(_Atomic uint64_t **)args[2];
    uint64_t all = RT->query(HA_QUERY_MULTI_SIZE);
    for (uint32_t r = 1; r <= rounds; r++) {
        atomic_fetch_add(counter, 1);
        sync_grids(1);
        if (atomic_load(counter) != all * r) {
            atomic_fetch_add(wrong, 1);
        }
        if (r % 3 == 0) { /* the barriers of the block and the grid still do */
            RT->block(HA_BLOCK_SYNC, 0, 2, 2);
            RT->block(HA_BLOCK_GRID, 0, 3, 3);
        }
        sync_grids(4);
    }
    (void)lane;
}

static const struct ha_image_kernel count = {
    .name = "count", .reference = count_kernel, .flags = HA_KERNEL_BLOCK};

static void
test_no_grid_runs_ahead_of_a_multi_grid_barrier(void)
{
    static struct member members[GRIDS_MAX];
    for (uint32_t grids = 1; grids <= GRIDS_MAX; grids++) {
        for (unsigned threads = 1; threads <= 3; threads++) {
            _Atomic uint64_t counter = 0, wrong = 0;
            _Atomic uint64_t *counts = &counter, *wrongs = &wrong;
            uint32_t rounds = 25;
            void *args[] = {&counts, &rounds, &wrongs};
            run_grids(members, grids, &count, args, threads);
            for (uint32_t i = 0; i < grids; i++) {
                if (members[i].fault) {
                    fprintf(report, "%s\n", members[i].launch.fault_text);
                }
                CHECK_EQUAL(members[i].fault, HA_FAULT_NONE);
            }
            CHECK_EQUAL(atomic_load(&wrong), 0);
        }
    }
}

/* args: seen. Bit `rank` of the threads that hold. */
KERNEL
ask_kernel(void *const *args, struct ha_lane *lane)
{
    _Atomic uint32_t *seen = *(_Atomic uint32_t **)args[0];
    uint64_t rank = RT->query(HA_QUERY_GRID_RANK);
    uint64_t first = 0, size = 0;
    for (uint64_t i = 0; i < RT->query(HA_QUERY_GRID_COUNT); i++) {
        first += i < rank ? (BLOCKS_MAX - 3 * i) * LANES : 0;
        size += (BLOCKS_MAX - 3 * i) * LANES;
    }
    if (RT->query(HA_QUERY_MULTI_SIZE) == size &&
        RT->query(HA_QUERY_MULTI_FIRST) == first && RT->query(HA_QUERY_COOPERATIVE) &&
        lane->grid->grid_dim[0] == BLOCKS_MAX - 3 * rank) {
        atomic_fetch_or(seen, 1u << rank);
    }
}

static const struct ha_image_kernel ask = {
    .name = "ask", .reference = ask_kernel, .flags = HA_KERNEL_BLOCK};

static void
test_kernels_know_their_place_among_the_grids(void)
{
    static struct member members[GRIDS_MAX];
    _Atomic uint32_t seen = 0;
    _Atomic uint32_t *address = &seen;
    void *args[] = {&address};
    run_grids(members, 3, &ask, args, 2);
    CHECK_EQUAL(atomic_load(&seen), 7);

    struct shape shape = shape_1d(1, LANES);
    struct ha_launch alone;
    atomic_store(&seen, 0);
    CHECK_EQUAL(launch_run(&alone, &ask, args, &shape), HA_FAULT_NONE);
    CHECK_EQUAL(atomic_load(&seen), 0);
}

enum { LEAVES, CRASHES, MIXES, WAITS };

/* args: what grid 1 does while the others are at the barrier. */
KERNEL
differ_kernel(void *const *args, struct ha_lane *lane)
{
    uint32_t what = *(uint32_t *)args[0];
    bool other = RT->query(HA_QUERY_GRID_RANK) == 1;
    sync_grids(10);
    if (other && what == LEAVES) {
        return;
    }
    if (other && what == CRASHES && lane->block_idx[0] == 4) {
        int *volatile nowhere = (int *)16;
        *nowhere = 1;
    }
    if (other && what == MIXES && lane->block_idx[0] == 2) {
        RT->block(HA_BLOCK_GRID, 0, 11, 11);
    }
    sync_grids(12);
}

static const struct ha_image_kernel differ = {
    .name = "differ", .reference = differ_kernel, .flags = HA_KERNEL_BLOCK};

static void
check_faults(const struct member *members, const int *faults, const char *text)
{
    for (uint32_t i = 0; i < 3; i++) {
        if (members[i].fault != faults[i]) {
            fprintf(report,
                    "grid %u of %u threads, rounds %u, failed %d; expected: %s\n", i,
                    members[i].shape.threads, members[i].rounds, members[i].failed,
                    text);
        }
        CHECK_EQUAL(members[i].fault, faults[i]);
        if (faults[i] && !strstr(members[i].launch.fault_text, text)) {
            fprintf(report, "'%s' is not in '%s'\n", text,
                    members[i].launch.fault_text);
            exit(1);
        }
    }
}

static void
test_faults_of_one_grid_end_the_others(void)
{
    static struct member members[GRIDS_MAX];
    static const struct {
        uint32_t what;
        int faults[3];
        const char *text;
    } cases[] = {
        {LEAVES,
         {HA_FAULT_PEER, HA_FAULT_NONE, HA_FAULT_PEER},
         "at a multi-grid barrier (line 12), and grid 1 (device 11) has ended"},
        {CRASHES,
         {HA_FAULT_PEER, HA_FAULT_ADDRESS, HA_FAULT_PEER},
         "invalid access at 0x10 in block (4,0,0)"},
        {MIXES,
         {HA_FAULT_PEER, HA_FAULT_DIVERGED, HA_FAULT_PEER},
         "waits at a grid barrier, the other at a multi-grid barrier"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (unsigned threads = 1; threads <= 3; threads++) {
            uint32_t what = cases[i].what;
            void *args[] = {&what};
            run_grids(members, 3, &differ, args, threads);
            check_faults(members, cases[i].faults, cases[i].text);
        }
    }
}

/* args: word.  Grid 0 waits for memory to change, grid 1 fails. */
KERNEL
poll_kernel(void *const *args, struct ha_lane *lane)
{
    _Atomic uint32_t *word = *(_Atomic uint32_t **)args[0];
    (void)lane;
    if (RT->query(HA_QUERY_GRID_RANK) == 1) {
        __builtin_trap();
    }
    while (atomic_load(word) == 0) {
        RT->pause();
    }
}

static const struct ha_image_kernel poll_word = {
    .name = "poll", .reference = poll_kernel, .flags = HA_KERNEL_BLOCK};

static void
test_grids_that_wait_for_memory_are_ended_too(void)
{
    static struct member members[GRIDS_MAX];
    static const int faults[] = {HA_FAULT_PEER, HA_FAULT_TRAP, HA_FAULT_PEER};
    _Atomic uint32_t word = 0;
    _Atomic uint32_t *address = &word;
    void *args[] = {&address};
    run_grids(members, 3, &poll_word, args, 2);
    check_faults(members, faults, "trap");
}

static void
test_grid_that_does_not_begin_ends_the_others(void)
{
    struct member member = {.rank = 0};
    uint32_t what = WAITS;
    void *args[] = {&what};
    struct shape shape = shape_1d(5, LANES);
    struct ha_multi *multi = ha_multi_new(2);
    pthread_t thread;
    CHECK(multi);
    shape.threads = 1;
    member.shape = shape;
    member.multi = multi;
    launch_init(&member.launch, &differ, args, &shape);
    member.launch.cooperative = ha_cooperative_new(1);
    CHECK(member.launch.cooperative);
    member.launch.cooperative->multi = multi;
    ha_multi_retain(multi);
    CHECK(pthread_create(&thread, NULL, member_main, &member) == 0);
    usleep(20000);
    ha_multi_leave(multi, 1, hipErrorAssert, NULL);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_EQUAL(member.fault, HA_FAULT_PEER);
    CHECK(strstr(member.launch.fault_text, "did not begin"));
    ha_cooperative_free(member.launch.cooperative);
}

static void
test_multi_grid_barrier_needs_several_devices(void)
{
    uint32_t what = WAITS;
    void *args[] = {&what};
    struct shape shape = shape_1d(4, LANES);
    struct ha_launch launch;
    run_bad(&differ, args, &shape, HA_FAULT_TRAP, "on several devices");
    launch_init(&launch, &differ, args, &shape);
    launch.cooperative = ha_cooperative_new(1);
    CHECK(launch.cooperative);
    CHECK_EQUAL(launch_by(&launch, 1), HA_FAULT_TRAP);
    ha_cooperative_free(launch.cooperative);
}

int
main(void)
{
    CHECK_EQUAL(ha_exec_init(), 0);
    RUN(test_no_grid_runs_ahead_of_a_multi_grid_barrier);
    RUN(test_kernels_know_their_place_among_the_grids);
    RUN(test_faults_of_one_grid_end_the_others);
    RUN(test_grids_that_wait_for_memory_are_ended_too);
    RUN(test_grid_that_does_not_begin_ends_the_others);
    RUN(test_multi_grid_barrier_needs_several_devices);
    return 0;
}
