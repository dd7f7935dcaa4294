/* SPDX-License-Identifier: MIT */
/* Ranges of roctx from Python: the library that the process has, or our own. */
#ifndef HA_MODULE_ANNOTATE_H
#define HA_MODULE_ANNOTATE_H

#include <Python.h>

int ha_annotate_init(PyObject *module);

#endif
