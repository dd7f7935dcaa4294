/* SPDX-License-Identifier: MIT */
#include "api/manual/host_call.h"

#include <stdatomic.h>

#include "api/call.h"
#include "api/generated/methods.h"
#include "api/generated/tables.h"
#include "api/hold.h"
#include "api/provider.h"
#include "core/thread.h"

#define TABLE_FIRST_COUNT 64u
#define NO_DEVICE (-1) /* not known */
#define EVERY_DEVICE (-2)
#define CAPSULE_NAME "hipadapt.host_function"

enum ticket_use { TICKET_FREE, TICKET_ONCE, TICKET_MANY };

/* Ticket = generation << 32 | index. The generation begins with 1 and counts uses of
 * the entry; an entry whose generation would begin anew is used no more. */
struct entry {
    struct ha_host_call call; /* owned references; none in a free entry */
    enum ticket_use use;
    uint32_t generation;
    uint32_t next_free; /* index + 1 of another free entry; 0 = none */
    int device;         /* or NO_DEVICE */
};

struct later {
    struct later *next;
    PyObject *object; /* owned */
    bool call;
};

/* The GIL guards all but the atomics. */
static struct {
    struct entry *entries; /* owned */
    uint32_t count;
    uint32_t first_free; /* index + 1; 0 = none */
    long once_count;     /* entries with TICKET_ONCE */
} table;

static struct {
    struct later *first, *last; /* owned */
    bool working;               /* a thread works it off */
    atomic_bool scheduled;      /* the main thread has been asked to */
    atomic_bool postponed;      /* it was inside a host function then */
} list;

static ha_host_runner runner;
static atomic_bool forked; /* the table is that of the parent process */
static _Thread_local unsigned inside_depth;

/* ---- what is over ---- */

static int
work_off(void *Py_UNUSED(context))
{
    atomic_store(&list.scheduled, false);
    if (inside_depth > 0) {
        atomic_store(&list.postponed, true);
    } else {
        ha_host_release_now();
    }
    return 0;
}

/* Where Python's queue of such calls is full, the next one that asks gets more luck. */
static void
schedule(void)
{
    if (!atomic_exchange(&list.scheduled, true) &&
        Py_AddPendingCall(work_off, NULL) < 0) {
        atomic_store(&list.scheduled, false);
    }
}

static void
finish(PyObject *object, bool call)
{
    PyObject *type, *value, *traceback;

    PyErr_Fetch(&type, &value, &traceback);
    if (call) {
        PyObject *result = PyObject_CallNoArgs(object);
        if (result == NULL) {
            PyErr_WriteUnraisable(object);
        }
        Py_XDECREF(result);
    }
    Py_DECREF(object);
    PyErr_Restore(type, value, traceback);
}

static void
later(PyObject *object, bool call)
{
    struct later *item = PyMem_Malloc(sizeof *item);

    if (item == NULL) {
        finish(object, call);
        return;
    }
    *item = (struct later){.object = object, .call = call};
    if (list.last != NULL) {
        list.last->next = item;
    } else {
        list.first = item;
    }
    list.last = item;
    schedule();
}

void
ha_host_call_later(PyObject *callable)
{
    later(callable, true);
}

void
ha_host_release_later(PyObject *object)
{
    if (inside_depth > 0) {
        later(object, false);
    } else {
        Py_DECREF(object);
    }
}

void
ha_host_release_now(void)
{
    if (inside_depth > 0 || list.working) {
        return; /* what finalizers add is found by the loop that runs them */
    }
    list.working = true;
    while (list.first != NULL) {
        struct later *item = list.first;
        list.first = item->next;
        if (list.first == NULL) {
            list.last = NULL;
        }
        PyObject *object = item->object;
        bool call = item->call;
        PyMem_Free(item);
        finish(object, call);
    }
    list.working = false;
}

bool
ha_host_inside(void)
{
    return inside_depth > 0;
}

void
ha_host_enter(void)
{
    inside_depth++;
}

void
ha_host_leave(void)
{
    inside_depth--;
    if (inside_depth == 0 && atomic_exchange(&list.postponed, false)) {
        schedule();
    }
}

/* ---- tickets ---- */

void
ha_host_call_drop(struct ha_host_call *call)
{
    PyObject *objects[] = {call->callable, call->user, call->stream, call->module};

    *call = (struct ha_host_call){.callable = NULL};
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) {
        if (objects[i] != NULL) {
            ha_host_release_later(objects[i]);
        }
    }
}

