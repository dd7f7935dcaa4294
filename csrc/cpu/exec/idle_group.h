/* SPDX-License-Identifier: MIT */
/* Groups (cpu/exec/workgroup.h) between launches: a thread takes one, which is its own
 * until it gives it back, so that idle threads hold no stacks.
 *
 * Locks: scarce_lock, then the registry's (cpu/exec/fault.h) and idle_lock, which are
 * leaves. */
#ifndef HA_CPU_EXEC_IDLE_GROUP_H
#define HA_CPU_EXEC_IDLE_GROUP_H

struct ha_group;
struct ha_launch;
struct ha_runner;

/* A group that is ready for blocks of the launch, owned by the caller; NULL: no memory
 * or mappings.  Where mappings are short, idle groups are freed first. */
struct ha_group *ha_idle_group_take(struct ha_launch *launch);

/* The same, and marks the runner as running.  Waits a while for others to give theirs
 * back; NULL if none did, or if another thread runs the launch. */
struct ha_group *ha_idle_group_wait(struct ha_launch *launch, struct ha_runner *runner);

/* Gives a group back, stolen. */
void ha_idle_group_give(struct ha_group *group);

/* A thread has ended: one group per thread is enough. */
void ha_idle_groups_trim(void);

void ha_idle_groups_after_fork_child(void);

#endif
