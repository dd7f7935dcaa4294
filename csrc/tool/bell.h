/* SPDX-License-Identifier: MIT */
/* How writers of events wake their reader.  A process has one bell for all collectors.
 *
 * Its lock is taken with no other held, and by no writer while the bell is set. */
#ifndef HA_TOOL_BELL_H
#define HA_TOOL_BELL_H

#include <stdint.h>

/* Waits until ha_bell_wake is called, as by writers of a collector that has reached its
 * watermark, or `ns` are over. */
void ha_bell_wait(uint64_t ns);

void ha_bell_wake(void);

/* Fork hook of the child. */
void ha_bell_forked(void);

#endif
