/* SPDX-License-Identifier: MIT */
/* `hipadapt.rocprofiler`, the C part: its start and end.
 *
 * Events go this way: functions of tool/events.h, called by the profiler's library,
 * put them into rings (tool/ring.h) in libhipadapt_tool.so (profiler_tool.h);
 * EventCollector (profiler_collector.c) gives them to Python in batches
 * (profiler_batch.c).  Clients, that is tools, are in profiler_client.c.  Calls under
 * their C names are generated; profiler_wrap.h has what they need. */
#ifndef HA_MODULE_PROFILER_H
#define HA_MODULE_PROFILER_H

#include <Python.h>

#include "module/profiler_state.h"

int ha_profiler_init(PyObject *module);
int ha_profiler_traverse(struct ha_profiler_state *state, visitproc visit, void *arg);
void ha_profiler_clear(struct ha_profiler_state *state);

#endif
