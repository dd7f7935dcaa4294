/* SPDX-License-Identifier: MIT */
/* The hooks that a forked child runs. */
/* sources: core */
#include "check.h"
#include "core/fork.h"

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
    RUN(test_hooks_run_in_the_child_in_order_and_once);
    RUN(test_child_may_register_and_fork_again);
    return 0;
}
