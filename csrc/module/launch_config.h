/* SPDX-License-Identifier: MIT */
/* LaunchConfig: what kernel[grid, block, shared, stream] gives; calling it launches. */
#ifndef HA_MODULE_LAUNCH_CONFIG_H
#define HA_MODULE_LAUNCH_CONFIG_H

#include <Python.h>

#include "module/kernel_object.h"

/* kernel[key]: a new configuration that keeps the kernel (borrowed), or NULL with an
 * exception. */
PyObject *ha_launch_config_new(PyObject *kernel, PyObject *key);

extern PyType_Spec ha_launch_config_spec;

#endif
