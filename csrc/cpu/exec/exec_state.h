/* SPDX-License-Identifier: MIT */
/* What cpu/exec/exec.c and cpu/exec/cooperative.c share: groups and blocks of a
 * launch. The words are those of cpu/exec/exec.h and cpu/exec/workgroup.h; nobody else
 * includes it. */
#ifndef HA_CPU_EXEC_EXEC_STATE_H
#define HA_CPU_EXEC_EXEC_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "cpu/exec/exec.h"

struct ha_group;

/* Groups are owned by who has taken them. NULL: no memory or mappings. */
struct ha_group *ha_exec_take_group(struct ha_launch *launch);
void ha_exec_give_group(struct ha_group *group);

/* Blocks that nobody has taken are nobody's from now on; returns how many. */
uint64_t ha_exec_drop_rest(struct ha_launch *launch);

#endif
