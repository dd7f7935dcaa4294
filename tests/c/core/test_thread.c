/* SPDX-License-Identifier: MIT */
/* Threads of ours: their signals, and the hooks that a forked child runs. */
/* sources: core */
#include "check.h"
#include "core/thread.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned first_ran;
static unsigned second_ran;

static void
first_hook(void)
{
    first_ran = 1 + second_ran;
}

static void
second_hook(void)
{
    second_ran = 1 + first_ran;
}

static void *
read_mask(void *mask)
{
    CHECK_EQUAL(pthread_sigmask(SIG_SETMASK, NULL, mask), 0);
    return mask;
}

static void
test_thread_blocks_all_but_faults(void)
{
    sigset_t theirs, before, after;
    pthread_t thread;
    void *result = NULL;

    CHECK_EQUAL(pthread_sigmask(SIG_SETMASK, NULL, &before), 0);
    CHECK_EQUAL(
        ha_thread_start(&thread, "a name that is longer than 15", read_mask, &theirs),
        HA_OK);
    CHECK_EQUAL(pthread_join(thread, &result), 0);
    CHECK(result == &theirs);
    CHECK_EQUAL(pthread_sigmask(SIG_SETMASK, NULL, &after), 0);
    CHECK_EQUAL(sigismember(&theirs, SIGINT), 1);
    CHECK_EQUAL(sigismember(&theirs, SIGALRM), 1);
    CHECK_EQUAL(sigismember(&theirs, SIGSEGV), 0);
    CHECK_EQUAL(sigismember(&theirs, SIGFPE), 0);
    for (int i = 1; i < 32; i++) {
        CHECK_EQUAL(sigismember(&before, i), sigismember(&after, i));
    }
}

static void
test_hooks_run_in_the_child_in_order_and_once(void)
{
    int status = 0;

    CHECK_EQUAL(ha_fork_register(first_hook), HA_OK);
    CHECK_EQUAL(ha_fork_register(second_hook), HA_OK);
    CHECK_EQUAL(ha_fork_register(first_hook), HA_OK); /* counts once */
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        _exit(first_ran == 1 && second_ran == 2 ? 42 : 1);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    CHECK_EQUAL(first_ran, 0); /* the parent runs none */
}

static void
test_child_may_register_and_fork_again(void)
{
    int status = 0;
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        CHECK_EQUAL(ha_fork_register(first_hook), HA_OK);
        pid_t grandchild = fork();
        if (grandchild == 0) {
            _exit(7);
        }
        CHECK_EQUAL(waitpid(grandchild, &status, 0), grandchild);
        _exit(WEXITSTATUS(status));
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

int
main(void)
{
    RUN(test_thread_blocks_all_but_faults);
    RUN(test_hooks_run_in_the_child_in_order_and_once);
    RUN(test_child_may_register_and_fork_again);
    return 0;
}
