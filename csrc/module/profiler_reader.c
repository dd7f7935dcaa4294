/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "module/profiler_reader.h"

#include "module/profiler_text.h"
#include "module/profiler_tool.h"

static PyObject *
wait_for_events(PyObject *Py_UNUSED(module), PyObject *argument)
{
    double seconds = PyFloat_AsDouble(argument);

    if ((seconds == -1.0 && PyErr_Occurred()) || !ha_profiler_need_tool()) {
        return NULL;
    }
    uint64_t ns = (uint64_t)((seconds > 0 ? seconds : 0) * 1e9);
    Py_BEGIN_ALLOW_THREADS
    ha_tool->wait(ns);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

static PyObject *
wake(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    if (!ha_profiler_need_tool()) {
        return NULL;
    }
    ha_tool->wake();
    Py_RETURN_NONE;
}

/* What the calling thread does makes no events in buffers. */
static PyObject *
set_reader(PyObject *Py_UNUSED(module), PyObject *argument)
{
    unsigned long thread = PyLong_AsUnsignedLong(argument);

    if (PyErr_Occurred() || !ha_profiler_need_tool()) {
        return NULL;
    }
    ha_tool->leave_out((uint32_t)thread);
    Py_RETURN_NONE;
}

static PyObject *
name_text(PyObject *Py_UNUSED(module), PyObject *argument)
{
    unsigned long number = PyLong_AsUnsignedLong(argument);

    if (PyErr_Occurred() || !ha_profiler_need_tool()) {
        return NULL;
    }
    return ha_profiler_text(ha_tool->name_text((uint32_t)number));
}

static PyMethodDef methods[] = {
    {"profiler_wait", wait_for_events, METH_O,
     "profiler_wait($module, seconds, /)\n--\n\nUntil a collector has reached its "
     "watermark."},
    {"profiler_wake", wake, METH_NOARGS,
     "profiler_wake($module, /)\n--\n\nEnds profiler_wait."},
    {"profiler_set_reader", set_reader, METH_O,
     "profiler_set_reader($module, thread, /)\n--\n\nThread whose calls are no "
     "events."},
    {"profiler_name", name_text, METH_O,
     "profiler_name($module, number, /)\n--\n\nThe text of an event's name."},
    {NULL, NULL, 0, NULL},
};

int
ha_profiler_reader_init(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
