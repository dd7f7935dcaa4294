/* SPDX-License-Identifier: MIT */
/* EventCollector: gives events to Python in batches. */
#ifndef HA_MODULE_PROFILER_COLLECTOR_H
#define HA_MODULE_PROFILER_COLLECTOR_H

#include <Python.h>

#include "module/profiler_state.h"

int ha_profiler_collector_init(PyObject *module, struct ha_profiler_state *state);

/* The collector of an EventCollector, borrowed; NULL without an exception for any other
 * object. */
struct ha_collector *ha_collector_of(PyObject *module, PyObject *object);

#endif
