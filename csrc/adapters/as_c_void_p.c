/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/as_c_void_p.h"

#include "adapters/ctypes_value.h"
#include "adapters/message.h"
#include "adapters/number.h"
#include "adapters/python_version.h"
#include "adapters/take.h"

int
ha_take_as_c_void_p(struct ha_take *take, PyObject *object)
{
    PyObject *method = NULL;
    PyObject *result = NULL;
    int status = ha_get_attribute(object, take->types->str_as_c_void_p, &method);
    if (status <= 0) {
        return status;
    }
    if (PyType_Check(object)) {
        Py_DECREF(method); /* the class itself, not an instance */
        return 0;
    }
    status = -1;
    result = PyObject_CallNoArgs(method);
    if (result == NULL) {
        goto done;
    }
    status = ha_take_integer(take, result);
    if (status == 0) {
        status = ha_take_ctypes(take, result);
    }
    if (status == 0) {
        status = ha_raise(PyExc_TypeError, take->where,
                          "has an as_c_void_p() that answers '%.200s', not a c_void_p",
                          Py_TYPE(result)->tp_name);
    }
    if (status > 0) {
        Py_XSETREF(take->view->owner, Py_NewRef(object));
    }
done:
    Py_XDECREF(result);
    Py_DECREF(method);
    return status;
}
