/* SPDX-License-Identifier: MIT */
/* Kernels that fail or never end: the process lives, the launch tells why, and
 * neighbours in the same process are not disturbed. */
/* sources: core/dtype core/env core/log core/status cpu/base/check_kinds cpu/machine
   cpu/exec */
#include "exec_support.h"

#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu/exec/heap.h"

#define LATENCY_MAX_NS ((uint64_t)200 * 1000 * 1000)

enum cause {
    NONE,
    STORE,
    LOAD_NULL,
    OVERFLOW,
    BIG_FRAME,
    DIVIDE,
    TRAP,
    ASSERT,
    WILD,
    BREAK,
    BUS,
    CAUSES
};

static volatile int zero;
static volatile int sink;

static __attribute__((noinline, no_sanitize("address", "undefined", "thread"))) int
recurse(int depth)
{
    volatile char frame[512];
    frame[depth % 512] = (char)depth;
    return depth < 0 ? 0 : recurse(depth + 1) + frame[(depth + 1) % 512];
}

/* Touches its frame page by page from above, as code with stack probes does. */
static __attribute__((noinline, no_sanitize("address", "undefined", "thread"))) int
big_frame(void)
{
    enum { BYTES = 1 << 20 };
    volatile char frame[BYTES];
    for (int i = BYTES - 1; i >= 0; i -= 1024) {
        frame[i] = 1;
    }
    return frame[0];
}

/* A page of a file that has become shorter. */
static volatile char *lost_page;

static void
lose_page(void)
{
    FILE *file = tmpfile();
    CHECK(file && ftruncate(fileno(file), 4096) == 0);
    lost_page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    CHECK(lost_page != MAP_FAILED);
    CHECK(ftruncate(fileno(file), 0) == 0);
    fclose(file);
}

static __attribute__((no_sanitize("address", "undefined", "thread"))) void
go_wrong(int cause)
{
    switch (cause) {
    case STORE:
        *(volatile int *)(uintptr_t)0x1234000 = 1; /* NOLINT */
        break;
    case LOAD_NULL:
        sink = *(volatile int *)(uintptr_t)(uint32_t)zero;
        break;
    case OVERFLOW:
        sink = recurse(1);
        break;
    case BIG_FRAME:
        sink = big_frame();
        break;
    case BUS:
        lost_page[0] = 1;
        break;
    case DIVIDE:
#if defined(__x86_64__)
        sink = 7 / zero;
#else
        __builtin_trap();
#endif
        break;
    case TRAP:
        __builtin_trap();
    case ASSERT:
        RT->assert_fail("x < n", "user.hip", 42, "void k(int)");
        break;
    case WILD:
        ((void (*)(void))(uintptr_t)0x7ffff000)();
        break;
    case BREAK:
#if defined(__x86_64__)
        __asm__ volatile("int3");
#else
        __builtin_trap();
#endif
        break;
    default:
        break;
    }
}

static const struct {
    int kind;
    const char *text;
} wants[CAUSES] = {
    [NONE] = {HA_FAULT_NONE, ""},
    [STORE] = {HA_FAULT_ADDRESS, "kernel 'fault': invalid access at 0x1234000 in block "
                                 "(3,0,0) thread (5,0,0)"},
    [LOAD_NULL] = {HA_FAULT_ADDRESS, "invalid access at 0x0 in block (3,0,0) thread"},
    [BIG_FRAME] = {HA_FAULT_STACK, "stack overflow in block (3,0,0) thread (5,0,0)"},
    [BUS] = {HA_FAULT_ADDRESS, "invalid access at 0x"},
    [OVERFLOW] = {HA_FAULT_STACK, "stack overflow in block (3,0,0) thread (5,0,0)"},
#if defined(__x86_64__)
    [DIVIDE] = {HA_FAULT_MATH, "integer division by zero or overflow in block (3,0,0)"},
#else
    [DIVIDE] = {HA_FAULT_TRAP, "trap"},
#endif
    [TRAP] = {HA_FAULT_TRAP, "kernel 'fault': trap in block (3,0,0) thread (5,0,0)"},
    [ASSERT] = {HA_FAULT_ASSERT,
                "assertion `x < n' failed at line 42 in block (3,0,0)"},
    [WILD] = {HA_FAULT_ADDRESS, "invalid access at 0x7ffff000"},
    [BREAK] = {HA_FAULT_TRAP, "trap in block (3,0,0) thread (5,0,0)"},
};

