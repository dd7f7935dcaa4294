/* SPDX-License-Identifier: MIT */
/* Objects that live as long as something of the provider: sources and options with
 * their program, an image with its module, the memory of its nodes with a graph.
 *
 * They are kept under the *address* of that something until the call that ends it
 * succeeds.  Under one address each has a *place*: that of a graph's node, where what
 * comes later replaces what was there, or one of its own.
 *
 * Graphs that are copied (cloned, instantiated, made part of another) share the places
 * of their original as they are then; whichever changes first gets places of its own.
 * A node's handle keeps the address of its graph (its *home*), as an int.
 *
 * All functions need the GIL.  The table is read, copied and changed in a critical
 * section of it.  Those that return int give -1 with an exception.  What a view's
 * records point to is kept as it is now (ha_view_freeze). */
#ifndef HA_API_KEEP_H
#define HA_API_KEEP_H

#include "adapters/view.h"
#include "api/api.h"

/* Moves what the view holds under `address`, to a place of its own. */
int ha_keep_view(struct ha_api *api, const void *address, struct ha_view *view);

/* The same for an object (stolen, on failure too). */
int ha_keep_object(struct ha_api *api, const void *address, PyObject *held);

/* Moves what the views hold to `place`, which keeps nothing else from then on. */
int ha_keep_at(struct ha_api *api, const void *address, const void *place,
               struct ha_view *const *views, int count);

/* `copy` keeps what `original` keeps, and nothing else. */
int ha_keep_share(struct ha_api *api, const void *original, const void *copy);

/* The same for one place of `address`. */
int ha_keep_share_at(struct ha_api *api, const void *original, const void *address,
                     const void *place);

/* All that is kept under `address`, as one object; owned.  NULL where that is nothing;
 * no exception. */
PyObject *ha_keep_of(struct ha_api *api, const void *address);

/* Forget one place, or all that is kept under `address`; never fail. */
void ha_keep_forget(struct ha_api *api, const void *address, const void *place);
void ha_keep_drop(struct ha_api *api, const void *address);

/* Under which address things of a node are kept: its home, or its own where nobody
 * knows that. */
const void *ha_keep_home(const struct ha_view *node);

#endif
