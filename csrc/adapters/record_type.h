/* SPDX-License-Identifier: MIT */
/* Record types from their descriptions: properties, get_x and set_x. */
#ifndef HA_ADAPTERS_RECORD_TYPE_H
#define HA_ADAPTERS_RECORD_TYPE_H

#include <Python.h>

#include "adapters/types.h"

/* The type of record number `index`, made on first use: borrowed for as long as the
 * module lives, or NULL with an exception. */
PyTypeObject *ha_record_type(struct ha_types *types, unsigned index);

/* record_object.c and record_type.c: their Python types. */
/* Getter of all properties; `closure` is the struct ha_field. */
PyObject *ha_record_property_get(PyObject *self, void *closure);
/* Makes the type of get_x and set_x; 0 or -1. */
int ha_accessor_init(struct ha_types *types);

#endif
