/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "module/debug_stream.h"

#include <stdlib.h>

#include "module/profiler_number.h"
#include "module/profiler_tool.h"
#include "module/state.h"

/* The payload of an event: a block of malloc as a buffer. */
struct payload {
    PyObject_HEAD;
    void *bytes; /* owned */
    Py_ssize_t size;
};

static void
payload_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    free(((struct payload *)self)->bytes);
    type->tp_free(self);
    Py_DECREF(type);
}

static int
payload_buffer(PyObject *self, Py_buffer *view, int flags)
{
    const struct payload *payload = (struct payload *)self;

    return PyBuffer_FillInfo(view, self, payload->bytes, payload->size, 0, flags);
}

static PyType_Slot payload_slots[] = {
    {Py_tp_dealloc, payload_dealloc},
    {Py_bf_getbuffer, payload_buffer},
    {Py_tp_doc, "The bytes of an event of a debug stream: a buffer."},
    {0, NULL},
};

static PyType_Spec payload_spec = {
    .name = "hipadapt._core.DebugPayload",
    .basicsize = sizeof(struct payload),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = payload_slots,
};

/* ---- statuses ---- */

static PyObject *
fail(const char *function, hipadapt_debug_stream_status_t status, const char *why)
{
    PyObject *type = PyExc_ValueError;

    if (status == HIPADAPT_DEBUG_STREAM_RESOURCE) {
        type = PyExc_OSError;
        why = "no memory or descriptor is left";
    }
    return PyErr_Format(type, "%s: %s", function, why);
}

/* ---- functions ---- */

static PyObject *
connect(PyObject *module, PyObject *args)
{
    static const char function[] = "DebugStream";
    uint32_t types[8];
    size_t count = 0;
    PyObject *given;
    int device, fd;

    if (!PyArg_ParseTuple(
            args, "O&O!:debug_stream_connect",
            HA_PROFILER_NUMBER(module, function, "device", HA_I32, &device),
            &PyTuple_Type, &given) ||
        !ha_profiler_need_tool()) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(given) && count < 8; i++) {
        const struct ha_where where = {function, "events"};
        if (ha_uint_from(ha_types_of(module), PyTuple_GET_ITEM(given, i), &where,
                         &types[count++]) < 0) {
            return NULL;
        }
    }
    hipadapt_debug_stream_status_t status =
        ha_tool->debug_stream_connect(device, types, count, &fd);
    if (status == HIPADAPT_DEBUG_STREAM_NOT_SUPPORTED) {
        return PyErr_Format(PyExc_NotImplementedError,
                            "%s: argument 'events': no device that is loaded has "
                            "events of kernels; only the CPU device does",
                            function);
    }
    return status == HIPADAPT_DEBUG_STREAM_SUCCESS
               ? PyLong_FromLong(fd)
               : fail(function, status, "the device has a client already");
}

/* None, or type and payload of the oldest event. */
static PyObject *
take(PyObject *module, PyObject *number)
{
    static const struct ha_where where = {"DebugStream.read_event", "fd"};
    hipadapt_debug_stream_event_header_t header;
    void *bytes;
    int fd;

    if (ha_int_from(ha_types_of(module), number, &where, &fd) < 0 ||
        !ha_profiler_need_tool()) {
        return NULL;
    }
    hipadapt_debug_stream_status_t status =
        ha_tool->debug_stream_read(fd, &header, &bytes);
    if (status == HIPADAPT_DEBUG_STREAM_QUEUE_EMPTY) {
        Py_RETURN_NONE;
    }
    if (status != HIPADAPT_DEBUG_STREAM_SUCCESS) {
        return fail(where.function, status,
                    status == HIPADAPT_DEBUG_STREAM_INVALID
                        ? "the stream is that of the parent process"
                        : "the stream is closed");
    }
    PyTypeObject *type = ha_profiler_state(module)->debug_payload;
    struct payload *payload = (struct payload *)type->tp_alloc(type, 0);
    if (payload == NULL) {
        free(bytes);
        return NULL;
    }
    payload->bytes = bytes;
    payload->size = (Py_ssize_t)header.data_size;
    return Py_BuildValue("kN", (unsigned long)header.type, payload);
}

static PyObject *
disconnect(PyObject *module, PyObject *number)
{
    static const struct ha_where where = {"DebugStream.close", "fd"};
    int fd;

    if (ha_int_from(ha_types_of(module), number, &where, &fd) < 0 ||
        !ha_profiler_need_tool()) {
        return NULL;
    }
    ha_tool->debug_stream_close(fd);
    Py_RETURN_NONE;
}

static PyObject *
counts(PyObject *module, PyObject *number)
{
    static const struct ha_where where = {"DebugStream.counts", "device"};
    hipadapt_debug_stream_counts_t now = {.size = sizeof now};
    int device;

    if (ha_int_from(ha_types_of(module), number, &where, &device) < 0 ||
        !ha_profiler_need_tool()) {
        return NULL;
    }
    hipadapt_debug_stream_status_t status = ha_tool->debug_stream_count(device, &now);
    if (status != HIPADAPT_DEBUG_STREAM_SUCCESS) {
        return fail(where.function, status, "there is no such device");
    }
    return Py_BuildValue("KKKKKKK", (unsigned long long)now.queued,
                         (unsigned long long)now.bytes, (unsigned long long)now.read,
                         (unsigned long long)now.full, (unsigned long long)now.large,
                         (unsigned long long)now.closed,
                         (unsigned long long)now.failed);
}

static PyMethodDef methods[] = {
    {"debug_stream_connect", connect, METH_VARARGS,
     "debug_stream_connect($module, device, types, /)\n--\n\nA descriptor."},
    {"debug_stream_read", take, METH_O,
     "debug_stream_read($module, fd, /)\n--\n\nType and payload, or None."},
    {"debug_stream_close", disconnect, METH_O,
     "debug_stream_close($module, fd, /)\n--\n\nCloses the connection."},
    {"debug_stream_counts", counts, METH_O,
     "debug_stream_counts($module, device, /)\n--\n\nFields of DebugCounts."},
    {NULL, NULL, 0, NULL},
};

int
ha_debug_stream_init(PyObject *module)
{
    struct ha_profiler_state *state = ha_profiler_state(module);

    state->debug_payload =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &payload_spec, NULL);
    if (state->debug_payload == NULL ||
        PyModule_AddObjectRef(module, "DebugPayload",
                              (PyObject *)state->debug_payload) < 0) {
        return -1;
    }
    return PyModule_AddFunctions(module, methods);
}
