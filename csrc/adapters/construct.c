/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/construct.h"

#include "adapters/type.h"

static int
too_many(PyTypeObject *type, Py_ssize_t count)
{
    PyErr_Format(PyExc_TypeError, "%s() takes at most 1 argument (%zd given)",
                 ha_short_name(type), count);
    return -1;
}

static int
check_keyword(PyTypeObject *type, PyObject *name)
{
    if (PyUnicode_CompareWithASCIIString(name, "pyobj") == 0) {
        return 0;
    }
    PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'",
                 ha_short_name(type), name);
    return -1;
}

int
ha_init_one(PyObject *self, PyObject *args, PyObject *kwargs, ha_fill fill)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_ssize_t keywords = kwargs == NULL ? 0 : PyDict_GET_SIZE(kwargs);
    Py_ssize_t count = PyTuple_GET_SIZE(args) + keywords;
    PyObject *object = Py_None;
    if (count > 1) {
        return too_many(type, count);
    }
    if (keywords > 0) {
        PyObject *name = NULL;
        Py_ssize_t position = 0;
        PyDict_Next(kwargs, &position, &name, &object);
        if (check_keyword(type, name) < 0) {
            return -1;
        }
    } else if (count > 0) {
        object = PyTuple_GET_ITEM(args, 0);
    }
    return fill(ha_types_of_type(type), self, object);
}

PyObject *
ha_one_argument(PyTypeObject *type, PyObject *const *args, size_t nargsf,
                PyObject *kwnames)
{
    Py_ssize_t count = PyVectorcall_NARGS(nargsf);
    if (kwnames != NULL && PyTuple_GET_SIZE(kwnames) > 0) {
        count += PyTuple_GET_SIZE(kwnames);
        if (count == 1 && check_keyword(type, PyTuple_GET_ITEM(kwnames, 0)) < 0) {
            return NULL;
        }
    }
    if (count > 1) {
        too_many(type, count);
        return NULL;
    }
    return count == 0 ? Py_None : args[0];
}

PyObject *
ha_construct_one(PyTypeObject *type, PyObject *const *args, size_t nargsf,
                 PyObject *kwnames, ha_fill fill)
{
    PyObject *object = ha_one_argument(type, args, nargsf, kwnames);
    if (object == NULL) {
        return NULL;
    }
    PyObject *self = type->tp_new(type, NULL, NULL);
    if (self != NULL && fill(ha_types_of_type(type), self, object) < 0) {
        Py_CLEAR(self);
    }
    return self;
}
