/* SPDX-License-Identifier: MIT */
/* Ctrl-C during a wait: a check that a language binding sets, asked now and then by
 * whatever waits for long.  No lock is held while it runs. */
#ifndef HA_CPU_BASE_INTERRUPT_H
#define HA_CPU_BASE_INTERRUPT_H

#include <stdbool.h>

/* Other than 0: the wait is to end.  NULL for no check. */
void ha_interrupt_set_check(int (*check)(void));

/* Says whether the calling thread runs a kernel.  Set once, before the first wait. */
void ha_interrupt_set_inside(bool (*in_kernel)(void));

/* True if there is a check. */
bool ha_interrupt_possible(void);

/* True if the program asked for the end of the current wait. */
bool ha_interrupted(void);

#endif
