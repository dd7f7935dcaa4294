/* SPDX-License-Identifier: MIT */
/* Adapters: from a Python object to the C value that a HIP call takes, and back.
 *
 * Every ha_*_from function of this room converts on the C stack: no Python object is
 * made for arguments of the usual kinds.  All fill a view (view.h) and answer 0, or -1
 * with an exception that names function, argument and what arrived; on failure the view
 * is empty, so ha_view_release may follow in any case.  All need the GIL.
 *
 * The order in which kinds of objects are tried is one table (adapter.c);
 * docs/adapters.md shows it.  The table stands above the files of the protocols, and
 * below those that convert into something else than an address: cstr.h (text),
 * list_from.h (arrays of values), record_from.h, handle.h, function.h, launch.h (kernel
 * arguments). number.h has numbers, state.h the life of the room's part of the module.
 */
#ifndef HA_ADAPTERS_ADAPTER_H
#define HA_ADAPTERS_ADAPTER_H

#include <Python.h>

#include "adapters/message.h"
#include "adapters/take.h"
#include "adapters/types.h"
#include "adapters/view.h"

/* Any pointer, by the adapter order.  Fast for None, our own types, int, bytes, numpy.
 */
int ha_ptr_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
                unsigned flags, struct ha_view *out);

/* All rows in order, without the checks of flags. */
int ha_take_all(struct ha_take *take, PyObject *object);
/* The first four rows: None, Pointer, int, ctypes pointers. */
int ha_take_address(struct ha_take *take, PyObject *object);
/* The adapter order for docs and tests: a new tuple of (name, accepts) tuples, which
 * the module has as adapter_order. */
PyObject *ha_adapter_rows(void);

#endif
