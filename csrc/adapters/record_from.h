/* SPDX-License-Identifier: MIT */
/* Records from values and from memory, for arguments, members and results. */
#ifndef HA_ADAPTERS_RECORD_FROM_H
#define HA_ADAPTERS_RECORD_FROM_H

#include <Python.h>

#include "adapters/message.h"
#include "adapters/types.h"
#include "adapters/view.h"

/* Pointer to record number `index`: an instance, a tuple or list of its values, or
 * memory that is large enough by the adapter order. */
int ha_record_from(struct ha_types *types, PyObject *object,
                   const struct ha_where *where, unsigned index, unsigned flags,
                   struct ha_view *out);

/* A new record array of `count` elements: bytes copied from `bytes`, or the record's
 * initial value where that is NULL.  C may fill it through ha_pointer_of. */
PyObject *ha_record_new(struct ha_types *types, unsigned index, const void *bytes,
                        Py_ssize_t count);
/* A record that looks at `ptr`; `owner` (borrowed, may be NULL) is kept. */
PyObject *ha_record_view(struct ha_types *types, unsigned index, void *ptr,
                         PyObject *owner);

/* Slots of the types: values of the members, by position or by name. */
int ha_record_tp_init(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *ha_record_vectorcall(PyObject *type, PyObject *const *args, size_t nargsf,
                               PyObject *kwnames);

#endif
