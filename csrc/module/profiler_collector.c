/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "module/profiler_collector.h"

#include <poll.h>
#include <stdbool.h>
#include <structmember.h>

#include "adapters/together.h"
#include "core/clock.h"
#include "module/profiler_batch.h"
#include "module/profiler_number.h"
#include "module/profiler_tool.h"
#include "module/state.h"

#define SETTLE_NS UINT64_C(500000000)

enum {
    BATCH_EVENTS_MAX = 1 << 16,
    BUSY_STEP_MS = 1,
};

struct collector {
    PyObject_HEAD;
    PyObject *module;           /* owned */
    struct ha_collector *plain; /* owned, until the library has it */
    PyObject *on_batch;         /* owned; NULL: none */
    PyObject *on_event;         /* owned; NULL: none */
    /* In a critical section, as the two above: */
    uint64_t told;       /* of the lost ones */
    bool busy;           /* somebody gives events */
    unsigned long owner; /* that thread */
};

struct ha_collector *
ha_collector_of(PyObject *module, PyObject *object)
{
    return Py_IS_TYPE(object, ha_profiler_state(module)->collector)
               ? ((struct collector *)object)->plain
               : NULL;
}

static struct ha_collector_state
look(PyObject *self)
{
    struct ha_collector_state state;

    ha_tool->collector_look(((struct collector *)self)->plain, &state);
    return state;
}

static PyObject *
collector_make(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"watermark", "limit", "arguments", NULL};
    PyObject *module = PyType_GetModule(type);
    uint32_t watermark = 0;
    uint64_t limit = 0;
    int arguments = 0;

    if (!PyArg_ParseTupleAndKeywords(
            args, kwargs, "O&O&|p:EventCollector", names,
            HA_PROFILER_NUMBER(module, "EventCollector", "watermark", HA_U32,
                               &watermark),
            HA_PROFILER_NUMBER(module, "EventCollector", "limit", HA_U64, &limit),
            &arguments)) {
        return NULL;
    }
    if (watermark == 0 || limit == 0) {
        PyErr_SetString(PyExc_ValueError,
                        "EventCollector: 'watermark' and 'limit' must not be 0");
        return NULL;
    }
    if (!ha_profiler_need_tool()) {
        return NULL;
    }
    struct collector *made = (struct collector *)type->tp_alloc(type, 0);
    if (made == NULL) {
        return NULL;
    }
    made->module = Py_NewRef(module);
    made->plain = ha_tool->collector_new(watermark, limit, arguments != 0);
    if (made->plain == NULL) {
        Py_DECREF(made);
        return PyErr_Format(PyExc_MemoryError,
                            "EventCollector: a process has %d of them at most",
                            HA_COLLECTORS_MAX);
    }
    return (PyObject *)made;
}

static int
collector_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct collector *collector = (struct collector *)self;

    Py_VISIT(Py_TYPE(self));
    Py_VISIT(collector->module);
    Py_VISIT(collector->on_batch);
    Py_VISIT(collector->on_event);
    return 0;
}

static int
collector_clear(PyObject *self)
{
    struct collector *collector = (struct collector *)self;

    Py_CLEAR(collector->on_batch);
    Py_CLEAR(collector->on_event);
    return 0;
}

static void
collector_dealloc(PyObject *self)
{
    struct collector *collector = (struct collector *)self;
    PyTypeObject *type = Py_TYPE(self);

    PyObject_GC_UnTrack(self);
    (void)collector_clear(self);
    if (collector->plain != NULL) {
        ha_tool->collector_drop(collector->plain);
    }
    Py_CLEAR(collector->module);
    type->tp_free(self);
    Py_DECREF(type);
}

