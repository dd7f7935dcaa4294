/* SPDX-License-Identifier: MIT */
/* NDBuffer.configure, which changes shape, element type and other metadata. */
#ifndef HA_ADAPTERS_ARRAY_CONFIGURE_H
#define HA_ADAPTERS_ARRAY_CONFIGURE_H

#include <Python.h>

PyObject *ha_array_configure(PyObject *self, PyObject *args, PyObject *kwargs);

#endif
