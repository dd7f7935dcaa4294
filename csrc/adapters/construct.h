/* SPDX-License-Identifier: MIT */
/* Constructors with one optional argument "pyobj" (None where it is absent). */
#ifndef HA_ADAPTERS_CONSTRUCT_H
#define HA_ADAPTERS_CONSTRUCT_H

#include <Python.h>

#include "adapters/types.h"

/* Converts the argument into the instance: 0, or -1 with the instance as it was. */
typedef int (*ha_fill)(struct ha_types *types, PyObject *self, PyObject *object);

/* tp_init. */
int ha_init_one(PyObject *self, PyObject *args, PyObject *kwargs, ha_fill fill);
/* tp_vectorcall. */
PyObject *ha_construct_one(PyTypeObject *type, PyObject *const *args, size_t nargsf,
                           PyObject *kwnames, ha_fill fill);
/* The argument of a vectorcall, borrowed; NULL with an exception. */
PyObject *ha_one_argument(PyTypeObject *type, PyObject *const *args, size_t nargsf,
                          PyObject *kwnames);

#endif
