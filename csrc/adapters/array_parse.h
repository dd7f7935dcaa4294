/* SPDX-License-Identifier: MIT */
/* Shape and element type, as users write them. */
#ifndef HA_ADAPTERS_ARRAY_PARSE_H
#define HA_ADAPTERS_ARRAY_PARSE_H

#include <Python.h>

#include "adapters/format.h"
#include "adapters/message.h"
#include "adapters/types.h"

/* A tuple or list of extents; `dims` has HA_MAX_DIMS entries. */
int ha_array_read_shape(PyObject *value, const struct ha_where *where, int *ndim,
                        Py_ssize_t *dims);
/* A typestr, a name ("float32", "bfloat16"), a dtype or a list of fields; `text`
 * (owned) is what was given as str, the fields (elements.h), or NULL where the name of
 * the element type says more. */
int ha_array_read_type(struct ha_types *types, PyObject *value,
                       const struct ha_where *where, struct ha_format *format,
                       PyObject **text);
/* Reads a numpy dtype or what is like one: 1, format filled, and `text` (owned) its
 * typestr or fields, or NULL where the name says more; 0 where it is none (`text` may
 * be its str), or -1. */
int ha_array_read_dtype(struct ha_types *types, PyObject *dtype,
                        struct ha_format *format, PyObject **text);

#endif
