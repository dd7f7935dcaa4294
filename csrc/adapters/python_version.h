/* SPDX-License-Identifier: MIT */
/* One spelling for what Python spells differently from version to version. */
#ifndef HA_ADAPTERS_PYTHON_VERSION_H
#define HA_ADAPTERS_PYTHON_VERSION_H

#include <Python.h>

#if PY_VERSION_HEX < 0x030B0000
#include <longintrepr.h>

static inline int
PyFloat_Pack2(double value, char *bytes, int little_endian)
{
    return _PyFloat_Pack2(value, (unsigned char *)bytes, little_endian);
}
#endif

#include <stdbool.h>

/* Value of an int of few bits, without a call; false if it needs one. */
static inline bool
ha_long_is_compact(PyObject *object, Py_ssize_t *value)
{
#if PY_VERSION_HEX >= 0x030C0000
    if (!PyUnstable_Long_IsCompact((const PyLongObject *)object)) {
        return false;
    }
    *value = PyUnstable_Long_CompactValue((const PyLongObject *)object);
    return true;
#else
    Py_ssize_t size = Py_SIZE(object);
    if (size < -1 || size > 1) {
        return false;
    }
    *value = size == 0 ? 0 : size * (Py_ssize_t)((PyLongObject *)object)->ob_digit[0];
    return true;
#endif
}

/* getattr that answers 1 with an owned value, 0 where absent, -1 on other errors. */
static inline int
ha_get_attribute(PyObject *object, PyObject *name, PyObject **value)
{
#if PY_VERSION_HEX >= 0x030D0000
    return PyObject_GetOptionalAttr(object, name, value);
#else
    return _PyObject_LookupAttr(object, name, value);
#endif
}

/* An entry of a dict: 1 and an owned value, 0 where there is none, or -1. */
static inline int
ha_dict_get(PyObject *dict, PyObject *key, PyObject **value)
{
#if PY_VERSION_HEX >= 0x030D0000
    return PyDict_GetItemRef(dict, key, value);
#else
    *value = PyDict_GetItemWithError(dict, key);
    Py_XINCREF(*value);
    return *value != NULL ? 1 : PyErr_Occurred() != NULL ? -1 : 0;
#endif
}

/* The same for a key that is text. */
static inline int
ha_dict_get_text(PyObject *dict, const char *key, PyObject **value)
{
    PyObject *name = PyUnicode_FromString(key);
    int found = name != NULL ? ha_dict_get(dict, name, value) : -1;

    Py_XDECREF(name);
    return found;
}

/* An entry of a list, owned, or NULL with IndexError. */
static inline PyObject *
ha_list_get(PyObject *list, Py_ssize_t i)
{
#if PY_VERSION_HEX >= 0x030D0000
    return PyList_GetItemRef(list, i);
#else
    PyObject *item = PyList_GetItem(list, i);
    Py_XINCREF(item);
    return item;
#endif
}

/* What the type or one of its bases has under the name: owned, or NULL without an
 * exception. */
static inline PyObject *
ha_type_attribute(PyTypeObject *type, PyObject *name)
{
#if PY_VERSION_HEX >= 0x030D0000
    return _PyType_LookupRef(type, name);
#else
    PyObject *found = _PyType_Lookup(type, name);
    Py_XINCREF(found);
    return found;
#endif
}

/* A list or tuple of the caller's whose entries stay what they are meanwhile: owned, or
 * NULL with an exception.  Where the GIL keeps others off, the object itself. */
static inline PyObject *
ha_sequence_hold(PyObject *sequence)
{
#ifdef Py_GIL_DISABLED
    if (PyList_Check(sequence)) {
        return PyList_AsTuple(sequence);
    }
#endif
    return Py_NewRef(sequence);
}

#endif
