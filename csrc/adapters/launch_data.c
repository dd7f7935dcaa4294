/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/launch_data.h"

#include <string.h>

#include "adapters/allocation.h"
#include "adapters/saved_error.h"
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
    launch->uses = launch->small_uses;
    launch->use_count = 0;
    launch->use_room = HA_LAUNCH_SMALL_USES;
    ha_view_init(&launch->view);
}

static void
end_use(PyObject *owner)
{
    ha_allocation_leave(owner);
    ha_release(owner);
}

int
ha_launch_use(struct ha_launch_arguments *launch, PyObject *owner)
{
    if (launch->use_count == launch->use_room) {
        size_t room = 2 * (size_t)launch->use_room;
        PyObject **more = PyMem_New(PyObject *, room);
        if (more == NULL) {
            end_use(owner);
            PyErr_NoMemory();
            return -1;
        }
        memcpy(more, launch->uses, (size_t)launch->use_count * sizeof *more);
        if (launch->uses != launch->small_uses) {
            PyMem_Free(launch->uses);
        }
        launch->uses = more;
        launch->use_room = (Py_ssize_t)room;
    }
    launch->uses[launch->use_count++] = owner;
    return 0;
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
    for (Py_ssize_t i = 0; i < launch->use_count; i++) {
        end_use(launch->uses[i]);
    }
    launch->use_count = 0;
    if (launch->uses != launch->small_uses) {
        PyMem_Free(launch->uses);
        launch->uses = launch->small_uses;
    }
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
    if (view->used != NULL) {
        PyObject *used = Py_NewRef(view->used);
        view->used = NULL;
        if (ha_launch_use(launch, used) < 0) {
            return -1;
        }
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
