/* SPDX-License-Identifier: MIT */
/* Findings of checked kernels (abi/check.h) for hipadapt.check.  Needs the GIL. */
#ifndef HA_MODULE_CHECK_H
#define HA_MODULE_CHECK_H

#include <Python.h>

int ha_check_init(PyObject *module);

#endif
