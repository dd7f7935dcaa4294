/* SPDX-License-Identifier: MIT */
/* One conversion in flight, and what its rows fill.
 *
 * A *row* of the adapter table takes one kind of object.  It answers 1 = taken, and the
 * view is filled; 0 = not for this row; -1 = exception set.  Its owner, buffer and
 * references stay in the view and the shape even then: the caller releases them. */
#ifndef HA_ADAPTERS_TAKE_H
#define HA_ADAPTERS_TAKE_H

#include <Python.h>

#include <stdbool.h>

#include "adapters/format.h"
#include "adapters/memory.h"
#include "adapters/message.h"
#include "adapters/types.h"
#include "adapters/view.h"

#define HA_MAX_DIMS 64

/* Shape and type, for NDBuffer: filled by the rows that know them. */
struct ha_shape {
    int ndim;       /* -1: the row did not know */
    bool any_order; /* set by the caller: F order will do, only the bytes matter */
    enum ha_memory_place place;
    int device; /* -1 unknown */
    struct ha_format format;
    PyObject *typestr; /* owned, or NULL; a str, or fields (elements.h) */
    PyObject *stream;  /* owned, or NULL */
    Py_ssize_t dims[HA_MAX_DIMS];
};

/* Nothing is known yet.  A shape is large: only what is read before is set. */
static inline void
ha_shape_init(struct ha_shape *shape)
{
    shape->ndim = -1;
    shape->any_order = false;
    shape->place = HA_PLACE_UNKNOWN;
    shape->device = -1;
    shape->typestr = NULL;
    shape->stream = NULL;
}

struct ha_take {
    struct ha_types *types;
    const struct ha_where *where;
    struct ha_view *view;
    struct ha_shape *shape; /* NULL where only the address is wanted */
    bool write;             /* the call writes there */
};

#endif
