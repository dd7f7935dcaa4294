/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/typestr.h"

#include <string.h>

#include "adapters/format.h"

int
ha_typestr_parse(PyObject *text, struct ha_format *format)
{
    Py_ssize_t length;
    const char *utf8 = PyUnicode_AsUTF8AndSize(text, &length);
    if (utf8 == NULL) {
        return -1;
    }
    return strlen(utf8) == (size_t)length && ha_format_parse(utf8, format);
}
