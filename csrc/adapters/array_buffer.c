/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/array_buffer.h"

#include <stddef.h>
#include <string.h>

#include "adapters/array.h"
#include "adapters/elements.h"
#include "adapters/format.h"
#include "adapters/memory.h"
#include "adapters/pointer.h"
#include "adapters/take.h"
#include "adapters/type.h"
#include "adapters/types.h"

/* What one exported buffer holds; configure and __init__ don't touch it. */
struct export
{
    PyObject *keeper;  /* owned; the memory */
    PyObject *typestr; /* owned, or NULL; has the format of elements with fields */
    Py_ssize_t *strides;
    Py_ssize_t shape[2 * HA_MAX_DIMS]; /* allocated for 2 * ndim: shape, then strides */
};

static struct export *
export_new(PyObject *self, const struct ha_device_array *array)
{
    size_t bytes = offsetof(struct export, shape) +
                   2 * (size_t)array->ndim * sizeof(Py_ssize_t) + HA_FORMAT_TEXT_CHARS;
    struct export *export = PyMem_Malloc(bytes);
    if (export == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    export->keeper = ha_pointer_keeper(self, &array->base);
    if (export->keeper == NULL) {
        PyMem_Free(export);
        return NULL;
    }
    export->typestr = Py_XNewRef(array->typestr);
    export->strides = export->shape + array->ndim;
    for (int i = 0; i < array->ndim; i++) {
        export->shape[i] = array->shape[i];
        export->strides[i] = array->shape[array->ndim + i] * array->format.size;
    }
    ha_format_buffer(&array->format, (char *)(export->strides + array->ndim));
    return export;
}

/* False with BufferError where the protocol has no format for the elements.  As numpy
 * does: with a format for plain bytes numpy would take that, and not ask for more. */
static bool
has_format(const struct ha_device_array *array)
{
    char text[HA_FORMAT_TEXT_CHARS];
    const char *name = ha_format_name(&array->format);
    bool has_fields = ha_elements_check(array->typestr);
    if (has_fields ? ha_elements_format(array->typestr) != NULL
                   : array->format.extended == 0 && array->format.kind != 'M' &&
                         array->format.kind != 'm') {
        return true;
    }
    if (name == NULL) {
        ha_format_typestr(&array->format, text);
        name = text;
    }
    PyErr_Format(PyExc_BufferError, "the buffer protocol has no format for %s%s",
                 has_fields ? "the fields of " : "", name);
    return false;
}

static int
fill_buffer(PyObject *self, const struct ha_device_array *array, Py_buffer *buffer,
            int flags)
{
    struct ha_types *types = ha_types_of_type(Py_TYPE(self));
    int device;
    if (ha_pointer_is_gone(types, &array->base)) {
        return ha_raise_gone(types, PyExc_BufferError, self,
                             ha_short_name(Py_TYPE(self)), NULL);
    }
    if (!ha_place_is_host(ha_array_locate(types, array, &device)) ||
        (array->base.ptr == NULL && ha_array_count(array) > 0)) {
        PyErr_Format(PyExc_BufferError,
                     "%s is device memory or a bare address; copy it with numpy() or "
                     "hipMemcpy",
                     ha_short_name(Py_TYPE(self)));
        return -1;
    }
    if ((flags & PyBUF_FORMAT) != 0 && !has_format(array)) {
        return -1;
    }
    if ((flags & PyBUF_WRITABLE) != 0 && array->base.readonly) {
        PyErr_SetString(PyExc_BufferError, "memory is read-only");
        return -1;
    }
    struct export *export = export_new(self, array);
    if (export == NULL) {
        return -1;
    }
    buffer->buf = array->base.ptr;
    buffer->len = ha_array_count(array) * array->format.size;
    buffer->itemsize = array->format.size;
    buffer->readonly = array->base.readonly;
    buffer->ndim = array->ndim;
    buffer->format = NULL;
    if ((flags & PyBUF_FORMAT) != 0) {
        buffer->format = ha_elements_check(export->typestr)
                             ? (char *)ha_elements_format(export->typestr)
                             : (char *)(export->strides + array->ndim);
    }
    buffer->shape = (flags & PyBUF_ND) != 0 ? export->shape : NULL;
    buffer->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? export->strides : NULL;
    if (buffer->shape == NULL) {
        buffer->ndim = 1; /* PyBUF_SIMPLE: one run of bytes */
    }
    buffer->suboffsets = NULL;
    buffer->internal = export;
    buffer->obj = Py_NewRef(self);
    return 0;
}

int
ha_array_getbuffer(PyObject *self, Py_buffer *buffer, int flags)
{
    struct ha_device_array seen;
    buffer->obj = NULL;
    if (ha_array_see(self, &seen) < 0) {
        return -1;
    }
    int status = fill_buffer(self, &seen, buffer, flags);
    ha_array_unsee(&seen);
    return status;
}

void
ha_array_releasebuffer(PyObject *self, Py_buffer *buffer)
{
    struct export *export = buffer->internal;
    (void)self;
    buffer->internal = NULL;
    Py_DECREF(export->keeper);
    Py_XDECREF(export->typestr);
    PyMem_Free(export);
}
