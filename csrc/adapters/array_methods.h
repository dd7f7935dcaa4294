/* SPDX-License-Identifier: MIT */
/* What arrays have in common with those of numpy: copies to the host, element types by
 * name, pickling, and the end of life.  What needs numpy, pickle or the calls of HIP is
 * Python, in hipadapt/_objects/interop.py and hipadapt/_objects/array_copy.py, and is
 * found at the call. */
#ifndef HA_ADAPTERS_ARRAY_METHODS_H
#define HA_ADAPTERS_ARRAY_METHODS_H

#include <Python.h>

#include "adapters/types.h"

/* Methods and attributes of NDBuffer. */
PyObject *ha_array_host(PyObject *self, PyObject *unused);
PyObject *ha_array_numpy(PyObject *self, PyObject *const *args, Py_ssize_t count,
                         PyObject *kwnames);
PyObject *ha_array_array(PyObject *self, PyObject *const *args, Py_ssize_t count,
                         PyObject *kwnames);
PyObject *ha_array_dtype(PyObject *self, void *closure);

/* All methods of DeviceArray. */
extern PyMethodDef ha_device_array_methods[];

/* Adds array_read and array_write to the module; 0 or -1. */
int ha_array_methods_init(struct ha_types *types);

#endif
