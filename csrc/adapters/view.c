/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/view.h"

#include <stdint.h>

#include "adapters/allocation.h"
#include "adapters/buffer_hold.h"
#include "adapters/message.h"
#include "adapters/saved_error.h"
#include "adapters/types.h"
#include "core/readable.h"

void
ha_view_drop(struct ha_view *view)
{
    PyObject *owner = ha_view_take_owner(view);
    if (view->has_buffer) {
        struct ha_saved_error saved;
        view->has_buffer = false;
        ha_error_save(&saved);
        PyBuffer_Release(&view->buffer);
        ha_error_restore(&saved);
    }
    ha_release(owner);
}

PyObject *
ha_view_take_owner(struct ha_view *view)
{
    PyObject *owner = view->owner;
    view->owner = NULL;
    if (view->used != NULL) {
        PyObject *used = view->used;
        view->used = NULL;
        ha_allocation_leave(used);
    }
    return owner;
}

int
ha_view_settle(struct ha_types *types, struct ha_view *view)
{
    if (view->has_buffer) {
        PyObject *hold = ha_hold_new(types, &view->buffer);
        if (hold == NULL) {
            return -1;
        }
        view->has_buffer = false;
        Py_XSETREF(view->owner, hold);
    }
    return 0;
}

PyObject *
ha_view_hold(struct ha_types *types, struct ha_view *view)
{
    if (ha_view_settle(types, view) < 0) {
        return NULL;
    }
    PyObject *owner = ha_view_take_owner(view);
    return owner == NULL ? Py_NewRef(Py_None) : owner;
}

int
ha_need_memory(const struct ha_view *view, const struct ha_where *where, size_t bytes,
               size_t align)
{
    if (view->ptr == NULL || view->size >= 0) {
        return 0; /* NULL is C's business, and an owner's memory is there */
    }
    if (align > 1 && (uintptr_t)view->ptr % align != 0) {
        return ha_raise(PyExc_ValueError, where,
                        "is the address %p, which is no multiple of %zu", view->ptr,
                        align);
    }
    bool readable = ha_memory_readable(view->ptr, bytes);
    if (!readable && bytes <= 1) {
        return ha_raise(PyExc_ValueError, where,
                        "is the address %p, where there is no memory", view->ptr);
    }
    if (!readable) {
        return ha_raise(PyExc_ValueError, where,
                        "is the address %p, where there are no %zu bytes of memory",
                        view->ptr, bytes);
    }
    return 0;
}
