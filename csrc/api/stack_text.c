/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "api/stack_text.h"

#include <frameobject.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/interpreter.h"
#include "adapters/saved_error.h"

enum { FRAMES_MAX = 24 };

int (*ha_stack_wanted)(void);

/* Data of threads are few: it is allocated for the call. */
static _Thread_local struct {
    char *text; /* owned; NULL: there is no note */
    size_t bytes;
} note;

/* ---- with the GIL ---- */

/* A str; "?" without one. */
static const char *
text_of(PyObject *object)
{
    const char *text =
        object != NULL && PyUnicode_Check(object) ? PyUnicode_AsUTF8(object) : NULL;

    if (text == NULL) {
        PyErr_Clear();
    }
    return text != NULL ? text : "?";
}

static PyObject *
name_of(PyCodeObject *code)
{
    PyObject *name = PyObject_GetAttrString((PyObject *)code, "co_qualname");

    if (name == NULL) { /* before Python 3.11 */
        PyErr_Clear();
        name = PyObject_GetAttrString((PyObject *)code, "co_name");
    }
    return name;
}

/* The line of a frame; its bytes, 0 if it does not fit. */
static size_t
write_frame(PyFrameObject *frame, char *text, size_t bytes)
{
    PyCodeObject *code = PyFrame_GetCode(frame);
    PyObject *file = PyObject_GetAttrString((PyObject *)code, "co_filename");
    PyObject *name = name_of(code);
    int written = snprintf(text, bytes, "%.300s:%d in %.150s\n", text_of(file),
                           PyFrame_GetLineNumber(frame), text_of(name));

    Py_XDECREF(name);
    Py_XDECREF(file);
    Py_DECREF(code);
    return written > 0 && (size_t)written < bytes ? (size_t)written : 0;
}

/* Needs the GIL. */
static size_t
walk(char *text, size_t bytes)
{
    struct ha_saved_error saved;
    size_t used = 0;

    ha_error_save(&saved);
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
    for (int depth = 0; frame != NULL; depth++) {
        size_t line =
            depth < FRAMES_MAX ? write_frame(frame, text + used, bytes - used) : 0;
        PyFrameObject *outer = line > 0 ? PyFrame_GetBack(frame) : NULL;
        used += line;
        Py_DECREF(frame);
        frame = outer;
    }
    ha_error_restore(&saved);
    return used;
}

void
ha_stack_note(void)
{
    char text[HA_STACK_TEXT_BYTES];

    ha_stack_forget();
    size_t bytes = walk(text, sizeof text);
    char *kept = bytes > 0 ? malloc(bytes) : NULL;
    if (kept != NULL) {
        memcpy(kept, text, bytes);
        note.text = kept;
        note.bytes = bytes;
    }
}

void
ha_stack_forget(void)
{
    free(note.text);
    note.text = NULL;
}

/* ---- the door ---- */

static PyThreadState *
running_here(void)
{
#if PY_VERSION_HEX >= 0x030D0000
    return PyThreadState_GetUnchecked();
#else
    return _PyThreadState_UncheckedGet();
#endif
}

size_t
ha_stack_lines(char *text, size_t bytes)
{
    if (ha_interpreter_over()) {
        return 0;
    }
    PyThreadState *own = PyGILState_GetThisThreadState();
    if (own == NULL) {
        return 0;
    }
    if (own == running_here()) {
        return walk(text, bytes);
    }
    if (note.text != NULL && note.bytes < bytes) {
        memcpy(text, note.text, note.bytes);
        return note.bytes;
    }
    return 0;
}
