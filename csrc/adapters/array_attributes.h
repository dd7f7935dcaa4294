/* SPDX-License-Identifier: MIT */
/* Attributes of arrays, the CUDA array interface among them. */
#ifndef HA_ADAPTERS_ARRAY_ATTRIBUTES_H
#define HA_ADAPTERS_ARRAY_ATTRIBUTES_H

#include <Python.h>

/* Of array_attributes.c and array_buffer.c, for the types. */
extern PyGetSetDef ha_array_getset[];
PyObject *ha_array_repr(PyObject *self);

#endif
