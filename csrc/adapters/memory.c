/* SPDX-License-Identifier: MIT */
/* Blocks, allocations and holds: the objects that own memory and buffers. */
#include <Python.h>

#include <stdlib.h>
#include <string.h>

#include "adapters/object.h"

void
ha_view_drop(struct ha_view *view)
{
    PyObject *owner = view->owner;
    view->owner = NULL;
    if (view->has_buffer) {
        struct ha_saved_error saved;
        view->has_buffer = false;
        ha_error_save(&saved);
        PyBuffer_Release(&view->buffer);
        ha_error_restore(&saved);
    }
    ha_release(owner);
}

struct ha_block *
ha_block_new(struct ha_types *types, Py_ssize_t bytes)
{
    if (bytes < 0 || bytes > PY_SSIZE_T_MAX - 4096) {
        PyErr_NoMemory();
        return NULL;
    }
    struct ha_block *block =
        (struct ha_block *)types->block->tp_alloc(types->block, bytes);
    /* tp_alloc has zeroed it. */
    return block;
}

int
ha_keep(PyObject **keep, uintptr_t key, PyObject *owner)
{
    if ((owner == NULL || owner == Py_None) && *keep == NULL) {
        return 0;
    }
    if (*keep == NULL) {
        *keep = PyDict_New();
        if (*keep == NULL) {
            return -1;
        }
    }
    PyObject *name = PyLong_FromSize_t(key);
    if (name == NULL) {
        return -1;
    }
    int status;
    if (owner == NULL || owner == Py_None) {
        status = PyDict_Contains(*keep, name);
        if (status > 0) {
            status = PyDict_DelItem(*keep, name);
        }
    } else {
        status = PyDict_SetItem(*keep, name, owner);
    }
    Py_DECREF(name);
    return status;
}

static int
block_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((struct ha_block *)self)->keep);
    return 0;
}

static int
block_clear(PyObject *self)
{
    PyObject *keep = ((struct ha_block *)self)->keep;
    ((struct ha_block *)self)->keep = NULL;
    ha_release(keep);
    return 0;
}

static void
block_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    block_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyType_Slot block_slots[] = {
    {Py_tp_doc, (void *)"Memory that adapter objects share."},
    {Py_tp_traverse, block_traverse},
    {Py_tp_clear, block_clear},
    {Py_tp_dealloc, block_dealloc},
    {0, NULL},
};

static PyType_Spec block_spec = {
    .name = "hipadapt.types._Block",
    .basicsize = sizeof(struct ha_block),
    .itemsize = 1,
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = block_slots,
};

/* Some exporters (PyBuffer_FillInfo) point shape and strides into the struct itself. */
static void
move_buffer(Py_buffer *to, Py_buffer *from)
{
    *to = *from;
    if (from->shape == &from->len) {
        to->shape = &to->len;
    }
    if (from->strides == &from->itemsize) {
        to->strides = &to->itemsize;
    }
    from->obj = NULL;
}

PyObject *
ha_hold_new(struct ha_types *types, Py_buffer *stolen)
{
    struct ha_hold *hold = PyObject_GC_New(struct ha_hold, types->hold);
    if (hold == NULL) {
        return NULL;
    }
    move_buffer(&hold->buffer, stolen);
    PyObject_GC_Track((PyObject *)hold);
    return (PyObject *)hold;
}

static int
hold_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((struct ha_hold *)self)->buffer.obj);
    return 0;
}

static int
hold_clear(PyObject *self)
{
    struct ha_hold *hold = (struct ha_hold *)self;
    if (hold->buffer.obj != NULL) {
        struct ha_saved_error saved;
        ha_error_save(&saved);
        PyBuffer_Release(&hold->buffer);
        ha_error_restore(&saved);
    }
    return 0;
}

static void
hold_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    hold_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyType_Slot hold_slots[] = {
    {Py_tp_doc, (void *)"A buffer of another object, held."},
    {Py_tp_traverse, hold_traverse},
    {Py_tp_clear, hold_clear},
    {Py_tp_dealloc, hold_dealloc},
    {0, NULL},
};

static PyType_Spec hold_spec = {
    .name = "hipadapt.types._Hold",
    .basicsize = sizeof(struct ha_hold),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = hold_slots,
};

/* ---- allocations ---- */

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
ha_memory_init(struct ha_types *types)
{
    if (ha_type_make(types, &block_spec, NULL, false, &types->block) < 0 ||
        ha_type_make(types, &allocation_spec, NULL, false, &types->allocation) < 0) {
        return -1;
    }
    return ha_type_make(types, &hold_spec, NULL, false, &types->hold);
}
