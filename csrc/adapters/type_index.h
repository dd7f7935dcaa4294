/* SPDX-License-Identifier: MIT */
/* From a type that was made from a description back to that description.  Entries are
 * never removed; the types live as long as the module state. */
#ifndef HA_ADAPTERS_TYPE_INDEX_H
#define HA_ADAPTERS_TYPE_INDEX_H

#include <Python.h>

#include <stdbool.h>

#include "adapters/types.h"

/* 0, or -1 with an exception. */
int ha_type_index_add(struct ha_types *types, PyTypeObject *type, unsigned index);
/* False where neither the type nor a base was made from a description. */
bool ha_type_index_find(const struct ha_types *types, PyTypeObject *type,
                        unsigned *index);

#endif
