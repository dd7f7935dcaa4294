/* SPDX-License-Identifier: MIT */
/* Wrappers' side of host functions: from a Python callable to a ticket and a
 * trampoline, for graphs and for streams. */
#include "api/manual/host_function.h"

#include "adapters/adapter.h"
#include "adapters/function.h"
#include "adapters/handle.h"
#include "adapters/message.h"
#include "adapters/types.h"
#include "adapters/view.h"
#include "api/api.h"
#include "api/call.h"
#include "api/enums.h"
#include "api/generated/calls.h"
#include "api/generated/wrappers.h"
#include "api/generated/tables.h"
#include "api/hold.h"
#include "api/let_go.h"
#include "api/manual/host_call.h"
#include "api/manual/host_ticket.h"
#include "api/pending.h"
#include "api/provider.h"

#define CAPSULE_NAME "hipadapt.host_function"

/* ISO C has no cast from function to object pointers; POSIX has (dlsym). */
#define FUNCTION_ADDRESS(name) (__extension__(void *)(name))

static void *
context_of(uint64_t ticket)
{
    return (void *)(uintptr_t)ticket;
}

/* ---- host functions of graphs ---- */

static void
owner_end(PyObject *capsule)
{
    ha_host_ticket_end(
        (uint64_t)(uintptr_t)PyCapsule_GetPointer(capsule, CAPSULE_NAME));
}

struct target_maker {
    PyObject *user, *module; /* borrowed */
    enum ha_host_use use;
    uint64_t ticket; /* 0 unless a Python callable was given */
};

static int
make_target(void *context, PyObject *callable, void **function, PyObject **owner)
{
    struct target_maker *maker = context;
    const struct ha_host_call call = {
        .callable = callable, .user = maker->user, .module = maker->module};
    int device = HA_HOST_NO_DEVICE;

    if (ha_calls.hipGetDevice != NULL && ha_calls.hipGetDevice(&device) != hipSuccess) {
        device = HA_HOST_NO_DEVICE;
    }
    maker->ticket = ha_host_ticket_new(&call, maker->use, device);
    if (maker->ticket == 0) {
        return -1;
    }
    *owner = NULL;
    *function = FUNCTION_ADDRESS(ha_host_trampoline);
    if (maker->use == HA_HOST_ONCE) {
        return 0;
    }
    *owner = PyCapsule_New(context_of(maker->ticket), CAPSULE_NAME, owner_end);
    if (*owner == NULL) {
        ha_host_ticket_end(maker->ticket);
        return -1;
    }
    return 0;
}

static int
target_from(struct ha_api *api, PyObject *function, PyObject *user,
            const struct ha_where *where_function, const struct ha_where *where_user,
            enum ha_host_use use, struct ha_host_target *out)
{
    struct target_maker maker = {.user = user, .module = api->types.module, .use = use};
    struct ha_view function_view, user_view;
    PyObject *owner = NULL, *user_owner = NULL;
    int result = -1;

    ha_view_init(&function_view);
    ha_view_init(&user_view);
    if (ha_callback_from(&api->types, function, where_function, HA_FUNCTION_hipHostFn_t,
                         make_target, &maker, &function_view) < 0 ||
        (maker.ticket == 0 &&
         ha_ptr_from(&api->types, user, where_user, 0, &user_view) < 0)) {
        goto done;
    }
    /* It is called later, on a thread of the device. */
    if (maker.ticket == 0 && ha_need_memory(&function_view, where_function, 1, 1) < 0) {
        goto done;
    }
    void *context = maker.ticket != 0 ? context_of(maker.ticket) : user_view.ptr;
    hipHostFn_t address = (hipHostFn_t)function_view.ptr;
    owner = ha_view_hold(&api->types, &function_view);
    if (owner == NULL) {
        goto done;
    }
    if (maker.ticket == 0) {
        user_owner = ha_view_hold(&api->types, &user_view);
        PyObject *both = user_owner != NULL ? PyTuple_Pack(2, owner, user_owner) : NULL;
        Py_SETREF(owner, both);
        if (owner == NULL) {
            goto done;
        }
    }
    *out = (struct ha_host_target){
        .function = address, .context = context, .owner = owner};
    result = 0;
done:
    Py_XDECREF(user_owner);
    ha_view_release(&user_view);
    ha_view_release(&function_view);
    return result;
}

