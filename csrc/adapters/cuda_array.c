/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/cuda_array.h"

#include "adapters/dlpack.h"
#include "adapters/elements.h"
#include "adapters/format.h"
#include "adapters/memory.h"
#include "adapters/message.h"
#include "adapters/number.h"
#include "adapters/python_version.h"
#include "adapters/stream.h"
#include "adapters/strides.h"
#include "adapters/take.h"
#include "adapters/types.h"
#include "adapters/typestr.h"

/* What the dict said, before it is believed. */
struct cuda_array {
    int ndim;
    bool has_strides;
    struct ha_format format;
    Py_ssize_t shape[HA_MAX_DIMS];
    Py_ssize_t strides[HA_MAX_DIMS];
};

/* New reference to dict[name] in *value, NULL where absent or None; 0 or -1. */
static int
get_entry(PyObject *dict, PyObject *name, PyObject **value)
{
    if (ha_dict_get(dict, name, value) < 0) {
        return -1;
    }
    if (*value == Py_None) {
        Py_CLEAR(*value);
    }
    return 0;
}

/* Reads a tuple of ints; `ndim` -1 = as many as there are. */
static int
read_sizes(struct ha_take *take, PyObject *tuple, const char *what, bool negative,
           int ndim, Py_ssize_t *out, int *count)
{
    if (!PyTuple_Check(tuple) && !PyList_Check(tuple)) {
        return ha_raise(PyExc_TypeError, take->where,
                        "has a __cuda_array_interface__ whose %s is '%.200s', no tuple",
                        what, Py_TYPE(tuple)->tp_name);
    }
    PyObject *sizes =
        PyTuple_CheckExact(tuple) ? Py_NewRef(tuple) : PySequence_Tuple(tuple);
    if (sizes == NULL) {
        return -1;
    }
    int status = -1;
    Py_ssize_t length = PyTuple_GET_SIZE(sizes);
    if (length > HA_MAX_DIMS || (ndim >= 0 && length != ndim)) {
        ha_raise(PyExc_ValueError, take->where,
                 "has a __cuda_array_interface__ with %zd entries in %s", length, what);
        goto done;
    }
    for (Py_ssize_t i = 0; i < length; i++) {
        PyObject *item = PyTuple_GET_ITEM(sizes, i);
        if (!PyLong_CheckExact(item) || !ha_long_is_compact(item, &out[i])) {
            out[i] = PyNumber_AsSsize_t(item, PyExc_OverflowError);
        }
        if (out[i] == -1 && PyErr_Occurred()) {
            goto done;
        }
        if (out[i] < 0 && !negative) {
            ha_raise(PyExc_ValueError, take->where,
                     "has a __cuda_array_interface__ with a negative %s entry %zd",
                     what, out[i]);
            goto done;
        }
    }
    *count = (int)length;
    status = 0;
done:
    Py_DECREF(sizes);
    return status;
}

static int
read_data(struct ha_take *take, PyObject *data)
{
    if (!PyTuple_Check(data) || PyTuple_GET_SIZE(data) != 2) {
        return ha_raise(PyExc_TypeError, take->where,
                        "has a __cuda_array_interface__ whose data is not a tuple "
                        "(address, read-only)");
    }
    PyObject *address = PyTuple_GET_ITEM(data, 0);
    if (PyBool_Check(address) || !PyIndex_Check(address)) {
        return ha_raise(
            PyExc_TypeError, take->where,
            "has a __cuda_array_interface__ whose address is '%.200s', no int",
            Py_TYPE(address)->tp_name);
    }
    if (ha_take_index(take, address) < 0) {
        return -1;
    }
    int readonly = PyObject_IsTrue(PyTuple_GET_ITEM(data, 1));
    if (readonly < 0) {
        return -1;
    }
    take->view->readonly = readonly != 0;
    return 0;
}

static int
read_typestr(struct ha_take *take, PyObject *typestr, struct ha_format *format)
{
    int status = PyUnicode_Check(typestr) ? ha_typestr_parse(typestr, format) : 0;
    if (status < 0) {
        return -1;
    }
    if (status == 0 || format->size == 0) {
        return ha_raise(
            PyUnicode_Check(typestr) ? PyExc_ValueError : PyExc_TypeError, take->where,
            "has a __cuda_array_interface__ with the typestr %R, which says "
            "no element size",
            typestr);
    }
    if (!ha_format_is_native(format)) {
        return ha_raise(PyExc_BufferError, take->where,
                        "has a __cuda_array_interface__ with the typestr %R; elements "
                        "must be in native byte order",
                        typestr);
    }
    return 0;
}

/* 1 if the entry of descr says what typestr says, ('', typestr); 0 if not, or -1. */
static int
is_plain_descr(PyObject *entry, const struct ha_format *format)
{
    struct ha_format described;
    if (!PyTuple_Check(entry) || PyTuple_GET_SIZE(entry) != 2 ||
        !PyUnicode_Check(PyTuple_GET_ITEM(entry, 0)) ||
        !PyUnicode_Check(PyTuple_GET_ITEM(entry, 1)) ||
        PyUnicode_GET_LENGTH(PyTuple_GET_ITEM(entry, 0)) != 0) {
        return 0;
    }
    int status = ha_typestr_parse(PyTuple_GET_ITEM(entry, 1), &described);
    if (status > 0) {
        status = described.kind == format->kind && described.size == format->size;
    }
    return status;
}

