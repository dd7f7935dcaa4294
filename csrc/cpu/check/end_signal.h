/* SPDX-License-Identifier: MIT */
/* The summary of a process that SIGTERM, SIGHUP or SIGINT ends: where one of them would
 * end it, it is told before.  A program that handles the signal itself is left alone.
 *
 * No lock.  Signals come to threads of the program only (core/thread.h). */
#ifndef HA_CPU_CHECK_END_SIGNAL_H
#define HA_CPU_CHECK_END_SIGNAL_H

/* From now on.  `end` is called once at most, in the signal handler: it takes no lock
 * that it has to wait for.  The process then ends as it would have. */
void ha_end_signal_watch(void (*end)(void));

#endif
