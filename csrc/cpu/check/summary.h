/* SPDX-License-Identifier: MIT */
/* What was looked at, and what was not, since the start or the last clear.
 *
 * Who launches a kernel and who looks at accesses counts here; findings are counted by
 * finding.h.  No lock: counters. */
#ifndef HA_CPU_CHECK_SUMMARY_H
#define HA_CPU_CHECK_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/check.h"

/* A launch while something is checked; false: its kernel was compiled without. */
void ha_summary_launch(bool checked);

/* Accesses that were looked at when they were made, and that were proved right before.
 */
void ha_summary_accesses(uint64_t observed, uint64_t proved);

/* All of it, with findings and kinds. */
void ha_summary_get(struct ha_check_summary *summary);

/* Counts from 0, and forgets the findings. */
void ha_summary_clear(void);

/* A process begins and ends to use HIP: lines for who reads them (output.h).  The end
 * is told once, also in a signal handler; nothing is told where nothing was ever
 * checked. */
void ha_summary_begin(void);
void ha_summary_end(void);

/* What the parent has found and counted is its own. */
void ha_check_after_fork_child(void);

#endif