/* The fields of elements whose typestr is "|V16", into `elements` where they are
 * understood; what typestr says of plain ones must not be contradicted. */
static int
read_descr(struct ha_take *take, PyObject *descr, const struct ha_format *format,
           PyObject **elements)
{
    int plain = 0;
    Py_ssize_t bytes = -1;
    if (!PyList_Check(descr)) {
        return ha_raise(PyExc_TypeError, take->where,
                        "has a __cuda_array_interface__ whose descr is '%.200s', no "
                        "list",
                        Py_TYPE(descr)->tp_name);
    }
    if (PyList_GET_SIZE(descr) == 1) {
        PyObject *entry = ha_list_get(descr, 0);
        plain = entry == NULL ? -1 : is_plain_descr(entry, format);
        Py_XDECREF(entry);
    }
    if (plain == 0 && format->kind == 'V') {
        int status = ha_elements_from_descr(descr, &bytes, elements);
        plain = status < 0 ? -1 : status == 0 || bytes == format->size;
    }
    if (plain == 0) {
        ha_raise(PyExc_BufferError, take->where,
                 "has a __cuda_array_interface__ whose descr says other elements than "
                 "its typestr");
    }
    return plain == 1 ? 0 : -1;
}

/* stream came with version 3. */
static int
read_version(struct ha_take *take, PyObject *object, long *version)
{
    *version = 3;
    if (object == NULL) {
        return 0;
    }
    if (!PyLong_Check(object) || PyBool_Check(object)) {
        return ha_raise(PyExc_TypeError, take->where,
                        "has a __cuda_array_interface__ whose version is '%.200s', no "
                        "int",
                        Py_TYPE(object)->tp_name);
    }
    *version = PyLong_AsLong(object);
    return *version == -1 && PyErr_Occurred() ? -1 : 0;
}

/* The number of a stream, or of an object with __cuda_stream__ (a handle is one). */
static int
stream_number(struct ha_take *take, PyObject *stream, uintptr_t *number)
{
    PyObject *protocol = NULL;
    if ((PyLong_Check(stream) && !PyBool_Check(stream)) ||
        ha_numpy_scalar_class(stream) == HA_NUMPY_INTEGER) {
        PyObject *index = PyNumber_Index(stream);
        *number = index == NULL ? 0 : PyLong_AsSize_t(index);
        bool is_int = index != NULL;
        Py_XDECREF(index);
        if (is_int && PyErr_Occurred() != NULL &&
            PyErr_ExceptionMatches(PyExc_OverflowError)) {
            PyErr_Clear();
            return ha_raise_range(
                take->where,
                "memory whose __cuda_array_interface__ has a stream of 1 .. 2**64-1",
                stream);
        }
        return PyErr_Occurred() == NULL ? 0 : -1;
    }
    int status = ha_get_attribute(stream, take->types->str_cuda_stream, &protocol);
    Py_XDECREF(protocol);
    if (status > 0) {
        return ha_stream_from(take->types, stream, take->where, number);
    }
    return status < 0 ? -1
                      : ha_raise(PyExc_TypeError, take->where,
                                 "has a __cuda_array_interface__ whose stream is "
                                 "'%.200s', no int",
                                 Py_TYPE(stream)->tp_name);
}

/* The one place where a stream is checked, whatever type is made from the interface. */
static int
check_stream(struct ha_take *take, PyObject *stream)
{
    uintptr_t number;
    if (stream_number(take, stream, &number) < 0) {
        return -1;
    }
    if (number == 0) {
        return ha_raise(PyExc_ValueError, take->where,
                        "has a __cuda_array_interface__ with stream 0, which is no "
                        "stream (1 is the default stream)");
    }
    return 0;
}

/* Interfaces before version 3 say no stream.  Where the type has DLPack's table, that
 * tells in which stream the producer works (torch on a GPU). */
static int
ask_stream(struct ha_take *take, PyObject *object)
{
    struct ha_types *types = take->types;
    enum ha_memory_place place;
    uintptr_t stream;
    int device = -1;
    const struct ha_dl_exchange *table = ha_dl_table_of(types, object);
    if (table == NULL || types->memory == NULL ||
        types->memory->find(take->view->ptr, &place, &device) <= 0 || device < 0) {
        return 0;
    }
    if (ha_dl_work_stream(table, take->where, device, &stream) < 0) {
        return -1;
    }
    take->shape->stream = PyLong_FromSize_t(stream == 0 ? 1 : stream);
    return take->shape->stream == NULL ? -1 : 0;
}

