/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/launch_value.h"

#include <string.h>

#include "adapters/ctypes_value.h"
#include "adapters/kind.h"
#include "adapters/launch_data.h"
#include "adapters/message.h"
#include "adapters/number.h"
#include "adapters/record.h"
#include "adapters/types.h"
#include "adapters/view.h"

#define MAX_ALIGNMENT 16

/* ---- alignment ---- */

static size_t
alignment_of_size(size_t size)
{
    size_t alignment = 1;
    while (alignment < size && alignment < MAX_ALIGNMENT) {
        alignment *= 2;
    }
    return alignment;
}

/* A power of two from an int attribute or call; -1 with an exception. */
static Py_ssize_t
alignment_from(PyObject *number)
{
    Py_ssize_t alignment = number == NULL ? -1 : PyLong_AsSsize_t(number);
    Py_XDECREF(number);
    if (alignment <= 0 || (alignment & (alignment - 1)) != 0 || alignment > 4096) {
        if (!PyErr_Occurred()) {
            PyErr_Format(PyExc_ValueError, "%zd is no alignment", alignment);
        }
        return -1;
    }
    return alignment;
}

static Py_ssize_t dtype_alignment(PyObject *dtype, int depth);

/* Alignment that C gives a struct with these members; 1 where their places are not
 * those of C (a packed struct). */
static Py_ssize_t
fields_alignment(PyObject *fields, Py_ssize_t size, int depth)
{
    Py_ssize_t alignment = 1;
    Py_ssize_t packed = 0;
    PyObject *values = PyMapping_Values(fields);
    if (values == NULL) {
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(values); i++) {
        PyObject *field = PyList_GET_ITEM(values, i);
        if (!PyTuple_Check(field) || PyTuple_GET_SIZE(field) < 2) {
            PyErr_SetString(PyExc_TypeError, "dtype.fields holds no tuples");
            alignment = -1;
            break;
        }
        Py_ssize_t member = dtype_alignment(PyTuple_GET_ITEM(field, 0), depth + 1);
        Py_ssize_t offset = PyLong_AsSsize_t(PyTuple_GET_ITEM(field, 1));
        if (member < 0 || (offset < 0 && PyErr_Occurred())) {
            alignment = -1;
            break;
        }
        packed |= offset % member;
        alignment = member > alignment ? member : alignment;
    }
    Py_DECREF(values);
    return alignment > 0 && (packed != 0 || size % alignment != 0) ? 1 : alignment;
}

/* numpy keeps a struct's C alignment only with align=True; so it is worked out here. */
static Py_ssize_t
dtype_alignment(PyObject *dtype, int depth)
{
    PyObject *fields = NULL;
    PyObject *base = NULL;
    PyObject *number = NULL;
    Py_ssize_t alignment = -1;
    if (depth > 32) {
        PyErr_SetString(PyExc_RecursionError, "dtype is nested too deeply");
        return -1;
    }
    fields = PyObject_GetAttrString(dtype, "fields");
    base = PyObject_GetAttrString(dtype, "base");
    if (fields == NULL || base == NULL) {
        goto done;
    }
    if (fields != Py_None) {
        number = PyObject_GetAttrString(dtype, "itemsize");
        Py_ssize_t size = number == NULL ? -1 : PyLong_AsSsize_t(number);
        alignment = size < 0 ? -1 : fields_alignment(fields, size, depth);
    } else if (base != dtype) {
        alignment = dtype_alignment(base, depth + 1); /* an array member */
    } else {
        alignment = alignment_from(PyObject_GetAttrString(dtype, "alignment"));
    }
done:
    Py_XDECREF(number);
    Py_XDECREF(fields);
    Py_XDECREF(base);
    return alignment;
}

/* ---- values ---- */

/* Copies the object's bytes; alignment 0 = that of a number of this size. */
static unsigned char *
put_buffer(struct ha_launch_arguments *launch, PyObject *object, Py_ssize_t alignment)
{
    Py_buffer buffer;
    if (PyObject_GetBuffer(object, &buffer, PyBUF_SIMPLE) < 0) {
        return NULL;
    }
    unsigned char *place = ha_launch_put(
        launch, buffer.buf, (size_t)buffer.len,
        alignment == 0 ? alignment_of_size((size_t)buffer.len) : (size_t)alignment);
    PyBuffer_Release(&buffer);
    return place;
}

/* The usual numpy scalars, which convert faster as numbers than as buffers. */
static const struct {
    const char *name; /* after "numpy." */
    enum ha_kind kind;
} numpy_kinds[] = {
    {"float32", HA_F32}, {"float64", HA_F64}, {"int32", HA_I32}, {"int64", HA_I64},
    {"uint32", HA_U32},  {"uint64", HA_U64},  {"int16", HA_I16}, {"uint16", HA_U16},
    {"int8", HA_I8},     {"uint8", HA_U8},
};

