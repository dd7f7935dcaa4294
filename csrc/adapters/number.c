/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/number.h"

#include <math.h>
#include <string.h>

#include "adapters/ctypes_value.h"
#include "adapters/kind.h"
#include "adapters/message.h"
#include "adapters/pointer.h"
#include "adapters/python_version.h"
#include "adapters/take.h"
#include "adapters/types.h"

struct kind_row {
    const char *name;  /* in messages */
    const char *range; /* of numbers; NULL for the rest */
    uint8_t size;
    bool is_signed;
};

static const struct kind_row kinds[HA_KIND_COUNT] = {
    [HA_BOOL] = {"bool", "0 .. 1", 1, false},
    [HA_CHAR] = {"char", "-128 .. 127", 1, true},
    [HA_I8] = {"int8_t", "-128 .. 127", 1, true},
    [HA_U8] = {"uint8_t", "0 .. 255", 1, false},
    [HA_I16] = {"int16_t", "-32768 .. 32767", 2, true},
    [HA_U16] = {"uint16_t", "0 .. 65535", 2, false},
    [HA_I32] = {"int", "-2**31 .. 2**31-1", 4, true},
    [HA_U32] = {"unsigned int", "0 .. 2**32-1", 4, false},
    [HA_I64] = {"int64_t", "-2**63 .. 2**63-1", 8, true},
    [HA_U64] = {"uint64_t", "0 .. 2**64-1", 8, false},
    [HA_LONG] = {"long", "-2**63 .. 2**63-1", sizeof(long), true},
    [HA_ULONG] = {"unsigned long", "0 .. 2**64-1", sizeof(long), false},
    [HA_SIZE] = {"size_t", "0 .. 2**64-1", sizeof(size_t), false},
    [HA_F32] = {"float", "a float", 4, true},
    [HA_F64] = {"double", "a float", 8, true},
    [HA_POINTER] = {"pointer", NULL, sizeof(void *), false},
    [HA_CSTR] = {"char *", NULL, sizeof(void *), false},
    [HA_ENUM] = {"enum", "-2**31 .. 2**31-1", 4, true},
    [HA_HANDLE] = {"handle", NULL, sizeof(void *), false},
    [HA_FUNCTION] = {"function pointer", NULL, sizeof(void *), false},
    [HA_RECORD] = {"record", NULL, 0, false},
};

size_t
ha_kind_size(enum ha_kind kind)
{
    return kinds[kind].size;
}

const char *
ha_kind_name(enum ha_kind kind)
{
    return kinds[kind].name;
}

bool
ha_kind_is_number(enum ha_kind kind)
{
    return kinds[kind].range != NULL;
}

bool
ha_kind_is_signed(enum ha_kind kind)
{
    return kinds[kind].is_signed;
}

enum ha_numpy_class
ha_numpy_scalar_class(PyObject *object)
{
    /* By name, so that numpy need not be there.  Only static types have a dot in the
     * name: a class made in Python can't pretend. */
    PyObject *bases = Py_TYPE(object)->tp_mro;
    if (bases == NULL || Py_TYPE(object)->tp_as_buffer == NULL) {
        return HA_NOT_NUMPY;
    }
    enum ha_numpy_class found = HA_NOT_NUMPY;
    Py_ssize_t count = PyTuple_GET_SIZE(bases);
    for (Py_ssize_t i = 0; i < count; i++) {
        const char *name = ((PyTypeObject *)PyTuple_GET_ITEM(bases, i))->tp_name;
        if (name[0] != 'n' || strncmp(name, "numpy.", 6) != 0) {
            continue;
        }
        if (strcmp(name + 6, "integer") == 0) {
            return HA_NUMPY_INTEGER;
        }
        if (strcmp(name + 6, "void") == 0) {
            return HA_NUMPY_VOID;
        }
        if (strcmp(name + 6, "generic") == 0) {
            found = HA_NUMPY_OTHER;
        }
    }
    return found;
}

/* Address in an int; steals nothing.  1 or -1. */
static int
address_from_long(struct ha_take *take, PyObject *number, PyObject *given)
{
    Py_ssize_t small;
    if (ha_long_is_compact(number, &small) && small >= 0) {
        take->view->ptr = (void *)small;
        return 1;
    }
    unsigned long long address = PyLong_AsUnsignedLongLong(number);
    if (address == (unsigned long long)-1 && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_OverflowError)) {
            return -1;
        }
        PyErr_Clear();
        return ha_raise_range(take->where, "an address (0 .. 2**64-1)", given);
    }
    take->view->ptr = (void *)(uintptr_t)address;
    return 1;
}

