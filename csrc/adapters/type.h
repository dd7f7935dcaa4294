/* SPDX-License-Identifier: MIT */
/* Making Python types, and what a type says about itself. */
#ifndef HA_ADAPTERS_TYPE_H
#define HA_ADAPTERS_TYPE_H

#include <Python.h>

#include <stdbool.h>

#include "adapters/types.h"

/* Makes a type from `spec` with `base` (NULL = object), adds it to the module if
 * `publish`; stores the owned type in *out. */
int ha_type_make(struct ha_types *types, PyType_Spec *spec, PyTypeObject *base,
                 bool publish, PyTypeObject **out);

/* State behind an instance or type of ours, Python subclasses included. */
struct ha_types *ha_types_of_type(PyTypeObject *type);

/* True for instances of types made here, false for Python subclasses. */
static inline bool
ha_is_native(PyTypeObject *type)
{
    /* Classes made in Python belong to no module object. */
    return ((PyHeapTypeObject *)type)->ht_module != NULL;
}

/* Last part of the type's name: "Pointer". */
const char *ha_short_name(PyTypeObject *type);

#endif
