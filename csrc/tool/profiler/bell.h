/* SPDX-License-Identifier: MIT */
/* A bell wakes a thread that polls: a descriptor that can be read from once it rang.
 * Any thread may ring. */
#ifndef HA_TOOL_PROFILER_BELL_H
#define HA_TOOL_PROFILER_BELL_H

/* The descriptor, which reads without blocking; -1 with errno. */
int ha_bell_open(void);

void ha_bell_ring(int bell);

/* Makes it still; also for a timerfd, which is read as a bell is. */
void ha_bell_hear(int bell);

#endif
