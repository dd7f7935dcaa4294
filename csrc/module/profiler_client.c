/* SPDX-License-Identifier: MIT */
/* The profiler's library tells tools apart by the address of their configure function,
 * so there is a fixed number of these, each used once, but for tools that declined.
 * Configure and initialize run within rocprofiler_force_configure on the thread that
 * called it; what they raise is raised there.  Finalize runs when the tool or the
 * program ends. */
#include <Python.h>

#include "module/profiler_client.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/together.h"
#include "module/profiler_tool.h"
#include "module/profiler_wrap.h"

enum { CLIENTS_MAX = 64 };

struct client {
    bool used;
    bool asked;           /* configure was called: the function is known for good */
    bool names;           /* its context notes the names of kernels */
    PyObject *configure;  /* owned, as the next two; callables */
    PyObject *initialize; /* None: nothing to do */
    PyObject *finalize;
    PyObject *error[3]; /* owned; what one of them raised */
    char *name;         /* owned */
    rocprofiler_client_id_t *id;
    rocprofiler_client_finalize_t end;
    rocprofiler_tool_configure_result_t result;
};

/* `used` and `configure`: guard.  The rest is written by the threads on which the
 * library calls, one after the other, and `end` published. */
static struct client clients[CLIENTS_MAX];
static struct ha_guard guard;
static atomic_bool closed; /* Python is ending */

/* ---- what the profiler's library calls ---- */

static void
keep_error(struct client *client)
{
    PyErr_Fetch(&client->error[0], &client->error[1], &client->error[2]);
}

/* The configure callable's answer: None, or (name, initialize, finalize). */
static bool
accept_answer(struct client *client, PyObject *answer)
{
    const char *name = NULL;
    PyObject *initialize = NULL, *finalize = NULL;

    if (answer == Py_None) {
        return false;
    }
    if (!PyTuple_Check(answer) ||
        !PyArg_ParseTuple(answer, "sOO", &name, &initialize, &finalize)) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_TypeError, "configure: a tuple or None is expected");
        }
        return false;
    }
    client->name = strdup(name);
    if (client->name == NULL) {
        PyErr_NoMemory();
        return false;
    }
    client->initialize = Py_NewRef(initialize);
    client->finalize = Py_NewRef(finalize);
    return true;
}

static int initialize(rocprofiler_client_finalize_t end, void *data);
static void finalize(void *data);

static rocprofiler_tool_configure_result_t *
configure(int number, uint32_t version, const char *runtime, uint32_t priority,
          rocprofiler_client_id_t *id)
{
    struct client *client = &clients[number];
    bool accepted = false;

    PyGILState_STATE gil = PyGILState_Ensure();
    client->asked = true;
    client->id = id;
    PyObject *answer = PyObject_CallFunction(client->configure, "IzII", version,
                                             runtime, priority, id->handle);
    if (answer != NULL) {
        accepted = accept_answer(client, answer);
    }
    if (PyErr_Occurred()) {
        keep_error(client);
    }
    Py_XDECREF(answer);
    PyGILState_Release(gil);
    if (!accepted) {
        return NULL;
    }
    id->name = client->name;
    client->result = (rocprofiler_tool_configure_result_t){
        sizeof client->result, initialize, finalize, client};
    return &client->result;
}

/* 0, or what isn't; -1 with an exception.  Steals the result of the callable. */
static int
answer_of(PyObject *result)
{
    if (result == NULL || result == Py_None) {
        Py_XDECREF(result);
        return result == NULL ? -1 : 0;
    }
    int answer = PyObject_RichCompareBool(result, Py_False, Py_EQ) == 1 ? 0 : -1;
    if (!PyLong_Check(result)) {
        PyErr_Format(PyExc_TypeError,
                     "initialize: must return an int or None, not '%.200s'",
                     Py_TYPE(result)->tp_name);
        answer = -1;
    }
    Py_DECREF(result);
    return answer;
}

static int
initialize(rocprofiler_client_finalize_t end, void *data)
{
    struct client *client = data;
    int answer = 0;

    HA_PUBLISH(client->end, end);
    client->names = ha_tool->kernel_names_begin();
    PyGILState_STATE gil = PyGILState_Ensure();
    if (client->initialize != Py_None) {
        answer = answer_of(PyObject_CallNoArgs(client->initialize));
        if (PyErr_Occurred()) {
            keep_error(client);
        }
    }
    PyGILState_Release(gil);
    if (answer != 0 && client->names) {
        client->names = false;
        ha_tool->kernel_names_end();
    }
    return answer;
}

