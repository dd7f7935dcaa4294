/* SPDX-License-Identifier: MIT */
/* Our arrays for other packages: __dlpack__ and __dlpack_device__. */
#ifndef HA_ADAPTERS_DLPACK_EXPORT_H
#define HA_ADAPTERS_DLPACK_EXPORT_H

#include <Python.h>

#include <stdint.h>

#include "adapters/array.h"
#include "adapters/dlpack.h"
#include "adapters/memory.h"
#include "adapters/message.h"
#include "adapters/types.h"

/* Our array as a versioned tensor without any waiting; 0 or -1. */
int ha_dl_export_plain(struct ha_types *types, PyObject *array,
                       struct ha_dl_versioned **out);
/* The same without a managed tensor: shape and strides are the array's, until it is
 * configured. */
int ha_dl_view_plain(struct ha_types *types, PyObject *array, struct ha_dl_tensor *out);
PyObject *ha_dl_export(PyObject *self, PyObject *const *args, Py_ssize_t count,
                       PyObject *kwnames);
PyObject *ha_dl_device_tuple(PyObject *self, PyObject *unused);

#endif
