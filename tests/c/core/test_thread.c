/* SPDX-License-Identifier: MIT */
/* Threads of ours run with the program's signals blocked. */
/* sources: core */
#include "check.h"
#include "core/thread.h"

#include <signal.h>

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

int
main(void)
{
    RUN(test_thread_blocks_all_but_faults);
    return 0;
}