/* Frees the entry and hands its references to `call`. */
static void
entry_end(uint32_t index, struct ha_host_call *call)
{
    struct entry *entry = &table.entries[index];

    *call = entry->call;
    entry->call = (struct ha_host_call){.callable = NULL};
    table.once_count -= entry->use == TICKET_ONCE;
    entry->use = TICKET_FREE;
    entry->generation++;
    if (entry->generation != 0) {
        entry->next_free = table.first_free;
        table.first_free = index + 1;
    }
}

/* Ends the tickets of a device, or all. Dropping runs finalizers, which may
 * make tickets, so the table is looked up anew each time. */
static void
end_all(int device)
{
    for (uint32_t i = 0; i < table.count; i++) {
        struct ha_host_call call;
        if (table.entries[i].use != TICKET_FREE &&
            (device == EVERY_DEVICE || table.entries[i].device == device)) {
            entry_end(i, &call);
            ha_host_call_drop(&call);
        }
    }
}

/* A forked child has its parent's tickets, but no device that would call them. */
static void
check_fork(void)
{
    if (atomic_exchange(&forked, false)) {
        list.working = false;
        end_all(EVERY_DEVICE);
    }
}

static void
after_fork_child(void)
{
    atomic_store(&forked, true);
    atomic_store(&list.scheduled, false);
}

/* The entry of a ticket in use, or NULL. */
static struct entry *
entry_of(uint64_t ticket)
{
    uint32_t index = (uint32_t)ticket, generation = (uint32_t)(ticket >> 32);

    check_fork();
    if (index >= table.count || table.entries[index].use == TICKET_FREE ||
        table.entries[index].generation != generation) {
        return NULL;
    }
    return &table.entries[index];
}

static int
table_grow(void)
{
    uint32_t count = table.count > 0 ? table.count * 2 : TABLE_FIRST_COUNT;
    struct entry *grown = NULL;

    if (count > table.count) {
        grown = PyMem_Realloc(table.entries, count * sizeof *grown);
    }
    if (grown == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (uint32_t i = count; i-- > table.count;) {
        grown[i] = (struct entry){.generation = 1, .next_free = table.first_free};
        table.first_free = i + 1;
    }
    table.entries = grown;
    table.count = count;
    return 0;
}

/* Takes new references to what is in `call`. 0 = exception. */
static uint64_t
ticket_new(const struct ha_host_call *call, enum ticket_use use, int device)
{
    if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
        PyErr_SetString(PyExc_RuntimeError,
                        "Python callables as host functions work in the main "
                        "interpreter only");
        return 0;
    }
    check_fork();
    ha_host_release_now();
    if (table.first_free == 0 && table_grow() < 0) {
        return 0;
    }
    uint32_t index = table.first_free - 1;
    struct entry *entry = &table.entries[index];
    table.first_free = entry->next_free;
    entry->call.callable = Py_NewRef(call->callable);
    entry->call.user = Py_NewRef(call->user);
    entry->call.stream = Py_XNewRef(call->stream);
    entry->call.module = Py_NewRef(call->module);
    entry->use = use;
    entry->device = device;
    table.once_count += use == TICKET_ONCE;
    return (uint64_t)entry->generation << 32 | index;
}

static void
ticket_end(uint64_t ticket)
{
    struct entry *entry = entry_of(ticket);
    struct ha_host_call call;

    if (entry != NULL) {
        entry_end((uint32_t)ticket, &call);
        ha_host_call_drop(&call);
    }
}

bool
ha_host_call_take(uint64_t ticket, struct ha_host_call *call)
{
    struct entry *entry = entry_of(ticket);

    if (entry == NULL) {
        return false;
    }
    if (entry->use == TICKET_ONCE) {
        entry_end((uint32_t)ticket, call);
    } else {
        *call = entry->call;
        Py_INCREF(call->callable);
        Py_INCREF(call->user);
        Py_XINCREF(call->stream);
        Py_INCREF(call->module);
    }
    return true;
}

long
ha_host_call_count(void)
{
    check_fork();
    return table.once_count;
}

void
ha_host_calls_reset(void)
{
    int device = NO_DEVICE;

    if (table.count > 0 && ha_calls.hipGetDevice != NULL &&
        ha_calls.hipGetDevice(&device) == hipSuccess && device >= 0) {
        end_all(device);
    }
}

void
ha_host_calls_end(void)
{
    end_all(EVERY_DEVICE);
    ha_host_release_now();
    PyMem_Free(table.entries);
    table.entries = NULL;
    table.count = 0;
    table.first_free = 0;
}

int
ha_host_set_runner(ha_host_runner function)
{
    if (ha_fork_register(after_fork_child) != HA_OK) {
        PyErr_SetString(PyExc_RuntimeError, ha_error_text());
        return -1;
    }
    runner = function;
    return 0;
}

/* ---- what HIP calls ---- */

static void
host_function(void *context)
{
    runner((uint64_t)(uintptr_t)context, 0);
}

