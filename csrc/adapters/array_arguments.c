/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/array_arguments.h"

#include "adapters/message.h"

/* Puts the arguments in order; absent ones stay as they are.  `first_keyword` and what
 * follows is keyword-only. */
int
ha_array_arguments(const struct ha_where *names, int count, int first_keyword,
                   PyObject *const *args, Py_ssize_t given, PyObject *kwnames,
                   PyObject **out)
{
    const char *function = names[0].function;
    Py_ssize_t keywords = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    if (given > first_keyword) {
        PyErr_Format(PyExc_TypeError,
                     "%s() takes at most %d positional arguments (%zd given)", function,
                     first_keyword, given);
        return -1;
    }
    for (Py_ssize_t i = 0; i < given; i++) {
        out[i] = args[i];
    }
    for (Py_ssize_t i = 0; i < keywords; i++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, i);
        int found = 0;
        while (found < count &&
               PyUnicode_CompareWithASCIIString(name, names[found].argument) != 0) {
            found++;
        }
        if (found == count || found < given) {
            PyErr_Format(PyExc_TypeError,
                         found == count ? "%s() got an unexpected keyword argument '%U'"
                                        : "%s() got multiple values for argument '%U'",
                         function, name);
            return -1;
        }
        out[found] = args[given + i];
    }
    return 0;
}
