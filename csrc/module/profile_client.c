/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "module/profile_client.h"

#include <pthread.h>
#include <stdbool.h>

#include "adapters/interpreter.h"
#include "module/profile.h"
#include "module/profiler_number.h"
#include "module/profiler_tool.h"

/* What a registration keeps; owned by it until `release`. */
struct client {
    pthread_mutex_t registering; /* nothing is called before that is done */
    hipadapt_profile_handle handle;
    PyObject *object; /* owned, as the next two */
    PyObject *make_setup;
    PyObject *make_output; /* from the handle of a child that collects */
};

/* ---- calls of the client ---- */

/* False while the interpreter ends: nothing of Python may be touched. */
static bool
enter(struct client *client, PyGILState_STATE *gil)
{
    if (ha_interpreter_over()) {
        return false;
    }
    (void)pthread_mutex_lock(&client->registering);
    (void)pthread_mutex_unlock(&client->registering);
    *gil = PyGILState_Ensure();
    return true;
}

/* Calls the method, where the object has it; `argument` is stolen, and NULL for none.
 */
static int
call_method(struct client *client, const char *name, PyObject *argument)
{
    PyObject *method = PyObject_GetAttrString(client->object, name);
    PyObject *result = NULL;

    if (method == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        Py_XDECREF(argument);
        return 0;
    }
    if (method != NULL) {
        result = argument != NULL ? PyObject_CallOneArg(method, argument)
                                  : PyObject_CallNoArgs(method);
    }
    if (result == NULL) {
        PyErr_WriteUnraisable(method != NULL ? method : client->object);
    }
    int failed = result == NULL;
    Py_XDECREF(result);
    Py_XDECREF(method);
    Py_XDECREF(argument);
    return failed;
}

/* Methods without an argument. */
static int
call_plain(void *context, const char *name)
{
    PyGILState_STATE gil;

    if (!enter(context, &gil)) {
        return 1;
    }
    int failed = call_method(context, name, NULL);
    PyGILState_Release(gil);
    return failed;
}

/* Methods with one, which is NULL with an exception where it could not be made. */
static int
call_with(struct client *client, const char *name, PyObject *argument)
{
    if (argument == NULL) {
        PyErr_WriteUnraisable(client->object);
        return 1;
    }
    return call_method(client, name, argument);
}

static int
set_up(struct client *client, const char *name,
       const struct hipadapt_profile_setup *setup)
{
    PyGILState_STATE gil;

    if (!enter(client, &gil)) {
        return 1;
    }
    int failed = call_with(client, name,
                           PyObject_CallFunction(client->make_setup, "KIi",
                                                 (unsigned long long)setup->request,
                                                 (unsigned)setup->detail,
                                                 setup->activities != 0));
    PyGILState_Release(gil);
    return failed;
}

static int
on_prepare(void *context, const struct hipadapt_profile_setup *setup)
{
    return set_up(context, "prepare", setup);
}

static int
on_configure(void *context, const struct hipadapt_profile_setup *setup)
{
    return set_up(context, "configure", setup);
}

static int
on_start(void *context)
{
    return call_plain(context, "start");
}

static int
on_stop(void *context)
{
    return call_plain(context, "stop");
}

static void
on_cancel(void *context)
{
    (void)call_plain(context, "cancel");
}

static int
on_step(void *context, int64_t iteration)
{
    PyGILState_STATE gil;

    if (!enter(context, &gil)) {
        return 1;
    }
    int failed = call_with(context, "step", PyLong_FromLongLong(iteration));
    PyGILState_Release(gil);
    return failed;
}

static int
on_collect(void *context)
{
    struct client *client = context;
    PyGILState_STATE gil;

    if (!enter(client, &gil)) {
        return 1;
    }
    int failed = call_with(client, "collect",
                           PyObject_CallFunction(client->make_output, "K",
                                                 (unsigned long long)client->handle));
    PyGILState_Release(gil);
    return failed;
}

/* Needs the GIL. */
static void
free_client(struct client *client)
{
    Py_DECREF(client->object);
    Py_DECREF(client->make_setup);
    Py_DECREF(client->make_output);
    (void)pthread_mutex_destroy(&client->registering);
    PyMem_RawFree(client);
}

