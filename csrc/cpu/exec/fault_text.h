/* SPDX-License-Identifier: MIT */
/* The first fault of a launch, recorded with a sentence that says what happened and
 * where:
 *
 *     kernel 'k': invalid access at 0x10 in block (2,0,0) thread (17,0,0)
 *
 * Each function below words one kind of fault and returns true if it was the launch's
 * first; later ones are dropped.  `fault` is set before `fault_text` is there:
 * `fault_ready` says when it may be read.  Any thread may call them; no lock. */
#ifndef HA_CPU_EXEC_FAULT_TEXT_H
#define HA_CPU_EXEC_FAULT_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "cpu/exec/launch.h"

struct ha_group;
struct ha_runner;

/* With a text of the caller's own. */
bool ha_fault_record(struct ha_launch *launch, enum ha_fault_kind kind,
                     const char *text);

/* The blocks [first, last) were left half-way: runner->fault says why.  False without a
 * fault, that is for blocks that were only interrupted.  A failed assertion is written
 * to stderr as well. */
bool ha_fault_record_blocks(const struct ha_group *group,
                            const struct ha_runner *runner, uint64_t first,
                            uint64_t last);

/* No memory or mappings for one block. */
/* Lanes of a block did not meet, and nothing more is known. */
bool ha_fault_record_unmet(struct ha_launch *launch, uint64_t block);
bool ha_fault_record_resources(struct ha_launch *launch);

/* Block `waiting` is at a grid barrier, which block `ended` can come to no more. */
bool ha_fault_record_grid(struct ha_launch *launch, uint64_t waiting, uint32_t line,
                          uint64_t ended);

/* One of the two blocks is at a grid barrier, the other at a multi-grid barrier. */
bool ha_fault_record_mixed(struct ha_launch *launch, uint64_t waiting, uint64_t other);

/* Another grid of the same multi-device launch has failed. */
bool ha_fault_record_peer(struct ha_launch *launch);

#endif
