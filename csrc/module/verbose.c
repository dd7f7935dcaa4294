/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "module/verbose.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/array.h"
#include "adapters/format.h"
#include "adapters/pointer.h"
#include "adapters/python_version.h"
#include "adapters/types.h"
#include "api/launch_note.h"
#include "core/env.h"
#include "module/profiler_number.h"
#include "module/state.h"

/* ---- arguments of a launch ---- */

enum {
    ARGUMENT_BYTES = 512, /* room for one argument without its extents */
    WORD_BYTES = 100,     /* of what Python says of it, at most */
    EXTENT_BYTES = 22,
};

/* Written by hand, not by printf: a launch waits for it. */
struct text {
    char *at; /* `first`, or owned; NULL: no memory */
    size_t used;
    size_t room;
    char first[2 * ARGUMENT_BYTES];
};

/* Where as many bytes can be written; NULL: no memory. */
static char *
need(struct text *text, size_t bytes)
{
    if (text->at == NULL || text->room - text->used >= bytes) {
        return text->at != NULL ? text->at + text->used : NULL;
    }
    bool owned = text->at != text->first;
    size_t room = 2 * (text->used + bytes);
    char *more = realloc(owned ? text->at : NULL, room);
    if (more != NULL && !owned) {
        memcpy(more, text->first, text->used);
    } else if (more == NULL && owned) {
        free(text->at);
    }
    text->at = more;
    text->room = room;
    return more != NULL ? more + text->used : NULL;
}

/* The text in memory that is no larger than it; owned, or NULL. */
static char *
taken(struct text *text)
{
    char *copy = text->at != NULL ? strndup(text->at, text->used) : NULL;

    if (text->at != text->first) {
        free(text->at);
    }
    return copy;
}

/* A literal. */
#define PUT(to, word) ((char *)memcpy(to, word, sizeof(word) - 1) + sizeof(word) - 1)

static char *
put_word(char *to, const char *word)
{
    size_t bytes = strnlen(word, WORD_BYTES);

    return (char *)memcpy(to, word, bytes) + bytes;
}

