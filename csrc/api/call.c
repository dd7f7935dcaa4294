/* SPDX-License-Identifier: MIT */
#include "api/call.h"

#include <string.h>

static int
index_of(const struct ha_form *form, PyObject *keyword)
{
    for (int i = 0; i < form->count; i++) {
        if (PyUnicode_CompareWithASCIIString(keyword, form->wheres[i].argument) == 0) {
            return i;
        }
    }
    return -1;
}

/* "a, b, c" of a form, cut where it is longer than `size`. */
static void
list_names(const struct ha_form *form, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; i < form->count && used + 1 < size; i++) {
        int written = snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "",
                               form->wheres[i].argument);
        used += written > 0 ? (size_t)written : 0;
    }
}

static int
wrong_count(const struct ha_signature *signature, Py_ssize_t given)
{
    char usual[512], second[512];

    list_names(&signature->forms[0], usual, sizeof usual);
    if (signature->form_count == 2) {
        list_names(&signature->forms[1], second, sizeof second);
        PyErr_Format(PyExc_TypeError,
                     "%s() takes (%s) or (%s); %zd arguments were given",
                     signature->forms[0].wheres->function, usual, second, given);
    } else {
        PyErr_Format(PyExc_TypeError, "%s() takes %d arguments (%s); %zd were given",
                     signature->forms[0].wheres->function, signature->forms[0].count,
                     usual, given);
    }
    return -1;
}

static int
bind_form(const struct ha_signature *signature, int which, PyObject *const *arguments,
          Py_ssize_t positional, PyObject *keywords, PyObject **bound)
{
    const struct ha_form *form = &signature->forms[which];
    Py_ssize_t named = keywords != NULL ? PyTuple_GET_SIZE(keywords) : 0;

    memset(bound, 0, (size_t)form->count * sizeof *bound);
    for (Py_ssize_t i = 0; i < positional; i++) {
        bound[i] = arguments[i];
    }
    for (Py_ssize_t i = 0; i < named; i++) {
        PyObject *keyword = PyTuple_GET_ITEM(keywords, i); /* borrowed */
        int at = index_of(form, keyword);
        if (at < 0) {
            PyErr_Format(PyExc_TypeError,
                         "%s() got an unexpected keyword argument '%U'",
                         signature->forms[0].wheres->function, keyword);
            return -1;
        }
        if (bound[at] != NULL) {
            PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%U'",
                         signature->forms[0].wheres->function, keyword);
            return -1;
        }
        bound[at] = arguments[positional + i];
    }
    return which;
}

int
ha_bind(const struct ha_signature *signature, PyObject *const *arguments,
        Py_ssize_t count, PyObject *keywords, PyObject **bound)
{
    Py_ssize_t given = count + (keywords != NULL ? PyTuple_GET_SIZE(keywords) : 0);

    for (int which = 0; which < signature->form_count; which++) {
        if (given == signature->forms[which].count) {
            return bind_form(signature, which, arguments, count, keywords, bound);
        }
    }
    return wrong_count(signature, given);
}

int
ha_need_bytes(const struct ha_view *view, const struct ha_where *where, size_t bytes,
              const char *text)
{
    if (ha_view_fits(view, bytes)) {
        return 0;
    }
    PyErr_Format(PyExc_ValueError,
                 "%s: argument '%s' has %zd bytes, but %s asks for %zu bytes",
                 where->function, where->argument, view->size, text, bytes);
    return -1;
}

int
ha_need_entries(const struct ha_view *view, const struct ha_where *where,
                long long entries, const char *text)
{
    if (view->count < 0 || entries <= view->count) {
        return 0;
    }
    PyErr_Format(PyExc_ValueError, "%s: argument '%s' has %zd entries, but %s is %lld",
                 where->function, where->argument, view->count, text, entries);
    return -1;
}

size_t
ha_size_rows(size_t pitch, size_t width, size_t rows)
{
    size_t before = 0, all = 0;

    if (rows == 0 || width == 0) {
        return 0;
    }
    if (__builtin_mul_overflow(pitch, rows - 1, &before) ||
        __builtin_add_overflow(before, width, &all)) {
        return SIZE_MAX;
    }
    return all;
}

size_t
ha_size_items(size_t count, size_t item)
{
    size_t all = 0;

    return __builtin_mul_overflow(count, item, &all) ? SIZE_MAX : all;
}

PyObject *
ha_result_of(PyObject *const *items, Py_ssize_t count)
{
    PyObject *result = NULL;
    bool complete = true;

    for (Py_ssize_t i = 0; i < count; i++) {
        complete = complete && items[i] != NULL;
    }
    if (complete) {
        result = PyTuple_New(count);
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (result != NULL) {
            PyTuple_SET_ITEM(result, i, items[i]);
        } else {
            Py_XDECREF(items[i]);
        }
    }
    return result;
}
