/* SPDX-License-Identifier: MIT */
/* Holds: objects that keep a buffer of another object.  They never reach the user but
 * as owners. */
#ifndef HA_ADAPTERS_BUFFER_HOLD_H
#define HA_ADAPTERS_BUFFER_HOLD_H

#include <Python.h>

struct ha_types;

struct ha_hold {
    PyObject_HEAD
    Py_buffer buffer; /* held while buffer.obj is not NULL */
};

/* Takes over the buffer; on failure (NULL) the buffer stays with the caller. */
PyObject *ha_hold_new(struct ha_types *types, Py_buffer *stolen);
/* Makes the type; 0 or -1. */
int ha_buffer_hold_init(struct ha_types *types);

#endif
