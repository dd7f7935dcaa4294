/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "module/profiler_batch.h"

#include <stdlib.h>
#include <structmember.h>

#include "module/profiler_text.h"
#include "module/profiler_tool.h"

/* Names, formats of the struct module and descriptions, in the order of struct
 * ha_event. */
#define FIELDS(X)                                                                      \
    X(kind, "H", "number of the kind")                                                 \
    X(phase, "H", "1 load, 2 end or unload, 0 neither")                                \
    X(operation, "i", "number of the operation, among those of the kind")              \
    X(result, "i", "what the call returned")                                           \
    X(thread, "I", "gettid() of the thread that called")                               \
    X(correlation, "Q", "same number for a call and the work that it caused")          \
    X(ancestor, "Q", "correlation of the call that made this call, or 0")              \
    X(external, "Q", "identifier that was pushed, or 0")                               \
    X(start, "Q", "ns of CLOCK_BOOTTIME")                                              \
    X(end, "Q", "ns of CLOCK_BOOTTIME")                                                \
    X(name, "I", "kernel, code object or message; number for name_text()")             \
    X(device, "i", "number of the device, -1: the host or none")                       \
    X(stream, "Q", "number of the stream, as the profiler has it")                     \
    X(bytes, "Q", "bytes copied, allocated or loaded")                                 \
    X(object, "Q", "number of the kernel or code object")                              \
    X(address, "Q", "target of a copy, memory, or place of code; form of a kernel")    \
    X(source, "Q", "source of a copy; code object of a kernel")                        \
    X(grid, "(3)I", "threads of the whole grid")                                       \
    X(block, "(3)H", "threads of a block")                                             \
    X(source_device, "h", "device that a copy comes from")                             \
    X(shared, "I", "bytes of shared memory of a block")

#define FORMAT(field, format, text) format ":" #field ":"
static char event_format[] = "T{" FIELDS(FORMAT) "}";

enum {
#define COUNT(field, format, text) FIELD_##field,
    FIELDS(COUNT)
#undef COUNT
        FIELD_arguments,
    FIELD_COUNT,
};

static PyStructSequence_Field event_fields[] = {
#define DESCRIBE(field, format, text) {#field, text},
    FIELDS(DESCRIBE)
#undef DESCRIBE
        {"arguments", "dict of names and texts, or None"},
    {NULL, NULL},
};

static PyStructSequence_Desc event_desc = {
    .name = "hipadapt.rocprofiler.Event",
    .doc = "One event of a profiler.",
    .fields = event_fields,
    .n_in_sequence = FIELD_COUNT,
};

/* ---- one event ---- */

static PyObject *
arguments_dict(const char *text)
{
    PyObject *dict = PyDict_New();

    while (dict != NULL && text[0] != '\0') {
        const char *value = text + strlen(text) + 1;
        PyObject *object = ha_profiler_text(value);
        if (object == NULL || PyDict_SetItemString(dict, text, object) < 0) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(object);
        text = value + strlen(value) + 1;
    }
    return dict;
}

static PyObject *
three(unsigned long x, unsigned long y, unsigned long z)
{
    return Py_BuildValue("kkk", x, y, z);
}

/* `texts`: `object` of a call is the text of its arguments. */
static PyObject *
event_object(PyTypeObject *type, const struct ha_trace_event *event, bool texts)
{
    PyObject *made = PyStructSequence_New(type);
    bool text = texts && event->object != 0;

    if (made == NULL) {
        return NULL;
    }
    PyObject *items[FIELD_COUNT] = {
        [FIELD_kind] = PyLong_FromLong(event->kind),
        [FIELD_phase] = PyLong_FromLong(event->phase),
        [FIELD_operation] = PyLong_FromLong(event->operation),
        [FIELD_result] = PyLong_FromLong(event->result),
        [FIELD_thread] = PyLong_FromUnsignedLong(event->thread),
        [FIELD_correlation] = PyLong_FromUnsignedLongLong(event->correlation),
        [FIELD_ancestor] = PyLong_FromUnsignedLongLong(event->ancestor),
        [FIELD_external] = PyLong_FromUnsignedLongLong(event->external),
        [FIELD_start] = PyLong_FromUnsignedLongLong(event->start),
        [FIELD_end] = PyLong_FromUnsignedLongLong(event->end),
        [FIELD_name] = ha_profiler_text(ha_tool->name_text(event->name)),
        [FIELD_device] = PyLong_FromLong(event->device),
        [FIELD_stream] = PyLong_FromUnsignedLongLong(event->stream),
        [FIELD_bytes] = PyLong_FromUnsignedLongLong(event->bytes),
        [FIELD_object] = PyLong_FromUnsignedLongLong(text ? 0 : event->object),
        [FIELD_address] = PyLong_FromUnsignedLongLong(event->address),
        [FIELD_source] = PyLong_FromUnsignedLongLong(event->source),
        [FIELD_grid] = three(event->grid[0], event->grid[1], event->grid[2]),
        [FIELD_block] = three(event->block[0], event->block[1], event->block[2]),
        [FIELD_source_device] = PyLong_FromLong(event->source_device),
        [FIELD_shared] = PyLong_FromUnsignedLong(event->shared),
        [FIELD_arguments] = text
                                ? arguments_dict((const char *)(uintptr_t)event->object)
                                : Py_NewRef(Py_None),
    };
    bool complete = true;
    for (Py_ssize_t i = 0; i < FIELD_COUNT; i++) {
        complete = complete && items[i] != NULL;
        PyStructSequence_SetItem(made, i, items[i]); /* steals, NULL included */
    }
    if (!complete) {
        Py_CLEAR(made);
    }
    return made;
}

