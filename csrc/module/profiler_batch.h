/* SPDX-License-Identifier: MIT */
/* Event and EventBatch: what Python sees of events. */
#ifndef HA_MODULE_PROFILER_BATCH_H
#define HA_MODULE_PROFILER_BATCH_H

#include <Python.h>

#include <stdbool.h>

#include "module/profiler_state.h"
#include "tool/event.h"

int ha_profiler_batch_init(PyObject *module, struct ha_profiler_state *state);

/* A batch of `count` events; `events` is stolen, even on failure.  `texts`: `object` of
 * a call is the text of its arguments. */
PyObject *ha_batch_new(const struct ha_profiler_state *state,
                       struct ha_trace_event *events, size_t count, uint64_t lost,
                       bool texts);

Py_ssize_t ha_batch_length(PyObject *batch);

/* An Event, owned. */
PyObject *ha_batch_event(PyObject *batch, Py_ssize_t index);

#endif
