/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/message.h"

#include <stdarg.h>

int
ha_raise(PyObject *exception, const struct ha_where *where, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    PyObject *text = PyUnicode_FromFormatV(format, arguments);
    va_end(arguments);
    if (text != NULL) {
        PyErr_Format(exception, "%s: argument '%s' %U", where->function,
                     where->argument, text);
        Py_DECREF(text);
    }
    return -1;
}

int
ha_refuse(const struct ha_where *where, const char *wanted, PyObject *object)
{
    return ha_raise(PyExc_TypeError, where, "must be %s, not '%.200s'", wanted,
                    Py_TYPE(object)->tp_name);
}

int
ha_raise_range(const struct ha_where *where, const char *range, PyObject *value)
{
    /* repr of a huge int is refused by Python itself, and long for the rest. */
    PyObject *text = PyObject_Repr(value);
    if (text == NULL) {
        PyErr_Clear();
        return ha_raise(PyExc_OverflowError, where, "must be %s, not a far larger int",
                        range);
    }
    ha_raise(PyExc_OverflowError, where, "must be %s, not %.60U", range, text);
    Py_DECREF(text);
    return -1;
}

void
ha_entry_init(struct ha_entry *entry, const struct ha_where *where)
{
    int length = PyOS_snprintf(entry->text, 64, "%.60s[", where->argument);
    entry->digits = entry->text + length;
    entry->where.function = where->function;
    entry->where.argument = entry->text;
}

void
ha_entry_set(struct ha_entry *entry, Py_ssize_t i)
{
    char *end = entry->digits + 1;
    for (Py_ssize_t rest = i; rest >= 10; rest /= 10) {
        end++;
    }
    end[0] = ']';
    end[1] = '\0';
    do {
        *--end = (char)('0' + i % 10);
        i /= 10;
    } while (end > entry->digits);
}