/* ---- batches ---- */

struct batch {
    PyObject_HEAD;
    struct ha_trace_event *events; /* owned */
    Py_ssize_t count;
    unsigned long long lost;
    bool texts;
    PyTypeObject *event_type; /* owned */
    Py_ssize_t stride;
};

/* Calls are the kinds whose `object` is text. */
static bool
has_text(const struct ha_trace_event *event)
{
    return event->kind != ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH &&
           event->kind != ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT &&
           event->kind != ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION;
}

static void
free_events(struct ha_trace_event *events, size_t count, bool texts)
{
    for (size_t i = 0; texts && i < count; i++) {
        if (has_text(&events[i])) {
            free((void *)(uintptr_t)events[i].object);
        }
    }
    free(events);
}

PyObject *
ha_batch_new(const struct ha_profiler_state *state, struct ha_trace_event *events,
             size_t count, uint64_t lost, bool texts)
{
    struct batch *batch = (struct batch *)state->batch->tp_alloc(state->batch, 0);

    if (batch == NULL) {
        free_events(events, count, texts);
        return NULL;
    }
    batch->events = events;
    batch->count = (Py_ssize_t)count;
    batch->lost = lost;
    batch->texts = texts;
    batch->event_type = (PyTypeObject *)Py_NewRef(state->event);
    batch->stride = sizeof *events;
    return (PyObject *)batch;
}

static void
batch_dealloc(PyObject *self)
{
    struct batch *batch = (struct batch *)self;
    PyTypeObject *type = Py_TYPE(self);

    free_events(batch->events, (size_t)batch->count, batch->texts);
    Py_XDECREF(batch->event_type);
    type->tp_free(self);
    Py_DECREF(type);
}

static int
batch_buffer(PyObject *self, Py_buffer *view, int flags)
{
    static struct ha_trace_event nothing;
    struct batch *batch = (struct batch *)self;

    if (batch->texts) {
        PyErr_SetString(PyExc_BufferError,
                        "events with arguments are given one by one");
        view->obj = NULL;
        return -1;
    }
    *view = (Py_buffer){
        .buf = batch->events != NULL ? batch->events : &nothing,
        .obj = Py_NewRef(self),
        .len = batch->count * batch->stride,
        .itemsize = batch->stride,
        .ndim = 1,
        .format = (flags & PyBUF_FORMAT) == PyBUF_FORMAT ? event_format : NULL,
        .shape = (flags & PyBUF_ND) == PyBUF_ND ? &batch->count : NULL,
        .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? &batch->stride : NULL,
    };
    return 0;
}

Py_ssize_t
ha_batch_length(PyObject *self)
{
    return ((struct batch *)self)->count;
}

PyObject *
ha_batch_event(PyObject *self, Py_ssize_t index)
{
    const struct batch *batch = (struct batch *)self;

    if (index < 0 || index >= batch->count) {
        return PyErr_Format(PyExc_IndexError, "EventBatch: no event %zd of %zd", index,
                            batch->count);
    }
    const struct ha_trace_event *event = &batch->events[index];
    return event_object(batch->event_type, event, batch->texts && has_text(event));
}

static PyObject *
batch_repr(PyObject *self)
{
    const struct batch *batch = (struct batch *)self;

    return PyUnicode_FromFormat("<EventBatch of %zd events, %llu lost before>",
                                batch->count, batch->lost);
}

static PyMemberDef batch_members[] = {
    {"lost", T_ULONGLONG, offsetof(struct batch, lost), READONLY,
     "Events that found no room since the batch before."},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot batch_slots[] = {
    {Py_tp_dealloc, batch_dealloc},
    {Py_tp_repr, batch_repr},
    {Py_tp_members, batch_members},
    {Py_bf_getbuffer, batch_buffer},
    {Py_tp_iter, PySeqIter_New},
    {Py_sq_length, ha_batch_length},
    {Py_sq_item, ha_batch_event},
    {Py_tp_doc, "Events of a profiler: a sequence, and a buffer of records."},
    {0, NULL},
};

static PyType_Spec batch_spec = {
    .name = "hipadapt.rocprofiler.EventBatch",
    .basicsize = sizeof(struct batch),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = batch_slots,
};

static int
add_type(PyObject *module, const char *name, PyTypeObject *type)
{
    return type != NULL ? PyModule_AddObjectRef(module, name, (PyObject *)type) : -1;
}

int
ha_profiler_batch_init(PyObject *module, struct ha_profiler_state *state)
{
    state->event = PyStructSequence_NewType(&event_desc);
    state->batch = (PyTypeObject *)PyType_FromModuleAndSpec(module, &batch_spec, NULL);
    if (add_type(module, "Event", state->event) < 0 ||
        add_type(module, "EventBatch", state->batch) < 0) {
        return -1;
    }
    return PyModule_AddStringConstant(module, "event_format", event_format);
}
