/* SPDX-License-Identifier: MIT */
/* The table that the profiler's library gets (abi/activity.h): what the device does is
 * reported to that library's sink by cpu/queue/ticket.h and cpu/module/report.h. */
#ifndef HA_CPU_ENTRY_ACTIVITY_H
#define HA_CPU_ENTRY_ACTIVITY_H

#include "abi/activity.h"

extern const struct ha_activity ha_activity_table;

#endif
