/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/launch_data.h"

#include <string.h>

#include "adapters/types.h"
#include "adapters/view.h"

void
ha_launch_init(struct ha_launch_arguments *launch)
{
    launch->value = NULL;
    launch->data = launch->small;
    launch->size = 0;
    launch->capacity = sizeof launch->small;
    launch->count = -1;
    launch->slot_count = 0;
    launch->slots = launch->small_slots;
    launch->owners = NULL;
    ha_view_init(&launch->view);
}

void
ha_launch_release(struct ha_launch_arguments *launch)
{
    if (launch->data != launch->small) {
        PyMem_Free(launch->data);
        launch->data = launch->small;
    }
    if (launch->slots != launch->small_slots) {
        PyMem_Free(launch->slots);
        launch->slots = launch->small_slots;
    }
    launch->value = NULL;
    launch->size = 0;
    Py_CLEAR(launch->owners);
    ha_view_release(&launch->view);
}

PyObject *
ha_launch_hold(struct ha_types *types, struct ha_launch_arguments *launch)
{
    if (launch->count < 0) {
        return ha_view_hold(types, &launch->view);
    }
    PyObject *owners = launch->owners == NULL ? Py_NewRef(Py_None) : launch->owners;
    launch->owners = NULL;
    return owners;
}

int
ha_launch_keep(struct ha_launch_arguments *launch, PyObject *owner)
{
    if (launch->owners == NULL && (launch->owners = PyList_New(0)) == NULL) {
        return -1;
    }
    return PyList_Append(launch->owners, owner);
}

int
ha_launch_keep_view(struct ha_types *types, struct ha_launch_arguments *launch,
                    struct ha_view *view)
{
    if (!view->has_buffer && view->owner == NULL) {
        return 0;
    }
    PyObject *owner = ha_view_hold(types, view);
    if (owner == NULL) {
        return -1;
    }
    int status = ha_launch_keep(launch, owner);
    Py_DECREF(owner);
    return status;
}

static int
grow(struct ha_launch_arguments *launch, size_t wanted)
{
    size_t capacity = launch->capacity * 2 > wanted ? launch->capacity * 2 : wanted;
    unsigned char *data = PyMem_Malloc(capacity); /* 16-byte aligned */
    if (data == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    unsigned char *old = launch->data;
    memcpy(data, old, launch->size);
    for (Py_ssize_t i = 0; i < launch->slot_count; i++) {
        unsigned char *slot = launch->slots[i];
        if (slot >= old && slot < old + launch->size) {
            launch->slots[i] = data + (slot - old);
        }
    }
    if (old != launch->small) {
        PyMem_Free(old);
    }
    launch->data = data;
    launch->capacity = capacity;
    return 0;
}

unsigned char *
ha_launch_put(struct ha_launch_arguments *launch, const void *value, size_t size,
              size_t alignment)
{
    size_t offset = (launch->size + alignment - 1) & ~(alignment - 1);
    if (size > SIZE_MAX / 4 || offset > SIZE_MAX / 4) {
        PyErr_NoMemory();
        return NULL;
    }
    if (offset + size > launch->capacity && grow(launch, offset + size) < 0) {
        return NULL;
    }
    memset(launch->data + launch->size, 0, offset - launch->size);
    memcpy(launch->data + offset, value, size);
    launch->size = offset + size;
    return launch->data + offset;
}

unsigned char *
ha_launch_put_address(struct ha_launch_arguments *launch, void *address)
{
    return ha_launch_put(launch, &address, sizeof address, sizeof address);
}
