/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/array.h"

#include <string.h>

#include "adapters/format.h"
#include "adapters/memory.h"
#include "adapters/pointer.h"
#include "adapters/saved_error.h"
#include "adapters/strides.h"
#include "adapters/type.h"
#include "adapters/types.h"

int
ha_array_set_shape(struct ha_device_array *self, int ndim, const Py_ssize_t *dims,
                   const struct ha_format *format, PyObject *typestr)
{
    Py_ssize_t *shape = self->inline_shape;
    Py_ssize_t *old = self->shape;
    if (ndim > HA_INLINE_DIMS) {
        shape = PyMem_New(Py_ssize_t, 2 * (size_t)ndim);
        if (shape == NULL) {
            PyErr_NoMemory();
            return -1;
        }
    }
    memmove(shape, dims, (size_t)ndim * sizeof *dims);
    Py_ssize_t stride = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        shape[ndim + i] = stride;
        stride *= shape[i] == 0 ? 1 : shape[i];
    }
    HA_PUBLISH(self->shape, shape);
    self->ndim = ndim;
    self->format = *format;
    if (old != NULL && old != self->inline_shape) {
        PyMem_Free(old);
    }
    Py_XSETREF(self->typestr, typestr);
    return 0;
}

Py_ssize_t
ha_array_bytes(const struct ha_device_array *self)
{
    Py_ssize_t bytes = 0;
    (void)ha_shape_bytes(self->ndim, self->shape, self->format.size, &bytes);
    return bytes; /* fits: checked when the shape was set */
}

Py_ssize_t
ha_array_count(const struct ha_device_array *self)
{
    Py_ssize_t count = 1;
    for (int i = 0; i < self->ndim; i++) {
        count *= self->shape[i]; /* fits: checked when the shape was set */
    }
    return count;
}

enum ha_memory_place
ha_array_locate(struct ha_types *types, const struct ha_device_array *self, int *device)
{
    enum ha_memory_place place = self->place;
    *device = self->device;
    if ((self->base.ptr == NULL && ha_array_bytes(self) > 0) ||
        ha_pointer_is_gone(types, &self->base)) {
        return HA_PLACE_UNKNOWN;
    }
    if (self->base.ptr != NULL && types->memory != NULL &&
        (place == HA_PLACE_UNKNOWN || (place != HA_PLACE_HOST && *device < 0))) {
        enum ha_memory_place found = place;
        if (types->memory->find(self->base.ptr, &found, device) > 0 &&
            place == HA_PLACE_UNKNOWN) {
            place = found;
        }
    }
    return place;
}

/* Without an owner it is not tracked by the garbage collector. */
struct ha_device_array *
ha_array_make(PyTypeObject *type, void *ptr, Py_ssize_t bytes, PyObject *owner)
{
    struct ha_device_array *self = PyObject_GC_New(struct ha_device_array, type);
    if (self == NULL) {
        ha_release(owner);
        return NULL;
    }
    self->base.ptr = ptr;
    self->base.size = bytes;
    self->base.owner = owner;
    self->base.weakrefs = NULL;
    self->base.readonly = false;
    self->base.gone = HA_HERE;
    self->shape = self->inline_shape;
    self->inline_shape[0] = bytes;
    self->inline_shape[1] = 1;
    self->limit = bytes;
    self->typestr = NULL;
    self->stream = NULL;
    self->stream_address = 0;
    self->format = ha_format_bytes;
    self->ndim = 1;
    self->place = HA_PLACE_UNKNOWN;
    self->device = -1;
    self->source_readonly = false;
    if (owner != NULL) {
        PyObject_GC_Track((PyObject *)self);
    }
    return self;
}

PyObject *
ha_device_array_new(struct ha_types *types, void *ptr, size_t nbytes)
{
    if (nbytes > (size_t)PY_SSIZE_T_MAX) {
        PyErr_SetString(PyExc_OverflowError,
                        "allocation is larger than an array can be");
        return NULL;
    }
    return (PyObject *)ha_array_make(types->device_array, ptr, (Py_ssize_t)nbytes,
                                     NULL);
}