/* The next batch, or None; with `most` events at most.  NULL with an exception. */
static PyObject *
next_batch(struct collector *self, size_t most)
{
    struct ha_trace_event *events = NULL;
    size_t count = 0;

    Py_BEGIN_ALLOW_THREADS
    events = ha_tool->collector_take(self->plain, most, &count);
    Py_END_ALLOW_THREADS
    if (events == NULL) {
        if (count > 0) {
            return PyErr_NoMemory();
        }
        Py_RETURN_NONE;
    }
    struct ha_collector_state state = look((PyObject *)self);
    uint64_t fresh = 0;
    HA_BEGIN_SECTION(self);
    if (state.lost > self->told) {
        fresh = state.lost - self->told;
        self->told = state.lost;
    }
    HA_END_SECTION();
    return ha_batch_new(ha_profiler_state(self->module), events, count, fresh,
                        state.arguments);
}

static PyObject *
collector_take(PyObject *self, PyObject *Py_UNUSED(none))
{
    return next_batch((struct collector *)self, SIZE_MAX);
}

/* What a callable raises is told and doesn't stop anything, Ctrl-C aside. */
static int
report(PyObject *callable, PyObject *result)
{
    Py_XDECREF(result);
    if (result == NULL) {
        if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
            return -1;
        }
        PyErr_WriteUnraisable(callable);
    }
    return 0;
}

static int
give_events(PyObject *callable, PyObject *batch)
{
    Py_ssize_t count = ha_batch_length(batch);

    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *event = ha_batch_event(batch, i);
        if (event == NULL) {
            return -1;
        }
        PyObject *result = PyObject_CallOneArg(callable, event);
        Py_DECREF(event);
        if (report(callable, result) < 0) {
            return -1;
        }
    }
    return 0;
}

static bool
is_callable(PyObject *callable)
{
    return callable != NULL && callable != Py_None;
}

static int
give(struct collector *self, PyObject *batch)
{
    PyObject *on_batch, *on_event;
    int result = 0;

    HA_BEGIN_SECTION(self);
    on_batch = Py_XNewRef(self->on_batch);
    on_event = Py_XNewRef(self->on_event);
    HA_END_SECTION();
    ha_tool->mute(true);
    if (is_callable(on_batch)) {
        result = report(on_batch, PyObject_CallOneArg(on_batch, batch));
    }
    if (result == 0 && is_callable(on_event)) {
        result = give_events(on_event, batch);
    }
    ha_tool->mute(false);
    Py_XDECREF(on_batch);
    Py_XDECREF(on_event);
    return result;
}

/* Whose turn it is to give events. */
enum turn { OURS, INSIDE, ANOTHER };

static enum turn
try_enter(struct collector *self)
{
    unsigned long here = PyThread_get_thread_ident();
    enum turn turn = OURS;

    HA_BEGIN_SECTION(self);
    if (self->busy) {
        turn = self->owner == here ? INSIDE : ANOTHER;
    } else {
        self->busy = true;
        self->owner = here;
    }
    HA_END_SECTION();
    return turn;
}

/* Waits for another thread that gives events; 1: this one does. */
static int
enter(struct collector *self)
{
    for (;;) {
        enum turn turn = try_enter(self);
        if (turn != ANOTHER) {
            return turn == INSIDE;
        }
        Py_BEGIN_ALLOW_THREADS(void)
        poll(NULL, 0, BUSY_STEP_MS);
        Py_END_ALLOW_THREADS
        if (PyErr_CheckSignals() < 0) {
            return -1;
        }
    }
}

static void
leave(struct collector *self)
{
    HA_BEGIN_SECTION(self);
    self->busy = false;
    HA_END_SECTION();
}

static PyObject *
collector_deliver(PyObject *object, PyObject *Py_UNUSED(none))
{
    struct collector *self = (struct collector *)object;
    Py_ssize_t total = 0, count = BATCH_EVENTS_MAX;

    if (!is_callable(HA_READ(self->on_batch)) &&
        !is_callable(HA_READ(self->on_event))) {
        return PyLong_FromLong(0); /* they wait for `take` */
    }
    int inside = enter(self);

    if (inside != 0) {
        return inside > 0 ? PyLong_FromLong(0) : NULL;
    }
    while (count == BATCH_EVENTS_MAX) {
        PyObject *batch = next_batch(self, BATCH_EVENTS_MAX);
        if (batch == NULL || batch == Py_None) {
            Py_XDECREF(batch);
            break;
        }
        count = ha_batch_length(batch);
        total += count;
        int result = give(self, batch);
        Py_DECREF(batch);
        if (result < 0) {
            break;
        }
    }
    leave(self);
    return PyErr_Occurred() ? NULL : PyLong_FromSsize_t(total);
}

