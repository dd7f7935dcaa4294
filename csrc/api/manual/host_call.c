/* SPDX-License-Identifier: MIT */
#include "api/manual/host_call.h"

#include <stdatomic.h>

#include "api/call.h"
#include "api/generated/methods.h"
#include "api/generated/tables.h"
#include "api/hold.h"
#include "api/provider.h"

static ha_host_runner run;
static atomic_long call_count;

void
ha_host_set_runner(ha_host_runner runner)
{
    run = runner;
}

void
ha_host_call_free(struct ha_host_call *call)
{
    Py_XDECREF(call->callable);
    Py_XDECREF(call->user);
    Py_XDECREF(call->stream);
    Py_XDECREF(call->module);
    PyMem_RawFree(call);
    atomic_fetch_sub(&call_count, 1);
}

long
ha_host_call_count(void)
{
    return atomic_load(&call_count);
}

static void
host_function(void *context)
{
    run(context, 0);
}

static void
stream_callback(hipStream_t stream, hipError_t status, void *context)
{
    (void)stream;
    run(context, (int)status);
}

struct maker {
    void *trampoline;
    PyObject *user, *stream, *module; /* borrowed */
    struct ha_host_call *call; /* owned; NULL unless a Python callable was given */
};

/* For ha_callback_from: a Python callable becomes a call of ours. */
static int
make_call(void *context, PyObject *callable, void **function, PyObject **owner)
{
    struct maker *maker = context;
    struct ha_host_call *call = PyMem_RawCalloc(1, sizeof *call);

    if (call == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    call->callable = Py_NewRef(callable);
    call->user = Py_NewRef(maker->user);
    call->stream = Py_XNewRef(maker->stream);
    call->module = Py_NewRef(maker->module);
    atomic_fetch_add(&call_count, 1);
    maker->call = call;
    *function = maker->trampoline;
    *owner = NULL;
    return 0;
}

/* args: stream, function, user data; `flags` only for callbacks. */
static PyObject *
enqueue(PyObject *module, PyObject *const *args, const struct ha_where *where,
        bool callback, unsigned flags)
{
    struct ha_api *api = ha_api_of(module);
    PyObject *result = NULL;
    struct ha_view stream, function, user;
    struct maker maker = {NULL, args[2], callback ? args[0] : NULL, module, NULL};
    unsigned index =
        callback ? HA_FUNCTION_hipStreamCallback_t : HA_FUNCTION_hipHostFn_t;
    hipError_t status = hipErrorNotSupported;

    /* ISO C has no cast from function to object pointers; POSIX has (dlsym). */
    maker.trampoline = callback ? __extension__(void *) stream_callback
                                : __extension__(void *) host_function;
    ha_view_init(&stream);
    ha_view_init(&function);
    ha_view_init(&user);
    int ready = ha_provider_need(callback ? HA_CALL_hipStreamAddCallback
                                          : HA_CALL_hipLaunchHostFunc);
    if (ready < 0 ||
        ha_handle_from(&api->types, args[0], &where[0], HA_HANDLE_ihipStream_t,
                       &stream) < 0 ||
        ha_callback_from(&api->types, args[1], &where[1], index, make_call, &maker,
                         &function) < 0) {
        goto done;
    }
    /* A Python callable gets the object itself, so only C functions need an address. */
    if (maker.call == NULL &&
        ha_ptr_from(&api->types, args[2], &where[2], 0, &user) < 0) {
        goto done;
    }
    if (ready) {
        void *context = maker.call != NULL ? (void *)maker.call : user.ptr;
        PyThreadState *thread = PyEval_SaveThread();
        status = callback
                     ? ha_calls.hipStreamAddCallback(stream.ptr,
                                                     (hipStreamCallback_t)function.ptr,
                                                     context, flags)
                     : ha_calls.hipLaunchHostFunc(stream.ptr, (hipHostFn_t)function.ptr,
                                                  context);
        PyEval_RestoreThread(thread);
    }
    if (status == hipSuccess) {
        maker.call = NULL; /* the stream's now; it may have run and be gone */
        struct ha_view *views[] = {&function, &user};
        if (ha_hold_views(api, stream.ptr, views, 2) < 0) {
            goto done;
        }
    }
    if (PyErr_Occurred()) {
        goto done;
    }
    result = ha_hip_result(&api->enums, (int)status);
done:
    if (maker.call != NULL) {
        ha_host_call_free(maker.call);
    }
    ha_view_release(&user);
    ha_view_release(&function);
    ha_view_release(&stream);
    return result;
}

PyObject *
ha_wrap_hipLaunchHostFunc(PyObject *module, PyObject *const *args, Py_ssize_t count,
                          PyObject *keywords)
{
    static const struct ha_where where[] = {
        {"hipLaunchHostFunc", "stream"},
        {"hipLaunchHostFunc", "fn"},
        {"hipLaunchHostFunc", "userData"},
    };
    static const struct ha_signature signature = {1, {{3, where}, {0, NULL}}};
    PyObject *bound[3];

    if (keywords != NULL || count != 3) {
        if (ha_bind(&signature, args, count, keywords, bound) < 0) {
            return NULL;
        }
        args = bound;
    }
    return enqueue(module, args, where, false, 0);
}

PyObject *
ha_wrap_hipStreamAddCallback(PyObject *module, PyObject *const *args, Py_ssize_t count,
                             PyObject *keywords)
{
    static const struct ha_where where[] = {
        {"hipStreamAddCallback", "stream"},
        {"hipStreamAddCallback", "callback"},
        {"hipStreamAddCallback", "userData"},
        {"hipStreamAddCallback", "flags"},
    };
    static const struct ha_signature signature = {1, {{4, where}, {0, NULL}}};
    struct ha_api *api = ha_api_of(module);
    PyObject *bound[4];
    unsigned flags = 0;

    if (keywords != NULL || count != 4) {
        if (ha_bind(&signature, args, count, keywords, bound) < 0) {
            return NULL;
        }
        args = bound;
    }
    if (ha_arg_uint(&api->types, args[3], &where[3], &flags) < 0) {
        return NULL;
    }
    return enqueue(module, args, where, true, flags);
}