/* The same for an object with __index__. */
static int
address_from_index(struct ha_take *take, PyObject *object)
{
    PyObject *number = PyNumber_Index(object);
    if (number == NULL) {
        return -1;
    }
    int status = address_from_long(take, number, object);
    Py_DECREF(number);
    return status;
}

int
ha_take_integer(struct ha_take *take, PyObject *object)
{
    if (PyLong_Check(object)) {
        if (PyBool_Check(object)) {
            return ha_refuse(take->where, "an address or memory", object);
        }
        return address_from_long(take, object, object);
    }
    switch (ha_numpy_scalar_class(object)) {
    case HA_NUMPY_INTEGER:
        return address_from_index(take, object);
    case HA_NUMPY_VOID:
    case HA_NUMPY_OTHER:
        if (PyBytes_Check(object)) {
            return 0; /* numpy.bytes_ is bytes */
        }
        /* It exports a buffer, but that is the scalar's own short-lived storage. */
        return ha_refuse(take->where,
                         "an address or an array (numpy.asarray makes one)", object);
    default:
        return 0;
    }
}

int
ha_take_index(struct ha_take *take, PyObject *object)
{
    return PyIndex_Check(object) ? address_from_index(take, object) : 0;
}

/* ---- C numbers ---- */

static void
store_integer(enum ha_kind kind, uint64_t value, void *out)
{
    switch (kinds[kind].size) {
    case 1:
        *(uint8_t *)out = (uint8_t)value;
        break;
    case 2: {
        uint16_t half = (uint16_t)value;
        memcpy(out, &half, sizeof half);
        break;
    }
    case 4: {
        uint32_t word = (uint32_t)value;
        memcpy(out, &word, sizeof word);
        break;
    }
    default:
        memcpy(out, &value, sizeof value);
        break;
    }
}

static bool
in_range(enum ha_kind kind, int64_t value)
{
    if (kind == HA_BOOL) {
        return value == 0 || value == 1;
    }
    unsigned bits = 8u * kinds[kind].size;
    if (!kinds[kind].is_signed) {
        return value >= 0 && (bits == 64 || (uint64_t)value < (uint64_t)1 << bits);
    }
    int64_t limit = bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1;
    return value <= limit && value >= -limit - 1;
}

/* `number` is an int; `given` what the user passed. */
static int
integer_from_long(PyObject *number, PyObject *given, const struct ha_where *where,
                  enum ha_kind kind, void *out)
{
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (value == -1 && overflow == 0 && PyErr_Occurred()) {
        return -1;
    }
    if (overflow == 0 && in_range(kind, value)) {
        store_integer(kind, (uint64_t)value, out);
        return 0;
    }
    if (overflow > 0 && !kinds[kind].is_signed && kinds[kind].size == 8) {
        unsigned long long large = PyLong_AsUnsignedLongLong(number);
        if (large != (unsigned long long)-1 || !PyErr_Occurred()) {
            store_integer(kind, large, out);
            return 0;
        }
        PyErr_Clear();
    }
    return ha_raise_range(where, kinds[kind].range, given);
}

/* Value of a ctypes integer or float (c_int(5)) as a Python number: 1, 0 if it is none.
 */
static int
ctypes_number(struct ha_types *types, PyObject *object, PyObject **number)
{
    enum ha_ctypes_class class;
    if (ha_ctypes_class(types, object, &class) < 0) {
        return -1;
    }
    if (class != HA_CTYPES_SIMPLE) {
        return 0;
    }
    *number = PyObject_GetAttrString(object, "value");
    if (*number == NULL) {
        return -1;
    }
    if (!PyLong_Check(*number) && !PyFloat_Check(*number)) {
        Py_CLEAR(*number);
        return 0;
    }
    return 1;
}

