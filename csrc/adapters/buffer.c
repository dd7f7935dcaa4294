/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/buffer.h"

#include <string.h>

#include "adapters/array_parse.h"
#include "adapters/elements.h"
#include "adapters/format.h"
#include "adapters/memory.h"
#include "adapters/message.h"
#include "adapters/python_version.h"
#include "adapters/strides.h"
#include "adapters/take.h"

/* bytes never move and never change: the object itself is the owner, no buffer is held.
 */
static int
take_bytes(struct ha_take *take, PyObject *object)
{
    take->view->ptr = PyBytes_AS_STRING(object);
    take->view->size = PyBytes_GET_SIZE(object);
    take->view->readonly = true;
    take->view->owner = Py_NewRef(object);
    if (take->shape != NULL) {
        take->shape->ndim = 1;
        take->shape->dims[0] = PyBytes_GET_SIZE(object);
        take->shape->format = ha_format_bytes;
        take->shape->place = HA_PLACE_HOST;
    }
    return 1;
}

static int
get_buffer(struct ha_take *take, PyObject *object, Py_buffer *buffer)
{
    if (take->shape != NULL || take->write) {
        if (PyObject_GetBuffer(object, buffer, PyBUF_STRIDED_RO | PyBUF_FORMAT) == 0) {
            return 0;
        }
        if (!PyErr_ExceptionMatches(PyExc_BufferError) &&
            !PyErr_ExceptionMatches(PyExc_ValueError)) {
            return -1;
        }
        /* No format for this element type (numpy's dates): plain bytes then. */
        PyErr_Clear();
    }
    return PyObject_GetBuffer(object, buffer, PyBUF_STRIDED_RO);
}

/* Whether elements are references to Python objects: 'O' anywhere but in the names of
 * fields, which stand between colons.  Bytes from elsewhere are no references. */
static bool
has_objects(const char *format)
{
    bool name = false;
    for (; format != NULL && *format != '\0'; format++) {
        if (*format == ':') {
            name = !name;
        } else if (*format == 'O' && !name) {
            return true;
        }
    }
    return false;
}

static void
fill_shape(struct ha_shape *shape, const Py_buffer *buffer)
{
    shape->ndim = buffer->shape == NULL && buffer->ndim > 0 ? 1 : buffer->ndim;
    if (buffer->shape != NULL) {
        memcpy(shape->dims, buffer->shape, (size_t)buffer->ndim * sizeof(Py_ssize_t));
    } else {
        Py_ssize_t itemsize = buffer->itemsize > 0 ? buffer->itemsize : 1;
        shape->dims[0] = buffer->len / itemsize;
    }
    if (buffer->format == NULL && buffer->itemsize > 1) {
        ha_format_from_buffer("V", buffer->itemsize, &shape->format);
    } else {
        ha_format_from_buffer(buffer->format, buffer->itemsize, &shape->format);
    }
    shape->place = HA_PLACE_HOST;
}

/* Whether the exporter's shape and element size are those of its length. */
static bool
fits(const struct ha_shape *shape, Py_ssize_t length)
{
    Py_ssize_t bytes;
    return ha_shape_bytes(shape->ndim, shape->dims, shape->format.size, &bytes) &&
           bytes == length;
}

/* What the producer's dtype says of elements that its buffer has no format for: those
 * of ml_dtypes, dates, and fields with either.  0 or -1. */
static int
ask_dtype(struct ha_take *take, PyObject *object)
{
    PyObject *dtype = NULL, *text = NULL;
    struct ha_format format;
    int status = ha_get_attribute(object, take->types->str_dtype, &dtype);
    if (status > 0) {
        status = ha_array_read_dtype(take->types, dtype, &format, &text);
        Py_DECREF(dtype);
    }
    if (status > 0 && format.size == take->shape->format.size && format.kind != 'O') {
        take->shape->format = format;
        status = ha_elements_merge(&take->shape->typestr, text);
    }
    Py_XDECREF(text);
    return status < 0 ? -1 : 0;
}

/* The element type where the format is no single letter, or there is none. */
static int
fill_type(struct ha_take *take, PyObject *object, const char *format)
{
    struct ha_shape *shape = take->shape;
    if (shape->format.kind != 'V' && format != NULL) {
        return 0;
    }
    if (format != NULL && has_objects(format)) {
        return 0;
    }
    int status = 0;
    if (format != NULL && format[strlen(format) - 1] != 'x') {
        status = ha_elements_from_format(format, shape->format.size, &shape->typestr);
    }
    return status < 0 || ask_dtype(take, object) < 0 ? -1 : 0;
}

int
ha_take_buffer(struct ha_take *take, PyObject *object)
{
    if (PyBytes_CheckExact(object)) {
        return take_bytes(take, object);
    }
    if (!PyObject_CheckBuffer(object)) {
        return 0;
    }
    Py_buffer *buffer = &take->view->buffer;
    if (get_buffer(take, object, buffer) < 0) {
        return -1;
    }
    take->view->has_buffer = true;
    /* Shape and element order have a meaning for arrays; for an address both orders do.
     */
    char order = take->shape != NULL && !take->shape->any_order ? 'C' : 'A';
    if (buffer->ndim > 0 && buffer->shape != NULL &&
        !ha_is_contiguous(buffer->ndim, buffer->shape, buffer->strides,
                          buffer->itemsize, order)) {
        return ha_raise_strides(take->where,
                                order == 'C' ? "C-contiguous" : "contiguous",
                                buffer->ndim, buffer->shape, buffer->strides);
    }
    if (take->write && has_objects(buffer->format)) {
        return ha_raise(PyExc_BufferError, take->where,
                        "must be memory of plain values, not of Python objects");
    }
    take->view->ptr = buffer->buf;
    take->view->size = buffer->len;
    take->view->readonly = buffer->readonly != 0;
    if (take->shape != NULL) {
        fill_shape(take->shape, buffer);
        if (!fits(take->shape, buffer->len)) {
            return ha_raise(PyExc_BufferError, take->where,
                            "exports %zd bytes for a shape that takes another number",
                            buffer->len);
        }
        if (fill_type(take, object, buffer->format) < 0) {
            return -1;
        }
    }
    return 1;
}
