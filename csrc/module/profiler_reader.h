/* SPDX-License-Identifier: MIT */
/* What the thread that gives events to Python needs (hipadapt/rocprofiler/_pump.py). */
#ifndef HA_MODULE_PROFILER_READER_H
#define HA_MODULE_PROFILER_READER_H

#include <Python.h>

int ha_profiler_reader_init(PyObject *module);

#endif