int
ha_host_target_from(struct ha_api *api, PyObject *function, PyObject *user,
                    const struct ha_where *where_function,
                    const struct ha_where *where_user, struct ha_host_target *out)
{
    return target_from(api, function, user, where_function, where_user, HA_HOST_MANY,
                       out);
}

int
ha_host_once_from(struct ha_api *api, PyObject *function, PyObject *user,
                  const struct ha_where *where_function,
                  const struct ha_where *where_user, struct ha_host_target *out)
{
    return target_from(api, function, user, where_function, where_user, HA_HOST_ONCE,
                       out);
}

void
ha_host_once_cancel(const struct ha_host_target *target)
{
    if (target->function == ha_host_trampoline) {
        ha_host_ticket_end((uint64_t)(uintptr_t)target->context);
    }
}

/* ---- host functions of streams ---- */

struct maker {
    void *trampoline;
    PyObject *user, *stream_object, *module; /* borrowed */
    hipStream_t stream;
    uint64_t ticket; /* 0 unless a Python callable was given */
};

/* Named streams (default, legacy, per thread) belong to the thread's device. */
static bool
is_named(hipStream_t stream)
{
    return (uintptr_t)stream <= 2;
}

static int
device_of(hipStream_t stream)
{
    int device = HA_HOST_NO_DEVICE;

    if (!is_named(stream) && ha_calls.hipGetStreamDeviceId != NULL) {
        device = ha_calls.hipGetStreamDeviceId(stream);
    }
    if (device < 0 && ha_calls.hipGetDevice != NULL &&
        ha_calls.hipGetDevice(&device) != hipSuccess) {
        device = HA_HOST_NO_DEVICE;
    }
    return device;
}

/* For ha_callback_from: a Python callable gets a ticket.  What is captured becomes part
 * of a graph, which calls it as often as it is launched. */
static int
make_ticket(void *context, PyObject *callable, void **function, PyObject **owner)
{
    struct maker *maker = context;
    const struct ha_host_call call = {.callable = callable,
                                      .user = maker->user,
                                      .stream = maker->stream_object,
                                      .module = maker->module};
    bool captured = false;

    Py_BEGIN_ALLOW_THREADS
    captured = ha_stream_is_capturing(maker->stream);
    Py_END_ALLOW_THREADS
    maker->ticket = ha_host_ticket_new(&call, captured ? HA_HOST_MANY : HA_HOST_ONCE,
                                       HA_HOST_NO_DEVICE);
    if (maker->ticket == 0) {
        return -1;
    }
    *function = maker->trampoline;
    *owner = NULL;
    return 0;
}

typedef hipError_t (*callback_call)(hipStream_t, hipStreamCallback_t, void *, unsigned);
typedef hipError_t (*function_call)(hipStream_t, hipHostFn_t, void *);

/* args: stream, function, user data; `flags` only for callbacks. */
static PyObject *
enqueue(PyObject *module, PyObject *const *args, const struct ha_where *where,
        enum ha_call call, unsigned flags)
{
    bool callback = call == HA_CALL_hipStreamAddCallback ||
                    call == HA_CALL_hipStreamAddCallback_spt;
    struct ha_api *api = ha_api_of(module);
    PyObject *result = NULL;
    struct ha_view stream, function, user;
    struct maker maker = {
        .user = args[2], .stream_object = callback ? args[0] : NULL, .module = module};
    unsigned index =
        callback ? HA_FUNCTION_hipStreamCallback_t : HA_FUNCTION_hipHostFn_t;
    hipError_t status = hipErrorNotSupported;