static void
forget_configure(struct client *client)
{
    ha_guard_take(&guard);
    PyObject *configure = client->configure;
    client->configure = NULL;
    ha_guard_give(&guard);
    Py_XDECREF(configure);
}

static void
finalize(void *data)
{
    struct client *client = data;

    if (atomic_load(&closed) || !Py_IsInitialized()) {
        return;
    }
    PyGILState_STATE gil = PyGILState_Ensure();
    if (client->names) {
        client->names = false;
        ha_tool->kernel_names_end();
    }
    if (client->finalize != NULL && client->finalize != Py_None) {
        PyObject *result = PyObject_CallNoArgs(client->finalize);
        if (result == NULL) {
            PyErr_WriteUnraisable(client->finalize);
        }
        Py_XDECREF(result);
    }
    HA_PUBLISH(client->end, NULL);
    forget_configure(client);
    Py_CLEAR(client->initialize);
    Py_CLEAR(client->finalize);
    PyGILState_Release(gil);
}

/* ---- the functions that are told apart ---- */

/* clang-format off */
#define EIGHT(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)
#define ALL(X) \
    EIGHT(X, 00) EIGHT(X, 01) EIGHT(X, 02) EIGHT(X, 03) \
    EIGHT(X, 04) EIGHT(X, 05) EIGHT(X, 06) EIGHT(X, 07)
/* clang-format on */

/* Numbers are octal. */
#define CONFIGURE(n)                                                                   \
    static rocprofiler_tool_configure_result_t *configure_##n(                         \
        uint32_t version, const char *runtime, uint32_t priority,                      \
        rocprofiler_client_id_t *id)                                                   \
    {                                                                                  \
        return configure(n, version, runtime, priority, id);                           \
    }
ALL(CONFIGURE)

#define ENTRY(n) configure_##n,
static const rocprofiler_configure_func_t functions[CLIENTS_MAX] = {ALL(ENTRY)};

/* ---- from Python ---- */

/* Takes a function that is no tool's for this callable; its number, or -1. */
static int
take_client(PyObject *callable)
{
    int number = -1;

    ha_guard_take(&guard);
    for (int i = 0; number < 0 && i < CLIENTS_MAX; i++) {
        number = clients[i].used ? -1 : i;
    }
    if (number >= 0) {
        clients[number] =
            (struct client){.used = true, .configure = Py_NewRef(callable)};
    }
    ha_guard_give(&guard);
    return number;
}

static void
give_client(struct client *client)
{
    ha_guard_take(&guard);
    client->used = false;
    ha_guard_give(&guard);
}

/* True once this function can be another tool's: nobody knows it, or it has declined
 * and the library is ours, which asks it again. */
static bool
is_free_again(const struct client *client)
{
    bool declined = client->asked && client->result.size == 0;

    return !client->asked || (declined && ha_tool->sdk->finalize != NULL);
}

/* A tool of these callables; NULL: all tools that the library finds. */
static PyObject *
configure_now(PyObject *module, int number, struct client *client)
{
    rocprofiler_status_t status;

    Py_BEGIN_ALLOW_THREADS
    status = ha_tool->sdk->force_configure(client != NULL ? functions[number] : NULL);
    Py_END_ALLOW_THREADS
    if (client != NULL && client->result.size == 0) {
        forget_configure(client);
        number = -1;
    }
    if (client != NULL && client->error[0] != NULL) {
        PyErr_Restore(client->error[0], client->error[1], client->error[2]);
        memset(client->error, 0, sizeof client->error);
    }
    if (client != NULL && is_free_again(client)) {
        give_client(client);
    }
    return PyErr_Occurred() ? NULL
                            : ha_result2(ha_profiler_member(module, (int)status),
                                         PyLong_FromLong(number));
}

static PyObject *
force_configure(PyObject *module, PyObject *callable)
{
    if (!ha_profiler_need()) {
        return NULL;
    }
    if (callable == Py_None) {
        return configure_now(module, -1, NULL);
    }
    int number = take_client(callable);
    if (number < 0) {
        int status = ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
        return ha_result2(ha_profiler_member(module, status), PyLong_FromLong(-1));
    }
    return configure_now(module, number, &clients[number]);
}

