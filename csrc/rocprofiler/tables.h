/* SPDX-License-Identifier: MIT */
/* Giving tools what they have asked for of the tables of runtimes. */
#ifndef HA_ROCPROFILER_TABLES_H
#define HA_ROCPROFILER_TABLES_H

#include <stdbool.h>

/* Puts wrappers into the slots of all known tables for what tools have asked for since,
 * subscribes to the device's activity, and tells tools of tables. */
void ha_tables_update(void);

/* Asks libraries of ours that are in the process for tables that they have kept back.
 * They are only kept: the caller starts tools. */
void ha_tables_seek(void);
bool ha_tables_seeking(void);

/* In a forked child. */
void ha_tables_forked(void);

#endif