/* args: cause, out.  Thread 5 of block 3 goes wrong, between barriers. */
KERNEL
fault_kernel(void *const *args, struct ha_lane *lane)
{
    int cause = *(int *)args[0];
    _Atomic uint64_t *out = *(_Atomic uint64_t **)args[1];
    uint32_t t = lane->thread_idx[0];
    RT->block(HA_BLOCK_SYNC, 0, 1, 1);
    if (lane->block_idx[0] == 3 && t == 5) {
        go_wrong(cause);
    }
    RT->block(HA_BLOCK_SYNC, 0, 2, 2);
    atomic_fetch_add(out, (uint64_t)lane->block_idx[0] * 64 + t);
}

static const struct ha_image_kernel faulty = {
    .name = "fault", .reference = fault_kernel, .flags = HA_KERNEL_BLOCK};

static uint64_t out_good; /* of a launch that went well: 8 blocks of 64 lanes */

static void
check_one(int cause, unsigned threads)
{
    _Atomic uint64_t out = 0;
    _Atomic uint64_t *pout = &out;
    void *args[] = {&cause, &pout};
    struct shape shape = shape_1d(8, 64);
    shape.threads = threads;
    run_bad(&faulty, args, &shape, wants[cause].kind, wants[cause].text);
    if (cause == NONE) {
        CHECK_EQUAL(atomic_load(&out), out_good);
    }
}

static void
silence(FILE *stream)
{
    CHECK(freopen("/dev/null", "w", stream) != NULL);
}

static void
test_each_cause_is_told(void)
{
    for (unsigned threads = 1; threads <= 3; threads++) {
        for (int cause = NONE; cause < CAUSES; cause++) {
            check_one(cause, threads);
        }
    }
}

static int
cause_at(int i)
{
    if (i % 2) {
        return NONE;
    }
    int cause = 1 + i / 2 % (CAUSES - 1);
    return cause == ASSERT ? STORE : cause; /* it writes a line each time */
}

static void *
mixed_main(void *argument)
{
    int count = *(int *)argument;
    for (int i = 0; i < count; i++) {
        check_one(cause_at(i), 1);
    }
    ha_exec_thread_exit();
    return NULL;
}

/* Faulting and good launches by turns, on several threads at once. */
static void
test_many_faults_on_many_threads(void)
{
    enum { THREADS = 4 };
    int count = HA_FIBER_ASAN || HA_FIBER_TSAN ? 250 : 5000;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, mixed_main, &count) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
}

static uint64_t
fast_fault(void *const *args, const struct ha_grid *grid, uint64_t first, uint64_t last,
           void *shared, void *frame)
{
    (void)grid;
    (void)shared;
    (void)frame;
    if (first <= 3 && 3 < last) {
        go_wrong(*(int *)args[0]);
    }
    return last;
}

static const struct ha_image_kernel fast_faulty = {
    .name = "quick", .reference = fault_kernel, .fast = fast_fault};

static void
test_fast_kernels_fail_too(void)
{
    for (int i = 0; i < 50; i++) {
        for (int cause = STORE; cause < CAUSES; cause++) {
            if (cause == BIG_FRAME) {
                continue; /* fits into the stack of a fast kernel */
            }
            void *args[] = {&cause};
            struct shape shape = shape_1d(8, 64);
            shape.fast = true;
            shape.threads = 1 + (unsigned)i % 2;
            run_bad(&fast_faulty, args, &shape, wants[cause].kind, "in block (3,0,0)");
        }
    }
}

KERNEL
shared_kernel(void *const *args, struct ha_lane *lane)
{
    (void)args;
    volatile char *bytes = lane->shared;
    bytes[lane->thread_idx[0]] = 1;
    if (lane->thread_idx[0] == 9) {
        bytes[1000 + 64] = 1;
    }
}

static const struct ha_image_kernel shared_overrun = {
    .name = "overrun", .reference = shared_kernel, .shared_static = 960};

static void
test_shared_memory_ends_at_a_guard(void)
{
    struct shape shape = shape_1d(1, 32);
    run_bad(&shared_overrun, NULL, &shape, HA_FAULT_ADDRESS,
            "(outside of shared memory)");
}

/* ---- launches that do not end ---- */

enum endless { SPIN, BARRIER, PAUSE, PRINT, HEAP, SHUFFLE, ENDLESS };

