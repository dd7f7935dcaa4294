/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "module/debug_tensor.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/allocation.h"
#include "adapters/array.h"
#include "adapters/format.h"
#include "adapters/message.h"
#include "adapters/pointer.h"
#include "api/api.h"
#include "api/generated/calls.h"
#include "api/pending.h"
#include "api/provider.h"
#include "core/readable.h"
#include "module/debug_staging.h"
#include "module/profiler_number.h"
#include "module/profiler_tool.h"

typedef hipadapt_debug_stream_payload_debug_tensor_read_t payload_t;

enum {
    TENSOR = HIPADAPT_DEBUG_STREAM_EVENT_TYPE_DEBUG_TENSOR_READ,
    DIMENSIONS = 8,
};

static const char function[] = "debug_tensor";
static const struct ha_where where = {function, "array"};

/* A tensor on its way.  A capsule owns it, which is kept until the stream has passed
 * it, or as long as the graph that it is part of. */
struct sending {
    const void *source;                    /* what the host function reads */
    _Atomic(struct ha_debug_block *) room; /* owned; NULL: given back */
    bool again;                            /* a node of a graph: any number of times */
    payload_t head;                        /* last: its data would follow */
};

/* ---- on a thread of the device ---- */

static void
send_now(const struct sending *sending)
{
    uint64_t bytes = sizeof(payload_t) + sending->head.tensor_data_size;
    int device = (int)sending->head.device;

    if (!ha_tool->debug_stream_admits(device, TENSOR, bytes)) {
        return;
    }
    payload_t *payload = malloc(bytes);
    if (payload != NULL) {
        memcpy(payload, &sending->head, sizeof *payload);
        memcpy(payload->tensor_data, sending->source, sending->head.tensor_data_size);
    }
    ha_tool->debug_stream_send(device, TENSOR, payload, bytes);
}

/* A host function: the copy that came before it in the stream is done. */
static void
come_by(void *data)
{
    struct sending *sending = data;

    if (sending->again) {
        send_now(sending);
        return;
    }
    send_now(sending);
    struct ha_debug_block *room = atomic_exchange(&sending->room, NULL);
    if (room != NULL) {
        (void)ha_debug_staging_give(room);
    }
}

/* ---- what is sent ---- */

/* The stream has passed it; or never will, because its device was reset. */
static void
capsule_end(PyObject *capsule)
{
    struct sending *sending = PyCapsule_GetPointer(capsule, function);
    struct ha_debug_block *room = atomic_exchange(&sending->room, NULL);

    if (room != NULL && ha_debug_staging_give(room) && !sending->again) {
        ha_tool->debug_stream_drop((int)sending->head.device, false);
    }
    free(sending);
}

static int
set_shape(payload_t *head, const struct ha_device_array *array)
{
    const char *name = ha_format_name(&array->format);

    if (name == NULL || strlen(name) >= sizeof head->tensor_dtype) {
        char text[HA_FORMAT_TEXT_CHARS];
        ha_format_typestr(&array->format, text);
        return ha_raise(PyExc_TypeError, &where,
                        "has elements that a debug stream has no dtype for: %s",
                        name != NULL ? name : text);
    }
    if (array->ndim > DIMENSIONS) {
        return ha_raise(PyExc_ValueError, &where,
                        "has %d dimensions, at most %d are possible", array->ndim,
                        (int)DIMENSIONS);
    }
    memcpy(head->tensor_dtype, name, strlen(name));
    head->tensor_shape[0] = 1;
    for (int i = 0; i < array->ndim; i++) {
        if (array->shape[i] == 0) {
            return ha_raise(PyExc_ValueError, &where,
                            "has no elements: dimension %d of its shape is 0", i);
        }
        head->tensor_shape[i] = (uint64_t)array->shape[i];
    }
    head->tensor_data_size = (uint64_t)ha_array_bytes(array);
    return 0;
}

/* Whether the memory of HIP that begins at `address` has so many bytes; HIP may not
 * know. */
static bool
is_within(void *address, uint64_t bytes)
{
    hipDeviceptr_t base = NULL;
    size_t size = 0;

    if (ha_calls.hipMemGetAddressRange == NULL) {
        return true;
    }
    if (ha_calls.hipMemGetAddressRange(&base, &size, address) != hipSuccess) {
        (void)ha_calls.hipGetLastError();
        return true;
    }
    return bytes <= size - (size_t)((char *)address - (char *)base);
}

/* What HIP knows of an address.  False: nothing.  `status` is that of a call that has
 * failed for another reason. */
static bool
find(const void *address, bool *host, hipError_t *status)
{
    hipPointerAttribute_t found;

    *status = ha_calls.hipPointerGetAttributes(&found, address);
    if (*status == hipErrorInvalidValue) {
        (void)ha_calls.hipGetLastError();
        *status = hipSuccess;
        return false;
    }
    *host = *status == hipSuccess && found.type == hipMemoryTypeHost;
    return *status != hipSuccess || *host || found.isManaged ||
           found.type == hipMemoryTypeDevice || found.type == hipMemoryTypeManaged;
}

