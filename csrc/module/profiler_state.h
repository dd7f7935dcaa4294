/* SPDX-License-Identifier: MIT */
/* What `hipadapt.rocprofiler` keeps in the module state. */
#ifndef HA_MODULE_PROFILER_STATE_H
#define HA_MODULE_PROFILER_STATE_H

#include <Python.h>

enum { HA_PROFILER_STATUSES = 64 };

struct ha_profiler_state {
    PyTypeObject *collector; /* owned, as all of these */
    PyTypeObject *batch;
    PyTypeObject *event;
    PyTypeObject *debug_payload;
    /* NULL until used, and published then, as what follows: a dict of classes by name.
     */
    PyObject *enums;
    PyObject *statuses[HA_PROFILER_STATUSES]; /* members of rocprofiler_status_t */
    PyObject *success;                        /* the tuple of the first one */
};

#endif
