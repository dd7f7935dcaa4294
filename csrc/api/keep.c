/* SPDX-License-Identifier: MIT */
#include "api/keep.h"

#include "adapters/freeze.h"
#include "adapters/view.h"
#include "api/api.h"

/* The places of an address: a borrowed dict, or NULL, with or without an exception. */
static PyObject *
places_of(struct ha_api *api, const void *address)
{
    PyObject *key = PyLong_FromVoidPtr((void *)address);
    PyObject *places = NULL;

    if (key != NULL) {
        places = PyDict_GetItemWithError(api->kept, key);
        Py_DECREF(key);
    }
    return places;
}

static int
set_places(struct ha_api *api, const void *address, PyObject *places)
{
    PyObject *key = PyLong_FromVoidPtr((void *)address);
    int result = key != NULL ? PyDict_SetItem(api->kept, key, places) : -1;

    Py_XDECREF(key);
    return result;
}

/* The same for a change: made where there are none, copied where they are shared. */
static PyObject *
own_places(struct ha_api *api, const void *address)
{
    PyObject *places = places_of(api, address), *fresh = NULL;

    if (places == NULL && PyErr_Occurred()) {
        return NULL;
    }
    if (places != NULL && Py_REFCNT(places) == 1) {
        return places;
    }
    fresh = places != NULL ? PyDict_Copy(places) : PyDict_New();
    if (fresh == NULL) {
        return NULL;
    }
    int result = set_places(api, address, fresh);
    Py_DECREF(fresh);
    return result == 0 ? fresh : NULL; /* borrowed: the table has it */
}

static int
set_place(struct ha_api *api, const void *address, PyObject *place, PyObject *held)
{
    PyObject *places = own_places(api, address);

    return places != NULL ? PyDict_SetItem(places, place, held) : -1;
}

int
ha_keep_object(struct ha_api *api, const void *address, PyObject *held)
{
    /* Below zero, where no node has its place. */
    PyObject *place = PyLong_FromLongLong(-(long long)(intptr_t)held);
    int result = place != NULL ? set_place(api, address, place, held) : -1;

    Py_XDECREF(place);
    Py_DECREF(held);
    return result;
}

static bool
is_empty(const struct ha_view *view)
{
    return view->owner == NULL && !view->has_buffer;
}

int
ha_keep_view(struct ha_api *api, const void *address, struct ha_view *view)
{
    if (is_empty(view)) {
        return 0;
    }
    PyObject *held = ha_view_freeze(&api->types, view);
    return held != NULL ? ha_keep_object(api, address, held) : -1;
}

int
ha_keep_at(struct ha_api *api, const void *address, const void *place,
           struct ha_view *const *views, int count)
{
    PyObject *list = PyList_New(0), *key = NULL;
    int result = list != NULL ? 0 : -1;

    for (int i = 0; result == 0 && i < count; i++) {
        if (is_empty(views[i])) {
            continue;
        }
        PyObject *held = ha_view_freeze(&api->types, views[i]);
        result = held != NULL ? PyList_Append(list, held) : -1;
        Py_XDECREF(held);
    }
    if (result == 0 && PyList_GET_SIZE(list) == 0) {
        ha_keep_forget(api, address, place);
    } else if (result == 0) {
        key = PyLong_FromVoidPtr((void *)place);
        result = key != NULL ? set_place(api, address, key, list) : -1;
    }
    Py_XDECREF(key);
    Py_XDECREF(list);
    return result;
}

int
ha_keep_share(struct ha_api *api, const void *original, const void *copy)
{
    PyObject *places = places_of(api, original);

    if (places == NULL) {
        ha_keep_drop(api, copy);
        return PyErr_Occurred() ? -1 : 0;
    }
    Py_INCREF(places); /* replacing what `copy` kept may run anything */
    int result = set_places(api, copy, places);
    Py_DECREF(places);
    return result;
}

int
ha_keep_share_at(struct ha_api *api, const void *original, const void *address,
                 const void *place)
{
    PyObject *places = original != address ? places_of(api, original) : NULL;

    if (places == NULL) {
        ha_keep_forget(api, address, place);
        return PyErr_Occurred() ? -1 : 0;
    }
    Py_INCREF(places);
    PyObject *key = PyLong_FromVoidPtr((void *)place);
    int result = key != NULL ? set_place(api, address, key, places) : -1;
    Py_XDECREF(key);
    Py_DECREF(places);
    return result;
}

PyObject *
ha_keep_of(struct ha_api *api, const void *address)
{
    PyObject *places = PyDict_GET_SIZE(api->kept) > 0 ? places_of(api, address) : NULL;

    if (places == NULL) {
        PyErr_Clear();
    }
    return Py_XNewRef(places);
}

/* Removes `key` from `dict`, which may lack it, with an exception put aside. */
static void
remove_key(PyObject *dict, const void *key)
{
    PyObject *name = PyLong_FromVoidPtr((void *)key);

    if (name == NULL || PyDict_DelItem(dict, name) < 0) {
        PyErr_Clear(); /* nothing was kept, or no memory to find it: it stays */
    }
    Py_XDECREF(name);
}

void
ha_keep_forget(struct ha_api *api, const void *address, const void *place)
{
    PyObject *type, *value, *traceback;

    if (PyDict_GET_SIZE(api->kept) == 0) {
        return;
    }
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *places = places_of(api, address);
    if (places != NULL) {
        places = own_places(api, address);
    }
    if (places != NULL) {
        Py_INCREF(places);
        remove_key(places, place);
        Py_DECREF(places);
    }
    PyErr_Clear();
    PyErr_Restore(type, value, traceback);
}

void
ha_keep_drop(struct ha_api *api, const void *address)
{
    PyObject *type, *value, *traceback;

    if (PyDict_GET_SIZE(api->kept) == 0) {
        return;
    }
    PyErr_Fetch(&type, &value, &traceback);
    remove_key(api->kept, address);
    PyErr_Restore(type, value, traceback);
}

const void *
ha_keep_home(const struct ha_view *node)
{
    if (node->owner != NULL && PyLong_CheckExact(node->owner)) {
        return PyLong_AsVoidPtr(node->owner);
    }
    return node->ptr;
}