/* The array's memory is there; `host` says whether host functions may read it. */
static int
look(const struct ha_device_array *array, bool *host, hipError_t *status)
{
    size_t bytes = (size_t)ha_array_bytes(array);
    void *address = array->base.ptr;

    *host = false;
    *status = hipSuccess;
    if (address == NULL) {
        return ha_raise(PyExc_ValueError, &where,
                        array->base.gone != 0 ? "has memory that was freed"
                                              : "is NULL");
    }
    *host = array->place == HA_PLACE_HOST || array->place == HA_PLACE_PINNED;
    if (*host) {
        return ha_memory_readable(address, bytes)
                   ? 0
                   : ha_raise(PyExc_ValueError, &where,
                              "is at %p, where %zu bytes can't be read", address,
                              bytes);
    }
    if (!find(address, host, status)) {
        return ha_raise(PyExc_ValueError, &where,
                        "is at %p, which is no memory of HIP's, or was freed", address);
    }
    if (*status == hipSuccess && !is_within(address, bytes)) {
        return ha_raise(PyExc_ValueError, &where,
                        "is at %p, where the allocation ends before its %zu bytes",
                        address, bytes);
    }
    return 0;
}

/* ---- on its way ---- */

/* 1: it has room; 0: the bound is reached; -1: an exception. */
static int
need_room(struct sending *sending, void *address, bool host)
{
    struct ha_debug_block *room = NULL;
    uint64_t bytes = sending->head.tensor_data_size;

    Py_BEGIN_ALLOW_THREADS
    room = host ? ha_debug_staging_count(sizeof *sending)
                : ha_debug_staging_take((size_t)bytes);
    Py_END_ALLOW_THREADS
    if (room == NULL && sending->again) {
        PyErr_Format(PyExc_MemoryError,
                     "%s: no memory is left for %llu bytes in a graph: "
                     "HIPADAPT_DEBUG_STREAM_BUFFER_BYTES is the bound",
                     function, (unsigned long long)bytes);
        return -1;
    }
    atomic_store(&sending->room, room);
    sending->source = host || room == NULL ? address : room->memory;
    return room != NULL;
}

/* What was put into the stream, and how the last call went. */
struct put {
    hipError_t status;
    const char *call;
    bool begun;
};

static struct put
put(struct sending *sending, void *address, hipStream_t stream)
{
    struct put put = {hipSuccess, "hipMemcpyAsync", false};

    if (sending->source != address) {
        put.status = ha_calls.hipMemcpyAsync(
            (void *)(uintptr_t)sending->source, address,
            (size_t)sending->head.tensor_data_size, hipMemcpyDefault, stream);
        put.begun = put.status == hipSuccess;
    }
    if (put.status == hipSuccess) {
        put.call = "hipLaunchHostFunc";
        put.status = ha_calls.hipLaunchHostFunc(stream, come_by, sending);
        put.begun = put.begun || put.status == hipSuccess;
    }
    return put;
}

/* What the memory needs until then.  Borrowed. */
static PyObject *
what_keeps(struct ha_types *types, const struct sending *sending, PyObject *owner)
{
    /* hipFree waits for the copy: it would do so where this is let go of. */
    return !sending->again && ha_allocation_waits(types, owner) ? Py_None : owner;
}

/* Takes `capsule` over; `owner` keeps the memory.  None, or status and name of a call
 * that failed. */
static PyObject *
put_and_hold(struct ha_api *api, PyObject *capsule, PyObject *owner, void *address,
             hipStream_t stream)
{
    struct sending *sending = PyCapsule_GetPointer(capsule, function);
    PyObject *held = PyTuple_Pack(2, capsule, what_keeps(&api->types, sending, owner));
    struct put done;

    Py_DECREF(capsule);
    if (held == NULL) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    done = put(sending, address, stream);
    Py_END_ALLOW_THREADS
    if (!done.begun) {
        sending->again = true; /* it was never on its way: no event is lost */
        Py_DECREF(held);
    } else if (ha_pending_add(api, stream, held) < 0) {
        return NULL;
    }
    return done.status == hipSuccess ? Py_NewRef(Py_None)
                                     : Py_BuildValue("is", (int)done.status, done.call);
}

static bool
is_captured(hipStream_t stream)
{
    bool captured;

    Py_BEGIN_ALLOW_THREADS
    captured = ha_stream_is_capturing(stream);
    Py_END_ALLOW_THREADS
    return captured;
}

