/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/allocation.h"

#include <stdlib.h>

#include "adapters/memory.h"
#include "adapters/together.h"
#include "adapters/type.h"
#include "adapters/types.h"

#define HOST_ALIGNMENT 64 /* bytes; what XLA asks for */

/* Of `state`: the memory is gone, or goes with the last that uses it; without bytes
 * there was none.  Above that, USER for each of those. */
enum { CLOSED = 1, USER = 2 };

struct allocation {
    PyObject_HEAD
    void *address; /* owned, or NULL */
    Py_ssize_t state;
    enum ha_memory_place place;
    const struct ha_memory_hooks *memory; /* static; not NULL for memory of HIP */
};

/* Whoever takes the address frees it. */
static void
free_now(struct allocation *self)
{
    void *address = HA_SWAP(self->address, NULL);
    if (address == NULL) {
        return;
    }
    if (self->place == HA_PLACE_HOST) {
        free(address);
    } else {
        self->memory->release(self->place, address);
    }
}

/* What a call uses goes when that has ended. */
static void
allocation_free(struct allocation *self)
{
    if (__atomic_fetch_or(&self->state, CLOSED, __ATOMIC_ACQ_REL) < USER) {
        free_now(self);
    }
}

static void
allocation_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    allocation_free((struct allocation *)self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *
allocation_close(PyObject *self, PyObject *unused)
{
    (void)unused;
    allocation_free((struct allocation *)self);
    Py_RETURN_NONE;
}

bool
ha_allocation_is_closed(const PyObject *owner)
{
    return (HA_READ(((const struct allocation *)owner)->state) & CLOSED) != 0;
}

bool
ha_allocation_use(PyObject *owner)
{
    struct allocation *self = (struct allocation *)owner;
    if ((HA_ADD(self->state, USER) & CLOSED) == 0) {
        return true;
    }
    ha_allocation_leave(owner);
    return false;
}

void
ha_allocation_leave(PyObject *owner)
{
    struct allocation *self = (struct allocation *)owner;
    if (HA_ADD(self->state, -USER) == USER + CLOSED) {
        free_now(self);
    }
}

void
ha_allocation_forget(PyObject *owner)
{
    struct allocation *self = (struct allocation *)owner;
    (void)HA_SWAP(self->address, NULL);
    (void)__atomic_fetch_or(&self->state, CLOSED, __ATOMIC_ACQ_REL);
}

static PyMethodDef allocation_methods[] = {
    {"close", allocation_close, METH_NOARGS,
     PyDoc_STR("close($self, /)\n--\n\nFrees the memory now.")},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot allocation_slots[] = {
    {Py_tp_doc, (void *)"Memory that is freed with this object."},
    {Py_tp_dealloc, allocation_dealloc},
    {Py_tp_methods, allocation_methods},
    {0, NULL},
};

static PyType_Spec allocation_spec = {
    .name = "hipadapt.types._Allocation",
    .basicsize = sizeof(struct allocation),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = allocation_slots,
};

static int
allocate(struct ha_types *types, enum ha_memory_place place, int device, size_t bytes,
         void **address)
{
    if (place != HA_PLACE_HOST) {
        if (types->memory == NULL) {
            PyErr_SetString(PyExc_RuntimeError, "there is no HIP to allocate memory");
            return -1;
        }
        return types->memory->allocate(place, device, bytes, address);
    }
    if (posix_memalign(address, HOST_ALIGNMENT, bytes) != 0) {
        *address = NULL;
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

PyObject *
ha_allocation_new(struct ha_types *types, enum ha_memory_place place, int device,
                  Py_ssize_t bytes, void **address)
{
    struct allocation *self = PyObject_New(struct allocation, types->allocation);
    if (self == NULL) {
        return NULL;
    }
    self->address = NULL;
    self->state = 0;
    self->place = place;
    self->memory = types->memory;
    if (bytes > 0 &&
        allocate(types, place, device, (size_t)bytes, &self->address) < 0) {
        self->address = NULL;
        Py_DECREF(self);
        return NULL;
    }
    *address = self->address;
    return (PyObject *)self;
}

bool
ha_allocation_waits(const struct ha_types *types, PyObject *owner)
{
    return Py_TYPE(owner) == types->allocation &&
           ((struct allocation *)owner)->place != HA_PLACE_HOST;
}

int
ha_allocation_init(struct ha_types *types)
{
    return ha_type_make(types, &allocation_spec, NULL, false, &types->allocation);
}
