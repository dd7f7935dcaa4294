/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "module/stacks.h"

#include <frameobject.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/interpreter.h"
#include "adapters/python_version.h"
#include "adapters/saved_error.h"
#include "module/profiler_tool.h"

enum { FRAME_BYTES = 512 };

/* A text that grows at its beginning: frames are met from the innermost outwards. */
struct stack {
    char *bytes; /* owned */
    size_t room;
    size_t used; /* at the end of `bytes`, with NUL */
};

static bool
put_before(struct stack *stack, const char *text, size_t bytes)
{
    if (stack->used + bytes > stack->room) {
        size_t room = 2 * stack->room + bytes + FRAME_BYTES;
        char *more = malloc(room);
        if (more == NULL) {
            return false;
        }
        if (stack->used > 0) {
            memcpy(more + room - stack->used, stack->bytes + stack->room - stack->used,
                   stack->used);
        }
        free(stack->bytes);
        stack->bytes = more;
        stack->room = room;
    }
    stack->used += bytes;
    memcpy(stack->bytes + stack->room - stack->used, text, bytes);
    return true;
}

/* A str, or "?"; `object` is stolen, and what the text belongs to is in `owner`. */
static const char *
text_of(PyObject *object, PyObject **owner)
{
    const char *text =
        object != NULL && PyUnicode_Check(object) ? PyUnicode_AsUTF8(object) : NULL;

    *owner = object;
    if (text == NULL) {
        PyErr_Clear();
    }
    return text != NULL ? text : "?";
}

/* The name of the module that the frame's function stands in; owned. */
static PyObject *
module_of(PyFrameObject *frame)
{
    PyObject *globals = PyObject_GetAttrString((PyObject *)frame, "f_globals");
    PyObject *name = NULL;

    if (globals != NULL && PyDict_Check(globals)) {
        (void)ha_dict_get_text(globals, "__name__", &name);
    }
    Py_XDECREF(globals);
    return name;
}

static PyObject *
function_of(PyFrameObject *frame)
{
    PyCodeObject *code = PyFrame_GetCode(frame);
    PyObject *name = PyObject_GetAttrString((PyObject *)code, "co_qualname");

    if (name == NULL) { /* before Python 3.11 */
        PyErr_Clear();
        name = PyObject_GetAttrString((PyObject *)code, "co_name");
    }
    Py_DECREF(code);
    return name;
}

static bool
put_frame(struct stack *stack, PyFrameObject *frame)
{
    PyObject *module, *function;
    char text[FRAME_BYTES], line[16];
    const char *in = text_of(module_of(frame), &module);
    const char *name = text_of(function_of(frame), &function);
    int tail = snprintf(line, sizeof line, ":%d", PyFrame_GetLineNumber(frame));
    /* A long name loses its end, not its line. */
    int bytes = snprintf(text, sizeof text - (size_t)tail - 1, "%.200s:%s", in, name);
    size_t used = strnlen(text, (size_t)bytes);

    memcpy(text + used, line, (size_t)tail + 1);
    used += (size_t)tail;
    text[used] = stack->used > 0 ? '\n' : '\0';
    Py_XDECREF(module);
    Py_XDECREF(function);
    return put_before(stack, text, used + 1);
}

/* Needs the GIL. */
static uint32_t
walk(void)
{
    struct stack stack = {.bytes = NULL};
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
    bool good = true;

    while (frame != NULL) {
        good = good && put_frame(&stack, frame);
        PyFrameObject *outer = PyFrame_GetBack(frame);
        Py_DECREF(frame);
        frame = outer;
    }
    const char *text = stack.bytes + stack.room - stack.used;
    uint32_t name = good && stack.used > 0 ? ha_tool->name_of(text) : 0;
    free(stack.bytes);
    return name;
}

uint32_t
ha_stack_name(void)
{
    struct ha_saved_error saved;

    /* A thread without a state runs no Python; at the end nobody gets the GIL. */
    if (ha_interpreter_over() || PyGILState_GetThisThreadState() == NULL) {
        return 0;
    }
    PyGILState_STATE gil = PyGILState_Ensure();
    ha_error_save(&saved);
    uint32_t name = walk();
    ha_error_restore(&saved);
    PyGILState_Release(gil);
    return name;
}
