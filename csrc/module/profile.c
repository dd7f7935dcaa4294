/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "module/profile.h"

#include "module/profile_client.h"
#include "module/profiler_number.h"
#include "module/profiler_text.h"
#include "module/profiler_tool.h"

PyObject *
ha_profile_answer(enum hipadapt_profile_result result)
{
    PyObject *type = PyExc_RuntimeError;

    switch (result) {
    case HIPADAPT_PROFILE_OK:
        Py_RETURN_NONE;
    case HIPADAPT_PROFILE_INVALID:
        type = PyExc_ValueError;
        break;
    case HIPADAPT_PROFILE_NOT_FOUND:
    case HIPADAPT_PROFILE_SYSTEM:
        type = PyExc_OSError;
        break;
    case HIPADAPT_PROFILE_MEMORY:
        type = PyExc_MemoryError;
        break;
    default:
        break;
    }
    PyErr_SetString(type, ha_tool->error_text());
    return NULL;
}

/* The thread's text stays what it was, because it belongs to the thread. */
#define CALL(result, call)                                                             \
    Py_BEGIN_ALLOW_THREADS(result)                                                     \
    = (call);                                                                          \
    Py_END_ALLOW_THREADS

static PyObject *
prepare(PyObject *module, PyObject *args)
{
    struct hipadapt_profile_options options = {.size = sizeof options};
    enum hipadapt_profile_result result;
    PyObject *url = NULL;

    if (!PyArg_ParseTuple(args, "OzO&O&pzIz:profile_prepare", &url, &options.activities,
                          HA_PROFILER_NUMBER(module, "profile", "buffer_events", HA_U64,
                                             &options.buffer_events),
                          HA_PROFILER_NUMBER(module, "profile", "keep_events", HA_U64,
                                             &options.keep_events),
                          &options.cuda_names, &options.distributed, &options.detail,
                          &options.counters) ||
        !ha_profiler_need_tool()) {
        return NULL;
    }
    PyObject *bytes = NULL;
    if (url != Py_None) {
        if (!PyUnicode_FSConverter(url, &bytes)) {
            return NULL;
        }
        options.url = PyBytes_AS_STRING(bytes);
    }
    CALL(result, ha_tool->profile_prepare(&options))
    Py_XDECREF(bytes);
    return ha_profile_answer(result);
}

/* ---- functions without arguments ---- */

