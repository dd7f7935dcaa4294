/* SPDX-License-Identifier: MIT */
/* hipadapt.debug_tensor: the value that an array has when a stream comes to it, sent to
 * the stream's device. */
#ifndef HA_MODULE_DEBUG_TENSOR_H
#define HA_MODULE_DEBUG_TENSOR_H

#include <Python.h>

int ha_debug_tensor_init(PyObject *module);

#endif