/* 1 placed, 0 not one of them, -1. */
static int
put_numpy_number(struct ha_types *types, struct ha_launch_arguments *launch,
                 PyObject *object, const struct ha_where *where, unsigned char **place)
{
    const char *name = Py_TYPE(object)->tp_name; /* "numpy.x": the class was checked */
    uint64_t number;
    for (size_t i = 0; i < sizeof numpy_kinds / sizeof numpy_kinds[0]; i++) {
        if (strncmp(name, "numpy.", 6) != 0 ||
            strcmp(name + 6, numpy_kinds[i].name) != 0) {
            continue;
        }
        enum ha_kind kind = numpy_kinds[i].kind;
        if (ha_number_from(types, object, where, kind, &number) < 0) {
            return -1;
        }
        *place = ha_launch_put(launch, &number, ha_kind_size(kind), ha_kind_size(kind));
        return *place == NULL ? -1 : 1;
    }
    return 0;
}

static unsigned char *
put_numpy_scalar(struct ha_launch_arguments *launch, PyObject *object,
                 enum ha_numpy_class class)
{
    if (class != HA_NUMPY_VOID) {
        return put_buffer(launch, object, 0);
    }
    PyObject *dtype = PyObject_GetAttrString(object, "dtype");
    PyObject *fields = dtype == NULL ? NULL : PyObject_GetAttrString(dtype, "fields");
    Py_ssize_t alignment = -1;
    if (fields != NULL) {
        alignment = fields == Py_None ? 0 : dtype_alignment(dtype, 0);
    }
    Py_XDECREF(fields);
    Py_XDECREF(dtype);
    return alignment < 0 ? NULL : put_buffer(launch, object, alignment);
}

/* A ctypes object by value: 1 placed, 0 not for here (arrays), -1. */
static int
put_ctypes(struct ha_types *types, struct ha_launch_arguments *launch, PyObject *object,
           unsigned char **place)
{
    enum ha_ctypes_class class;
    Py_ssize_t alignment = 0;
    if (Py_TYPE(Py_TYPE(object)) == &PyType_Type) {
        return 0;
    }
    if (ha_ctypes_class(types, object, &class) < 0) {
        return -1;
    }
    if (class == HA_NOT_CTYPES || class == HA_CTYPES_ARRAY) {
        return 0;
    }
    if (class == HA_CTYPES_AGGREGATE) {
        alignment = alignment_from(PyObject_CallOneArg(types->c_alignment, object));
        if (alignment < 0) {
            return -1;
        }
    }
    if (class == HA_CTYPES_ADDRESS || class == HA_CTYPES_FUNCTION) {
        /* What is pointed to has to outlive an asynchronous launch. */
        struct ha_view view;
        ha_view_init(&view);
        view.owner = Py_NewRef(object);
        int status = ha_launch_keep_view(types, launch, &view);
        ha_view_release(&view);
        if (status < 0) {
            return -1;
        }
    }
    *place = put_buffer(launch, object, alignment);
    return *place == NULL ? -1 : 1;
}

static unsigned char *
put_record(struct ha_launch_arguments *launch, PyObject *record,
           const struct ha_where *where)
{
    struct ha_seen_record seen;
    unsigned char *place = NULL;
    ha_record_see(record, &seen);
    if (seen.base.ptr == NULL || seen.count > 1) {
        ha_raise(
            PyExc_ValueError, where,
            seen.base.ptr == NULL
                ? "must not be a NULL record"
                : "must be one record, not an array (Pointer(x) passes its address)");
    } else {
        HA_BEGIN_SECTION(ha_record_holder(&seen));
        place = ha_launch_put(launch, seen.base.ptr, seen.info->size,
                              seen.info->align == 0 ? 1 : seen.info->align);
        HA_END_SECTION();
    }
    ha_pointer_unsee(&seen.base);
    return place;
}

static int
refuse_number(const struct ha_where *where, PyObject *object)
{
    if (PyBool_Check(object)) {
        return ha_raise(PyExc_TypeError, where,
                        "is 'bool', which has no C type: use ctypes.c_bool or "
                        "numpy.bool_");
    }
    return ha_raise(PyExc_TypeError, where,
                    "is '%.200s', which has no C type: use ctypes.c_float, "
                    "ctypes.c_double, numpy.float32 or numpy.float64",
                    Py_TYPE(object)->tp_name);
}

int
ha_launch_put_value(struct ha_types *types, struct ha_launch_arguments *launch,
                    PyObject *object, const struct ha_where *where,
                    unsigned char **place)
{
    if (object == Py_None) {
        *place = ha_launch_put_address(launch, NULL);
        return *place == NULL ? -1 : 1;
    }
    if (PyBool_Check(object) || PyFloat_CheckExact(object) ||
        PyComplex_CheckExact(object)) {
        return refuse_number(where, object);
    }
    if (PyObject_TypeCheck(object, types->record)) {
        *place = put_record(launch, object, where);
        return *place == NULL ? -1 : 1;
    }
    enum ha_numpy_class numpy = ha_numpy_scalar_class(object);
    if (numpy != HA_NOT_NUMPY && !PyBytes_Check(object)) {
        int status = put_numpy_number(types, launch, object, where, place);
        if (status != 0) {
            return status;
        }
        *place = put_numpy_scalar(launch, object, numpy);
        return *place == NULL ? -1 : 1;
    }
    return put_ctypes(types, launch, object, place);
}