#define PLAIN(name)                                                                    \
    static PyObject *name(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))      \
    {                                                                                  \
        enum hipadapt_profile_result result;                                           \
        if (!ha_profiler_need_tool()) {                                                \
            return NULL;                                                               \
        }                                                                              \
        CALL(result, ha_tool->profile_##name())                                        \
        return ha_profile_answer(result);                                              \
    }

PLAIN(start)
PLAIN(stop)
PLAIN(cancel)
PLAIN(step)
PLAIN(listen)
PLAIN(end)
PLAIN(leave)

static PyObject *
save(PyObject *Py_UNUSED(module), PyObject *url)
{
    enum hipadapt_profile_result result;
    PyObject *bytes = NULL;

    if (!ha_profiler_need_tool() ||
        (url != Py_None && !PyUnicode_FSConverter(url, &bytes))) {
        return NULL;
    }
    const char *path = bytes != NULL ? PyBytes_AS_STRING(bytes) : NULL;
    CALL(result, ha_tool->profile_save(path))
    Py_XDECREF(bytes);
    return ha_profile_answer(result);
}

static PyObject *
add_metadata(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *key = NULL, *json = NULL;

    if (!PyArg_ParseTuple(args, "ss:profile_add_metadata", &key, &json) ||
        !ha_profiler_need_tool()) {
        return NULL;
    }
    return ha_profile_answer(ha_tool->profile_add_metadata(key, json));
}

static PyObject *
push(PyObject *module, PyObject *args)
{
    int domain = 0;
    uint64_t id = 0;

    if (!PyArg_ParseTuple(
            args, "iO&:profile_push", &domain,
            HA_PROFILER_NUMBER(module, "profile_push", "id", HA_U64, &id)) ||
        !ha_profiler_need_tool()) {
        return NULL;
    }
    return ha_profile_answer(
        ha_tool->profile_push((enum hipadapt_profile_domain)domain, id));
}

static PyObject *
pop(PyObject *Py_UNUSED(module), PyObject *args)
{
    int domain = 0;

    if (!PyArg_ParseTuple(args, "i:profile_pop", &domain) || !ha_profiler_need_tool()) {
        return NULL;
    }
    return ha_profile_answer(
        ha_tool->profile_pop((enum hipadapt_profile_domain)domain));
}

static PyObject *
request(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *text = NULL;
    uint64_t number = 0;
    enum hipadapt_profile_result result;

    if (!PyArg_ParseTuple(args, "s:profile_request", &text) ||
        !ha_profiler_need_tool()) {
        return NULL;
    }
    CALL(result, ha_tool->profile_request(text, &number))
    return result == HIPADAPT_PROFILE_OK ? PyLong_FromUnsignedLongLong(number)
                                         : ha_profile_answer(result);
}

static PyObject *
status(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    struct hipadapt_profile_status now = {.size = sizeof now};
    enum hipadapt_profile_result result;

    if (!ha_profiler_need_tool()) {
        return NULL;
    }
    CALL(result, ha_tool->profile_status(&now))
    if (result != HIPADAPT_PROFILE_OK) {
        return ha_profile_answer(result);
    }
    return Py_BuildValue(
        "iNKNLKKKKKNNNs", now.state, PyBool_FromLong(now.on_demand),
        (unsigned long long)now.request, PyBool_FromLong(now.request_waits),
        (long long)now.step, (unsigned long long)now.events,
        (unsigned long long)now.kernels, (unsigned long long)now.lost_events,
        (unsigned long long)now.out_of_window_events, (unsigned long long)now.bytes,
        ha_profiler_text(now.message), PyUnicode_DecodeFSDefault(now.url),
        ha_profiler_text(now.trace_id), now.activities);
}

/* Nobody has used a profiler whose library isn't there. */
static PyObject *
leave_process(PyObject *module, PyObject *none)
{
    if (!ha_profiler_is_loaded()) {
        Py_RETURN_NONE;
    }
    return leave(module, none);
}

/* What the calling thread does is in no trace, until it is turned off. */
static PyObject *
mute(PyObject *Py_UNUSED(module), PyObject *on)
{
    int muted = PyObject_IsTrue(on);

    if (muted < 0 || !ha_profiler_need_tool()) {
        return NULL;
    }
    ha_tool->mute(muted != 0);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"profile_prepare", prepare, METH_VARARGS,
     "profile_prepare($module, url, activities, buffer, keep, cuda_names, distributed, "
     "detail, counters, /)\n--\n\n"
     "From idle to warm-up."},
    {"profile_start", start, METH_NOARGS,
     "profile_start($module, /)\n--\n\nFrom warm-up to collecting."},
    {"profile_stop", stop, METH_NOARGS,
     "profile_stop($module, /)\n--\n\nFrom collecting to processing."},
    {"profile_save", save, METH_O,
     "profile_save($module, url, /)\n--\n\nWaits for the trace, or writes it."},
    {"profile_cancel", cancel, METH_NOARGS,
     "profile_cancel($module, /)\n--\n\nDrops the recording or the request."},
    {"profile_end", end, METH_NOARGS,
     "profile_end($module, /)\n--\n\nCompletes the recording of HIPADAPT_PROFILE."},
    {"profile_leave", leave_process, METH_NOARGS,
     "profile_leave($module, /)\n--\n\nAs at exit: the process ends without handlers."},
    {"profile_step", step, METH_NOARGS,
     "profile_step($module, /)\n--\n\nAn iteration begins."},
    {"profile_add_metadata", add_metadata, METH_VARARGS,
     "profile_add_metadata($module, key, json, /)\n--\n\nAn entry of the trace."},
    {"profile_push", push, METH_VARARGS,
     "profile_push($module, domain, id, /)\n--\n\nWork belongs to the id."},
    {"profile_pop", pop, METH_VARARGS,
     "profile_pop($module, domain, /)\n--\n\nNo longer."},
    {"profile_request", request, METH_VARARGS,
     "profile_request($module, text, /)\n--\n\nNumber of a request."},
    {"profile_listen", listen, METH_NOARGS,
     "profile_listen($module, /)\n--\n\nOther processes can ask for recordings."},
    {"profile_status", status, METH_NOARGS,
     "profile_status($module, /)\n--\n\nFields of ProfileStatus."},
    {"profile_mute", mute, METH_O,
     "profile_mute($module, on, /)\n--\n\nThis thread's calls are in no trace."},
    {NULL, NULL, 0, NULL},
};

int
ha_profile_init(PyObject *module)
{
    return PyModule_AddFunctions(module, methods) < 0 ? -1
                                                      : ha_profile_client_init(module);
}
