/* SPDX-License-Identifier: MIT */
/* Waiting for one event on a 32-bit word, spinning first and sleeping then.
 *
 * The word is OPEN while its owner spins, ASLEEP once it sleeps, and DONE when the
 * event has happened.  Waking touches only the address, never the memory behind it, so
 * the word may already be gone (a stack frame that ended): the worst that can happen is
 * a spurious wake-up of another thread. */
#ifndef HA_CPU_BASE_FUTEX_H
#define HA_CPU_BASE_FUTEX_H

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum ha_futex_word { HA_FUTEX_OPEN = 0, HA_FUTEX_DONE = 1, HA_FUTEX_ASLEEP = 2 };

static inline void
ha_cpu_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Looks at the word `times` times; true if it is DONE. */
static inline bool
ha_futex_spin(_Atomic uint32_t *word, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        if (atomic_load_explicit(word, memory_order_acquire) == HA_FUTEX_DONE) {
            return true;
        }
        ha_cpu_pause();
    }
    return false;
}

/* Sleeps until the word is DONE, at most limit_ns (0 = no limit). Returns 0 when woken
 * (perhaps spuriously: look at the word), ETIMEDOUT, or EINTR. */
static inline int
ha_futex_sleep(_Atomic uint32_t *word, uint64_t limit_ns)
{
    struct timespec limit = {.tv_sec = (time_t)(limit_ns / 1000000000u),
                             .tv_nsec = (long)(limit_ns % 1000000000u)};
    uint32_t open = HA_FUTEX_OPEN;
    if (!atomic_compare_exchange_strong(word, &open, HA_FUTEX_ASLEEP) &&
        open == HA_FUTEX_DONE) {
        return 0;
    }
    if (syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, HA_FUTEX_ASLEEP,
                limit_ns != 0 ? &limit : NULL, NULL, 0) == 0 ||
        errno == EAGAIN) {
        return 0;
    }
    return errno == ETIMEDOUT ? ETIMEDOUT : EINTR;
}

/* Sets the word to DONE; true if its owner sleeps and has to be woken. */
static inline bool
ha_futex_post(_Atomic uint32_t *word)
{
    return atomic_exchange_explicit(word, HA_FUTEX_DONE, memory_order_acq_rel) ==
           HA_FUTEX_ASLEEP;
}

static inline void
ha_futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

#endif
