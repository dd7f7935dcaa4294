/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/launch.h"

#include <string.h>

#include "adapters/adapter.h"
#include "adapters/launch_data.h"
#include "adapters/launch_value.h"
#include "adapters/message.h"
#include "adapters/pointer.h"
#include "adapters/types.h"
#include "adapters/view.h"

/* ---- entries ---- */

/* Address of an entry by the adapter order; its owner goes to the launch.  *storage:
 * the address is that of host memory that was given as an object. */
static int
entry_address(struct ha_types *types, struct ha_launch_arguments *launch,
              PyObject *object, const struct ha_where *where, void **address,
              bool *storage)
{
    struct ha_view view;
    if (ha_ptr_from(types, object, where, 0, &view) < 0) {
        if (PyLong_Check(object) && PyErr_ExceptionMatches(PyExc_OverflowError)) {
            PyErr_Clear();
            ha_raise_range(where,
                           "an address (0 .. 2**64-1; numbers need a C type, such as "
                           "ctypes.c_int or numpy.int32)",
                           object);
        }
        return -1;
    }
    *address = view.ptr;
    *storage = view.has_buffer || PyBytes_Check(object);
    int status = ha_launch_keep_view(types, launch, &view);
    ha_view_release(&view);
    return status;
}

/* At least the first byte of a value has to be there; how long it is C knows. */
static int
check_storage(struct ha_types *types, PyObject *object, const struct ha_where *where,
              void *address)
{
    const struct ha_view place = {.ptr = address, .size = -1};
    bool known = ha_pointer_check(types, object) &&
                 (HA_READ(((struct ha_pointer *)object)->size) >= 0 ||
                  HA_READ(((struct ha_pointer *)object)->owner) != NULL);
    return known ? 0 : ha_need_memory(&place, where, 1, 1);
}

/* An entry by value, or its address.  *is_address: it is one, or None. */
static int
extra_entry(struct ha_types *types, struct ha_launch_arguments *launch,
            PyObject *object, const struct ha_where *where, unsigned char **place,
            bool *is_address)
{
    void *address;
    bool storage;
    int status = 0;
    PyTypeObject *type = Py_TYPE(object);
    if (type != types->device_array && type != types->pointer) {
        status = ha_launch_put_value(types, launch, object, where, place);
    }
    *is_address = status == 0 || object == Py_None;
    if (status != 0) {
        return status < 0 ? -1 : 0;
    }
    if (entry_address(types, launch, object, where, &address, &storage) < 0) {
        return -1;
    }
    *place = ha_launch_put_address(launch, address);
    return *place == NULL ? -1 : 0;
}

int
ha_launch_add(struct ha_types *types, struct ha_launch_arguments *launch,
              PyObject *object, const struct ha_where *where,
              struct ha_launch_value *out)
{
    unsigned char *place = NULL;
    bool address;
    if (extra_entry(types, launch, object, where, &place, &address) < 0) {
        return -1;
    }
    out->place = place;
    out->size = (size_t)(launch->data + launch->size - place);
    out->address = address;
    return 0;
}

/* Pointers that are values of their own, not places where values lie. */
static bool
is_pointer_value(struct ha_types *types, PyObject *object)
{
    return PyObject_TypeCheck(object, types->nd_buffer) ||
           PyObject_TypeCheck(object, types->handle) ||
           PyObject_TypeCheck(object, types->function);
}

/* An entry by value, or where its value lies. */
static int
params_entry(struct ha_types *types, struct ha_launch_arguments *launch,
             PyObject *object, const struct ha_where *where, unsigned char **place)
{
    void *address;
    bool storage;
    int status = ha_launch_put_value(types, launch, object, where, place);
    if (status != 0) {
        return status < 0 ? -1 : 0;
    }
    if (entry_address(types, launch, object, where, &address, &storage) < 0) {
        return -1;
    }
    if (storage || PyLong_Check(object) ||
        (ha_pointer_check(types, object) && !is_pointer_value(types, object))) {
        *place = address;
        return storage ? 0 : check_storage(types, object, where, address);
    }
    *place = ha_launch_put_address(launch, address);
    return *place == NULL ? -1 : 0;
}

/* Puts all entries; with `params` their places go into the slots. */
static int
put_entries(struct ha_types *types, struct ha_launch_arguments *launch, PyObject *items,
            const struct ha_where *where, bool params)
{
    struct ha_entry entry;
    Py_ssize_t count = PyTuple_GET_SIZE(items);
    ha_entry_init(&entry, where);
    if (params && count >= HA_LAUNCH_SMALL_COUNT) {
        launch->slots = PyMem_New(void *, (size_t)count + 1);
        if (launch->slots == NULL) {
            launch->slots = launch->small_slots;
            PyErr_NoMemory();
            return -1;
        }
    }
    launch->count = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *object = PyTuple_GET_ITEM(items, i);
        unsigned char *place = NULL;
        bool is_address;
        ha_entry_set(&entry, i);
        int status = params ? params_entry(types, launch, object, &entry.where, &place)
                            : extra_entry(types, launch, object, &entry.where, &place,
                                          &is_address);
        if (status < 0) {
            return -1;
        }
        if (params) {
            launch->slots[i] = place;
            launch->slot_count = i + 1;
        }
        launch->count = i + 1;
    }
    if (params) {
        launch->slots[count] = NULL; /* C does not know where they end */
    }
    return 0;
}