/* Strides and size, once everything has been read. */
static int
check_layout(struct ha_take *take, const struct cuda_array *array)
{
    Py_ssize_t bytes;
    if (!ha_shape_bytes(array->ndim, array->shape, array->format.size, &bytes)) {
        return ha_raise(PyExc_ValueError, take->where,
                        "has a __cuda_array_interface__ whose shape is too large");
    }
    char order = take->shape != NULL && !take->shape->any_order ? 'C' : 'A';
    if (array->has_strides &&
        !ha_is_contiguous(array->ndim, array->shape, array->strides, array->format.size,
                          order)) {
        return ha_raise_strides(take->where,
                                order == 'C' ? "C-contiguous" : "contiguous",
                                array->ndim, array->shape, array->strides);
    }
    if (take->view->ptr == NULL && bytes > 0) {
        return ha_raise(PyExc_ValueError, take->where,
                        "has a __cuda_array_interface__ with address 0 for %zd bytes",
                        bytes);
    }
    take->view->size = bytes;
    return ha_check_span(take->where, take->view->ptr, bytes);
}

static void
fill_shape(struct ha_take *take, const struct cuda_array *array, PyObject *typestr,
           PyObject *stream)
{
    struct ha_shape *shape = take->shape;
    shape->ndim = array->ndim;
    for (int i = 0; i < array->ndim; i++) {
        shape->dims[i] = array->shape[i];
    }
    shape->format = array->format;
    shape->typestr = Py_NewRef(typestr);
    shape->stream = Py_XNewRef(stream);
}

static int
read_dict(struct ha_take *take, PyObject *object, PyObject *dict)
{
    struct ha_types *types = take->types;
    struct cuda_array array; /* large: only what is read is set */
    array.ndim = 0;
    PyObject *shape = NULL, *typestr = NULL, *data = NULL, *strides = NULL;
    PyObject *mask = NULL, *stream = NULL, *descr = NULL, *version = NULL;
    PyObject *elements = NULL;
    int status = -1;
    int count = 0;
    long number;
    if (get_entry(dict, types->str_shape, &shape) < 0 ||
        get_entry(dict, types->str_typestr, &typestr) < 0 ||
        get_entry(dict, types->str_data, &data) < 0 ||
        get_entry(dict, types->str_strides, &strides) < 0 ||
        get_entry(dict, types->str_mask, &mask) < 0 ||
        get_entry(dict, types->str_descr, &descr) < 0 ||
        get_entry(dict, types->str_version, &version) < 0 ||
        get_entry(dict, types->str_stream, &stream) < 0) {
        goto done;
    }
    if (shape == NULL || typestr == NULL || data == NULL) {
        ha_raise(PyExc_TypeError, take->where,
                 "has a __cuda_array_interface__ without '%s'",
                 shape == NULL     ? "shape"
                 : typestr == NULL ? "typestr"
                                   : "data");
        goto done;
    }
    if (mask != NULL) {
        ha_raise(PyExc_BufferError, take->where, "must not be a masked array");
        goto done;
    }
    if (read_sizes(take, shape, "shape", false, -1, array.shape, &array.ndim) < 0 ||
        read_typestr(take, typestr, &array.format) < 0 || read_data(take, data) < 0 ||
        read_version(take, version, &number) < 0 ||
        (descr != NULL && read_descr(take, descr, &array.format, &elements) < 0)) {
        goto done;
    }
    if (number < 3) {
        Py_CLEAR(stream);
    }
    array.has_strides = strides != NULL;
    if (strides != NULL && read_sizes(take, strides, "strides", true, array.ndim,
                                      array.strides, &count) < 0) {
        goto done;
    }
    if (check_layout(take, &array) < 0 ||
        (stream != NULL && check_stream(take, stream) < 0)) {
        goto done;
    }
    if (take->shape != NULL) {
        fill_shape(take, &array, elements == NULL ? typestr : elements, stream);
        if (number < 3 && ask_stream(take, object) < 0) {
            goto done;
        }
    }
    status = 1;
done:
    Py_XDECREF(shape);
    Py_XDECREF(typestr);
    Py_XDECREF(data);
    Py_XDECREF(strides);
    Py_XDECREF(mask);
    Py_XDECREF(stream);
    Py_XDECREF(descr);
    Py_XDECREF(version);
    Py_XDECREF(elements);
    return status;
}

int
ha_take_cuda_array(struct ha_take *take, PyObject *object)
{
    PyObject *dict = NULL;
    int status = ha_get_attribute(object, take->types->str_cuda_array_interface, &dict);
    if (status <= 0) {
        return status;
    }
    if (dict == Py_None || PyType_Check(object)) {
        Py_DECREF(dict); /* absent, or a class: its attribute is a property */
        return 0;
    }
    if (PyDict_Check(dict)) {
        status = read_dict(take, object, dict);
    } else {
        status = ha_raise(PyExc_TypeError, take->where,
                          "has a __cuda_array_interface__ that is '%.200s', no dict",
                          Py_TYPE(dict)->tp_name);
    }
    if (status > 0) {
        take->view->owner = Py_NewRef(object);
    }
    Py_DECREF(dict);
    return status;
}
