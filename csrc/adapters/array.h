/* SPDX-License-Identifier: MIT */
/* NDBuffer and DeviceArray: what the files array_*.c share.
 *
 * An array is always C-contiguous; address arithmetic comes from shape and element size
 * alone.  All functions need the GIL. */
#ifndef HA_ADAPTERS_ARRAY_H
#define HA_ADAPTERS_ARRAY_H

#include <Python.h>

#include "adapters/object.h"

/* Replaces shape and element type; `typestr` (stolen, may be NULL).  0, or -1 with the
 * array and the reference as they were. */
int ha_array_set_shape(struct ha_device_array *self, int ndim, const Py_ssize_t *dims,
                       const struct ha_format *format, PyObject *typestr);
/* A new NDBuffer or DeviceArray (after the class of `parent`) for part of its memory.
 */
PyObject *ha_array_part(struct ha_types *types, struct ha_device_array *parent,
                        Py_ssize_t offset, const Py_ssize_t *dims);
/* A tuple or list of extents; `dims` has HA_MAX_DIMS entries. */
int ha_array_read_shape(PyObject *value, const struct ha_where *where, int *ndim,
                        Py_ssize_t *dims);
/* A typestr, a name ("float32", "bfloat16"), a dtype or a list of fields; `text`
 * (owned) is what was given as str, the fields (elements.h), or NULL where the name of
 * the element type says more. */
int ha_array_read_type(struct ha_types *types, PyObject *value,
                       const struct ha_where *where, struct ha_format *format,
                       PyObject **text);
/* Reads a typestr or name from a str: 1 and format filled, 0 where it is none, or -1.
 */
int ha_array_parse_type(PyObject *text, struct ha_format *format);
/* Reads `dtype.name` where it is an element type of ml_dtypes with `size` bytes (0 =
 * any number): 1 and format filled, 0 where it is not, or -1. */
int ha_array_dtype_name(struct ha_types *types, PyObject *dtype, ptrdiff_t size,
                        struct ha_format *format);
/* Reads a numpy dtype or what is like one: 1, format filled, and `text` (owned) its
 * typestr or fields, or NULL where the name says more; 0 where it is none (`text` may
 * be its str), or -1. */
int ha_array_read_dtype(struct ha_types *types, PyObject *dtype,
                        struct ha_format *format, PyObject **text);
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
static inline bool
ha_place_is_host(enum ha_memory_place place)
{
    return place == HA_PLACE_HOST || place == HA_PLACE_PINNED ||
           place == HA_PLACE_MANAGED;
}
/* Arguments in the order of `names`; those that were not given stay as they are in
 * `out`.  From `first_keyword` on they are keyword-only. */
int ha_array_arguments(const struct ha_where *names, int count, int first_keyword,
                       PyObject *const *args, Py_ssize_t given, PyObject *kwnames,
                       PyObject **out);
/* Waits for the array's stream, or for its device where no stream was named. */
int ha_array_wait(struct ha_types *types, const struct ha_device_array *self,
                  int device);
/* Whether the processor can read memory of this place. */
bool ha_array_readable(struct ha_types *types, enum ha_memory_place place);
/* A DeviceArray with memory of its own in C order; device -1 = the current one. */
struct ha_device_array *ha_array_allocate(struct ha_types *types,
                                          enum ha_memory_place place, int device,
                                          int ndim, const Py_ssize_t *dims,
                                          const struct ha_format *format);
/* The same elements in memory of its own, complete on return. */
struct ha_device_array *ha_array_copy(struct ha_types *types,
                                      struct ha_device_array *array,
                                      enum ha_memory_place place);
PyObject *ha_array_host(PyObject *self, PyObject *unused);
const char *ha_place_name(enum ha_memory_place place); /* "device"; NULL for unknown */
int ha_array_from_init(struct ha_types *types);
int ha_array_methods_init(struct ha_types *types);
/* True for NDBuffer, DeviceArray and their subclasses, without the module's state. */
bool ha_array_check(PyObject *object);
/* Copies between places; 0 or -1. */
int ha_array_move(struct ha_types *types, void *dst, enum ha_memory_place to,
                  const void *src, enum ha_memory_place from, size_t bytes);
/* What NDBuffer has from array_methods.c, and all methods of DeviceArray. */
PyObject *ha_array_numpy(PyObject *self, PyObject *const *args, Py_ssize_t count,
                         PyObject *kwnames);
PyObject *ha_array_array(PyObject *self, PyObject *const *args, Py_ssize_t count,
                         PyObject *kwnames);
PyObject *ha_array_dtype(PyObject *self, void *closure);
extern PyMethodDef ha_device_array_methods[];
/* Number of elements, and their bytes. */
Py_ssize_t ha_array_count(const struct ha_device_array *self);
Py_ssize_t ha_array_bytes(const struct ha_device_array *self);

/* Of array_attributes.c and array_buffer.c, for the types. */
extern PyGetSetDef ha_array_getset[];
PyObject *ha_array_repr(PyObject *self);
int ha_array_getbuffer(PyObject *self, Py_buffer *buffer, int flags);
void ha_array_releasebuffer(PyObject *self, Py_buffer *buffer);
PyObject *ha_array_subscript(PyObject *self, PyObject *key);
PyObject *ha_array_item(PyObject *self, Py_ssize_t index);
PyObject *ha_array_configure(PyObject *self, PyObject *args, PyObject *kwargs);

#endif
