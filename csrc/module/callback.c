/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "module/callback.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "api/api.h"
#include "api/manual/host_call.h"
#include "core/clock.h"
#include "core/fork.h"

#define CLOSE_STEP_MS 1

static atomic_bool closed;
static atomic_int running; /* threads that passed the check of `closed` */
static _Thread_local int own_running;

static PyObject *
call_python(const struct ha_host_call *call, int status)
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

/* The check and the count are one step for ha_callback_close: who is not counted sees
 * that it is closed. */
static bool
enter(void)
{
    atomic_fetch_add(&running, 1);
    if (atomic_load(&closed)) {
        atomic_fetch_sub(&running, 1);
        return false;
    }
    own_running++;
    return true;
}

static void
leave(void)
{
    own_running--;
    atomic_fetch_sub(&running, 1);
}

static void
run(uint64_t ticket, int status)
{
    struct ha_host_call call;

    if (!enter()) {
        return;
    }
    /* Until the GIL is given back: the end of the thread state runs finalizers, too. */
    ha_host_enter();
    PyGILState_STATE gil = PyGILState_Ensure();
    if (ha_host_call_take(ticket, &call)) {
        PyObject *result = call_python(&call, status);
        if (result == NULL) {
            PyErr_WriteUnraisable(call.callable);
        }
        Py_XDECREF(result);
        ha_host_call_drop(&call);
    }
    PyGILState_Release(gil);
    ha_host_leave();
    leave();
}

/* The child has the forking thread only. */
static void
after_fork_child(void)
{
    atomic_store(&running, own_running);
}

int
ha_callback_open(void)
{
    if (ha_fork_register(after_fork_child) != HA_OK) {
        PyErr_SetString(PyExc_RuntimeError, ha_error_text());
        return -1;
    }
    return ha_host_set_runner(run);
}

void
ha_callback_close(uint64_t end_ns)
{
    atomic_store(&closed, true);
    while (atomic_load(&running) > own_running && ha_clock_ns() < end_ns) {
        Py_BEGIN_ALLOW_THREADS
        poll(NULL, 0, CLOSE_STEP_MS);
        Py_END_ALLOW_THREADS
    }
}