static _Atomic int endless_started;

KERNEL
endless_kernel(void *const *args, struct ha_lane *lane)
{
    static const struct ha_warp_site site = {.order = 1, .depth = 1, .loop = {1}};
    int kind = *(int *)args[0];
    atomic_fetch_add(&endless_started, 1);
    for (;;) {
        switch (kind) {
        case SPIN:
            break;
        case BARRIER:
            RT->block(HA_BLOCK_SYNC, 0, 1, 1);
            break;
        case PAUSE:
            RT->pause();
            break;
        case PRINT:
            RT->print("%d %f\n", 1, 2.5);
            break;
        case HEAP:
            RT->release(RT->alloc(100));
            break;
        default:
            RT->warp(HA_WARP_SYNC, &site, 0, 0, 0, 32);
            lane->trip[0]++;
            break;
        }
    }
}

static const struct ha_image_kernel endless = {.name = "endless",
                                               .reference = endless_kernel,
                                               .flags =
                                                   HA_KERNEL_BLOCK | HA_KERNEL_WARP};

static void
cancel_one(int kind, unsigned threads)
{
    pthread_t ids[4];
    struct helper helpers[4];
    struct ha_launch launch;
    int last = 0;
    void *args[] = {&kind};
    struct shape shape = shape_1d(100, 64);
    shape.threads = threads;
    atomic_store(&endless_started, 0);
    launch_init(&launch, &endless, args, &shape);
    for (unsigned i = 0; i < threads; i++) {
        helpers[i] = (struct helper){&launch, 0};
        CHECK(pthread_create(&ids[i], NULL, helper_main, &helpers[i]) == 0);
    }
    while (atomic_load(&endless_started) == 0) {
        sched_yield();
    }
    uint64_t begin = ha_clock_ns();
    ha_exec_cancel(&launch, "it took too long");
    for (unsigned i = 0; i < threads; i++) {
        CHECK(pthread_join(ids[i], NULL) == 0);
        last += helpers[i].last;
    }
    uint64_t latency_ns = ha_clock_ns() - begin;
    CHECK_EQUAL(last, 1);
    CHECK_EQUAL(atomic_load(&launch.fault), HA_FAULT_TIMEOUT);
    CHECK(strcmp(launch.fault_text, "it took too long") == 0);
    if (latency_ns > LATENCY_MAX_NS) {
        printf("kind %d: %llu ns\n", kind, (unsigned long long)latency_ns);
    }
    CHECK(latency_ns <= LATENCY_MAX_NS || HA_FIBER_ASAN || HA_FIBER_TSAN);
    ha_exec_cancel(&launch, "again, when it is over");
}

static void
test_endless_kernels_are_cancelled(void)
{
    for (int i = 0; i < 20; i++) {
        for (int kind = SPIN; kind < ENDLESS; kind++) {
            if (kind == SPIN && HA_FIBER_TSAN) {
                continue; /* that sanitizer holds signals back until the next call */
            }
            cancel_one(kind, 1 + (unsigned)i % 3);
            check_one(NONE, 1);
        }
    }
}

/* One block faults while others wait for it for ever: they are ended too. */
KERNEL
waiting_kernel(void *const *args, struct ha_lane *lane)
{
    _Atomic int *flag = *(_Atomic int **)args[0];
    if (lane->block_idx[0] == 0) {
        while (atomic_load(&flag[1]) == 0) {
            (void)sched_yield();
        }
        go_wrong(STORE);
    }
    atomic_store(&flag[1], 1);
    while (atomic_load(&flag[0]) == 0) {
        RT->pause();
    }
}

static const struct ha_image_kernel waiting = {.name = "waiting",
                                               .reference = waiting_kernel};

static void
test_fault_ends_the_other_threads(void)
{
    for (int i = 0; i < 50; i++) {
        _Atomic int flags[2] = {0, 0};
        _Atomic int *pflags = flags;
        void *args[] = {&pflags};
        struct shape shape = shape_1d(100, 8);
        shape.threads = 3;
        run_bad(&waiting, args, &shape, HA_FAULT_ADDRESS, "0x1234000");
    }
}

