/* SPDX-License-Identifier: MIT */
/* What Python is told about the variables of the environment. */
#ifndef HA_MODULE_ENVIRONMENT_H
#define HA_MODULE_ENVIRONMENT_H

#include <Python.h>

/* A method without arguments: a list of (name, what is wrong with it), owned. */
PyObject *ha_environment_faults(PyObject *module, PyObject *none);

#endif
