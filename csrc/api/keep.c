/* SPDX-License-Identifier: MIT */
#include "api/keep.h"

#include "adapters/freeze.h"
#include "adapters/python_version.h"
#include "adapters/together.h"
#include "adapters/view.h"
#include "api/api.h"

/* The places of an address: an owned dict, or NULL, with or without an exception. */
static PyObject *
places_of(struct ha_api *api, const void *address)
{
    PyObject *key = PyLong_FromVoidPtr((void *)address);
    PyObject *places = NULL;

    if (key != NULL) {
        (void)ha_dict_get(api->kept, key, &places);
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

/* The same for a change: made where there are none, copied where they are shared.  In a
 * critical section of the table. */
static PyObject *
own_places(struct ha_api *api, const void *address)
{
    PyObject *places = places_of(api, address), *fresh = NULL;

    if (places == NULL && PyErr_Occurred()) {
        return NULL;
    }
    if (places != NULL && Py_REFCNT(places) == 2) { /* the table's and ours */
        return places;
    }
    fresh = places != NULL ? PyDict_Copy(places) : PyDict_New();
    Py_XDECREF(places);
    if (fresh != NULL && set_places(api, address, fresh) < 0) {
        Py_CLEAR(fresh);
    }
    return fresh;
}

/* Puts `held` (NULL: nothing) to a place; what was there goes behind the critical
 * section of the table, in which places are shared, copied and changed. */
static int
set_place(struct ha_api *api, const void *address, PyObject *place, PyObject *held)
{
    PyObject *places, *old = NULL;
    int result = -1;

    HA_BEGIN_SECTION(api->kept);
    places = own_places(api, address);
    if (places != NULL) {
        result = ha_dict_get(places, place, &old);
    }
    if (result >= 0 && held != NULL) {
        result = PyDict_SetItem(places, place, held);
    } else if (result > 0) {
        result = PyDict_DelItem(places, place);
    }
    Py_XDECREF(places);
    HA_END_SECTION();
    Py_XDECREF(old);
    return result < 0 ? -1 : 0;
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
    PyObject *places, *old = NULL;
    int result = 0;

    HA_BEGIN_SECTION(api->kept);
    places = places_of(api, original);
    if (places != NULL) {
        old = places_of(api, copy); /* letting go of it may run anything */
        result = PyErr_Occurred() ? -1 : set_places(api, copy, places);
    }
    HA_END_SECTION();
    if (places == NULL) {
        ha_keep_drop(api, copy);
        return PyErr_Occurred() ? -1 : 0;
    }
    Py_XDECREF(old);
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
    return places;
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
    PyObject *key = places != NULL ? PyLong_FromVoidPtr((void *)place) : NULL;
    Py_XDECREF(places);
    if (key != NULL) {
        (void)set_place(api, address, key, NULL);
        Py_DECREF(key);
    }
    PyErr_Clear(); /* without memory to find it, it stays */
    PyErr_Restore(type, value, traceback);
}

void
ha_keep_drop(struct ha_api *api, const void *address)
{
    PyObject *type, *value, *traceback, *places = NULL;

    if (PyDict_GET_SIZE(api->kept) == 0) {
        return;
    }
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *key = PyLong_FromVoidPtr((void *)address);
    if (key != NULL) {
        HA_BEGIN_SECTION(api->kept);
        if (ha_dict_get(api->kept, key, &places) > 0) {
            (void)PyDict_DelItem(api->kept, key);
        }
        HA_END_SECTION();
        Py_DECREF(key);
    }
    PyErr_Clear();      /* the same */
    Py_XDECREF(places); /* this may run anything */
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