static void
test_cancel_before_anybody_runs(void)
{
    struct ha_launch launch;
    int cause = NONE;
    _Atomic uint64_t out = 0;
    _Atomic uint64_t *pout = &out;
    void *args[] = {&cause, &pout};
    struct shape shape = shape_1d(1u << 30, 64);
    launch_init(&launch, &faulty, args, &shape);
    ha_exec_cancel(&launch, "not wanted");
    CHECK(ha_exec_run(&launch));
    CHECK(!ha_exec_run(&launch));
    CHECK_EQUAL(atomic_load(&out), 0);
}

/* ---- signal handlers of others ---- */

static volatile sig_atomic_t foreign_count;
static sigjmp_buf foreign_jump;

static void
on_foreign_fault(int signal)
{
    (void)signal;
    foreign_count++;
    siglongjmp(foreign_jump, 1);
}

static void
touch_bad_memory(void)
{
    if (sigsetjmp(foreign_jump, 1) == 0) {
        go_wrong(STORE);
    }
}

/* A handler that is installed later, as Python's faulthandler is, gets the faults that
 * are not a kernel's, and only these. */
static void
test_foreign_handler_is_chained(void)
{
    struct sigaction foreign, before;
    memset(&foreign, 0, sizeof foreign);
    foreign.sa_handler = on_foreign_fault;
    for (int round = 0; round < 5; round++) {
        CHECK(sigaction(SIGSEGV, &foreign, &before) == 0);
        foreign_count = 0;
        check_one(STORE, 2);
        CHECK_EQUAL(foreign_count, 0);
        for (int i = 0; i < 3; i++) {
            touch_bad_memory();
        }
        CHECK_EQUAL(foreign_count, 3);
        check_one(OVERFLOW, 1);
        CHECK_EQUAL(foreign_count, 3);
        CHECK(sigaction(SIGSEGV, &before, NULL) == 0);
        check_one(STORE, 1);
    }
}

static struct sigaction dump_before;

/* As faulthandler does: puts back what was there, raises again. */
static void
on_dump(int signal)
{
    foreign_count++;
    (void)!write(STDERR_FILENO, "dump\n", 5);
    (void)sigaction(signal, &dump_before, NULL);
    (void)raise(signal);
}

/* In a child: returns its wait status; what it wrote goes to text. */
static int
in_child(void (*body)(void), char *text, size_t size)
{
    int ends[2];
    int status = 0;
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        ha_exec_after_fork_child();
        (void)dup2(ends[1], STDERR_FILENO);
        (void)alarm(10);
        body();
        _exit(0);
    }
    close(ends[1]);
    size_t used = 0;
    ssize_t got;
    while (used + 1 < size && (got = read(ends[0], text + used, size - 1 - used)) > 0) {
        used += (size_t)got;
    }
    text[used] = 0;
    close(ends[0]);
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

static void
die_with_dump(void)
{
    struct sigaction dump;
    memset(&dump, 0, sizeof dump);
    dump.sa_handler = on_dump;
    dump.sa_flags = SA_NODEFER;
    CHECK(sigaction(SIGSEGV, &dump, &dump_before) == 0);
    check_one(STORE, 1); /* ours goes on top */
    go_wrong(STORE);
}

static void
die_plainly(void)
{
    check_one(STORE, 1);
    go_wrong(LOAD_NULL);
}

static void
die_by_kill(void)
{
    check_one(STORE, 1);
    (void)kill(getpid(), SIGSEGV);
    for (;;) {
        pause();
    }
}

