/* SPDX-License-Identifier: MIT */
/* Texts of the profiler as objects of Python. */
#ifndef HA_MODULE_PROFILER_TEXT_H
#define HA_MODULE_PROFILER_TEXT_H

#include <Python.h>

#include <string.h>

/* A str, or None for NULL; owned.  Bytes that are no UTF-8 are replaced. */
static inline PyObject *
ha_profiler_text(const char *text)
{
    if (text == NULL) {
        Py_RETURN_NONE;
    }
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

#endif