static void
on_release(void *context)
{
    PyGILState_STATE gil;

    if (enter(context, &gil)) { /* else the interpreter's end leaves it */
        free_client(context);
        PyGILState_Release(gil);
    }
}

/* ---- registration ---- */

static enum hipadapt_profile_result
add(struct client *client, const char *name, int clock, int is_child)
{
    const struct hipadapt_profile_client own = {
        .size = sizeof own,
        .name = name,
        .clock = clock,
        .prepare = on_prepare,
        .start = on_start,
        .step = on_step,
        .stop = on_stop,
        .cancel = on_cancel,
        .release = on_release,
    };
    const struct hipadapt_profile_child child = {
        .size = sizeof child,
        .name = name,
        .clock = clock,
        .configure = on_configure,
        .start = on_start,
        .stop = on_stop,
        .collect = on_collect,
        .cancel = on_cancel,
        .release = on_release,
    };

    return is_child ? ha_tool->profile_register_child(&child, client, &client->handle)
                    : ha_tool->profile_register_client(&own, client, &client->handle);
}

static PyObject *
add_client(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *object, *make_setup, *make_output;
    const char *name;
    int clock, is_child;

    if (!PyArg_ParseTuple(args, "OOOsip:profile_register", &object, &make_setup,
                          &make_output, &name, &clock, &is_child) ||
        !ha_profiler_need_tool()) {
        return NULL;
    }
    struct client *client = PyMem_RawCalloc(1, sizeof *client);
    if (client == NULL) {
        return PyErr_NoMemory();
    }
    client->object = Py_NewRef(object);
    client->make_setup = Py_NewRef(make_setup);
    client->make_output = Py_NewRef(make_output);
    (void)pthread_mutex_init(&client->registering, NULL);
    /* Locked, so that no method runs and nothing is released before its end. */
    (void)pthread_mutex_lock(&client->registering);
    enum hipadapt_profile_result result = add(client, name, clock, is_child);
    hipadapt_profile_handle handle = client->handle;
    (void)pthread_mutex_unlock(&client->registering);
    if (result != HIPADAPT_PROFILE_OK) {
        free_client(client);
        return ha_profile_answer(result);
    }
    return PyLong_FromUnsignedLongLong(handle);
}

/* A number for "O&", of the function that `call` names. */
#define NUMBER(argument, kind, out)                                                    \
    HA_PROFILER_NUMBER(module, call, argument, kind, out)

static PyObject *
unregister(PyObject *module, PyObject *args)
{
    static const char call[] = "profile_unregister";
    enum hipadapt_profile_result result;
    uint64_t handle;

    if (!PyArg_ParseTuple(args, "O&:profile_unregister",
                          NUMBER("handle", HA_U64, &handle)) ||
        !ha_profiler_need_tool()) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    result = ha_tool->profile_unregister(handle);
    Py_END_ALLOW_THREADS
    return ha_profile_answer(result);
}

/* ---- what is handed over ---- */

static PyObject *
hand_over(PyObject *module, PyObject *args)
{
    static const char call[] = "ProfileClient.hand_over";
    struct hipadapt_profile_event event = {.size = sizeof event};
    uint64_t handle;

    if (!PyArg_ParseTuple(
            args, "O&sO&O&O&O&z:profile_hand_over", NUMBER("handle", HA_U64, &handle),
            &event.name, NUMBER("start", HA_U64, &event.start),
            NUMBER("end", HA_U64, &event.end), NUMBER("thread", HA_U32, &event.thread),
            NUMBER("external", HA_U64, &event.external), &event.args) ||
        !ha_profiler_need_tool()) {
        return NULL;
    }
    return ha_profile_answer(ha_tool->profile_hand_over(handle, &event));
}

static PyObject *
child_device(PyObject *module, PyObject *args)
{
    static const char call[] = "ProfileChild.device";
    const char *name, *properties;
    uint64_t handle;
    int device;

    if (!PyArg_ParseTuple(args, "O&O&sz:profile_child_device",
                          NUMBER("handle", HA_U64, &handle),
                          NUMBER("device", HA_I32, &device), &name, &properties) ||
        !ha_profiler_need_tool()) {
        return NULL;
    }
    return ha_profile_answer(
        ha_tool->profile_child_device(handle, device, name, properties));
}