static void
test_faults_outside_kernels_still_kill(void)
{
    char text[4096];
    if (HA_FIBER_ASAN || HA_FIBER_TSAN) {
        return; /* their own handlers lie below */
    }
    int status = in_child(die_with_dump, text, sizeof text);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    CHECK(strncmp(text, "dump\n", 5) == 0 && !strstr(text + 5, "dump\n"));
    status = in_child(die_plainly, text, sizeof text);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    status = in_child(die_by_kill, text, sizeof text);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

static void
child_runs(void)
{
    check_one(NONE, 2);
    check_one(STORE, 1);
    cancel_one(BARRIER, 2);
}

static void
test_forked_child_can_run_kernels(void)
{
    char text[4096];
    if (HA_FIBER_TSAN) {
        return; /* no threads after fork there */
    }
    int status = in_child(child_runs, text, sizeof text);
    if (status != 0) {
        printf("%s\n", text);
    }
    CHECK_EQUAL(status, 0);
}

/* A timer interrupts kernel code and its handler is slow: interrupts must not cut it.
 */
static _Atomic int timer_in, timer_out;

static void
on_timer(int signal)
{
    (void)signal;
    atomic_fetch_add(&timer_in, 1);
    for (volatile int i = 0; i < 100000; i++)
        ;
    atomic_fetch_add(&timer_out, 1);
}

static void *
storm_main(void *argument)
{
    pthread_t target = *(pthread_t *)argument;
    for (int i = 0; i < 30; i++) {
        struct timespec wait = {0, 300 * 1000};
        pthread_kill(target, SIGUSR1);
        nanosleep(&wait, NULL);
    }
    return NULL;
}

static void *
cancel_main(void *argument)
{
    struct timespec wait = {0, 2 * 1000 * 1000};
    while (atomic_load(&endless_started) == 0) {
        sched_yield();
    }
    nanosleep(&wait, NULL);
    ha_exec_cancel(argument, "enough");
    return NULL;
}

static void
test_handlers_of_others_are_not_cut(void)
{
    struct sigaction timer;
    memset(&timer, 0, sizeof timer);
    timer.sa_handler = on_timer;
    timer.sa_flags = SA_RESTART;
    CHECK(sigaction(SIGUSR1, &timer, NULL) == 0);
    pthread_t self = pthread_self();
    for (int i = 0; i < 10; i++) {
        struct ha_launch launch;
        pthread_t storm, cancel;
        int kind = BARRIER;
        void *args[] = {&kind};
        struct shape shape = shape_1d(4, 64);
        atomic_store(&endless_started, 0);
        launch_init(&launch, &endless, args, &shape);
        CHECK(pthread_create(&storm, NULL, storm_main, &self) == 0);
        CHECK(pthread_create(&cancel, NULL, cancel_main, &launch) == 0);
        CHECK(ha_exec_run(&launch));
        CHECK(pthread_join(cancel, NULL) == 0);
        CHECK(pthread_join(storm, NULL) == 0);
        CHECK_EQUAL(atomic_load(&launch.fault), HA_FAULT_TIMEOUT);
        CHECK_EQUAL(atomic_load(&timer_in), atomic_load(&timer_out));
    }
    sigset_t mask;
    CHECK(pthread_sigmask(SIG_SETMASK, NULL, &mask) == 0);
    CHECK(!sigismember(&mask, SIGUSR1) && !sigismember(&mask, SIGSEGV));
}

/* The caller's alternate stack and mask are what they were. */
static void
test_caller_gets_its_signal_state_back(void)
{
    static char memory[64 << 10];
    stack_t ours = {.ss_sp = memory, .ss_size = sizeof memory}, old, now;
    sigset_t blocked, old_mask, now_mask;
    CHECK(sigaltstack(&ours, &old) == 0);
    sigfillset(&blocked);
    CHECK(pthread_sigmask(SIG_SETMASK, &blocked, &old_mask) == 0);
    check_one(STORE, 1);
    check_one(OVERFLOW, 1);
    CHECK(sigaltstack(NULL, &now) == 0);
    CHECK(now.ss_sp == memory && now.ss_size == sizeof memory && now.ss_flags == 0);
    CHECK(pthread_sigmask(SIG_SETMASK, &old_mask, &now_mask) == 0);
    CHECK(sigismember(&now_mask, SIGSEGV) && sigismember(&now_mask, SIGUSR2));
    CHECK(sigaltstack(&old, NULL) == 0);
}

int
main(void)
{
    if (!getenv("HA_TEST_NOISY")) {
        silence(stderr);
    }
    CHECK(ha_exec_init() == 0);
    lose_page();
    for (uint64_t i = 0; i < 512; i++) {
        out_good += i;
    }
    RUN(test_each_cause_is_told);
    RUN(test_many_faults_on_many_threads);
    RUN(test_fast_kernels_fail_too);
    RUN(test_shared_memory_ends_at_a_guard);
    RUN(test_endless_kernels_are_cancelled);
    RUN(test_fault_ends_the_other_threads);
    RUN(test_cancel_before_anybody_runs);
    RUN(test_foreign_handler_is_chained);
    RUN(test_faults_outside_kernels_still_kill);
    RUN(test_forked_child_can_run_kernels);
    RUN(test_handlers_of_others_are_not_cut);
    RUN(test_caller_gets_its_signal_state_back);
    ha_exec_thread_exit();
    return 0;
}
