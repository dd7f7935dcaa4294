/* SPDX-License-Identifier: MIT */
#include "api/keep.h"

int
ha_keep_view(struct ha_api *api, const void *address, struct ha_view *view)
{
    int result = -1;
    PyObject *key = NULL, *fresh = NULL, *held = NULL, *list = NULL;

    if (view->owner == NULL && !view->has_buffer) {
        return 0;
    }
    held = ha_view_hold(&api->types, view);
    if (held == NULL) {
        goto done;
    }
    key = PyLong_FromVoidPtr((void *)address);
    if (key == NULL) {
        goto done;
    }
    list = PyDict_GetItemWithError(api->kept, key); /* borrowed */
    if (list == NULL) {
        if (PyErr_Occurred()) {
            goto done;
        }
        fresh = PyList_New(0);
        if (fresh == NULL || PyDict_SetItem(api->kept, key, fresh) < 0) {
            goto done;
        }
        list = fresh;
    }
    result = PyList_Append(list, held);
done:
    Py_XDECREF(fresh);
    Py_XDECREF(key);
    Py_XDECREF(held);
    return result;
}

void
ha_keep_drop(struct ha_api *api, const void *address)
{
    PyObject *type, *value, *traceback;

    if (PyDict_GET_SIZE(api->kept) == 0) {
        return;
    }
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *key = PyLong_FromVoidPtr((void *)address);
    if (key == NULL || PyDict_DelItem(api->kept, key) < 0) {
        PyErr_Clear(); /* nothing was kept, or no memory to find it: it stays */
    }
    Py_XDECREF(key);
    PyErr_Restore(type, value, traceback);
}
