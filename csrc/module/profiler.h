/* SPDX-License-Identifier: MIT */
/* `hipadapt.rocprofiler`, the C part: what it keeps in the module state.
 *
 * Events go this way: functions of tool/events.h, called by the profiler's library,
 * put them into rings (tool/ring.h) in libhipadapt_tool.so (profiler_tool.h);
 * EventCollector (profiler_collector.c) gives them to Python in batches
 * (profiler_batch.c).  Clients, that is tools, are in profiler_client.c.  Calls under
 * their C names are generated; profiler_wrap.h has what they need. */
#ifndef HA_MODULE_PROFILER_H
#define HA_MODULE_PROFILER_H

#include <Python.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HA_PROFILER_STATUSES = 64 };

struct ha_profiler_state {
    PyTypeObject *collector; /* owned, as all of these */
    PyTypeObject *batch;
    PyTypeObject *event;
    PyObject *enums; /* dict of classes by name; NULL until used, as what follows */
    PyObject *statuses[HA_PROFILER_STATUSES]; /* members of rocprofiler_status_t */
    PyObject *success;                        /* the tuple of the first one */
};

int ha_profiler_init(PyObject *module);
int ha_profiler_traverse(struct ha_profiler_state *state, visitproc visit, void *arg);
void ha_profiler_clear(struct ha_profiler_state *state);

/* Parts of ha_profiler_init. */
int ha_profiler_batch_init(PyObject *module, struct ha_profiler_state *state);
int ha_profiler_collector_init(PyObject *module, struct ha_profiler_state *state);
int ha_profiler_calls_init(PyObject *module); /* generated */
int ha_profiler_client_init(PyObject *module);
int ha_profiler_reader_init(PyObject *module);

struct ha_profiler_state *ha_profiler_state(PyObject *module);

/* The collector of an EventCollector, borrowed; NULL without an exception for any other
 * object. */
struct ha_collector;
struct ha_collector *ha_collector_of(PyObject *module, PyObject *object);

/* ---- batches ---- */

struct ha_trace_event;

/* A batch of `count` events; `events` is stolen, even on failure.  `texts`: `object` of
 * a call is the text of its arguments. */
PyObject *ha_batch_new(const struct ha_profiler_state *state,
                       struct ha_trace_event *events, size_t count, uint64_t lost,
                       bool texts);

Py_ssize_t ha_batch_length(PyObject *batch);

/* An Event, owned. */
PyObject *ha_batch_event(PyObject *batch, Py_ssize_t index);

/* Text, or None for NULL. */
PyObject *ha_profiler_text(const char *text);

#endif
