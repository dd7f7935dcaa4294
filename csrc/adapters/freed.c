/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/freed.h"

#include "adapters/allocation.h"
#include "adapters/pointer.h"
#include "adapters/record.h"
#include "adapters/saved_error.h"
#include "adapters/types.h"

/* An owner of the package that is written in Python would free the memory, too. */
static void
owner_forget(PyObject *owner)
{
    PyObject *method = PyObject_GetAttrString(owner, "_forget_memory");
    PyObject *result = method == NULL ? NULL : PyObject_CallNoArgs(method);
    if (result == NULL) {
        PyErr_Clear(); /* most owners have no such method */
    }
    Py_XDECREF(method);
    Py_XDECREF(result);
}

void
ha_pointer_freed(struct ha_types *types, PyObject *object, const void *ptr)
{
    if (!ha_pointer_check(types, object)) {
        return;
    }
    struct ha_pointer *self = (struct ha_pointer *)object;
    ha_record_forget(types, object, ptr);
    if (ha_pointer_of(object) != ptr || ptr == NULL ||
        (Py_TYPE(object) != types->pointer &&
         !PyObject_TypeCheck(object, types->nd_buffer))) {
        return;
    }
    PyObject *owner = ha_pointer_take_gone(self, HA_FREED);
    if (owner != NULL && Py_TYPE(owner) == types->allocation) {
        ha_allocation_forget(owner); /* it would free what may be in use again */
    } else if (owner != NULL && owner != object && ha_pointer_check(types, owner)) {
        ha_pointer_freed(types, owner, ptr); /* the array that this one is a part of */
    } else if (owner != NULL && owner != object) {
        owner_forget(owner);
    }
    ha_release(owner);
}
