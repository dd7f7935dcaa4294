/* SPDX-License-Identifier: MIT */
/* Views: an address with what is known about it.
 *
 * A *view* (struct ha_view) has the byte length, whether the memory is read-only, and
 * the *owner*, an object that keeps the memory alive.  It lies on the C stack.  A
 * conversion that fails leaves an empty view, so ha_view_release may follow in any
 * case.  All functions need the GIL. */
#ifndef HA_ADAPTERS_VIEW_H
#define HA_ADAPTERS_VIEW_H

#include <Python.h>

#include <stdbool.h>
#include <stddef.h>

#include "adapters/message.h"

struct ha_types;

enum ha_flags {
    HA_WRITE = 1, /* the call writes through the pointer: read-only memory is refused */
    HA_NOT_NULL = 2, /* NULL is refused */
    /* Records whose bytes are read right here, so that bare addresses and memory of a
     * device are refused; not so a record of this type, even one that was made from
     * an address. */
    HA_KNOWN = 4,
    /* Records at bare addresses are not looked at: the call does not follow the
       address. */
    HA_ANYWHERE = 8,
    HA_BY_VALUE = HA_KNOWN | HA_NOT_NULL,
};

struct ha_view {
    void *ptr;
    Py_ssize_t size;  /* bytes behind ptr, -1 unknown */
    Py_ssize_t count; /* elements of a list, -1 unknown */
    PyObject *owner;  /* owned; keeps the memory, or NULL */
    PyObject *used;   /* the allocation that this uses; kept by owner, or NULL */
    bool readonly;
    bool has_buffer;  /* `buffer` is held; released by ha_view_release */
    Py_buffer buffer; /* only defined while has_buffer */
};

static inline void
ha_view_init(struct ha_view *view)
{
    view->ptr = NULL;
    view->size = -1;
    view->count = -1;
    view->owner = NULL;
    view->used = NULL;
    view->readonly = false;
    view->has_buffer = false;
}

/* The part of ha_view_release that has something to do. */
void ha_view_drop(struct ha_view *view);

/* Gives back what the view holds and empties it.  Safe on an empty view, and with an
 * exception set: it is still set afterwards, whatever the owner's end runs. */
static inline void
ha_view_release(struct ha_view *view)
{
    if (view->has_buffer || view->owner != NULL) {
        ha_view_drop(view);
    }
    view->ptr = NULL;
}

/* True unless the memory is known to be shorter than `bytes`. */
static inline bool
ha_view_fits(const struct ha_view *view, size_t bytes)
{
    return view->size < 0 || bytes <= (size_t)view->size;
}

/* Moves what keeps the memory alive out of the view into one owned object (a new
 * reference to None if there is nothing to keep), for calls that return before the
 * memory is used. ptr and size stay readable.  NULL with an exception on failure: the
 * view keeps it then. */
PyObject *ha_view_hold(struct ha_types *types, struct ha_view *view);
/* For memory of the host that C reads or writes at once: ValueError, -1, where the view
 * is a bare address that is not aligned, or where no `bytes` bytes can be read. */
int ha_need_memory(const struct ha_view *view, const struct ha_where *where,
                   size_t bytes, size_t align);

/* Moves the owner out, and ends the use; owned, or NULL. */
PyObject *ha_view_take_owner(struct ha_view *view);
/* Turns a held buffer of the view into an owner; 0 or -1. */
int ha_view_settle(struct ha_types *types, struct ha_view *view);

#endif
