/* SPDX-License-Identifier: MIT */
#include "module/environment.h"

#include "core/env_check.h"

struct faults {
    PyObject *list; /* owned; NULL with an exception set after a failure */
};

static void
add_fault(void *context, const char *name, const char *text)
{
    struct faults *faults = context;
    PyObject *pair = NULL;

    if (faults->list == NULL) {
        return;
    }
    pair = Py_BuildValue("(NN)", PyUnicode_DecodeFSDefault(name),
                         PyUnicode_DecodeFSDefault(text));
    if (pair == NULL || PyList_Append(faults->list, pair) != 0) {
        Py_CLEAR(faults->list);
    }
    Py_XDECREF(pair);
}

PyObject *
ha_environment_faults(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    struct faults faults = {.list = PyList_New(0)};

    ha_env_examine(add_fault, &faults);
    return faults.list;
}
