/* SPDX-License-Identifier: MIT */
/* What the kernel counts for this process: perf_event_open(2). */
#ifndef HA_ROCPROFILER_PERF_H
#define HA_ROCPROFILER_PERF_H

#include <stdbool.h>

enum { HA_PERF_EVENTS = 9 };

struct ha_perf;

const char *ha_perf_name(unsigned event);
const char *ha_perf_description(unsigned event);

/* Which events can be opened here, as bits. */
unsigned ha_perf_usable(void);

/* Counts the events, given as bits, of all threads from now on; NULL: no memory. */
struct ha_perf *ha_perf_open(unsigned events);

/* False where the event isn't counted. */
bool ha_perf_read(const struct ha_perf *perf, unsigned event, double *value);

void ha_perf_close(struct ha_perf *perf);

#endif
