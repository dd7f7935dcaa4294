/* SPDX-License-Identifier: MIT */
/* Debug streams (hipadapt/debug_stream.h) for hipadapt.DebugStream. */
#ifndef HA_MODULE_DEBUG_STREAM_H
#define HA_MODULE_DEBUG_STREAM_H

#include <Python.h>

int ha_debug_stream_init(PyObject *module);

#endif
