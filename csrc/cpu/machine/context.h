/* SPDX-License-Identifier: MIT */
/* Switching stacks, leaving a signal handler for another stack, and reading memory that
 * may not be there.
 *
 * A *context* is a stack pointer below which the callee-saved registers of a suspended
 * function lie; the code that saved it owns it, and it can be resumed once.  Nothing
 * here takes a lock or touches the signal mask.
 *
 * Shadow stacks (CET, GCS) are not supported: a switch leaves the processor's copy of
 * the return addresses behind.  No object of ours is marked for them (tools/native.py),
 * so the loader leaves them off for the process. */
#ifndef HA_CPU_MACHINE_CONTEXT_H
#define HA_CPU_MACHINE_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Saves the calling context into *from and resumes `to`.  Returns when *from is
 * resumed. */
void ha_context_switch(void **from, void *to);

/* A context that calls entry(argument) on the stack that ends at `high`; entry must not
 * return.  It begins with the default floating point control (nearest, no flushing, no
 * traps), whatever the host program has set.  Writes below `high` only. */
void *ha_context_make(void *high, void (*entry)(void *), void *argument);

/* Gives the caller the floating point control that a new context begins with. */
void ha_context_reset_control(void);

/* For signal handlers: edits the interrupted state so that the thread resumes `context`
 * when the handler returns, as if somebody had switched to it.  The kernel then
 * restores the signal mask, and the alternate stack is free again. */
void ha_context_leave(void *ucontext, void *context);

/* Calls function(argument) on the stack of `context`, below what that context has there
 * and without resuming it. */
void ha_context_call(void *context, void (*function)(void *), void *argument);

uintptr_t ha_context_pc(const void *ucontext);

/* Copies bytes until the first that cannot be read; returns how many were not copied.
 * Needs: a SIGSEGV and SIGBUS handler that calls ha_context_read_fixup. */
size_t ha_context_read(void *to, const void *from, size_t size);

/* For signal handlers: if the fault is in ha_context_read, ends that copy and returns
 * true: the handler then just returns. */
bool ha_context_read_fixup(void *ucontext);

#endif
