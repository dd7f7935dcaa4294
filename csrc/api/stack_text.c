/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "api/stack_text.h"

#include <dlfcn.h>
#include <frameobject.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "adapters/interpreter.h"
#include "adapters/saved_error.h"

enum { FRAMES_MAX = 24, LINE_BYTES = 512, DUMP_BYTES = 16384, DUMP_LIMIT_S = 1 };

int (*ha_stack_wanted)(void);

static _Thread_local struct {
    size_t bytes; /* 0: there is no note */
    char text[HA_STACK_TEXT_BYTES];
} note;

static pthread_mutex_t dump_lock = PTHREAD_MUTEX_INITIALIZER; /* guards both */
static int dump_file = -1;
static pid_t dump_process; /* that has made the file */

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
    note.bytes = walk(note.text, sizeof note.text);
}

void
ha_stack_forget(void)
{
    note.bytes = 0;
}

/* ---- without it ---- */

typedef void (*dump_function)(int file, PyThreadState *thread);

/* What faulthandler prints a thread with: it needs no GIL if the thread stands still,
 * as this one does.  Not all versions of Python let others have it. */
static dump_function
dumper(void)
{
    dump_function function = NULL;

    *(void **)&function = dlsym(RTLD_DEFAULT, "_Py_DumpTraceback");
    return function;
}

/* Lines of `  File "program.py", line 12 in main` as ours. */
static size_t
rewrite(char *dump, char *text, size_t bytes)
{
    size_t used = 0;
    char *rest = NULL;

    for (char *line = strtok_r(dump, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        char *file = strstr(line, "File \"");
        char *number = file != NULL ? strstr(file, "\", line ") : NULL;
        char *name = number != NULL ? strstr(number, " in ") : NULL;
        if (name == NULL) {
            continue;
        }
        file += strlen("File \"");
        *number = '\0';
        *name = '\0';
        int written = snprintf(text + used, bytes - used, "%.300s:%s in %.150s\n", file,
                               number + strlen("\", line "), name + strlen(" in "));
        if (written <= 0 || (size_t)written >= bytes - used) {
            break;
        }
        used += (size_t)written;
    }
    return used;
}

/* Lock held; -1 without one. */
static int
open_dump(void)
{
    if (dump_file < 0 || dump_process != getpid()) {
        /* The parent's file has the parent's offset. */
        dump_file = memfd_create("hipadapt stack", MFD_CLOEXEC);
        dump_process = getpid();
    }
    return dump_file;
}

/* `thread` is the calling thread's, and does not run. */
static size_t
dump_lines(PyThreadState *thread, char *text, size_t bytes)
{
    char dump[DUMP_BYTES];
    dump_function function = dumper();
    struct timespec until;
    ssize_t count = 0;

    /* A child may be forked with the lock held. */
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += DUMP_LIMIT_S;
    if (function == NULL || pthread_mutex_timedlock(&dump_lock, &until) != 0) {
        return 0;
    }
    int file = open_dump();
    if (file >= 0 && ftruncate(file, 0) == 0 && lseek(file, 0, SEEK_SET) == 0) {
        function(file, thread);
        count = pread(file, dump, sizeof dump - 1, 0);
    }
    pthread_mutex_unlock(&dump_lock);
    if (count <= 0) {
        return 0;
    }
    dump[count] = '\0';
    return rewrite(dump, text, bytes);
}

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
    if (note.bytes > 0 && note.bytes < bytes) {
        memcpy(text, note.text, note.bytes);
        return note.bytes;
    }
    return dump_lines(own, text, bytes);
}
