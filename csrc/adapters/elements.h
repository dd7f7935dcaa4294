/* SPDX-License-Identifier: MIT */
/* Elements with fields: what no typestr says, kept as it was given.
 *
 * The CUDA array interface describes fields by *descr*, a list of (name, type) or
 * (name, type, shape); the buffer protocol by a *format* of PEP 3118, "T{f:x:h:y:}".
 * An *elements* object has both, as a tuple (descr, format): one as the producer wrote
 * it, the other made from it, or None where the other protocol can't say it.  It is
 * what struct ha_device_array has as `typestr` for such arrays.
 *
 * Descriptions are a stranger's.  They are taken only if their sizes add up to the
 * element's, and never with references to Python objects in them: consumers would
 * follow them. */
#ifndef HA_ADAPTERS_ELEMENTS_H
#define HA_ADAPTERS_ELEMENTS_H

#include <Python.h>

#include <stdbool.h>

/* From a descr; `size` -1 takes any and gives it.  1 and `out` owned, 0 where the list
 * is no description of so many bytes, or -1 with an exception. */
int ha_elements_from_descr(PyObject *descr, Py_ssize_t *size, PyObject **out);
/* From a buffer format: 1 and `out` owned, 0 where it is not understood, or -1. */
int ha_elements_from_format(const char *format, Py_ssize_t size, PyObject **out);

/* Fields known by a format, in *elements (owned, or NULL), and by a descr, which is
 * believed where they differ: `other` (borrowed) may be anything, and is left alone
 * unless it has fields.  0 or -1. */
int ha_elements_merge(PyObject **elements, PyObject *other);

static inline bool
ha_elements_check(PyObject *object)
{
    return object != NULL && PyTuple_CheckExact(object);
}
/* A new list, or NULL: with an exception, or without where there is none. */
PyObject *ha_elements_descr(PyObject *elements);
/* A format of PEP 3118, borrowed from `elements`; NULL where there is none. */
const char *ha_elements_format(PyObject *elements);

#endif
