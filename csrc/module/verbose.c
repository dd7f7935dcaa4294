/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "module/verbose.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/pointer.h"
#include "adapters/types.h"
#include "core/env.h"
#include "module/profiler_number.h"
#include "module/state.h"

/* ---- arguments of a launch ---- */

struct text {
    char *at; /* owned; NULL: no memory */
    size_t used;
    size_t room;
};

__attribute__((format(printf, 2, 3))) static void
add(struct text *text, const char *format, ...)
{
    va_list values;

    for (int i = 0; i < 2 && text->at != NULL; i++) {
        va_start(values, format);
        int bytes =
            vsnprintf(text->at + text->used, text->room - text->used, format, values);
        va_end(values);
        if (bytes >= 0 && (size_t)bytes < text->room - text->used) {
            text->used += (size_t)bytes;
            return;
        }
        size_t room = 2 * text->room + (bytes > 0 ? (size_t)bytes : 0);
        char *more = realloc(text->at, room);
        if (more == NULL) {
            free(text->at);
        }
        text->at = more;
        text->room = room;
    }
}

/* `:` and the str() of an object; nothing where it has none. */
static void
add_str(struct text *text, PyObject *object)
{
    PyObject *str = PyObject_Str(object);
    const char *utf8 = str != NULL ? PyUnicode_AsUTF8(str) : NULL;

    if (utf8 != NULL) {
        add(text, ":%s", utf8);
    }
    PyErr_Clear();
    Py_XDECREF(str);
}

/* `:64x128`, or `:` for no extents. */
static void
add_shape(struct text *text, PyObject *shape)
{
    add(text, ":");
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(shape); i++) {
        add(text, "%s%zd", i > 0 ? "x" : "",
            PyNumber_AsSsize_t(PyTuple_GET_ITEM(shape, i), NULL));
    }
    PyErr_Clear();
}

/* Type and extents of an array; false for what is none. */
static bool
add_array(struct text *text, PyObject *object)
{
    PyObject *dtype = PyObject_GetAttrString(object, "dtype");
    PyObject *shape = dtype != NULL ? PyObject_GetAttrString(object, "shape") : NULL;
    bool is_array =
        shape != NULL && PyTuple_Check(shape) && PyTuple_GET_SIZE(shape) > 0;

    PyErr_Clear();
    if (is_array) {
        add_str(text, dtype);
        add_shape(text, shape);
    }
    Py_XDECREF(dtype);
    Py_XDECREF(shape);
    return is_array;
}

/* `arg0:ptr:0x7f00:float32:64x128`, `arg1:int:5`. */
static void
add_argument(struct text *text, const struct ha_types *types, Py_ssize_t index,
             PyObject *object)
{
    add(text, "%sarg%zd:", index > 0 ? " " : "", index);
    if (ha_pointer_check(types, object)) {
        add(text, "ptr:0x%llx", (unsigned long long)(uintptr_t)ha_pointer_of(object));
        (void)add_array(text, object);
        return;
    }
    add(text, "%s", Py_TYPE(object)->tp_name);
    if (!add_array(text, object) && PyNumber_Check(object)) {
        add_str(text, object);
    }
}

void
ha_verbose_note(const struct ha_types *types, PyObject *const *args, Py_ssize_t count)
{
    struct text text = {.at = malloc(256), .room = 256};

    for (Py_ssize_t i = 0; i < count; i++) {
        add_argument(&text, types, i, args[i]);
    }
    if (count == 0) {
        free(text.at);
        text.at = NULL;
    }
    ha_tool->verbose_arguments(text.at);
}

void
ha_verbose_noted(void)
{
    ha_tool->verbose_arguments(NULL);
}

/* ---- hipadapt.verbose ---- */

static PyObject *
answer(enum hipadapt_verbose_result result)
{
    PyObject *type = PyExc_RuntimeError;

    switch (result) {
    case HIPADAPT_VERBOSE_OK:
        Py_RETURN_NONE;
    case HIPADAPT_VERBOSE_INVALID:
        type = PyExc_ValueError;
        break;
    case HIPADAPT_VERBOSE_SYSTEM:
        type = PyExc_OSError;
        break;
    case HIPADAPT_VERBOSE_TIMEOUT:
        type = PyExc_TimeoutError;
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
set(PyObject *Py_UNUSED(module), PyObject *words)
{
    enum hipadapt_verbose_result result;

    if (!PyUnicode_Check(words)) {
        return PyErr_Format(PyExc_TypeError,
                            "verbose.set: argument 'words' must be str, not '%.200s'",
                            Py_TYPE(words)->tp_name);
    }
    Py_ssize_t bytes = 0;
    const char *text = PyUnicode_AsUTF8AndSize(words, &bytes);
    if (text != NULL && strlen(text) != (size_t)bytes) {
        return PyErr_Format(PyExc_ValueError,
                            "verbose.set: argument 'words' must have no NUL");
    }
    if (text == NULL || !ha_profiler_need_tool()) {
        return NULL;
    }
    CALL(result, ha_tool->verbose_set(text))
    return answer(result);
}

static PyObject *
output(PyObject *Py_UNUSED(module), PyObject *args)
{
    enum hipadapt_verbose_result result;
    PyObject *file = NULL, *bytes = NULL;
    int timestamp = 0;

    if (!PyArg_ParseTuple(args, "Op:verbose_output", &file, &timestamp) ||
        !ha_profiler_need_tool() ||
        (file != Py_None && !PyUnicode_FSConverter(file, &bytes))) {
        return NULL;
    }
    const char *path = bytes != NULL ? PyBytes_AS_STRING(bytes) : NULL;
    CALL(result, ha_tool->verbose_output(path, timestamp))
    Py_XDECREF(bytes);
    return answer(result);
}

static PyObject *
flush(PyObject *module, PyObject *milliseconds)
{
    enum hipadapt_verbose_result result;
    unsigned ms = 0;
    struct ha_where where = {"verbose.flush", "timeout"};

    if (ha_number_from(ha_types_of(module), milliseconds, &where, HA_U32, &ms) < 0 ||
        !ha_profiler_need_tool()) {
        return NULL;
    }
    CALL(result, ha_tool->verbose_flush(ms))
    return answer(result);
}

static PyObject *
status(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    struct hipadapt_verbose_status now = {.size = sizeof now};

    if (!ha_profiler_need_tool()) {
        return NULL;
    }
    enum hipadapt_verbose_result result = ha_tool->verbose_status(&now);
    if (result != HIPADAPT_VERBOSE_OK) {
        return answer(result);
    }
    return Py_BuildValue("sKK", now.words, (unsigned long long)now.lines,
                         (unsigned long long)now.lost);
}

static PyMethodDef methods[] = {
    {"verbose_set", set, METH_O, "verbose_set($module, words, /)\n--\n\nSwitches."},
    {"verbose_output", output, METH_VARARGS,
     "verbose_output($module, file, timestamp, /)\n--\n\nWhere lines go."},
    {"verbose_flush", flush, METH_O,
     "verbose_flush($module, milliseconds, /)\n--\n\nWaits for the lines."},
    {"verbose_status", status, METH_NOARGS,
     "verbose_status($module, /)\n--\n\nWords, lines, lost ones."},
    {NULL, NULL, 0, NULL},
};

/* Where the environment asks for lines, launches tell their arguments from the first
 * one on; the library is there anyhow then. */
int
ha_verbose_init(PyObject *module)
{
    if (ha_env(HA_ENV_VERBOSE) != NULL && !ha_profiler_need_tool()) {
        PyErr_Clear(); /* the profiler's library says it too */
    }
    return PyModule_AddFunctions(module, methods);
}
