/* SPDX-License-Identifier: MIT */
/* Short locks, which a forked child finds open.  Nothing is called under one.
 *
 * Besides them a buffer, a callback thread and the start of tools have a lock each.
 * None is held while another is taken, and none while a tool's function runs, but for
 * that of ha_tables_update, which a thread may take again. */
#ifndef HA_ROCPROFILER_LOCK_H
#define HA_ROCPROFILER_LOCK_H

enum ha_lock {
    HA_LOCK_CLIENTS,
    HA_LOCK_CONTEXTS,
    HA_LOCK_TABLES,
    HA_LOCK_INTERCEPT,
    HA_LOCK_BUFFERS,
    HA_LOCK_THREADS,
    HA_LOCK_EXTERNAL,
    HA_LOCK_RANGES,
    HA_LOCK_AGENTS,
    HA_LOCK_COUNTERS,
    HA_LOCK_ACTIVITY,
    HA_LOCK_IN_TOOL,
    HA_LOCK_TEXTS,
    HA_LOCKS,
};

void ha_lock(enum ha_lock lock);
void ha_unlock(enum ha_lock lock);

/* In a forked child. */
void ha_locks_forked(void);

#endif
