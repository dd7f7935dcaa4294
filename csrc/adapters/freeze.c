/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/freeze.h"

#include "adapters/block.h"
#include "adapters/record.h"
#include "adapters/types.h"
#include "adapters/view.h"

/* Records point to lists of records that point to text: deeper does not occur in HIP.
 */
enum { DEPTH_MAX = 6 };

/* The dict of further owners behind an owner; borrowed, or NULL. */
static PyObject *
keep_of(struct ha_types *types, PyObject *owner)
{
    if (Py_TYPE(owner) == types->block) {
        return ((struct ha_block *)owner)->keep;
    }
    if (PyObject_TypeCheck(owner, types->record)) {
        return ((struct ha_record *)owner)->keep;
    }
    return NULL;
}

static PyObject *
freeze(struct ha_types *types, PyObject *owner, int depth)
{
    PyObject *keep = keep_of(types, owner);

    if (keep == NULL || PyDict_GET_SIZE(keep) == 0 || depth == DEPTH_MAX) {
        return Py_NewRef(owner);
    }
    PyObject *all = PyDict_Values(keep);
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
