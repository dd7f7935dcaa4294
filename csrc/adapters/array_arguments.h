/* SPDX-License-Identifier: MIT */
/* Arguments of functions and methods of arrays. */
#ifndef HA_ADAPTERS_ARRAY_ARGUMENTS_H
#define HA_ADAPTERS_ARRAY_ARGUMENTS_H

#include <Python.h>

#include "adapters/message.h"

/* Arguments in the order of `names`; those that were not given stay as they are in
 * `out`.  From `first_keyword` on they are keyword-only. */
int ha_array_arguments(const struct ha_where *names, int count, int first_keyword,
                       PyObject *const *args, Py_ssize_t given, PyObject *kwnames,
                       PyObject **out);

#endif
