/* SPDX-License-Identifier: MIT */
/* Tools: from Python callables, and from libraries. */
#ifndef HA_MODULE_PROFILER_CLIENT_H
#define HA_MODULE_PROFILER_CLIENT_H

#include <Python.h>

int ha_profiler_client_init(PyObject *module);

#endif