/* All but the memory, and the type, which take references. */
static void
copy_fields(const struct ha_device_array *from, struct ha_device_array *to)
{
    to->typestr = Py_XNewRef(from->typestr);
    to->stream = Py_XNewRef(from->stream);
    to->stream_address = from->stream_address;
    to->format = from->format;
    to->ndim = from->ndim;
    to->device = from->device;
    to->limit = from->limit;
    to->place = from->place;
    to->source_readonly = from->source_readonly;
}

int
ha_array_see(PyObject *self, struct ha_device_array *seen)
{
    const struct ha_device_array *array = (struct ha_device_array *)self;
    int status = 0;
    HA_BEGIN_SECTION(self);
    seen->shape = seen->inline_shape;
    if (array->ndim > HA_INLINE_DIMS) {
        seen->shape = PyMem_New(Py_ssize_t, 2 * (size_t)array->ndim);
    }
    if (seen->shape == NULL) {
        PyErr_NoMemory();
        status = -1;
    } else {
        memcpy(seen->shape, array->shape,
               2 * (size_t)array->ndim * sizeof *array->shape);
        ha_pointer_copy(&array->base, &seen->base);
        copy_fields(array, seen);
    }
    HA_END_SECTION();
    return status;
}

void
ha_array_unsee(struct ha_device_array *seen)
{
    if (seen->shape != seen->inline_shape) {
        PyMem_Free(seen->shape);
    }
    Py_XDECREF(seen->typestr);
    ha_release(seen->stream);
    ha_pointer_unsee(&seen->base);
}

PyObject *
ha_array_part(struct ha_types *types, PyObject *self,
              const struct ha_device_array *parent, Py_ssize_t offset,
              const Py_ssize_t *dims)
{
    PyTypeObject *type = PyObject_TypeCheck(self, types->device_array)
                             ? types->device_array
                             : types->nd_buffer;
    Py_ssize_t bytes = 0;
    if (ha_pointer_is_gone(types, &parent->base)) {
        ha_raise_gone(types, PyExc_ValueError, self, ha_short_name(Py_TYPE(self)),
                      NULL);
        return NULL;
    }
    ha_shape_bytes(parent->ndim, dims, parent->format.size,
                   &bytes); /* part of parent */
    PyObject *owner = ha_pointer_keeper(self, &parent->base);
    if (owner == NULL) {
        return NULL;
    }
    char *address = parent->base.ptr;
    struct ha_device_array *part =
        ha_array_make(type, address == NULL ? NULL : address + offset, bytes, owner);
    if (part == NULL) {
        return NULL;
    }
    PyObject *typestr = Py_XNewRef(parent->typestr);
    if (ha_array_set_shape(part, parent->ndim, dims, &parent->format, typestr) < 0) {
        Py_XDECREF(typestr);
        Py_DECREF(part);
        return NULL;
    }
    part->stream = Py_XNewRef(parent->stream);
    part->stream_address = parent->stream_address;
    part->place = parent->place;
    part->device = parent->device;
    part->source_readonly = parent->source_readonly;
    part->limit = parent->limit < 0 ? -1 : bytes;
    part->base.readonly = parent->base.readonly;
    return (PyObject *)part;
}

int
ha_array_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((struct ha_device_array *)self)->stream);
    return ha_pointer_traverse(self, visit, arg);
}

int
ha_array_clear(PyObject *self)
{
    Py_CLEAR(((struct ha_device_array *)self)->stream);
    return ha_pointer_clear(self);
}

void
ha_array_dealloc(PyObject *self)
{
    struct ha_device_array *array = (struct ha_device_array *)self;
    PyObject_GC_UnTrack(self);
    Py_CLEAR(array->stream);
    Py_CLEAR(array->typestr);
    if (array->shape != NULL && array->shape != array->inline_shape) {
        PyMem_Free(array->shape);
    }
    array->shape = array->inline_shape;
    array->ndim =
        0; /* weakref callbacks can't see it, but subclasses' finalizers ran */
    ha_pointer_dealloc(self);
}

bool
ha_array_check(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    while (type != NULL && type->tp_dealloc != ha_array_dealloc) {
        type =
            type->tp_base; /* classes made in Python have a tp_dealloc of their own */
    }
    return type != NULL;
}
