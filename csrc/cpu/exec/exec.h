/* SPDX-License-Identifier: MIT */
/* Running one kernel launch: blocks are handed out to the threads that take part, in
 * order, but for fast kernels, whose lanes can't wait for one another.
 *
 * A *launch* belongs to the stream operation that made it.  Any number of threads call
 * ha_exec_run on it; each takes chunks of blocks until none is left.  A fault (bad
 * access, stack overflow, division by zero, trap, assert, divergent barrier, time-out)
 * ends the launch, not the process: the first one is recorded in the launch, later ones
 * are dropped. No lock is held while kernel code runs. */
#ifndef HA_CPU_EXEC_EXEC_H
#define HA_CPU_EXEC_EXEC_H

#include <stdbool.h>
#include <stdint.h>

#include "cpu/base/image.h"
#include "cpu/exec/launch.h"

/* Once per process, before the first launch: signal handlers are installed lazily at
 * each launch, the interrupt signal here.  Returns 0 or -1. */
int ha_exec_init(void);

/* Fills the fields from next_block on, and `chunk` for `threads` threads. */
void ha_exec_prepare(struct ha_launch *launch, unsigned threads);

/* Takes part in the launch until no block is left; safe from any thread, and reentrant
 * per thread only outside kernel code.  Returns true for exactly one caller: the last
 * one to leave after every block was finished or dropped.  From then on nobody touches
 * kernel, arguments or image any more; the launch itself must stay until every call has
 * returned. */
bool ha_exec_run(struct ha_launch *launch);

/* Between these two the calling thread runs nothing but launches, so that what each of
 * them needs of it (signal handlers, signal stack, signal mask) is looked after once.
 * ha_exec_hold may be called again to look at the handlers anew. */
void ha_exec_hold(void);
void ha_exec_release(void);

/* Ends the launch with HA_FAULT_TIMEOUT and `text`: threads inside its kernel code
 * leave it within milliseconds.  Safe from any thread, also when the launch has just
 * ended. */
void ha_exec_cancel(struct ha_launch *launch, const char *text);

/* Between these two the calling thread waits for what it runs.  `question` (see
 * cpu/exec/fault.h) is asked whenever ha_exec_ask is called while it is in kernel code.
 */
void ha_exec_wait_begin(bool (*question)(void));
void ha_exec_wait_end(void);

/* Asks all threads that wait for what they run. */
void ha_exec_ask(void);

/* True while the calling thread is inside a launch: it answers such a question, and can
 * run no other launch. */
bool ha_exec_is_inside(void);

/* Frees stacks and buffers of the calling thread; call before a worker thread ends. */
void ha_exec_thread_exit(void);

/* After fork, in the child: forget the parent's threads. */
void ha_exec_after_fork_child(void);

/* Writes what kernels printed so far to stdout; called at synchronisation points. */
void ha_exec_flush_print(void);

#endif
