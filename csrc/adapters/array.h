/* SPDX-License-Identifier: MIT */
/* NDBuffer and DeviceArray: what array.c, array_index.c and array_configure.c share.
 *
 * An array is always C-contiguous; address arithmetic comes from shape and element size
 * alone.  All functions need the GIL. */
#ifndef HA_ADAPTERS_ARRAY_H
#define HA_ADAPTERS_ARRAY_H

#include <Python.h>

#include "adapters/object.h"

/* Replaces shape and element type; `typestr` (stolen, may be NULL).  0, or -1 with the
 * array and the reference as they were. */
int ha_array_set_shape(struct ha_array *self, int ndim, const Py_ssize_t *dims,
                       const struct ha_format *format, PyObject *typestr);
/* A new NDBuffer or DeviceArray (after the class of `parent`) for part of its memory.
 */
PyObject *ha_array_part(struct ha_types *types, struct ha_array *parent,
                        Py_ssize_t offset, const Py_ssize_t *dims);
/* Address of a stream given as int or Pointer-like; NULL or None = none. */
int ha_array_stream(struct ha_types *types, PyObject *stream,
                    const struct ha_where *where, uintptr_t *out);
PyObject *ha_array_shape_tuple(const struct ha_array *self);

PyObject *ha_array_subscript(PyObject *self, PyObject *key);
PyObject *ha_array_item(PyObject *self, Py_ssize_t index);
PyObject *ha_array_configure(PyObject *self, PyObject *args, PyObject *kwargs);

#endif