static PyObject *
send_head(PyObject *module, const payload_t *head, const struct ha_device_array *array,
          PyObject *owner, hipStream_t stream)
{
    struct ha_api *api = ha_api_of(module);
    void *address = array->base.ptr;
    hipError_t status;
    bool host;

    ha_pending_reap(api, true);
    if (look(array, &host, &status) < 0) {
        return NULL;
    }
    if (status != hipSuccess) {
        return Py_BuildValue("is", (int)status, "hipPointerGetAttributes");
    }
    struct sending *sending = calloc(1, sizeof *sending);
    PyObject *capsule =
        sending != NULL ? PyCapsule_New(sending, function, capsule_end) : NULL;
    if (capsule == NULL) {
        free(sending);
        return sending == NULL ? PyErr_NoMemory() : NULL;
    }
    sending->head = *head;
    sending->again = is_captured(stream);
    int found = need_room(sending, address, host);
    if (found > 0) {
        return put_and_hold(api, capsule, owner, address, stream);
    }
    Py_DECREF(capsule);
    if (found < 0) {
        return NULL;
    }
    ha_tool->debug_stream_drop((int)head->device, true);
    Py_RETURN_NONE;
}

/* ---- functions ---- */

static int
need_device(int device)
{
    if (device >= 0 && device < HA_DEBUG_DEVICES_MAX) {
        return ha_profiler_need_tool() ? 0 : -1;
    }
    PyErr_Format(PyExc_ValueError, "%s: device %d has no debug stream", function,
                 device);
    return -1;
}

static PyObject *
wanted(PyObject *module, PyObject *number)
{
    static const struct ha_where device_where = {function, "device"};
    int device;

    if (ha_int_from(ha_types_of(module), number, &device_where, &device) < 0 ||
        need_device(device) < 0) {
        return NULL;
    }
    return PyBool_FromLong(ha_tool->debug_stream_admits(device, TENSOR, 0));
}

/* The array as it was seen; `owner` keeps its memory. */
static PyObject *
send_seen(PyObject *module, payload_t *head, const struct ha_device_array *array,
          PyObject *owner, hipStream_t stream)
{
    if (set_shape(head, array) < 0) {
        return NULL;
    }
    if (HA_READY(hipMemcpyAsync) <= 0 || HA_READY(hipLaunchHostFunc) <= 0 ||
        HA_READY(hipPointerGetAttributes) <= 0 || HA_READY(hipGetLastError) <= 0) {
        return PyErr_Occurred() != NULL ? NULL
                                        : Py_BuildValue("is", (int)hipErrorNotSupported,
                                                        "hipLaunchHostFunc");
    }
    if (!ha_tool->debug_stream_admits((int)head->device, TENSOR,
                                      sizeof *head + head->tensor_data_size)) {
        Py_RETURN_NONE;
    }
    return send_head(module, head, array, owner, stream);
}

static PyObject *
send_array(PyObject *module, payload_t *head, PyObject *array, hipStream_t stream)
{
    const struct ha_types *types = ha_types_of(module);
    struct ha_device_array seen;
    PyObject *result = NULL;

    if (ha_array_see(array, &seen) < 0) {
        return NULL;
    }
    PyObject *used = seen.base.owner;
    bool uses =
        used != NULL && Py_TYPE(used) == types->allocation && ha_allocation_use(used);
    PyObject *owner = ha_pointer_keeper(array, &seen.base);
    if (owner != NULL) {
        result = send_seen(module, head, &seen, owner, stream);
        Py_DECREF(owner);
    }
    if (uses) {
        ha_allocation_leave(used);
    }
    ha_array_unsee(&seen);
    return result;
}

static PyObject *
send(PyObject *module, PyObject *args)
{
    unsigned long long stream;
    PyObject *array, *prefix;
    payload_t head;
    int device;

    memset(&head, 0, sizeof head);
    if (!PyArg_ParseTuple(
            args, "OSO&KO&:debug_tensor_send", &array, &prefix,
            HA_PROFILER_NUMBER(module, function, "pipe", HA_U32, &head.pipe), &stream,
            HA_PROFILER_NUMBER(module, function, "device", HA_I32, &device)) ||
        need_device(device) < 0) {
        return NULL;
    }
    if (!ha_array_check(array)) {
        (void)ha_refuse(&where, "an array", array);
        return NULL;
    }
    size_t length = (size_t)PyBytes_GET_SIZE(prefix);
    if (length >= sizeof head.prefix) {
        PyErr_Format(PyExc_ValueError, "%s: argument 'prefix' has %zu bytes", function,
                     length);
        return NULL;
    }
    memcpy(head.prefix, PyBytes_AS_STRING(prefix), length);
    head.device = (uint32_t)device;
    return send_array(module, &head, array, (hipStream_t)(uintptr_t)stream);
}
static PyMethodDef methods[] = {
    {"debug_tensor_wanted", wanted, METH_O,
     "debug_tensor_wanted($module, device, /)\n--\n\nWhether a client is there."},
    {"debug_tensor_send", send, METH_VARARGS,
     "debug_tensor_send($module, array, prefix, pipe, stream, device, /)\n--\n\n"
     "None, or status and name of a call of HIP that failed."},
    {NULL, NULL, 0, NULL},
};

int
ha_debug_tensor_init(PyObject *module)
{
    return ha_debug_staging_init() < 0 ? -1 : PyModule_AddFunctions(module, methods);
}