static void
stream_callback(hipStream_t Py_UNUSED(stream), hipError_t status, void *context)
{
    runner((uint64_t)(uintptr_t)context, (int)status);
}

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
    ticket_end((uint64_t)(uintptr_t)PyCapsule_GetPointer(capsule, CAPSULE_NAME));
}

struct target_maker {
    PyObject *user, *module; /* borrowed */
    enum ticket_use use;
    uint64_t ticket; /* 0 unless a Python callable was given */
};

static int
make_target(void *context, PyObject *callable, void **function, PyObject **owner)
{
    struct target_maker *maker = context;
    const struct ha_host_call call = {
        .callable = callable, .user = maker->user, .module = maker->module};
    int device = NO_DEVICE;

    if (ha_calls.hipGetDevice != NULL && ha_calls.hipGetDevice(&device) != hipSuccess) {
        device = NO_DEVICE;
    }
    maker->ticket = ticket_new(&call, maker->use, device);
    if (maker->ticket == 0) {
        return -1;
    }
    *owner = NULL;
    *function = FUNCTION_ADDRESS(host_function);
    if (maker->use == TICKET_ONCE) {
        return 0;
    }
    *owner = PyCapsule_New(context_of(maker->ticket), CAPSULE_NAME, owner_end);
    if (*owner == NULL) {
        ticket_end(maker->ticket);
        return -1;
    }
    return 0;
}

static int
target_from(struct ha_api *api, PyObject *function, PyObject *user,
            const struct ha_where *where_function, const struct ha_where *where_user,
            enum ticket_use use, struct ha_host_target *out)
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
    return target_from(api, function, user, where_function, where_user, TICKET_MANY,
                       out);
}

int
ha_host_once_from(struct ha_api *api, PyObject *function, PyObject *user,
                  const struct ha_where *where_function,
                  const struct ha_where *where_user, struct ha_host_target *out)
{
    return target_from(api, function, user, where_function, where_user, TICKET_ONCE,
                       out);
}

void
ha_host_once_cancel(const struct ha_host_target *target)
{
    if (target->function == host_function) {
        ticket_end((uint64_t)(uintptr_t)target->context);
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
    int device = NO_DEVICE;

    if (!is_named(stream) && ha_calls.hipGetStreamDeviceId != NULL) {
        device = ha_calls.hipGetStreamDeviceId(stream);
    }
    if (device < 0 && ha_calls.hipGetDevice != NULL &&
        ha_calls.hipGetDevice(&device) != hipSuccess) {
        device = NO_DEVICE;
    }
    return device;
}

/* What is captured becomes part of a graph, which calls it as often as it is launched.
 */
static bool
is_capturing(hipStream_t stream)
{
    hipStreamCaptureStatus status = hipStreamCaptureStatusNone;

    return stream != NULL && ha_calls.hipStreamIsCapturing != NULL &&
           ha_calls.hipStreamIsCapturing(stream, &status) == hipSuccess &&
           status == hipStreamCaptureStatusActive;
}

/* For ha_callback_from: a Python callable gets a ticket. */
static int
make_ticket(void *context, PyObject *callable, void **function, PyObject **owner)
{
    struct maker *maker = context;
    const struct ha_host_call call = {.callable = callable,
                                      .user = maker->user,
                                      .stream = maker->stream_object,
                                      .module = maker->module};
    bool captured = false;

    Py_BEGIN_ALLOW_THREADS captured = is_capturing(maker->stream);
    Py_END_ALLOW_THREADS maker->ticket =
        ticket_new(&call, captured ? TICKET_MANY : TICKET_ONCE, NO_DEVICE);
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

    maker.trampoline =
        callback ? FUNCTION_ADDRESS(stream_callback) : FUNCTION_ADDRESS(host_function);
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
        ha_ptr_from(&api->types, args[2], &where[2], 0, &user) < 0) {
        goto done;
    }
    if (ready) {
        void *context = maker.ticket != 0 ? context_of(maker.ticket) : user.ptr;
        int device = NO_DEVICE;
        PyThreadState *thread = PyEval_SaveThread();
        void *address = ((void **)&ha_calls)[call];
        status = callback ? ((callback_call)address)(stream.ptr,
                                                     (hipStreamCallback_t)function.ptr,
                                                     context, flags)
                          : ((function_call)address)(
                                stream.ptr, (hipHostFn_t)function.ptr, context);
        if (status == hipSuccess && maker.ticket != 0) {
            device = device_of(stream.ptr);
        }
        PyEval_RestoreThread(thread);
        struct entry *entry = entry_of(maker.ticket);
        if (entry != NULL) {
            entry->device = device;
        }
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
        ticket_end(maker.ticket);
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
