/* SPDX-License-Identifier: MIT */
/* hipadapt._core: the native module behind the Python package. */
#include <Python.h>

#include <poll.h>
#include <stdio.h>

#include "adapters/state.h"
#include "adapters/together.h"
#include "api/lookup.h"
#include "api/manual/host_call.h"
#include "api/provider.h"
#include "api/raising.h"
#include "api/state.h"
#include "core/clock.h"
#include "module/annotate.h"
#include "module/callback.h"
#include "module/check.h"
#include "module/debug_stream.h"
#include "module/debug_tensor.h"
#include "module/environment.h"
#include "module/verbose.h"
#include "module/kernel.h"
#include "module/profile.h"
#include "module/profiler.h"
#include "module/state.h"

#define EXIT_LIMIT_NS (2ULL * 1000 * 1000 * 1000)
#define EXIT_STEP_MS 1

static struct module_state *
state_of(PyObject *module)
{
    return PyModule_GetState(module);
}

static PyStructSequence_Field provider_fields[] = {
    {"name", "'amd', 'cpu' or 'path'"},
    {"path", "file of the HIP library"},
    {"version", "version of the runtime, as major.minor.patch"},
    {"why", "one sentence: why this one"},
    {"tried", "tuple of the places that did not do, with the reason"},
    {NULL, NULL},
};

static PyStructSequence_Desc provider_desc = {
    .name = "hipadapt.Provider",
    .doc = "The library that all HIP calls go to.",
    .fields = provider_fields,
    .n_in_sequence = 5,
};

static const char *
kind_name(enum ha_provider_kind kind)
{
    switch (kind) {
    case HA_PROVIDER_AMD:
        return "amd";
    case HA_PROVIDER_CPU:
        return "cpu";
    case HA_PROVIDER_PATH:
        return "path";
    case HA_PROVIDER_NONE:
        break;
    }
    return "none";
}

static PyObject *
tried_tuple(const char *tried)
{
    PyObject *result = NULL, *list = NULL;
    PyObject *text = PyUnicode_DecodeFSDefault(tried);
    PyObject *gap = PyUnicode_FromString("; ");

    if (text != NULL && gap != NULL && tried[0] == '\0') {
        result = PyTuple_New(0);
    } else if (text != NULL && gap != NULL) {
        list = PyUnicode_Split(text, gap, -1);
        result = list != NULL ? PyList_AsTuple(list) : NULL;
    }
    Py_XDECREF(list);
    Py_XDECREF(gap);
    Py_XDECREF(text);
    return result;
}

static PyObject *
core_provider(PyObject *module, PyObject *Py_UNUSED(none))
{
    const struct ha_provider *provider = ha_provider_get();
    if (provider == NULL) {
        return NULL;
    }
    PyObject *result = PyStructSequence_New(state_of(module)->provider_type);
    if (result == NULL) {
        return NULL;
    }
    int version = provider->version;
    PyObject *items[] = {
        PyUnicode_FromString(kind_name(provider->kind)),
        PyUnicode_DecodeFSDefault(provider->path),
        PyUnicode_FromFormat("%d.%d.%d", version / 10000000, version / 100000 % 100,
                             version % 100000),
        PyUnicode_FromString(provider->why),
        tried_tuple(provider->tried),
    };
    bool complete = true;
    for (Py_ssize_t i = 0; i < 5; i++) {
        complete = complete && items[i] != NULL;
        PyStructSequence_SetItem(result, i, items[i]); /* steals, NULL included */
    }
    if (!complete) {
        Py_CLEAR(result);
    }
    return result;
}