/* The common part of both forms: 1 = entries are placed, 0 = done otherwise, -1. */
static int
launch_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
            bool params, struct ha_launch_arguments *out)
{
    ha_launch_init(out);
    if (object == Py_None) {
        return 0;
    }
    if (!PyTuple_Check(object) && !PyList_Check(object)) {
        if (ha_ptr_from(types, object, where, 0, &out->view) < 0) {
            return -1;
        }
        out->value = out->view.ptr;
        return 0;
    }
    /* A snapshot: entries may run code that changes the list. */
    PyObject *items =
        PyTuple_CheckExact(object) ? Py_NewRef(object) : PySequence_Tuple(object);
    if (items == NULL) {
        return -1;
    }
    int status = put_entries(types, out, items, where, params);
    Py_DECREF(items);
    if (status < 0) {
        ha_launch_release(out);
        return -1;
    }
    return 1;
}

/* ---- the two forms ---- */

/* Whether C may read the memory that was given, and it is read here. */
static bool
is_readable(struct ha_types *types, PyObject *object,
            const struct ha_launch_arguments *launch)
{
    return launch->view.size >= 0 && !PyObject_TypeCheck(object, types->device_array) &&
           (PyObject_CheckBuffer(object) ||
            PyObject_TypeCheck(object, types->list_pointer));
}

/* Bare addresses of lists are followed by C: something has to be there. */
static int
check_address(const struct ha_where *where, struct ha_launch_arguments *launch)
{
    if (ha_need_memory(&launch->view, where, sizeof(void *), sizeof(void *)) < 0) {
        ha_launch_release(launch);
        return -1;
    }
    return 0;
}

/* Pairs of a marker and an address, up to the marker that ends them: C reads until it.
 */
static int
check_extra_memory(const struct ha_where *where, struct ha_launch_arguments *launch)
{
    Py_ssize_t size = launch->view.size, at = 0;
    void *marker = NULL;

    do {
        if (size - at < (Py_ssize_t)sizeof marker) {
            ha_launch_release(launch);
            return ha_raise(PyExc_BufferError, where,
                            "has %zd bytes and no HIP_LAUNCH_PARAM_END", size);
        }
        memcpy(&marker, (const char *)launch->view.ptr + at, sizeof marker);
        at += 2 * (Py_ssize_t)sizeof marker;
    } while (marker != HA_EXTRA_END);
    return 0;
}

int
ha_extra_pack(struct ha_types *types, PyObject *object, const struct ha_where *where,
              struct ha_launch_arguments *out)
{
    int status = launch_from(types, object, where, false, out);
    if (status > 0) {
        ha_extra_fill(out->config, out->data, &out->size);
        out->value = out->config;
    }
    return status;
}

int
ha_extra_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
              struct ha_launch_arguments *out)
{
    int status = ha_extra_pack(types, object, where, out);
    if (status == 0) {
        status = is_readable(types, object, out) ? check_extra_memory(where, out)
                                                 : check_address(where, out);
    }
    return status < 0 ? -1 : 0;
}

/* Memory of known length that holds addresses is copied, with NULL behind the last one:
 * C does not know how many there are, and a provider that looks refuses NULL. */
static int
params_from_memory(const struct ha_where *where, struct ha_launch_arguments *out)
{
    Py_ssize_t count = out->view.size / (Py_ssize_t)sizeof(void *);
    if (out->view.size % (Py_ssize_t)sizeof(void *) != 0) {
        Py_ssize_t size = out->view.size;
        ha_launch_release(out);
        return ha_raise(PyExc_BufferError, where,
                        "must be whole addresses of %zu bytes, not %zd bytes",
                        sizeof(void *), size);
    }
    if (count >= HA_LAUNCH_SMALL_COUNT) {
        void **slots = PyMem_New(void *, (size_t)count + 1);
        if (slots == NULL) {
            ha_launch_release(out);
            PyErr_NoMemory();
            return -1;
        }
        out->slots = slots;
    }
    if (count > 0) {
        memcpy(out->slots, out->view.ptr, (size_t)out->view.size);
    }
    out->slots[count] = NULL;
    return 1;
}

int
ha_params_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
               struct ha_launch_arguments *out)
{
    int status = launch_from(types, object, where, true, out);
    if (status == 0) {
        status = is_readable(types, object, out) ? params_from_memory(where, out)
                                                 : check_address(where, out);
    }
    if (status > 0) {
        out->value = out->slots;
    }
    return status < 0 ? -1 : 0;
}