static char *
put_number(char *to, unsigned long long value)
{
    char digits[20], *at = digits + sizeof digits;

    do {
        *--at = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    size_t bytes = (size_t)(digits + sizeof digits - at);
    return (char *)memcpy(to, at, bytes) + bytes;
}

static char *
put_hex(char *to, uintptr_t value)
{
    unsigned shift = 60;

    while (shift > 0 && value >> shift == 0) {
        shift -= 4;
    }
    for (;; shift -= 4) {
        *to++ = "0123456789abcdef"[value >> shift & 15];
        if (shift == 0) {
            return to;
        }
    }
}

static char *
put_signed(char *to, long long value)
{
    if (value < 0) {
        *to++ = '-';
        return put_number(to, 0 - (unsigned long long)value);
    }
    return put_number(to, (unsigned long long)value);
}

/* As repr() has it.  Most numbers of programs are some thousandths: those are quick. */
static char *
put_double(char *to, double value)
{
    double thousandths = value * 1000;

    if (fabs(thousandths) < 1e15 && thousandths == rint(thousandths) &&
        thousandths / 1000 == value && (value != 0 || !signbit(value))) {
        long long whole = (long long)thousandths;
        unsigned rest = (unsigned)(llabs(whole) % 1000);
        to = whole < 0 ? PUT(to, "-") : to;
        to = put_signed(to, llabs(whole) / 1000);
        *to++ = '.';
        for (unsigned digit = 100; digit > 0 && (rest > 0 || digit == 100);
             digit /= 10) {
            *to++ = (char)('0' + rest / digit);
            rest %= digit;
        }
        return to;
    }
    char *digits = PyOS_double_to_string(value, 'r', 0, Py_DTSF_ADD_DOT_0, NULL);
    to = put_word(to, digits != NULL ? digits : "");
    PyMem_Free(digits);
    PyErr_Clear();
    return to;
}

/* `:` and the str() of an object; nothing where it has none. */
static char *
put_str(char *to, PyObject *object)
{
    PyObject *str = PyObject_Str(object);
    const char *utf8 = str != NULL ? PyUnicode_AsUTF8(str) : NULL;

    if (utf8 != NULL) {
        to = put_word(PUT(to, ":"), utf8);
    }
    PyErr_Clear();
    Py_XDECREF(str);
    return to;
}

/* `:64x128`. */
static void
add_extents(struct text *text, int count, const Py_ssize_t *extents)
{
    char *to = need(text, (size_t)count * EXTENT_BYTES);

    for (int i = 0; i < count && to != NULL; i++) {
        *to++ = i > 0 ? 'x' : ':';
        to = put_signed(to, extents[i]);
    }
    text->used = to != NULL ? (size_t)(to - text->at) : 0;
}

/* `:float32:64x128` of an array of ours. */
static void
add_seen_array(struct text *text, char *to, const struct ha_device_array *array)
{
    char typestr[HA_FORMAT_TEXT_CHARS];
    const char *name = ha_format_name(&array->format);

    if (name == NULL) {
        ha_format_typestr(&array->format, typestr);
        name = typestr;
    }
    to = put_word(PUT(to, ":"), name);
    text->used = (size_t)(to - text->at);
    add_extents(text, array->ndim, array->shape);
}

static void
add_our_array(struct text *text, char *to, PyObject *object)
{
    struct ha_device_array seen;

    if (ha_array_see(object, &seen) < 0) {
        PyErr_Clear();
        return;
    }
    add_seen_array(text, to, &seen);
    ha_array_unsee(&seen);
}

/* The same of an array of somebody else; false for what is none. */
static bool
add_array(struct text *text, char *to, const struct ha_types *types, PyObject *object)
{
    enum { DIMS_MAX = 64 };
    Py_ssize_t extents[DIMS_MAX];
    PyObject *dtype = NULL, *shape = NULL;
    Py_ssize_t count = 0;

    if (ha_get_attribute(object, types->str_dtype, &dtype) > 0 &&
        ha_get_attribute(object, types->str_shape, &shape) > 0 &&
        PyTuple_Check(shape)) {
        count = PyTuple_GET_SIZE(shape);
    }
    bool is_array = count > 0 && count <= DIMS_MAX;
    if (is_array) {
        for (Py_ssize_t i = 0; i < count; i++) {
            extents[i] = PyNumber_AsSsize_t(PyTuple_GET_ITEM(shape, i), NULL);
        }
        PyErr_Clear();
        text->used = (size_t)(put_str(to, dtype) - text->at);
        add_extents(text, (int)count, extents);
    }
    PyErr_Clear();
    Py_XDECREF(dtype);
    Py_XDECREF(shape);
    return is_array;
}

/* Whether the class of an object is below one of this name. */
static bool
is_below(PyObject *object, const char *name)
{
    const PyTypeObject *type = Py_TYPE(object);

    while (type != NULL && strcmp(type->tp_name, name) != 0) {
        type = type->tp_base;
    }
    return type != NULL;
}

/* A number of numpy is no array, though it has a dtype and a shape. */
static bool
is_number(PyObject *object)
{
    return PyLong_CheckExact(object) || PyFloat_CheckExact(object) ||
           is_below(object, "numpy.generic");
}

/* What is no array: the number, if it is one. */
static char *
put_value(char *to, PyObject *object)
{
    int overflow = 0;

    if (PyFloat_CheckExact(object)) {
        return put_double(PUT(to, ":"), PyFloat_AS_DOUBLE(object));
    }
    if (PyLong_CheckExact(object)) {
        long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
        if (overflow == 0) {
            return put_signed(PUT(to, ":"), value);
        }
    }
    return PyNumber_Check(object) ? put_str(to, object) : to;
}

/* Numbers of ctypes have no str() that says them. */
static char *
put_ctypes(char *to, PyObject *object)
{
    PyObject *value = PyObject_GetAttrString(object, "value");

    if (value != NULL) {
        to = put_value(to, value);
    }
    PyErr_Clear();
    Py_XDECREF(value);
    return to;
}

/* `arg0:ptr:0x7f00:float32:64x128`, `arg1:int:5`. */
static void
add_argument(struct text *text, const struct ha_types *types, Py_ssize_t index,
             PyObject *object)
{
    char *to = need(text, ARGUMENT_BYTES);

    if (to == NULL) {
        return;
    }
    to = put_number(index > 0 ? PUT(to, " arg") : PUT(to, "arg"),
                    (unsigned long long)index);
    if (ha_pointer_check(types, object)) {
        to = put_hex(PUT(to, ":ptr:0x"), (uintptr_t)ha_pointer_of(object));
        if (ha_array_check(object)) {
            add_our_array(text, to, object);
            return;
        }
    } else {
        to = put_word(PUT(to, ":"), Py_TYPE(object)->tp_name);
        if (is_below(object, "_ctypes._SimpleCData")) {
            to = put_ctypes(to, object);
        } else if (is_number(object) || !add_array(text, to, types, object)) {
            to = put_value(to, object);
        } else {
            return;
        }
    }
    text->used = (size_t)(to - text->at);
}

void
ha_verbose_note(const struct ha_types *types, PyObject *const *args, Py_ssize_t count)
{
    struct text text;

    text.at = text.first;
    text.used = 0;
    text.room = sizeof text.first;
    for (Py_ssize_t i = 0; i < count; i++) {
        add_argument(&text, types, i, args[i]);
    }
    ha_tool->verbose_arguments(count > 0 ? taken(&text) : NULL);
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
static bool
wants_arguments(void)
{
    return ha_verbose_wants_arguments();
}

static const struct ha_launch_noter noter = {wants_arguments, ha_verbose_note,
                                             ha_verbose_noted};

int
ha_verbose_init(PyObject *module)
{
    ha_launch_noter = &noter;
    if (ha_env(HA_ENV_VERBOSE) != NULL && !ha_profiler_need_tool()) {
        PyErr_Clear(); /* the profiler's library says it too */
    }
    return PyModule_AddFunctions(module, methods);
}