/* What is told of work that has ended; who waits for work may be ahead of it. */
static void
settle_ended(void)
{
    if (ha_tool->sdk->settle != NULL) {
        Py_BEGIN_ALLOW_THREADS
        ha_tool->sdk->settle(SETTLE_NS);
        Py_END_ALLOW_THREADS
    }
}

/* Waits until the ends of all kernels and copies have come: of those that have ended
 * anyhow, of others for so long. */
static PyObject *
collector_settle(PyObject *object, PyObject *argument)
{
    double seconds = PyFloat_AsDouble(argument);

    if (seconds == -1.0 && PyErr_Occurred()) {
        return NULL;
    }
    settle_ended();
    uint64_t end = ha_clock_ns() + (uint64_t)((seconds > 0 ? seconds : 0) * 1e9);
    while (look(object).open > 0 && ha_clock_ns() < end) {
        Py_BEGIN_ALLOW_THREADS(void)
        poll(NULL, 0, BUSY_STEP_MS);
        Py_END_ALLOW_THREADS
        if (PyErr_CheckSignals() < 0) {
            return NULL;
        }
    }
    return PyBool_FromLong(look(object).open <= 0);
}

static PyObject *
get_lost(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromUnsignedLongLong(look(self).lost);
}

static PyObject *
get_due(PyObject *self, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(look(self).due);
}

static PyObject *
get_watermark(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromUnsignedLong(look(self).watermark);
}

static PyObject *
get_limit(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromUnsignedLongLong(look(self).limit);
}

static PyMethodDef collector_methods[] = {
    {"take", collector_take, METH_NOARGS,
     "take($self, /)\n--\n\nAll events that are there, as an EventBatch, or None."},
    {"deliver", collector_deliver, METH_NOARGS,
     "deliver($self, /)\n--\n\n"
     "Gives the events that are there to the callables; returns their number."},
    {"settle", collector_settle, METH_O,
     "settle($self, seconds, /)\n--\n\n"
     "Waits until all kernels and copies that began have ended; whether they have."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef collector_members[] = {
    {"on_batch", T_OBJECT, offsetof(struct collector, on_batch), 0,
     "Callable that gets each EventBatch."},
    {"on_event", T_OBJECT, offsetof(struct collector, on_event), 0,
     "Callable that gets each Event."},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef collector_getset[] = {
    {"lost", get_lost, NULL, "Events that found no room so far.", NULL},
    {"due", get_due, NULL, "Whether the watermark is reached.", NULL},
    {"watermark", get_watermark, NULL, "Events that make a batch due.", NULL},
    {"limit", get_limit, NULL, "Events that are kept at most.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot collector_slots[] = {
    {Py_tp_new, collector_make},
    {Py_tp_dealloc, collector_dealloc},
    {Py_tp_traverse, collector_traverse},
    {Py_tp_clear, collector_clear},
    {Py_tp_methods, collector_methods},
    {Py_tp_members, collector_members},
    {Py_tp_getset, collector_getset},
    {Py_tp_doc,
     "EventCollector(watermark, limit, arguments=False)\n--\n\n"
     "Gathers events from all threads; 256 of a process at most can be in use."},
    {0, NULL},
};

static PyType_Spec collector_spec = {
    .name = "hipadapt.rocprofiler.EventCollector",
    .basicsize = sizeof(struct collector),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = collector_slots,
};

int
ha_profiler_collector_init(PyObject *module, struct ha_profiler_state *state)
{
    state->collector =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &collector_spec, NULL);
    return state->collector != NULL
               ? PyModule_AddObjectRef(module, "EventCollector",
                                       (PyObject *)state->collector)
               : -1;
}
