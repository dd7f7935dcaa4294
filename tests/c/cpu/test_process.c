/* SPDX-License-Identifier: MIT */
/* Fork and exit: a forked child starts anew, and a process ends however much is going
 * on. */
#include "cpu_support.h"

#include <signal.h>

#define CHILD_LIMIT_NS 10000000000u

/* Runs `body` in a child that has not used HIP, and gives its wait status. */
static int
in_child(void (*body)(void))
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        body();
        _exit(99);
    }
    uint64_t begin_ns = ha_clock_ns();
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (ha_clock_ns() - begin_ns > CHILD_LIMIT_NS) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return -1;
        }
        usleep(2000);
    }
    return status;
}

static bool
exited(int status, int code)
{
    return status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == code;
}

static int *
spin_forever(hipStream_t stream)
{
    hipModule_t module;
    hipFunction_t spin = image_function(&module, "spin");
    int *stop;
    OK(hipHostMalloc((void **)&stop, sizeof *stop, 0));
    *stop = 0;
    void *params[] = {&stop};
    OK(hipModuleLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    return stop;
}

/* ---- fork ---- */

static hipStream_t parent_stream;
static void *parent_memory;

static void
child_starts_anew(void)
{
    void *pointer;
    int count;
    hipModule_t module;
    CHECK_HIP(hipMalloc(&pointer, 16), hipErrorNotInitialized);
    CHECK_HIP(hipGetDeviceCount(&count), hipErrorNotInitialized);
    CHECK_HIP(hipStreamSynchronize(parent_stream), hipErrorNotInitialized);
    CHECK(strstr(hipadaptGetErrorText(), "hipInit") != NULL);
    OK(hipInit(0));
    CHECK_HIP(hipStreamSynchronize(parent_stream), hipErrorContextIsDestroyed);
    CHECK_HIP(hipFree(parent_memory), hipErrorInvalidValue);
    hipFunction_t add = image_function(&module, "add");
    int *data;
    int value = 3;
    uint64_t n = 100000;
    OK(hipMalloc((void **)&data, n * 4));
    OK(hipMemset(data, 0, n * 4));
    void *params[] = {&data, &value, &n};
    for (int i = 0; i < 5; i++) {
        OK(hipModuleLaunchKernel(add, 1000, 1, 1, 100, 1, 1, 0, NULL, params, NULL));
    }
    OK(hipDeviceSynchronize());
    CHECK(data[n - 1] == 15);
    OK(hipFree(data));
    exit(7);
}

static void
fork_while_it_runs(void)
{
    image_make();
    OK(hipStreamCreate(&parent_stream));
    OK(hipMalloc(&parent_memory, 1000));
    int *stop = spin_forever(parent_stream);
    usleep(5000);
    for (int i = 0; i < 5; i++) {
        CHECK(exited(in_child(child_starts_anew), 7));
    }
    /* The parent has not noticed. */
    CHECK_HIP(hipStreamQuery(parent_stream), hipErrorNotReady);
    *stop = 1;
    OK(hipStreamSynchronize(parent_stream));
    OK(hipFree(parent_memory));
    exit(0);
}

static void
test_forked_child_starts_anew(void)
{
    CHECK(exited(in_child(fork_while_it_runs), 0));
}

static void
fork_before_use(void)
{
    void *pointer;
    OK(hipMalloc(&pointer, 16)); /* nothing was there to be forked */
    exit(0);
}

static void
test_fork_before_use_is_no_fork(void)
{
    CHECK(exited(in_child(fork_before_use), 0));
}

/* ---- exit ---- */

static int written[2];

static void
host_write(void *argument)
{
    (void)argument;
    usleep(100000);
    CHECK(write(written[1], "x", 1) == 1);
}

static void
exit_with_queued_work(void)
{
    OK(hipLaunchHostFunc(NULL, host_write, NULL));
    OK(hipLaunchHostFunc(NULL, host_write, NULL));
    exit(5);
}

static void
test_exit_drains_the_queues(void)
{
    char bytes[4];
    CHECK(pipe(written) == 0);
    CHECK(exited(in_child(exit_with_queued_work), 5));
    CHECK(read(written[0], bytes, sizeof bytes) == 2);
    close(written[0]);
    close(written[1]);
}

static void
exit_with_endless_kernel(void)
{
    spin_forever(NULL);
    usleep(1000);
    exit(6);
}

static void
host_exits(void *argument)
{
    (void)argument;
    exit(8);
}

static void
exit_in_host_function(void)
{
    OK(hipLaunchHostFunc(NULL, host_exits, NULL));
    (void)hipDeviceSynchronize();
    pause();
}

static void
host_sleeps(void *argument)
{
    (void)argument;
    pause();
}

static void
exit_with_sleeping_host_function(void)
{
    OK(hipLaunchHostFunc(NULL, host_sleeps, NULL));
    usleep(1000);
    exit(9);
}

static void
late_call(void)
{
    void *pointer;
    if (hipMalloc(&pointer, 16) != hipErrorDeinitialized) {
        _exit(98);
    }
}

static void
exit_with_late_calls(void)
{
    atexit(late_call); /* before HIP's own handler, so it runs after it */
    OK(hipDeviceSynchronize());
    exit(10);
}

static void
shutdown_twice(void)
{
    void *pointer;
    OK(hipMalloc(&pointer, 16));
    hipadaptShutdown();
    CHECK_HIP(hipFree(pointer), hipErrorDeinitialized);
    CHECK_HIP(hipInit(0), hipErrorDeinitialized);
    hipadaptShutdown();
    exit(11);
}

static void
exit_after_fault(void)
{
    hipModule_t module;
    setenv("HIPADAPT_LOG", "0", 1);
    hipFunction_t crash = image_function(&module, "crash");
    OK(hipModuleLaunchKernel(crash, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    exit(12);
}

static void
test_exit_ends(void)
{
    image_make();
    if (CAN_END_KERNELS) {
        CHECK(exited(in_child(exit_with_endless_kernel), 6));
    }
    CHECK(exited(in_child(exit_in_host_function), 8));
    CHECK(exited(in_child(exit_with_sleeping_host_function), 9));
    CHECK(exited(in_child(exit_with_late_calls), 10));
    CHECK(exited(in_child(shutdown_twice), 11));
    CHECK(exited(in_child(exit_after_fault), 12));
}

int
main(void)
{
    RUN(test_fork_before_use_is_no_fork);
    /* ThreadSanitizer allows no threads in a forked child. */
    if (CAN_END_KERNELS) {
        RUN(test_forked_child_starts_anew);
    }
    RUN(test_exit_drains_the_queues);
    RUN(test_exit_ends);
    return 0;
}