/* Ends a tool: what the library gives its initialize for that. */
static PyObject *
finalize_client(PyObject *Py_UNUSED(module), PyObject *argument)
{
    long number = PyLong_AsLong(argument);

    if (number == -1 && PyErr_Occurred()) {
        return NULL;
    }
    if (number < 0 || number >= CLIENTS_MAX || !HA_READ(clients[number].used)) {
        return PyErr_Format(PyExc_ValueError, "no tool %ld", number);
    }
    rocprofiler_client_finalize_t end = HA_READ(clients[number].end);
    if (end != NULL) { /* else it has ended, or was never initialized */
        Py_BEGIN_ALLOW_THREADS
        end(*clients[number].id);
        Py_END_ALLOW_THREADS
    }
    Py_RETURN_NONE;
}

static PyObject *
load_tool(PyObject *module, PyObject *path)
{
    rocprofiler_configure_func_t function = NULL;
    rocprofiler_status_t status = ROCPROFILER_STATUS_SUCCESS;
    const char *problem = NULL;
    PyObject *bytes = NULL;

    if (!ha_profiler_need() || !PyUnicode_FSConverter(path, &bytes)) {
        return NULL;
    }
    const char *name = PyBytes_AS_STRING(bytes);
    Py_BEGIN_ALLOW_THREADS
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    problem = library == NULL ? dlerror() : NULL;
    if (library != NULL) {
        *(void **)&function = dlsym(library, "rocprofiler_configure");
    }
    if (function != NULL) {
        status = ha_tool->sdk->force_configure(function);
    } else if (library != NULL) {
        (void)dlclose(library);
    }
    Py_END_ALLOW_THREADS
    if (problem != NULL) {
        PyErr_Format(PyExc_OSError, "load_tool: argument 'path': %s", problem);
    } else if (function == NULL) {
        PyErr_Format(PyExc_ValueError,
                     "load_tool: argument 'path': %s has no rocprofiler_configure",
                     name);
    }
    Py_DECREF(bytes);
    return PyErr_Occurred() ? NULL : ha_profiler_status(module, (int)status);
}

/* Ends all tools of our own library, and all of Python's in AMD's. */
static PyObject *
finalize_all(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    if (HA_READ(ha_tool) == NULL || !ha_tool->sdk->there) {
        Py_RETURN_NONE;
    }
    Py_BEGIN_ALLOW_THREADS
    if (ha_tool->sdk->finalize != NULL) {
        ha_tool->sdk->finalize();
    }
    for (int i = 0; i < CLIENTS_MAX; i++) {
        rocprofiler_client_finalize_t end = HA_READ(clients[i].end);
        if (end != NULL && ha_tool->sdk->finalize == NULL) {
            end(*clients[i].id);
        }
    }
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

/* From now on nothing calls Python. */
static PyObject *
close_all(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    atomic_store(&closed, true);
    Py_RETURN_NONE;
}

static PyObject *
library(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    if (!ha_profiler_need()) {
        return NULL;
    }
    PyObject *path = PyUnicode_DecodeFSDefault(ha_tool->sdk->path);
    return path != NULL
               ? Py_BuildValue("NO", path,
                               ha_tool->sdk->finalize != NULL ? Py_True : Py_False)
               : NULL;
}

static PyMethodDef methods[] = {
    {"profiler_force_configure", force_configure, METH_O,
     "profiler_force_configure($module, configure_func, /)\n--\n\n"
     "Status, and the number of the tool or -1.  None: the tools that are found."},
    {"profiler_finalize_client", finalize_client, METH_O,
     "profiler_finalize_client($module, number, /)\n--\n\nEnds a tool."},
    {"profiler_load_tool", load_tool, METH_O,
     "profiler_load_tool($module, path, /)\n--\n\nStatus of a library's configure."},
    {"profiler_finalize_all", finalize_all, METH_NOARGS,
     "profiler_finalize_all($module, /)\n--\n\nEnds all tools."},
    {"profiler_close", close_all, METH_NOARGS,
     "profiler_close($module, /)\n--\n\nNothing calls Python from now on."},
    {"profiler_library", library, METH_NOARGS,
     "profiler_library($module, /)\n--\n\nPath of the profiler's library; whether it "
     "is ours."},
    {NULL, NULL, 0, NULL},
};

int
ha_profiler_client_init(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