static int
float_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
           enum ha_kind kind, void *out)
{
    PyObject *number = NULL;
    double value;
    if (PyUnicode_Check(object) || ha_pointer_check(types, object)) {
        return ha_refuse(where, kind == HA_F32 ? "a float" : "a float (double)",
                         object);
    }
    int status = ctypes_number(types, object, &number);
    if (status < 0) {
        return -1;
    }
    value = PyFloat_AsDouble(number == NULL ? object : number);
    Py_XDECREF(number);
    if (value == -1.0 && PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            return ha_refuse(where, "a float", object);
        }
        if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
            PyErr_Clear();
            return ha_raise_range(where, "in the range of double", object);
        }
        return -1;
    }
    if (kind == HA_F32) {
        float narrow = (float)value;
        if (isfinite(value) && !isfinite(narrow)) {
            return ha_raise_range(where, "in the range of float", object);
        }
        memcpy(out, &narrow, sizeof narrow);
    } else {
        memcpy(out, &value, sizeof value);
    }
    return 0;
}

int
ha_number_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
               enum ha_kind kind, void *out)
{
    Py_ssize_t small;
    if (kind == HA_F32 || kind == HA_F64) {
        return float_from(types, object, where, kind, out);
    }
    if (PyLong_Check(object)) {
        if (ha_long_is_compact(object, &small) && in_range(kind, small)) {
            store_integer(kind, (uint64_t)small, out);
            return 0;
        }
        return integer_from_long(object, object, where, kind, out);
    }
    /* Addresses and floats are no counts, although both convert to int. */
    PyObject *number = NULL;
    if (PyIndex_Check(object) && !ha_pointer_check(types, object)) {
        number = PyNumber_Index(object);
        if (number == NULL && !PyErr_ExceptionMatches(PyExc_TypeError)) {
            return -1;
        }
        PyErr_Clear(); /* numpy: the slot is there, but this array is no index */
    } else if (ctypes_number(types, object, &number) < 0) {
        return -1;
    }
    if (number != NULL && PyLong_Check(number)) {
        int status = integer_from_long(number, object, where, kind, out);
        Py_DECREF(number);
        return status;
    }
    Py_XDECREF(number);
    return ha_refuse(where, "an int", object);
}

int
ha_count_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
              enum ha_kind kind, void *out)
{
    if (!PyFloat_Check(object) || kind == HA_F32 || kind == HA_F64) {
        return ha_number_from(types, object, where, kind, out);
    }
    double value = PyFloat_AS_DOUBLE(object);
    if (!isfinite(value) || value != floor(value)) {
        return ha_raise(PyExc_TypeError, where, "must be an int, not %R", object);
    }
    PyObject *number = PyLong_FromDouble(value);
    if (number == NULL) {
        return -1;
    }
    int status = integer_from_long(number, object, where, kind, out);
    Py_DECREF(number);
    return status;
}

int
ha_enum_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
             PyObject *type, bool (*known)(int), int *out)
{
    const char *wanted = type == NULL ? "an int" : ((PyTypeObject *)type)->tp_name;
    int value;
    if (PyBool_Check(object) || PyFloat_Check(object)) {
        return ha_refuse(where, wanted, object);
    }
    bool member = type != NULL && PyObject_TypeCheck(object, (PyTypeObject *)type);
    if (!member && PyLong_Check(object) && !PyLong_CheckExact(object) &&
        Py_TYPE(Py_TYPE(object)) != &PyType_Type && type != NULL) {
        /* An int with a metaclass is a member of another enum. */
        return ha_refuse(where, wanted, object);
    }
    if (ha_number_from(types, object, where, HA_I32, &value) < 0) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            return ha_refuse(where, wanted, object);
        }
        return -1;
    }
    if (!member && known != NULL && !known(value)) {
        return ha_raise(PyExc_ValueError, where, "must be a %s, not %d", wanted, value);
    }
    *out = value;
    return 0;
}

PyObject *
ha_number_to(enum ha_kind kind, const void *from)
{
    if (kind == HA_F32) {
        float value;
        memcpy(&value, from, sizeof value);
        return PyFloat_FromDouble((double)value);
    }
    if (kind == HA_F64) {
        double value;
        memcpy(&value, from, sizeof value);
        return PyFloat_FromDouble(value);
    }
    uint64_t raw = 0;
    memcpy(&raw, from, kinds[kind].size); /* little endian: low bytes first */
    if (kind == HA_BOOL) {
        return PyBool_FromLong(raw != 0);
    }
    if (kinds[kind].is_signed) {
        unsigned shift = 64u - 8u * kinds[kind].size;
        return PyLong_FromLongLong((int64_t)(raw << shift) >> shift);
    }
    return PyLong_FromUnsignedLongLong(raw);
}
