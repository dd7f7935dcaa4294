/* SPDX-License-Identifier: MIT */
/* Who wants to see the arguments of launches, as Python gave them: the module sets it,
 * since wrappers know no observers.  Needs the GIL. */
#ifndef HA_API_LAUNCH_NOTE_H
#define HA_API_LAUNCH_NOTE_H

#include <Python.h>

#include <stdbool.h>

#include "adapters/types.h"

struct ha_launch_noter {
    bool (*wanted)(void);
    /* The next launch of this thread has these arguments. */
    void (*note)(const struct ha_types *types, PyObject *const *args, Py_ssize_t count);
    /* It was made, or refused. */
    void (*noted)(void);
};

/* NULL: nobody.  Lives as long as the process. */
extern const struct ha_launch_noter *ha_launch_noter;

/* Before the call, with the tuple or list of its arguments; true: ha_launch_noted comes
 * after it. */
static inline bool
ha_launch_note(const struct ha_types *types, PyObject *args)
{
    if (ha_launch_noter == NULL || !ha_launch_noter->wanted() ||
        !(PyTuple_Check(args) || PyList_Check(args))) {
        return false;
    }
    /* A copy, because what arguments say of themselves may be Python code. */
    PyObject *copy = PySequence_Tuple(args);
    if (copy == NULL) {
        PyErr_Clear();
        return false;
    }
    ha_launch_noter->note(types, &PyTuple_GET_ITEM(copy, 0), PyTuple_GET_SIZE(copy));
    Py_DECREF(copy);
    return true;
}

static inline void
ha_launch_noted(bool told)
{
    if (told) {
        ha_launch_noter->noted();
    }
}

#endif
