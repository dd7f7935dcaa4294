/* SPDX-License-Identifier: MIT */
/* Where findings go when they are made: to stderr, as text, or to the file that
 * HIPADAPT_CHECK_OUTPUT names, as lines of JSON.
 *
 * A line is one write to a file that is opened for it, so that several processes share
 * the file, and a program that closes all descriptors gets nothing of it elsewhere.
 * Where the file can't be written, that is told and stderr gets the text.  On stderr
 * the first HA_OUTPUT_SHOWN_MAX findings are shown; the file has all that are kept.
 *
 * All functions need the lock of cpu/check/finding.c, and no memory; they may run on
 * the stack of a lane. */
#ifndef HA_CPU_CHECK_OUTPUT_H
#define HA_CPU_CHECK_OUTPUT_H

#include <stdbool.h>

#include "abi/check.h"

#define HA_OUTPUT_SHOWN_MAX 100u

/* This process begins to use HIP with checks: a line for the file. */
void ha_output_start(void);

/* A finding that is new. */
void ha_output_finding(const struct ha_check_finding *found);

/* How often a finding was made; nothing for one that was made once. */
void ha_output_count(const struct ha_check_finding *found);

/* At the end.  stderr gets nothing where nothing was checked or checks were stopped. */
void ha_output_summary(const struct ha_check_summary *summary);

/* In a forked child, whose parent has shown what it has found. */
void ha_output_after_fork_child(void);

#endif
