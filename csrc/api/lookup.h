/* SPDX-License-Identifier: MIT */
/* Names of Python's modules: what each stands for. */
#ifndef HA_API_LOOKUP_H
#define HA_API_LOOKUP_H

#include <Python.h>

/* What `hipadapt.<module>.<name>` is: function, enum, record, handle, function pointer,
 * constant or alias; owned.  AttributeError where there is no such thing. */
PyObject *ha_api_lookup(PyObject *self, const char *module, const char *name);
/* Owned list of all names of `hipadapt.<module>`. */
PyObject *ha_api_names(const char *module);

#endif
