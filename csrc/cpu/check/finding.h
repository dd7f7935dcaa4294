/* SPDX-License-Identifier: MIT */
/* The findings of this process (abi/check.h).
 *
 * Whoever finds something fills a struct ha_check_finding on its stack and adds it.
 * Its texts are copied.  Findings with the same kind, kernels and places of both sides
 * are one, of which the first stays and the count grows.  A new one is shown at once
 * (output.h), with the texts that the finder has left out: the line of source is read
 * from its file, message and advice are those of the kind.  Kernels may be given by
 * their symbols (kernel_name.h).
 *
 * Locks: one, a leaf.  May be called in kernel code within a busy section
 * (cpu/exec/fault.h), with 4 KiB of stack. */
#ifndef HA_CPU_CHECK_FINDING_H
#define HA_CPU_CHECK_FINDING_H

#include "abi/check.h"

#define HA_FINDINGS_MAX                                                                \
    1000u /* different ones; further ones are counted as dropped                       \
           */

/* `found` is borrowed for the call; its `count` is not read.  NULL texts are empty. */
void ha_finding_add(const struct ha_check_finding *found);

/* Calls `each` for each finding, in order; see abi/check.h. */
int ha_finding_each(ha_check_each each, void *context);

/* Fills findings, counted and dropped. */
void ha_finding_count(struct ha_check_summary *summary);

/* Forgets them all; how often they were made is told before. */
void ha_finding_clear(void);

/* For cpu/check/summary.c: a process begins and ends to be checked.  The end may come
 * in a signal handler, and fills what ha_finding_count fills; nothing is told where
 * another thread does not let go of the lock for a second. */
void ha_finding_begin(void);
void ha_finding_end(struct ha_check_summary *summary);

/* The child has none. */
void ha_finding_after_fork_child(void);

#endif
