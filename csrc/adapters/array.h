/* SPDX-License-Identifier: MIT */
/* Arrays: an address with shape and element type, which NDBuffer and DeviceArray are.
 *
 * An array is always C-contiguous; address arithmetic comes from shape and element size
 * alone.  Functions that only read take a copy of the fields (ha_array_see), an array
 * that nobody else has, or one in a critical section.  All functions need the GIL. */
#ifndef HA_ADAPTERS_ARRAY_H
#define HA_ADAPTERS_ARRAY_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include "adapters/format.h"
#include "adapters/memory.h"
#include "adapters/pointer.h"
#include "adapters/types.h"

#define HA_INLINE_DIMS 4

struct ha_device_array {
    struct ha_pointer base;
    /* Extents, then as many strides in elements: inline_shape, or owned (PyMem) beyond
     * HA_INLINE_DIMS. */
    Py_ssize_t *shape;
    Py_ssize_t inline_shape[2 * HA_INLINE_DIMS];
    PyObject *typestr; /* owned; as the user wrote it, or the elements' fields
                        * (elements.h), or NULL = made from format */
    PyObject *stream;  /* owned; what was given as stream, or NULL = none */
    uintptr_t stream_address;
    struct ha_format format;
    int ndim;
    int device;                 /* of the memory, -1 unknown */
    Py_ssize_t limit;           /* bytes that the memory is known to have, -1 unknown */
    enum ha_memory_place place; /* as it was given; see ha_array_locate */
    bool source_readonly;       /* the memory itself, not only our flag, is read-only */
};

/* Replaces shape and element type; `typestr` (stolen, may be NULL).  0, or -1 with the
 * array and the reference as they were. */
int ha_array_set_shape(struct ha_device_array *self, int ndim, const Py_ssize_t *dims,
                       const struct ha_format *format, PyObject *typestr);
/* Copies the fields; see pointer.h.  0, or -1 without memory for a long shape. */
int ha_array_see(PyObject *self, struct ha_device_array *seen);
void ha_array_unsee(struct ha_device_array *seen);
/* A new NDBuffer or DeviceArray (after the class of `parent`) for part of the memory
 * that was seen. */
PyObject *ha_array_part(struct ha_types *types, PyObject *parent,
                        const struct ha_device_array *seen, Py_ssize_t offset,
                        const Py_ssize_t *dims);
/* An array of `type` (NDBuffer or DeviceArray) over memory that `owner` (stolen, may be
 * NULL) keeps. */
struct ha_device_array *ha_array_make(PyTypeObject *type, void *ptr, Py_ssize_t bytes,
                                      PyObject *owner);
/* Place and device of the memory: what was said, else what HIP says now. */
enum ha_memory_place ha_array_locate(struct ha_types *types,
                                     const struct ha_device_array *self, int *device);

/* Streams 0 and 1 are the same one; runtimes before HIP 6.2 know 0 only. */
static inline uintptr_t
ha_default_stream(uintptr_t stream)
{
    return stream == 1 ? 0 : stream;
}

/* True for NDBuffer, DeviceArray and their subclasses, without the module's state. */
bool ha_array_check(PyObject *object);
/* Number of elements, and their bytes. */
Py_ssize_t ha_array_count(const struct ha_device_array *self);
Py_ssize_t ha_array_bytes(const struct ha_device_array *self);

/* Slots of the types. */
int ha_array_traverse(PyObject *self, visitproc visit, void *arg);
int ha_array_clear(PyObject *self);
void ha_array_dealloc(PyObject *self);

/* Device memory of `nbytes`: shape (nbytes,), bytes.  Frees nothing. */
PyObject *ha_device_array_new(struct ha_types *types, void *ptr, size_t nbytes);

#endif
