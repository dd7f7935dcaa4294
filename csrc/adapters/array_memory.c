/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/array_memory.h"

#include <string.h>

#include "adapters/allocation.h"
#include "adapters/array.h"
#include "adapters/format.h"
#include "adapters/memory.h"
#include "adapters/strides.h"
#include "adapters/types.h"

int
ha_array_wait(struct ha_types *types, const struct ha_device_array *self, int device)
{
    if (types->memory == NULL) {
        return 0;
    }
    return types->memory->synchronize(
        device, self->stream == NULL ? NULL : &self->stream_address);
}

bool
ha_array_readable(struct ha_types *types, enum ha_memory_place place)
{
    return ha_place_is_host(place) ||
           (place == HA_PLACE_DEVICE && types->memory != NULL &&
            types->memory->device_is_host());
}

struct ha_device_array *
ha_array_allocate(struct ha_types *types, enum ha_memory_place place, int device,
                  int ndim, const Py_ssize_t *dims, const struct ha_format *format)
{
    Py_ssize_t bytes;
    void *address = NULL;
    if (!ha_shape_bytes(ndim, dims, format->size, &bytes)) {
        PyErr_SetString(PyExc_OverflowError, "the array has more bytes than fit in "
                                             "memory");
        return NULL;
    }
    if (place == HA_PLACE_DEVICE && device < 0 && types->memory != NULL &&
        types->memory->current_device(&device) < 0) {
        return NULL;
    }
    PyObject *owner = ha_allocation_new(types, place, device, bytes, &address);
    if (owner == NULL) {
        return NULL;
    }
    struct ha_device_array *self =
        ha_array_make(types->device_array, address, bytes, owner);
    if (self == NULL) {
        return NULL;
    }
    if (ha_array_set_shape(self, ndim, dims, format, NULL) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    self->place = place;
    self->device = device;
    return self;
}

/* Beyond this many bytes a copy lets other threads run meanwhile. */
#define LONG_COPY_BYTES ((size_t)1 << 20)

static void
copy_here(void *dst, const void *src, size_t bytes)
{
    if (bytes < LONG_COPY_BYTES) {
        memcpy(dst, src, bytes);
        return;
    }
    Py_BEGIN_ALLOW_THREADS
    memcpy(dst, src, bytes);
    Py_END_ALLOW_THREADS
}

int
ha_array_move(struct ha_types *types, void *dst, enum ha_memory_place to,
              const void *src, enum ha_memory_place from, size_t bytes)
{
    if (bytes == 0) {
        return 0;
    }
    if (ha_place_is_host(from) && ha_place_is_host(to)) {
        copy_here(dst, src, bytes);
        return 0;
    }
    if (types->memory == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "there is no HIP to copy memory");
        return -1;
    }
    return types->memory->copy(dst, src, bytes);
}

struct ha_device_array *
ha_array_copy(struct ha_types *types, const struct ha_device_array *array,
              enum ha_memory_place place)
{
    int device;
    enum ha_memory_place from = ha_array_locate(types, array, &device);
    if (from != HA_PLACE_HOST && ha_array_wait(types, array, device) < 0) {
        return NULL;
    }
    struct ha_device_array *copy = ha_array_allocate(types, place, device, array->ndim,
                                                     array->shape, &array->format);
    if (copy == NULL) {
        return NULL;
    }
    if (array->typestr != NULL) {
        copy->typestr = Py_NewRef(array->typestr);
    }
    if (ha_array_move(types, copy->base.ptr, place, array->base.ptr, from,
                      (size_t)ha_array_bytes(array)) < 0) {
        Py_CLEAR(copy);
    }
    return copy;
}
