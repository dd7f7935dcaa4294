/* SPDX-License-Identifier: MIT */
/* Sub-arrays: d[i], d[a:b], d[i, a:b], d[..., a:b].  An index keeps its axis with
 * extent 1, so the rank of the result is that of the array, as in hip-python. */
#ifndef HA_ADAPTERS_ARRAY_INDEX_H
#define HA_ADAPTERS_ARRAY_INDEX_H

#include <Python.h>

PyObject *ha_array_subscript(PyObject *self, PyObject *key);
PyObject *ha_array_item(PyObject *self, Py_ssize_t index);

#endif
