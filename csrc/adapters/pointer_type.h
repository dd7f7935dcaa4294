/* SPDX-License-Identifier: MIT */
/* Types of handles and function pointers: Pointer under another name, made from a
 * description. */
#ifndef HA_ADAPTERS_POINTER_TYPE_H
#define HA_ADAPTERS_POINTER_TYPE_H

#include <Python.h>

#include "adapters/types.h"

/* The type of a handle or function pointer, made once: `base` with another name.
 * `methods` may be NULL; the other strings and tables are static.  Borrowed. */
struct ha_pointer_spec {
    const char *name, *doc;
    PyMethodDef *methods;
    vectorcallfunc vectorcall;
};

PyTypeObject *ha_pointer_type_make(struct ha_types *types, struct ha_type_entry *entry,
                                   unsigned index, PyTypeObject *base,
                                   const struct ha_pointer_spec *spec);

#endif
