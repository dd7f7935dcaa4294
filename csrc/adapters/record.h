/* SPDX-License-Identifier: MIT */
/* Records, opaque handles and function pointers, made from descriptions.
 *
 * An *index* is the position in the tables of descriptions (description.h).
 *
 * A record instance owns its memory (a block), or looks at memory that its owner keeps:
 * a nested record keeps the record around it.  Record memory is plain bytes; where a
 * pointer member is set from Python the object that keeps the target is kept by the
 * record's block. Types are owned by the module state (ha_types); functions answer
 * borrowed types that live as long as the module.  All need the GIL. */
#ifndef HA_ADAPTERS_RECORD_H
#define HA_ADAPTERS_RECORD_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include "adapters/types.h"

/* The types, made on first use: borrowed, or NULL with an exception. */
PyTypeObject *ha_record_type(struct ha_types *types, unsigned index);
PyTypeObject *ha_handle_type(struct ha_types *types, unsigned index);
PyTypeObject *ha_function_type(struct ha_types *types, unsigned index);

/* A new record array of `count` elements: bytes copied from `bytes`, or the record's
 * initial value where that is NULL.  C may fill it through ha_pointer_of. */
PyObject *ha_record_new(struct ha_types *types, unsigned index, const void *bytes,
                        Py_ssize_t count);
/* A record that looks at `ptr`; `owner` (borrowed, may be NULL) is kept. */
PyObject *ha_record_view(struct ha_types *types, unsigned index, void *ptr,
                         PyObject *owner);
/* For records that HIP has freed: if `object` is a record that looks at `ptr` and
 * nobody keeps that memory for it, it is NULL from now on.  Never fails. */
void ha_record_forget(struct ha_types *types, PyObject *object, const void *ptr);
/* A handle; ptr may be NULL.  `owner` (borrowed, may be NULL) is kept. */
PyObject *ha_handle_new(struct ha_types *types, unsigned index, void *ptr,
                        PyObject *owner);
PyObject *ha_function_new(struct ha_types *types, unsigned index, void *function);

#endif
