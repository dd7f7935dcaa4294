/* SPDX-License-Identifier: MIT */
/* Stacks of host threads, for findings: which code of the program made a call of HIP.
 *
 * A stack has the frames of the language binding, if there is one and it gives them,
 * and return addresses of C with their names.  Equal stacks are one.  They are kept for
 * the life of the process, up to HA_STACKS_MAX, so everybody borrows them.
 *
 * Locks: one, a leaf.  Taking a stack may wait for the dynamic linker: call it with no
 * lock held.  The text is there for any thread, in kernel code too. */
#ifndef HA_CPU_CHECK_STACK_H
#define HA_CPU_CHECK_STACK_H

#include <stddef.h>

#define HA_STACKS_MAX 32768u

struct ha_check_stack;

/* The stack of the calling thread, as that of the call of HIP that it is in; NULL
 * without memory. */
const struct ha_check_stack *ha_check_stack_take(void);

/* What was taken in this call of HIP, or NULL. */
const struct ha_check_stack *ha_check_stack_taken(void);

/* A line a frame, the innermost first, each with its end but the last.  "" for NULL;
 * never NULL, and never freed. */
const char *ha_check_stack_text(const struct ha_check_stack *stack);

/* What a language binding gives of the calling thread: it writes lines, the innermost
 * first, each with its end, and returns the bytes, 0 for none.  It must not wait for
 * anything.  NULL: there is no binding. */
typedef size_t (*ha_check_stack_lines)(char *text, size_t bytes);
void ha_check_stack_set_lines(ha_check_stack_lines lines);

void ha_check_stack_after_fork_child(void);

#endif
