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

#endif
