/* SPDX-License-Identifier: MIT */
/* What cpu/exec/exec.c and cpu/exec/cooperative.c share: groups, faults and blocks of a
 * launch. The words are those of cpu/exec/exec.h and cpu/exec/workgroup.h; nobody else
 * includes it. */
#ifndef HA_CPU_EXEC_EXEC_STATE_H
#define HA_CPU_EXEC_EXEC_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "cpu/exec/exec.h"

struct ha_group;
struct ha_runner;

/* Groups are owned by who has taken them. NULL: no memory or mappings. */
struct ha_group *ha_exec_take_group(struct ha_launch *launch);
void ha_exec_give_group(struct ha_group *group);

/* Blocks that nobody has taken are nobody's from now on; returns how many. */
uint64_t ha_exec_drop_rest(struct ha_launch *launch);

/* These record a fault and return true if it was the launch's first: what the runner
 * brought back from the blocks [first, last); no room for a block; blocks at a grid
 * barrier that another one has ended without, or at different ones; another grid that
 * has failed. */
bool ha_exec_record(const struct ha_group *group, const struct ha_runner *runner,
                    uint64_t first, uint64_t last);
bool ha_exec_fail_resources(struct ha_launch *launch);
bool ha_exec_fail_grid(struct ha_launch *launch, uint64_t waiting, uint32_t line,
                       uint64_t ended);
bool ha_exec_fail_mixed(struct ha_launch *launch, uint64_t waiting, uint64_t other);
bool ha_exec_fail_peer(struct ha_launch *launch);

#endif
