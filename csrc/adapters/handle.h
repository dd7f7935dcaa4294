/* SPDX-License-Identifier: MIT */
/* Opaque handles: streams, events, modules and so on.  A handle destroys nothing. */
#ifndef HA_ADAPTERS_HANDLE_H
#define HA_ADAPTERS_HANDLE_H

#include <Python.h>

#include "adapters/message.h"
#include "adapters/types.h"
#include "adapters/view.h"

/* Opaque handle number `index` of the API tables.  A handle of another type is refused;
 * where the table says so, objects with __cuda_stream__ are taken. */
int ha_handle_from(struct ha_types *types, PyObject *object,
                   const struct ha_where *where, unsigned index, struct ha_view *out);

/* A handle; ptr may be NULL.  `owner` (borrowed, may be NULL) is kept. */
PyObject *ha_handle_new(struct ha_types *types, unsigned index, void *ptr,
                        PyObject *owner);
/* The type of handle number `index`, made on first use: borrowed for as long as the
 * module lives, or NULL with an exception. */
PyTypeObject *ha_handle_type(struct ha_types *types, unsigned index);

/* Makes the base type; 0 or -1. */
int ha_handle_init(struct ha_types *types);

#endif
