/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/saved_error.h"

void
ha_error_save(struct ha_saved_error *saved)
{
#if PY_VERSION_HEX >= 0x030C0000
    saved->exception = PyErr_GetRaisedException();
#else
    PyErr_Fetch(&saved->type, &saved->value, &saved->traceback);
#endif
}

void
ha_error_restore(struct ha_saved_error *saved)
{
#if PY_VERSION_HEX >= 0x030C0000
    PyErr_SetRaisedException(saved->exception);
#else
    PyErr_Restore(saved->type, saved->value, saved->traceback);
#endif
}

void
ha_error_drop(struct ha_saved_error *saved)
{
#if PY_VERSION_HEX >= 0x030C0000
    Py_XDECREF(saved->exception);
#else
    Py_XDECREF(saved->type);
    Py_XDECREF(saved->value);
    Py_XDECREF(saved->traceback);
#endif
}

void
ha_release(PyObject *object)
{
    struct ha_saved_error saved;
    if (object == NULL || PyErr_Occurred() == NULL) {
        Py_XDECREF(object);
        return;
    }
    ha_error_save(&saved);
    Py_DECREF(object);
    ha_error_restore(&saved);
}
