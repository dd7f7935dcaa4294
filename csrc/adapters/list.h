/* SPDX-License-Identifier: MIT */
/* ListOfBytes, ListOfPointer, ListOfInt and its relatives, PointerToInt and its
 * relatives.
 *
 * One implementation: the instance knows the kind of its elements.  Lists compare and
 * hash like the tuple of their elements where their length is known, and like addresses
 * where not. */
#ifndef HA_ADAPTERS_LIST_H
#define HA_ADAPTERS_LIST_H

#include <Python.h>

#include "adapters/kind.h"
#include "adapters/pointer.h"
#include "adapters/types.h"

struct ha_list_object {
    struct ha_pointer base;
    Py_ssize_t count;  /* elements, -1 unknown */
    enum ha_kind kind; /* HA_CSTR for ListOfBytes, HA_POINTER for ListOfPointer */
};

/* Zeroed memory for `count` elements; see ListOf*.allocate.  NULL with an exception. */
PyObject *ha_list_alloc(struct ha_types *types, enum ha_kind kind, Py_ssize_t count);

/* Makes the types; 0 or -1. */
int ha_list_init(struct ha_types *types);

#endif
