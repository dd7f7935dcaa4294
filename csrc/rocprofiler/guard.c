/* SPDX-License-Identifier: MIT */
#include "rocprofiler/guard.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { SIGNALS = sizeof signals / sizeof *signals };

static struct sigaction before[SIGNALS];
static sigjmp_buf place;
static pthread_t guarded;
static atomic_bool taken;
static atomic_bool active; /* `place` and `guarded` are in use */
static _Thread_local volatile sig_atomic_t passing;

/* As if we weren't there. */
static void
pass_on(int index, siginfo_t *info, void *context)
{
    const struct sigaction *next = &before[index];

    if (passing || next->sa_handler == SIG_DFL || next->sa_handler == SIG_IGN) {
        struct sigaction plain = {.sa_handler = SIG_DFL};
        (void)sigaction(signals[index], passing ? &plain : next, NULL);
        return; /* it comes again */
    }
    passing = 1;
    if ((next->sa_flags & SA_SIGINFO) != 0) {
        next->sa_sigaction(signals[index], info, context);
    } else {
        next->sa_handler(signals[index]);
    }
    passing = 0;
}

/* A tool that installs a handler of its own meanwhile may call this one later. */
static void
on_signal(int number, siginfo_t *info, void *context)
{
    if (atomic_load(&active) && pthread_equal(pthread_self(), guarded)) {
        siglongjmp(place, number);
    }
    for (int i = 0; i < SIGNALS; i++) {
        if (signals[i] == number) {
            pass_on(i, info, context);
        }
    }
}

static void
watch(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < SIGNALS; i++) {
        (void)sigaction(signals[i], &action, &before[i]);
    }
}

/* Leaves handlers alone that the function has installed. */
static void
unwatch(void)
{
    for (int i = 0; i < SIGNALS; i++) {
        struct sigaction now;
        if (sigaction(signals[i], NULL, &now) == 0 &&
            (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_signal) {
            (void)sigaction(signals[i], &before[i], NULL);
        }
    }
}

/* For whoever unwinds the stack, this frame is the first one: an exception ends in
 * std::terminate here, and never in a handler of the program's. */
__attribute__((noinline)) static void
call(void (*function)(void *data), void *data)
{
#if defined(__x86_64__)
    __asm__ volatile(".cfi_undefined rip");
#elif defined(__aarch64__)
    __asm__ volatile(".cfi_undefined x30");
#endif
    function(data);
    __asm__ volatile("" ::: "memory"); /* this frame stays */
}

int
ha_guarded(void (*function)(void *data), void *data)
{
    sigset_t mask;

    if (atomic_exchange(&taken, true)) {
        call(function, data);
        return 0;
    }
    (void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
    guarded = pthread_self();
    int number = sigsetjmp(place, 0);
    if (number == 0) {
        atomic_store(&active, true);
        watch();
        call(function, data);
    }
    atomic_store(&active, false);
    unwatch();
    (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
    atomic_store(&taken, false);
    return number;
}
