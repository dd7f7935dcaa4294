/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/allocation.h"

#include <stdlib.h>

#include "adapters/memory.h"
#include "adapters/type.h"
#include "adapters/types.h"

#define HOST_ALIGNMENT 64 /* bytes; what XLA asks for */

struct allocation {
    PyObject_HEAD
    void *address; /* owned, or NULL */
    bool closed;   /* the memory is gone; without bytes there was none */
    enum ha_memory_place place;
    const struct ha_memory_hooks *memory; /* static; not NULL for memory of HIP */
};

static void
allocation_free(struct allocation *self)
{
    void *address = self->address;
    self->address = NULL;
    self->closed = true;
    if (address == NULL) {
        return;
    }
    if (self->place == HA_PLACE_HOST) {
        free(address);
    } else {
        self->memory->release(self->place, address);
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
    return ((const struct allocation *)owner)->closed;
}

void
ha_allocation_forget(PyObject *owner)
{
    ((struct allocation *)owner)->address = NULL;
    ((struct allocation *)owner)->closed = true;
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
    self->closed = false;
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