static PyObject *
core_error_text(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    const char *text = ha_provider_error_text();

    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *
core_has_symbol(PyObject *Py_UNUSED(module), PyObject *name)
{
    const char *text = PyUnicode_AsUTF8(name);

    if (text == NULL || ha_provider_get() == NULL) {
        return NULL;
    }
    void **slots = (void **)&ha_calls;
    for (int call = 0; call < HA_CALL_COUNT; call++) {
        if (strcmp(ha_call_name((enum ha_call)call), text) == 0) {
            return PyBool_FromLong(slots[call] != NULL);
        }
    }
    return PyBool_FromLong(ha_provider_symbol(text) != NULL);
}

static PyObject *
core_lookup(PyObject *module, PyObject *args)
{
    const char *home = NULL, *name = NULL;

    if (!PyArg_ParseTuple(args, "ss:lookup", &home, &name)) {
        return NULL;
    }
    return ha_api_lookup(module, home, name);
}

static PyObject *
core_names(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *home = NULL;

    return PyArg_ParseTuple(args, "s:names", &home) ? ha_api_names(home) : NULL;
}

static PyObject *
core_pending(PyObject *module, PyObject *Py_UNUSED(none))
{
    return PyLong_FromSsize_t(HA_READ(ha_api_of(module)->pending.count));
}

/* An object frees the memory at this address. */
static PyObject *
core_own_memory(PyObject *Py_UNUSED(module), PyObject *address)
{
    const struct ha_provider *provider = ha_provider_loaded();
    void *ptr = PyLong_AsVoidPtr(address);

    if (ptr == NULL && PyErr_Occurred()) {
        return NULL;
    }
    if (provider != NULL && provider->owns != NULL) {
        provider->owns(ptr);
    }
    Py_RETURN_NONE;
}

/* Work in flight gets a moment to end, because its memory and callables are Python's.
 * What is not done by then is left alone for good. Callables that wait are called until
 * the provider is shut down. */
static PyObject *
core_shutdown(PyObject *module, PyObject *Py_UNUSED(none))
{
    struct ha_api *api = ha_api_of(module);
    const struct ha_provider *provider = ha_provider_loaded();
    uint64_t end = ha_clock_ns() + EXIT_LIMIT_NS;

    if (provider == NULL) {
        Py_RETURN_NONE;
    }
    /* Others release what they hold later, when the interpreter ends; the CPU device
     * shuts itself down at exit. */
    bool ours = provider->shutdown != NULL && !ha_provider_shared();
    ha_pending_reap(api, false);
    /* Work of a failed device is not waited for. The CPU device sees itself to
     * callables that wait. */
    while (((ha_pending_any(&api->pending) && HA_READ(api->pending.waits)) ||
            (!ours && ha_host_call_count() > 0)) &&
           ha_clock_ns() < end) {
        Py_BEGIN_ALLOW_THREADS
        poll(NULL, 0, EXIT_STEP_MS);
        Py_END_ALLOW_THREADS
        ha_pending_reap(api, false);
    }
    /* Where it is shared, objects are still freed when the interpreter ends, which
     * waits for kernels: for ever, if one never ends. */
    void (*end_work)(void) = ours ? provider->shutdown : provider->drain;
    if (end_work != NULL) {
        Py_BEGIN_ALLOW_THREADS
        end_work();
        Py_END_ALLOW_THREADS
    }
    ha_callback_close(end);
    ha_host_calls_end();
    ha_pending_abandon(api);
    Py_RETURN_NONE;
}

static PyObject *
core_in_host_function(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return PyBool_FromLong(ha_host_inside());
}

static PyObject *
core_call_later(PyObject *Py_UNUSED(module), PyObject *callable)
{
    if (!PyCallable_Check(callable)) {
        return PyErr_Format(PyExc_TypeError, "call_later: a callable, not '%.200s'",
                            Py_TYPE(callable)->tp_name);
    }
    ha_host_call_later(Py_NewRef(callable));
    Py_RETURN_NONE;
}

/* Two threads that close an object at once don't both end what it owns. */
static PyObject *
core_take(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *object = NULL, *name = NULL, *value = NULL;

    if (!PyArg_ParseTuple(args, "OU:take", &object, &name)) {
        return NULL;
    }
    HA_BEGIN_SECTION(object);
    value = PyObject_GetAttr(object, name);
    if (value != NULL && PyObject_SetAttr(object, name, Py_None) < 0) {
        Py_CLEAR(value);
    }
    HA_END_SECTION();
    return value;
}

static PyObject *
core_finish_imports(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    if (ha_provider_finish_imports() < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* Class of the streams whose attribute `handle` launches read. */
static PyObject *
core_set_stream_class(PyObject *module, PyObject *class)
{
    PyObject *old = HA_SWAP(state_of(module)->kernel.stream_class, Py_NewRef(class));

    Py_XDECREF(old);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(take_doc, "take($module, object, name, /)\n--\n\n"
                       "An attribute's value, and None in its place, in one step.");
PyDoc_STRVAR(provider_doc,
             "provider($module, /)\n--\n\n"
             "The library that all HIP calls go to; loads it if need be.");
PyDoc_STRVAR(error_text_doc,
             "error_text($module, /)\n--\n\n"
             "What the provider says about this thread's last failure, or ''.");
PyDoc_STRVAR(has_symbol_doc,
             "has_symbol($module, name, /)\n--\n\n"
             "Whether the loaded HIP runtime has the function of that name.");
PyDoc_STRVAR(in_host_function_doc,
             "in_host_function($module, /)\n--\n\n"
             "Whether this thread runs a host function, where HIP refuses calls.");
PyDoc_STRVAR(call_later_doc,
             "call_later($module, callable, /)\n--\n\n"
             "Has it called without arguments soon, outside of host functions.");

static PyMethodDef methods[] = {
    {"provider", core_provider, METH_NOARGS, provider_doc},
    {"error_text", core_error_text, METH_NOARGS, error_text_doc},
    {"has_symbol", core_has_symbol, METH_O, has_symbol_doc},
    {"lookup", core_lookup, METH_VARARGS, NULL},
    {"names", core_names, METH_VARARGS, NULL},
    {"pending", core_pending, METH_NOARGS, NULL},
    {"take", core_take, METH_VARARGS, take_doc},
    {"own_memory", core_own_memory, METH_O, NULL},
    {"shutdown", core_shutdown, METH_NOARGS, NULL},
    {"finish_imports", core_finish_imports, METH_NOARGS, NULL},
    {"in_host_function", core_in_host_function, METH_NOARGS, in_host_function_doc},
    {"call_later", core_call_later, METH_O, call_later_doc},
    {"set_stream_class", core_set_stream_class, METH_O, NULL},
    {"kernel_parameters", ha_kernel_parameters, METH_O, NULL},
    {"kernel_report", ha_kernel_report, METH_O, NULL},
    {"environment_faults", ha_environment_faults, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

/* Registered before any user's handler, so that it runs after those. */
static int
register_shutdown(PyObject *module)
{
    int result = -1;
    PyObject *exits = NULL, *function = NULL, *done = NULL;

    exits = PyImport_ImportModule("atexit");
    if (exits == NULL) {
        goto done;
    }
    function = PyObject_GetAttrString(module, "shutdown");
    if (function == NULL) {
        goto done;
    }
    done = PyObject_CallMethod(exits, "register", "O", function);
    result = done != NULL ? 0 : -1;
done:
    Py_XDECREF(done);
    Py_XDECREF(function);
    Py_XDECREF(exits);
    return result;
}

static int
register_before_fork(PyObject *module)
{
    int result = -1;
    PyObject *os = NULL, *method = NULL, *function = NULL;
    PyObject *none = NULL, *keywords = NULL, *done = NULL;

    os = PyImport_ImportModule("os");
    if (os == NULL) {
        goto done;
    }
    method = PyObject_GetAttrString(os, "register_at_fork");
    function = PyObject_GetAttrString(module, "finish_imports");
    if (method == NULL || function == NULL) {
        goto done;
    }
    none = PyTuple_New(0);
    keywords = Py_BuildValue("{sO}", "before", function);
    if (none == NULL || keywords == NULL) {
        goto done;
    }
    done = PyObject_Call(method, none, keywords);
    result = done != NULL ? 0 : -1;
done:
    Py_XDECREF(done);
    Py_XDECREF(keywords);
    Py_XDECREF(none);
    Py_XDECREF(function);
    Py_XDECREF(method);
    Py_XDECREF(os);
    return result;
}

/* A process has one provider, whose end comes with that of one interpreter, and its
 * threads call into one. */
static int
refuse_subinterpreters(void)
{
    if (PyInterpreterState_Get() == PyInterpreterState_Main()) {
        return 0;
    }
    PyErr_SetString(PyExc_ImportError,
                    "hipadapt works in the main interpreter only, not in "
                    "sub-interpreters; use processes or threads");
    return -1;
}

/* It hears of the end of workers by itself. */
static int
import_workers(void)
{
    PyObject *workers = PyImport_ImportModule("hipadapt._workers");

    Py_XDECREF(workers);
    return workers != NULL ? 0 : -1;
}

static int
core_exec(PyObject *module)
{
    struct module_state *state = state_of(module);

    if (refuse_subinterpreters() < 0 || ha_api_init(module) < 0) {
        return -1;
    }
    state->provider_type = PyStructSequence_NewType(&provider_desc);
    if (state->provider_type == NULL ||
        PyModule_AddObjectRef(module, "Provider", (PyObject *)state->provider_type) <
            0) {
        return -1;
    }
    PyObject *record = (PyObject *)state->api.types.record;
    PyObject *handle = (PyObject *)state->api.types.handle;
    PyObject *function = (PyObject *)state->api.types.function;
    if (PyModule_AddObjectRef(module, "Record", record) < 0 ||
        PyModule_AddObjectRef(module, "Handle", handle) < 0 ||
        PyModule_AddObjectRef(module, "FunctionPointer", function) < 0) {
        return -1;
    }
    PyObject *raising = ha_raising_type_new(module);
    int added = PyModule_AddObjectRef(module, "RaisingFunction", raising);
    Py_XDECREF(raising);
    if (added < 0 || ha_kernel_init(module, &state->kernel) < 0 ||
        ha_profiler_init(module) < 0 || ha_profile_init(module) < 0 ||
        ha_annotate_init(module) < 0 || ha_debug_stream_init(module) < 0 ||
        ha_debug_tensor_init(module) < 0 || ha_verbose_init(module) < 0 ||
        ha_check_init(module) < 0 || ha_callback_open() < 0) {
        return -1;
    }
    if (register_shutdown(module) < 0 || register_before_fork(module) < 0) {
        return -1;
    }
    return import_workers();
}

static int
core_traverse(PyObject *module, visitproc visit, void *arg)
{
    struct module_state *state = state_of(module);

    if (state == NULL) {
        return 0;
    }
    Py_VISIT(state->provider_type);
    int status = ha_kernel_state_traverse(&state->kernel, visit, arg);
    if (status == 0) {
        status = ha_profiler_traverse(&state->profiler, visit, arg);
    }
    if (status != 0) {
        return status;
    }
    return ha_api_traverse(&state->api, visit, arg);
}

static int
core_clear(PyObject *module)
{
    struct module_state *state = state_of(module);

    if (state != NULL) {
        Py_CLEAR(state->provider_type);
        ha_kernel_state_clear(&state->kernel);
        ha_profiler_clear(&state->profiler);
        ha_api_clear(&state->api);
    }
    return 0;
}

static void
core_free(void *module)
{
    struct module_state *state = state_of(module);

    (void)core_clear(module);
    if (state != NULL) {
        ha_adapters_free(&state->api.types);
    }
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, core_exec},
#if PY_VERSION_HEX >= 0x030D0000
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "hipadapt._core",
    .m_doc = "Adapter types, every HIP and hiprtc call, and the provider loader.",
    .m_size = sizeof(struct module_state),
    .m_methods = methods,
    .m_slots = slots,
    .m_traverse = core_traverse,
    .m_clear = core_clear,
    .m_free = core_free,
};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC
PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}
