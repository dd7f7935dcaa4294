/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "module/callback.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "api/api.h"
#include "api/manual/host_call.h"

static atomic_bool closed;

static PyObject *
call_python(struct ha_host_call *call, int status)
{
    if (call->stream == NULL) {
        return PyObject_CallOneArg(call->callable, call->user);
    }
    PyObject *member = ha_hip_status(&ha_api_of(call->module)->enums, status);
    if (member == NULL) {
        return NULL;
    }
    PyObject *result = PyObject_CallFunctionObjArgs(call->callable, call->stream,
                                                    member, call->user, NULL);
    Py_DECREF(member);
    return result;
}

static void
run(struct ha_host_call *call, int status)
{
    if (atomic_load(&closed)) {
        return;
    }
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *result = call_python(call, status);
    if (result == NULL) {
        PyErr_WriteUnraisable(call->callable);
    }
    Py_XDECREF(result);
    ha_host_call_free(call);
    PyGILState_Release(gil);
}

void
ha_callback_open(void)
{
    ha_host_set_runner(run);
}

void
ha_callback_close(void)
{
    atomic_store(&closed, true);
}
