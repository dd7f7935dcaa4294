/* SPDX-License-Identifier: MIT */
/* Buffer protocol of arrays, for memory that the processor sees. */
#ifndef HA_ADAPTERS_ARRAY_BUFFER_H
#define HA_ADAPTERS_ARRAY_BUFFER_H

#include <Python.h>

int ha_array_getbuffer(PyObject *self, Py_buffer *buffer, int flags);
void ha_array_releasebuffer(PyObject *self, Py_buffer *buffer);

#endif
