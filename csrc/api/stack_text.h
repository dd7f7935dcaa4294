/* SPDX-License-Identifier: MIT */
/* The Python frames of the calling thread as lines, "program.py:12 in main", the
 * innermost first, each with its end: for hipadaptSetStackText (cpu/entry/runtime.h).
 *
 * A thread has a *note* of its frames while it is in a call without the GIL that a
 * wrapper made.  In calls of other modules there is none. */
#ifndef HA_API_STACK_TEXT_H
#define HA_API_STACK_TEXT_H

#include <Python.h>

#include <stddef.h>

#define HA_STACK_TEXT_BYTES 4096u

/* Whether a call may ask for its frames; hipadaptWantsStack.  NULL: no call ever does.
 */
extern int (*ha_stack_wanted)(void);

/* Needs the GIL. */
void ha_stack_note(void);
void ha_stack_forget(void);

/* For hipadaptSetStackText.  Neither needs the GIL nor waits for it.  0: there is none,
 * or they are not known here. */
size_t ha_stack_lines(char *text, size_t bytes);

#endif
