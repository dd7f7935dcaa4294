/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/stream.h"

#include "adapters/adapter.h"
#include "adapters/description.h"
#include "adapters/message.h"
#include "adapters/number.h"
#include "adapters/python_version.h"
#include "adapters/take.h"
#include "adapters/type_index.h"
#include "adapters/types.h"
#include "adapters/view.h"

/* Answer of __cuda_stream__(): (0, address). */
static int
read_stream_tuple(struct ha_take *take, PyObject *answer)
{
    if (!PyTuple_Check(answer) || PyTuple_GET_SIZE(answer) != 2) {
        return ha_raise(
            PyExc_TypeError, take->where,
            "has a __cuda_stream__() that answers '%.200s', not (0, address)",
            Py_TYPE(answer)->tp_name);
    }
    PyObject *version = PyTuple_GET_ITEM(answer, 0);
    long number = PyLong_Check(version) ? PyLong_AsLong(version) : -1;
    if (number != 0) {
        PyErr_Clear();
        return ha_raise(PyExc_ValueError, take->where,
                        "has a __cuda_stream__() of another version than 0");
    }
    int status = ha_take_integer(take, PyTuple_GET_ITEM(answer, 1));
    if (status == 0) {
        status = ha_refuse(take->where, "a stream whose __cuda_stream__() holds an int",
                           PyTuple_GET_ITEM(answer, 1));
    }
    return status;
}

int
ha_take_cuda_stream(struct ha_take *take, PyObject *object)
{
    PyObject *method = NULL;
    int status = ha_get_attribute(object, take->types->str_cuda_stream, &method);
    if (status <= 0) {
        return status;
    }
    if (PyType_Check(object)) {
        Py_DECREF(method);
        return 0;
    }
    /* Early producers have an attribute and no method. */
    PyObject *answer =
        PyTuple_Check(method) ? Py_NewRef(method) : PyObject_CallNoArgs(method);
    Py_DECREF(method);
    if (answer == NULL) {
        return -1;
    }
    status = read_stream_tuple(take, answer);
    if (status > 0) {
        take->view->owner = Py_NewRef(object);
    }
    Py_DECREF(answer);
    return status;
}

int
ha_stream_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
               uintptr_t *out)
{
    struct ha_view view;
    struct ha_take take = {.types = types, .where = where, .view = &view};
    unsigned given;
    ha_view_init(&view);
    if (PyObject_TypeCheck(object, types->handle) &&
        ha_type_index_find(types, Py_TYPE(object), &given) &&
        (types->tables->handles[given].flags & HA_HANDLE_STREAM) == 0) {
        return ha_refuse(where, "a stream", object);
    }
    int status = ha_take_address(&take, object);
    if (status == 0) {
        status = ha_take_cuda_stream(&take, object);
    }
    if (status == 0) {
        status = ha_take_all(&take, object);
    }
    if (status > 0) {
        *out = (uintptr_t)view.ptr;
    }
    ha_view_release(&view);
    return status < 0 ? -1 : 0;
}

int
ha_stream_or_none_from(struct ha_types *types, PyObject *stream,
                       const struct ha_where *where, uintptr_t *out)
{
    if (stream == NULL || stream == Py_None) {
        *out = 0;
        return 0;
    }
    return ha_stream_from(types, stream, where, out);
}
