/* SPDX-License-Identifier: MIT */
/* Element types, as a Python str says them: "<f4", "float32", "f". */
#ifndef HA_ADAPTERS_TYPESTR_H
#define HA_ADAPTERS_TYPESTR_H

#include <Python.h>

#include "adapters/format.h"

/* Reads a typestr or name from a str: 1 and format filled, 0 where it is none, or -1.
 */
int ha_typestr_parse(PyObject *text, struct ha_format *format);

#endif
