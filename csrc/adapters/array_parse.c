/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/array_parse.h"

#include <string.h>

#include "adapters/elements.h"
#include "adapters/format.h"
#include "adapters/message.h"
#include "adapters/python_version.h"
#include "adapters/take.h"
#include "adapters/types.h"
#include "adapters/typestr.h"

static int
read_extent(PyObject *item, const struct ha_where *where, Py_ssize_t *out)
{
    if (PyBool_Check(item) || !PyIndex_Check(item)) {
        return ha_raise(PyExc_TypeError, where, "must hold int, not '%.200s'",
                        Py_TYPE(item)->tp_name);
    }
    Py_ssize_t extent = PyNumber_AsSsize_t(item, PyExc_OverflowError);
    if (extent == -1 && PyErr_Occurred()) {
        return -1;
    }
    if (extent < 0) {
        return ha_raise(PyExc_ValueError, where, "has the negative extent %zd", extent);
    }
    *out = extent;
    return 0;
}

int
ha_array_read_shape(PyObject *value, const struct ha_where *where, int *ndim,
                    Py_ssize_t *dims)
{
    if (!PyTuple_Check(value) && !PyList_Check(value)) {
        return ha_raise(PyExc_TypeError, where, "must be a tuple of int, not '%.200s'",
                        Py_TYPE(value)->tp_name);
    }
    PyObject *extents = PySequence_Tuple(value);
    if (extents == NULL) {
        return -1;
    }
    int status = 0;
    Py_ssize_t count = PyTuple_GET_SIZE(extents);
    if (count > HA_MAX_DIMS) {
        status = ha_raise(PyExc_ValueError, where, "has %zd axes, more than %d", count,
                          HA_MAX_DIMS);
    }
    for (Py_ssize_t i = 0; status == 0 && i < count; i++) {
        status = read_extent(PyTuple_GET_ITEM(extents, i), where, &dims[i]);
    }
    *ndim = (int)count;
    Py_DECREF(extents);
    return status;
}

/* 1 and an owned str, 0 where there is no such attribute or it is no str, or -1. */
static int
text_attribute(PyObject *value, PyObject *name, PyObject **text)
{
    int status = ha_get_attribute(value, name, text);
    if (status > 0 && !PyUnicode_Check(*text)) {
        Py_CLEAR(*text);
        status = 0;
    }
    return status;
}

/* Reads dtype.name where it is an element type of ml_dtypes: 1, 0 where it is not, or
 * -1.  numpy writes these types as bytes ("<V2") or worse ("<f1"). */
static int
read_name(struct ha_types *types, PyObject *dtype, struct ha_format *format)
{
    PyObject *name = NULL;
    int status = text_attribute(dtype, types->str_name, &name);
    if (status > 0) {
        struct ha_format named;
        status = ha_typestr_parse(name, &named);
        if (status > 0 && named.extended == 0) {
            status = 0;
        }
        if (status > 0) {
            *format = named;
        }
        Py_DECREF(name);
    }
    return status;
}

static int
parse_named(PyObject *text, const struct ha_where *where, struct ha_format *format)
{
    int status = ha_typestr_parse(text, format);
    if (status == 0) {
        return ha_raise(PyExc_ValueError, where,
                        "must be an element type such as '<f4', not %R", text);
    }
    return status < 0 ? -1 : 0;
}

/* The fields of elements of `size` bytes: 1, 0 where the list describes none, or -1. */
static int
read_fields(PyObject *descr, Py_ssize_t size, struct ha_format *format, PyObject **out)
{
    int status = ha_elements_from_descr(descr, &size, out);
    if (status > 0) {
        *format = (struct ha_format){.kind = 'V', .order = '|', .size = size};
    }
    return status;
}

/* dtype.descr of a dtype with fields: the same. */
static int
dtype_fields(struct ha_types *types, PyObject *dtype, struct ha_format *format,
             PyObject **out)
{
    PyObject *names = NULL, *descr = NULL;
    int status = ha_get_attribute(dtype, types->str_names, &names);
    if (status > 0) {
        status = names != Py_None;
        Py_DECREF(names);
    }
    if (status > 0) {
        status = ha_get_attribute(dtype, types->str_descr, &descr);
    }
    if (status < 0 && PyErr_ExceptionMatches(PyExc_ValueError)) {
        PyErr_Clear(); /* numpy: no descr can say how these fields overlap */
        status = 0;
    }
    if (status > 0) {
        status =
            PyList_Check(descr) ? read_fields(descr, format->size, format, out) : 0;
        Py_DECREF(descr);
    }
    return status;
}

int
ha_array_read_dtype(struct ha_types *types, PyObject *dtype, struct ha_format *format,
                    PyObject **text)
{
    int status = text_attribute(dtype, types->str_str, text);
    if (status > 0) {
        status = read_name(types, dtype, format);
        if (status > 0) {
            Py_CLEAR(*text);
            return 1;
        }
    }
    if (status == 0 && *text != NULL) {
        status = ha_typestr_parse(*text, format);
    }
    if (status > 0 && format->kind == 'V') {
        PyObject *fields = NULL;
        int found = dtype_fields(types, dtype, format, &fields);
        if (found > 0) {
            Py_SETREF(*text, fields);
        }
        status = found < 0 ? -1 : 1;
    }
    return status;
}

/* A dtype, or a list of fields as descr has them. */
static int
read_dtype(struct ha_types *types, PyObject *value, const struct ha_where *where,
           struct ha_format *format, PyObject **text)
{
    if (PyList_Check(value)) {
        int status = read_fields(value, -1, format, text);
        return status != 0
                   ? (status < 0 ? -1 : 0)
                   : ha_raise(PyExc_ValueError, where,
                              "must be fields such as [('x', '<f4')], not %R", value);
    }
    int status = ha_array_read_dtype(types, value, format, text);
    if (status == 0 && *text == NULL) {
        return ha_raise(PyExc_TypeError, where, "must be str or a dtype, not '%.200s'",
                        Py_TYPE(value)->tp_name);
    }
    return status < 0 ? -1 : status > 0 ? 0 : parse_named(*text, where, format);
}

int
ha_array_read_type(struct ha_types *types, PyObject *value,
                   const struct ha_where *where, struct ha_format *format,
                   PyObject **text)
{
    int status = 0;
    *text = NULL;
    if (PyUnicode_Check(value)) {
        if (parse_named(value, where, format) < 0) {
            return -1;
        }
        *text = Py_NewRef(value);
        return 0;
    }
    status = read_dtype(types, value, where, format, text);
    if (status < 0) {
        Py_CLEAR(*text);
    }
    return status;
}
