/* SPDX-License-Identifier: MIT */
/* From a type that was made from a description back to that description.  Entries are
 * never removed; the types live as long as the module state.  Reading takes no lock. */
#ifndef HA_ADAPTERS_TYPE_INDEX_H
#define HA_ADAPTERS_TYPE_INDEX_H

#include <Python.h>

#include <stdbool.h>

#include "adapters/types.h"

/* With the guard of `types`, or while nobody else has them: 0, or -1 without memory and
 * without an exception. */
int ha_type_index_add(struct ha_types *types, PyTypeObject *type, unsigned index);
/* False where neither the type nor a base was made from a description. */
bool ha_type_index_find(const struct ha_types *types, PyTypeObject *type,
                        unsigned *index);
/* Makes `made` (stolen) the type of the entry, unless another thread was first: the
 * entry's type, borrowed, or NULL with MemoryError. */
PyTypeObject *ha_type_index_publish(struct ha_types *types, struct ha_type_entry *entry,
                                    PyTypeObject *made, unsigned index);
/* When all types are dead. */
void ha_type_index_free(struct ha_types *types);

#endif
