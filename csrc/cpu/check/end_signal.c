/* SPDX-License-Identifier: MIT */
#include "cpu/check/end_signal.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

static const int signals[] = {SIGTERM, SIGHUP, SIGINT};
static void (*_Atomic at_end)(void);

static void
on_signal(int number)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};
    void (*end)(void) = atomic_exchange(&at_end, NULL);

    if (end != NULL) {
        end();
    }
    (void)sigemptyset(&usual.sa_mask);
    (void)sigaction(number, &usual, NULL);
    (void)kill(getpid(), number);
}

void
ha_end_signal_watch(void (*end)(void))
{
    struct sigaction ours = {.sa_handler = on_signal,
                             .sa_flags = SA_RESTART | SA_ONSTACK};

    (void)sigemptyset(&ours.sa_mask);
    atomic_store(&at_end, end);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction theirs;
        if (sigaction(signals[i], NULL, &theirs) == 0 &&
            (theirs.sa_flags & SA_SIGINFO) == 0 && theirs.sa_handler == SIG_DFL) {
            (void)sigaction(signals[i], &ours, NULL);
        }
    }
}
