/* SPDX-License-Identifier: MIT */
/* What is checked (enum ha_check_kinds of abi/check.h): as users write it,
 * "memory,race" or "all,leaks", and what it is at present.
 *
 * At first that is what HIPADAPT_CHECK says; hipadaptCheckStart and hipadaptCheckStop
 * change it.  Kernels that are compiled, and calls that begin, read it once.  No lock:
 * one word. */
#ifndef HA_CPU_BASE_CHECK_KINDS_H
#define HA_CPU_BASE_CHECK_KINDS_H

#include <stdint.h>

#include "core/status.h"

/* NaNs are found by what processors of x86-64 can do. */
#if defined(__x86_64__)
#define HA_CHECK_NUMBERS ((uint32_t)HA_CHECK_NAN)
#else
#define HA_CHECK_NUMBERS 0u
#endif

/* What the device looks for; other bits of the enum are words that it refuses. */
#define HA_CHECK_BUILT                                                                 \
    (HA_CHECK_NUMBERS | HA_CHECK_MEMORY | HA_CHECK_RACE | HA_CHECK_INIT |              \
     HA_CHECK_SYNC | HA_CHECK_LEAKS | HA_CHECK_STRICT | HA_CHECK_EQUAL |               \
     HA_CHECK_RELAXED | HA_CHECK_QUIET)

/* At present.  A word of the environment that is not known is told once, and checks
 * nothing. */
uint32_t ha_check_kinds(void);
void ha_check_kinds_set(uint32_t kinds);

/* The bits of enum ha_check_kinds (abi/check.h) that `words` name, divided by commas;
 * blanks around them do not count, and no words are no bits.  Fails with a text that
 * names the word that it does not know; `kinds` is untouched then. */
enum ha_status ha_check_kinds_read(const char *words, uint32_t *kinds);

/* The words of the bits, in the order of the table, with a NUL; a static buffer of the
 * caller's has room for all of them. */
#define HA_CHECK_WORDS_BYTES 96
void ha_check_kinds_write(uint32_t kinds, char words[HA_CHECK_WORDS_BYTES]);

#endif