static PyObject *
child_stream(PyObject *module, PyObject *args)
{
    static const char call[] = "ProfileChild.stream";
    uint64_t handle, stream;
    const char *name;
    int device;

    if (!PyArg_ParseTuple(args, "O&O&O&s:profile_child_stream",
                          NUMBER("handle", HA_U64, &handle),
                          NUMBER("device", HA_I32, &device),
                          NUMBER("stream", HA_U64, &stream), &name) ||
        !ha_profiler_need_tool()) {
        return NULL;
    }
    return ha_profile_answer(
        ha_tool->profile_child_stream(handle, device, stream, name));
}

static PyObject *
child_slice(PyObject *module, PyObject *args)
{
    static const char call[] = "ProfileChild.slice";
    struct hipadapt_profile_slice slice = {.size = sizeof slice};
    uint64_t handle;

    if (!PyArg_ParseTuple(args, "O&isO&O&O&O&O&O&O&z:profile_child_slice",
                          NUMBER("handle", HA_U64, &handle), &slice.kind, &slice.name,
                          NUMBER("start", HA_U64, &slice.start),
                          NUMBER("end", HA_U64, &slice.end),
                          NUMBER("thread", HA_U32, &slice.thread),
                          NUMBER("device", HA_I32, &slice.device),
                          NUMBER("stream", HA_U64, &slice.stream),
                          NUMBER("correlation", HA_U64, &slice.correlation),
                          NUMBER("external", HA_U64, &slice.external), &slice.args) ||
        !ha_profiler_need_tool()) {
        return NULL;
    }
    return ha_profile_answer(ha_tool->profile_child_slice(handle, &slice));
}

static PyObject *
child_metadata(PyObject *module, PyObject *args)
{
    static const char call[] = "ProfileChild.metadata";
    const char *key, *json;
    uint64_t handle;

    if (!PyArg_ParseTuple(args, "O&ss:profile_child_metadata",
                          NUMBER("handle", HA_U64, &handle), &key, &json) ||
        !ha_profiler_need_tool()) {
        return NULL;
    }
    return ha_profile_answer(ha_tool->profile_child_metadata(handle, key, json));
}

static PyObject *
now(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return ha_profiler_need_tool() ? PyLong_FromUnsignedLongLong(ha_tool->profile_now())
                                   : NULL;
}

static PyMethodDef methods[] = {
    {"profile_register", add_client, METH_VARARGS,
     "profile_register($module, client, make_setup, make_output, name, clock, is_child, "
     "/)\n--\n\nHandle of a client or child."},
    {"profile_unregister", unregister, METH_VARARGS,
     "profile_unregister($module, handle, /)\n--\n\nIt takes part no more."},
    {"profile_hand_over", hand_over, METH_VARARGS,
     "profile_hand_over($module, handle, name, start, end, thread, external, args, /)\n"
     "--\n\nAn operation of a client."},
    {"profile_child_device", child_device, METH_VARARGS,
     "profile_child_device($module, handle, device, name, properties, /)\n--\n\n"
     "A device of a child."},
    {"profile_child_stream", child_stream, METH_VARARGS,
     "profile_child_stream($module, handle, device, stream, name, /)\n--\n\n"
     "The name of a row."},
    {"profile_child_slice", child_slice, METH_VARARGS,
     "profile_child_slice($module, handle, kind, name, start, end, thread, device, "
     "stream, correlation, external, args, /)\n--\n\nSomething that took time."},
    {"profile_child_metadata", child_metadata, METH_VARARGS,
     "profile_child_metadata($module, handle, key, json, /)\n--\n\n"
     "An entry of the trace."},
    {"profile_now", now, METH_NOARGS,
     "profile_now($module, /)\n--\n\nCLOCK_BOOTTIME in nanoseconds."},
    {NULL, NULL, 0, NULL},
};

int
ha_profile_client_init(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
