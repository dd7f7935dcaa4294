/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "module/check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "abi/check.h"
#include "api/provider.h"

/* The provider's function.  NULL with an exception where it has none. */
static void *
function_of(const char *name)
{
    const struct ha_provider *provider = ha_provider_get();

    if (provider == NULL) {
        return NULL;
    }
    void *symbol = ha_provider_symbol(name);
    if (symbol == NULL) {
        PyErr_Format(PyExc_RuntimeError,
                     "hipadapt.check: checks run on the CPU device, and HIP is '%s' "
                     "here; HIPADAPT_PROVIDER=cpu chooses it",
                     provider->path);
    }
    return symbol;
}

static PyObject *
start(PyObject *Py_UNUSED(module), PyObject *words)
{
    const char *text = PyUnicode_AsUTF8(words);
    if (text == NULL) {
        return NULL;
    }
    int (*call)(const char *) =
        (int (*)(const char *))function_of("hipadaptCheckStart");
    if (call == NULL) {
        return NULL;
    }
    if (call(text) != 0) {
        return PyErr_Format(PyExc_ValueError, "%s", ha_provider_error_text());
    }
    Py_RETURN_NONE;
}

static PyObject *
summary(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    struct ha_check_summary found = {.size = sizeof found};
    int (*call)(struct ha_check_summary *) =
        (int (*)(struct ha_check_summary *))function_of("hipadaptCheckSummary");
    int status = 0;

    if (call == NULL) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    status = call(&found);
    Py_END_ALLOW_THREADS
    if (status != 0) {
        return PyErr_Format(PyExc_RuntimeError, "%s", ha_provider_error_text());
    }
    return Py_BuildValue(
        "(IIKKKKKK)", found.kinds, found.findings, (unsigned long long)found.counted,
        (unsigned long long)found.dropped, (unsigned long long)found.launches,
        (unsigned long long)found.unchecked, (unsigned long long)found.observed,
        (unsigned long long)found.proved);
}

static PyObject *
clear(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    int (*call)(void) = (int (*)(void))function_of("hipadaptCheckClear");

    if (call == NULL) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS(void)
    call(); /* always succeeds */
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

typedef int (*write_call)(const struct ha_check_finding *, enum ha_check_format, char *,
                          size_t *);

/* A line of JSON of each finding; owned.  Filled without the GIL. */
struct lines {
    write_call write;
    char **items;
    size_t count;
    size_t room;
};

static int
make_room(struct lines *lines)
{
    if (lines->count < lines->room) {
        return 0;
    }
    size_t room = lines->room > 0 ? 2 * lines->room : 16;
    char **more = realloc(lines->items, room * sizeof *more);
    if (more == NULL) {
        return -1;
    }
    lines->items = more;
    lines->room = room;
    return 0;
}

static int
add_line(const struct ha_check_finding *found, void *context)
{
    struct lines *lines = context;
    size_t bytes = 0;

    if (make_room(lines) != 0 ||
        lines->write(found, HA_CHECK_JSON, NULL, &bytes) != 0) {
        return -1;
    }
    char *text = malloc(bytes);
    if (text == NULL || lines->write(found, HA_CHECK_JSON, text, &bytes) != 0) {
        free(text);
        return -1;
    }
    lines->items[lines->count++] = text;
    return 0;
}

/* A new list of str. */
static PyObject *
list_of(const struct lines *lines)
{
    PyObject *list = PyList_New((Py_ssize_t)lines->count);

    for (size_t i = 0; list != NULL && i < lines->count; i++) {
        PyObject *line = PyUnicode_FromString(lines->items[i]);
        if (line == NULL) {
            Py_CLEAR(list);
        } else {
            PyList_SET_ITEM(list, (Py_ssize_t)i, line);
        }
    }
    return list;
}

static PyObject *
findings(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    struct lines lines = {.write = (write_call)function_of("hipadaptCheckWrite")};
    int (*call)(ha_check_each, void *) =
        lines.write != NULL
            ? (int (*)(ha_check_each, void *))function_of("hipadaptCheckFindings")
            : NULL;
    PyObject *list = NULL;
    int status = 0;

    if (call == NULL) {
        return NULL;
    }
    /* A kernel that finds something holds a lock while it prints, and who reads that
     * may be a thread of Python. */
    Py_BEGIN_ALLOW_THREADS
    status = call(add_line, &lines);
    Py_END_ALLOW_THREADS
    list = status == 0 ? list_of(&lines) : PyErr_NoMemory();
    for (size_t i = 0; i < lines.count; i++) {
        free(lines.items[i]);
    }
    free(lines.items);
    return list;
}

static PyMethodDef methods[] = {
    {"check_start", start, METH_O,
     "check_start($module, words, /)\n--\n\nWhat is checked from now on."},
    {"check_clear", clear, METH_NOARGS,
     "check_clear($module, /)\n--\n\nForgets all findings."},
    {"check_summary", summary, METH_NOARGS,
     "check_summary($module, /)\n--\n\nKinds, and the numbers of a summary."},
    {"check_findings", findings, METH_NOARGS,
     "check_findings($module, /)\n--\n\nA line of JSON of each."},
    {NULL, NULL, 0, NULL},
};

int
ha_check_init(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
