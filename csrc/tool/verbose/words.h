/* SPDX-License-Identifier: MIT */
/* The words that say what verbose lines are about; they are oneDNN's.
 *
 *   none, 0         nothing: what stands before it in the list counts no more
 *   error           calls that failed, and kernels that did not end as they should
 *   check           calls that refused an argument
 *   profile_create  compilations and loads of modules
 *   profile_exec    kernels, copies, fills and host functions
 *   profile         profile_create and profile_exec
 *   1               error and profile_exec
 *   2               error and profile
 *   all, -1         everything */
#ifndef HA_TOOL_VERBOSE_WORDS_H
#define HA_TOOL_VERBOSE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

enum {
    HA_VERBOSE_ERROR = 1,
    HA_VERBOSE_CHECK = 2,
    HA_VERBOSE_CREATE = 4,
    HA_VERBOSE_EXEC = 8,
    HA_VERBOSE_ALL = 15,
};

enum { HA_VERBOSE_LIST_BYTES = 64 }; /* of all names of words, with commas */

/* HA_VERBOSE_* of a list with commas; blanks around words don't count, nor does the
 * case of letters.  False: `unknown` is the first word that isn't one, in quotes, and
 * `wanted` is by the others. */
bool ha_verbose_words(const char *list, unsigned *wanted, char *unknown, size_t bytes);

/* The four words that make them up, or "none"; `list` has HA_VERBOSE_LIST_BYTES. */
void ha_verbose_list(unsigned wanted, char *list);

/* All words, for messages. */
const char *ha_verbose_all_words(void);

#endif
