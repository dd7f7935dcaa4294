/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/freeze.h"

#include "adapters/block.h"
#include "adapters/record.h"
#include "adapters/together.h"
#include "adapters/types.h"
#include "adapters/view.h"

/* Records point to lists of records that point to text: deeper does not occur in HIP.
 */
enum { DEPTH_MAX = 6 };

/* Where the dict of further owners behind an owner is, or NULL. */
static PyObject **
keep_of(struct ha_types *types, PyObject *owner)
{
    if (Py_TYPE(owner) == types->block) {
        return &((struct ha_block *)owner)->keep;
    }
    if (PyObject_TypeCheck(owner, types->record)) {
        return &((struct ha_record *)owner)->keep;
    }
    return NULL;
}

/* The further owners behind an owner: an owned list, or NULL with or without an
 * exception. */
static PyObject *
behind(struct ha_types *types, PyObject *owner)
{
    PyObject **place = keep_of(types, owner), *keep = NULL, *all = NULL;

    if (PyTuple_CheckExact(owner)) { /* of ha_pointer_keeper */
        return PySequence_List(owner);
    }
    if (place != NULL) {
        HA_BEGIN_SECTION(owner);
        keep = Py_XNewRef(*place);
        HA_END_SECTION();
    }
    if (keep != NULL && PyDict_GET_SIZE(keep) > 0) {
        all = PyDict_Values(keep);
    }
    Py_XDECREF(keep);
    return all;
}

static PyObject *
freeze(struct ha_types *types, PyObject *owner, int depth)
{
    PyObject *all = depth < DEPTH_MAX ? behind(types, owner) : NULL;

    if (all == NULL && PyErr_Occurred() == NULL) {
        return Py_NewRef(owner);
    }
    if (all == NULL) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(all); i++) {
        PyObject *frozen = freeze(types, PyList_GET_ITEM(all, i), depth + 1);
        if (frozen == NULL || PyList_SetItem(all, i, frozen) < 0) {
            Py_DECREF(all);
            return NULL;
        }
    }
    if (PyList_Append(all, owner) < 0) {
        Py_CLEAR(all);
    }
    return all;
}

PyObject *
ha_view_freeze(struct ha_types *types, struct ha_view *view)
{
    PyObject *owner = ha_view_hold(types, view);

    if (owner == NULL) {
        return NULL;
    }
    PyObject *frozen = freeze(types, owner, 0);
    Py_DECREF(owner);
    return frozen;
}