    maker.trampoline = callback ? FUNCTION_ADDRESS(ha_host_trampoline_callback)
                                : FUNCTION_ADDRESS(ha_host_trampoline);
    ha_view_init(&stream);
    ha_view_init(&function);
    ha_view_init(&user);
    int ready = ha_provider_need(call);
    if (ready < 0 || ha_handle_from(&api->types, args[0], &where[0],
                                    HA_HANDLE_ihipStream_t, &stream) < 0) {
        goto done;
    }
    maker.stream = stream.ptr;
    if (ha_callback_from(&api->types, args[1], &where[1], index, make_ticket, &maker,
                         &function) < 0) {
        goto done;
    }
    /* A Python callable gets the object itself, so only C functions need an address. */
    if (maker.ticket == 0 &&
        (ha_need_memory(&function, &where[1], 1, 1) < 0 ||
         ha_ptr_from(&api->types, args[2], &where[2], 0, &user) < 0)) {
        goto done;
    }
    if (ready) {
        void *context = maker.ticket != 0 ? context_of(maker.ticket) : user.ptr;
        int device = HA_HOST_NO_DEVICE;
        PyThreadState *thread = ha_let_go();
        void *address = ((void **)&ha_calls)[call];
        status = callback ? ((callback_call)address)(stream.ptr,
                                                     (hipStreamCallback_t)function.ptr,
                                                     context, flags)
                          : ((function_call)address)(
                                stream.ptr, (hipHostFn_t)function.ptr, context);
        if (status == hipSuccess && maker.ticket != 0) {
            device = device_of(stream.ptr);
        }
        ha_take_back(thread);
        ha_host_ticket_set_device(maker.ticket, device);
    }
    if (status == hipSuccess) {
        maker.ticket = 0; /* the stream's now; it may have run and be over */
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
    if (maker.ticket != 0) {
        ha_host_ticket_end(maker.ticket);
    }
    ha_view_release(&user);
    ha_view_release(&function);
    ha_view_release(&stream);
    return result;
}

static PyObject *
host_func(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *keywords,
          const struct ha_where *where, enum ha_call call)
{
    PyObject *bound[3];

    if (keywords != NULL || count != 3) {
        if (ha_bind(where, 3, args, count, keywords, bound) < 0) {
            return NULL;
        }
        args = bound;
    }
    return enqueue(module, args, where, call, 0);
}

static PyObject *
add_callback(PyObject *module, PyObject *const *args, Py_ssize_t count,
             PyObject *keywords, const struct ha_where *where, enum ha_call call)
{
    PyObject *bound[4];
    unsigned flags = 0;

    if (keywords != NULL || count != 4) {
        if (ha_bind(where, 4, args, count, keywords, bound) < 0) {
            return NULL;
        }
        args = bound;
    }
    if (ha_arg_uint(ha_types_of(module), args[3], &where[3], &flags) < 0) {
        return NULL;
    }
    return enqueue(module, args, where, call, flags);
}

#define HOST_FUNC(name)                                                                \
    PyObject *ha_wrap_##name(PyObject *module, PyObject *const *args,                  \
                             Py_ssize_t count, PyObject *keywords)                     \
    {                                                                                  \
        static struct ha_where where[3];                                               \
        ha_where_names(where, 3, #name "\0stream\0fn\0userData");                      \
        return host_func(module, args, count, keywords, where, HA_CALL_##name);        \
    }

#define ADD_CALLBACK(name)                                                             \
    PyObject *ha_wrap_##name(PyObject *module, PyObject *const *args,                  \
                             Py_ssize_t count, PyObject *keywords)                     \
    {                                                                                  \
        static struct ha_where where[4];                                               \
        ha_where_names(where, 4, #name "\0stream\0callback\0userData\0flags");         \
        return add_callback(module, args, count, keywords, where, HA_CALL_##name);     \
    }

HOST_FUNC(hipLaunchHostFunc)
HOST_FUNC(hipLaunchHostFunc_spt)
ADD_CALLBACK(hipStreamAddCallback)
ADD_CALLBACK(hipStreamAddCallback_spt)
