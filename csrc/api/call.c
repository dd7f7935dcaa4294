/* SPDX-License-Identifier: MIT */
#include "api/call.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "adapters/adapter.h"
#include "adapters/kind.h"
#include "adapters/message.h"
#include "adapters/number.h"
#include "adapters/pointer.h"
#include "adapters/python_version.h"
#include "adapters/types.h"
#include "adapters/view.h"
#include "core/readable.h"

enum { NAMES_CHARS = 1024 };

void
ha_where_fill(struct ha_where *where, int slots, const char *names)
{
    const char *name = names + strlen(names) + 1;

    for (int i = 0; i < slots; i++) {
        HA_PUBLISH(where[i].argument, name);
        if (i > 0) {
            HA_PUBLISH(where[i].function, names);
        }
        name += strlen(name) + 1;
    }
    HA_PUBLISH(where->function, names);
}

/* One parameter list: slots[i] is the slot of parameter i; NULL = i. */
struct form {
    int count;
    const unsigned char *slots;
};

static inline int
slot_of(const struct form *form, int i)
{
    return form->slots != NULL ? form->slots[i] : i;
}

static int
index_of(const struct ha_where *where, const struct form *form, PyObject *keyword)
{
    for (int i = 0; i < form->count; i++) {
        const char *name = where[slot_of(form, i)].argument;
        if (PyUnicode_CompareWithASCIIString(keyword, name) == 0) {
            return i;
        }
    }
    return -1;
}

/* Appends "(a, b, c)", cut where it is longer than the text has room for. */
static void
list_names(const struct ha_where *where, const struct form *form, char *text)
{
    size_t used = strlen(text);
    int written = snprintf(text + used, NAMES_CHARS - used, "(");

    for (int i = 0; i < form->count && used + (size_t)written < NAMES_CHARS; i++) {
        used += (size_t)written;
        written = snprintf(text + used, NAMES_CHARS - used, "%s%s", i > 0 ? ", " : "",
                           where[slot_of(form, i)].argument);
    }
    used = strlen(text);
    (void)snprintf(text + used, NAMES_CHARS - used, ")");
}

static int
bind_form(const struct ha_where *where, const struct form *form,
          PyObject *const *arguments, Py_ssize_t positional, PyObject *keywords,
          PyObject **bound)
{
    Py_ssize_t named = keywords != NULL ? PyTuple_GET_SIZE(keywords) : 0;

    for (Py_ssize_t i = 0; i < positional; i++) {
        bound[slot_of(form, (int)i)] = arguments[i];
    }
    for (Py_ssize_t i = 0; i < named; i++) {
        PyObject *keyword = PyTuple_GET_ITEM(keywords, i); /* borrowed */
        int at = index_of(where, form, keyword);
        if (at < 0) {
            PyErr_Format(PyExc_TypeError,
                         "%s() got an unexpected keyword argument '%U'",
                         where->function, keyword);
            return -1;
        }
        int slot = slot_of(form, at);
        if (bound[slot] != NULL) {
            PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%U'",
                         where->function, keyword);
            return -1;
        }
        bound[slot] = arguments[positional + i];
    }
    return 0;
}

int
ha_bind(const struct ha_where *where, int slots, PyObject *const *arguments,
        Py_ssize_t count, PyObject *keywords, PyObject **bound)
{
    Py_ssize_t given = count + (keywords != NULL ? PyTuple_GET_SIZE(keywords) : 0);
    struct form form = {slots, NULL};

    memset(bound, 0, (size_t)slots * sizeof *bound);
    if (given != slots) {
        char names[NAMES_CHARS] = "";
        list_names(where, &form, names);
        PyErr_Format(PyExc_TypeError, "%s() takes %d arguments %s; %zd were given",
                     where->function, slots, names, given);
        return -1;
    }
    return bind_form(where, &form, arguments, count, keywords, bound);
}

/* A table of forms, read from front to back. */
struct forms {
    int slots, count;
    const unsigned char *kinds, *next;
};

static struct forms
forms_open(const unsigned char *table)
{
    return (struct forms){table[0], table[1], table + 2, table + 2 + table[0]};
}

static struct form
forms_next(struct forms *forms)
{
    struct form form = {forms->next[0], forms->next + 1};

    forms->next += 1 + form.count;
    return form;
}

/* The form that fits, else the first with as many parameters, else none. */
static bool
choose(const struct ha_where *where, struct forms forms, Py_ssize_t given,
       PyObject *keywords, struct form *chosen)
{
    Py_ssize_t named = keywords != NULL ? PyTuple_GET_SIZE(keywords) : 0;
    bool found = false;

    for (int which = 0; which < forms.count; which++) {
        struct form form = forms_next(&forms);
        if (form.count != given) {
            continue;
        }
        Py_ssize_t known = 0;
        while (known < named &&
               index_of(where, &form, PyTuple_GET_ITEM(keywords, known)) >= 0) {
            known++;
        }
        if (known == named || !found) {
            *chosen = form;
            found = true;
        }
        if (known == named) {
            break;
        }
    }
    return found;
}

static int
no_form(const struct ha_where *where, struct forms forms, Py_ssize_t given)
{
    char names[NAMES_CHARS] = "";

    for (int which = 0; which < forms.count; which++) {
        struct form form = forms_next(&forms);
        size_t used = strlen(names);
        (void)snprintf(names + used, sizeof names - used, which > 0 ? " or " : "");
        list_names(where, &form, names);
    }
    PyErr_Format(PyExc_TypeError, "%s() takes %s; %zd arguments were given",
                 where->function, names, given);
    return -1;
}

/* Small ints are never freed; borrowed. */
static PyObject *
zero(void)
{
    PyObject *number = PyLong_FromLong(0);

    Py_XDECREF(number);
    return number;
}

int
ha_bind_forms(const struct ha_where *where, const unsigned char *table,
              PyObject *const *arguments, Py_ssize_t count, PyObject *keywords,
              PyObject **bound)
{
    struct forms forms = forms_open(table);
    Py_ssize_t given = count + (keywords != NULL ? PyTuple_GET_SIZE(keywords) : 0);
    struct form form;
    int mask = 0;

    memset(bound, 0, (size_t)forms.slots * sizeof *bound);
    if (!choose(where, forms, given, keywords, &form)) {
        return no_form(where, forms, given);
    }
    if (bind_form(where, &form, arguments, count, keywords, bound) < 0) {
        return -1;
    }
    for (int slot = 0; slot < forms.slots; slot++) {
        if (bound[slot] != NULL) {
            mask |= 1 << slot;
        } else if (forms.kinds[slot] != 'o') {
            bound[slot] = forms.kinds[slot] == 'n' ? zero() : Py_None;
        }
    }
    return mask;
}

/* Ints of few bits without a call. */
#define NUMBER(suffix, type, kind, min, max)                                           \
    int ha_arg_##suffix(struct ha_types *types, PyObject *object,                      \
                        const struct ha_where *where, type *value)                     \
    {                                                                                  \
        Py_ssize_t small = 0;                                                          \
        if (PyLong_CheckExact(object) && ha_long_is_compact(object, &small) &&         \
            small >= (min) && small <= (max)) {                                        \
            *value = (type)small;                                                      \
            return 0;                                                                  \
        }                                                                              \
        return ha_count_from(types, object, where, kind, value);                       \
    }

NUMBER(int, int, HA_I32, INT_MIN, INT_MAX)
NUMBER(uint8, uint8_t, HA_U8, 0, UINT8_MAX)
NUMBER(uint16, uint16_t, HA_U16, 0, UINT16_MAX)
NUMBER(uint, unsigned int, HA_U32, 0, UINT_MAX)
NUMBER(int64, int64_t, HA_I64, PY_SSIZE_T_MIN, PY_SSIZE_T_MAX)
NUMBER(uint64, uint64_t, HA_U64, 0, PY_SSIZE_T_MAX)

/* Memory that holds Python objects would hold something else afterwards. */
static bool
holds_objects(PyObject *object)
{
    Py_buffer buffer;
    bool found = false;

    if (!PyObject_CheckBuffer(object)) {
        return false;
    }
    if (PyObject_GetBuffer(object, &buffer, PyBUF_FULL_RO) < 0) {
        PyErr_Clear();
        return false;
    }
    found = buffer.format != NULL && strchr(buffer.format, 'O') != NULL;
    PyBuffer_Release(&buffer);
    return found;
}

int
ha_cell_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
             size_t bytes, struct ha_view *out)
{
    ha_view_init(out);
    if (PyObject_TypeCheck(object, types->device_array) || holds_objects(object)) {
        return ha_refuse(where, "memory that the processor can use", object);
    }
    if (ha_ptr_from(types, object, where, HA_WRITE, out) < 0) {
        return -1;
    }
    if (out->ptr != NULL && out->size < 0) {
        ha_view_release(out);
        return ha_refuse(where, "memory of known length", object);
    }
    if (out->ptr != NULL && ha_need_bytes(out, where, bytes, where->argument) < 0) {
        ha_view_release(out);
        return -1;
    }
    return 0;
}

bool
ha_is_cell(struct ha_types *types, PyObject *object)
{
    return ha_pointer_check(types, object) ||
           (!PyIndex_Check(object) && PyObject_CheckBuffer(object));
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
                long long entries, size_t bytes, const char *text)
{
    if (view->count < 0) {
        size_t align = bytes % sizeof(void *) == 0 ? sizeof(void *) : 1;
        return entries <= 0
                   ? 0
                   : ha_need_memory(view, where, ha_size_items((size_t)entries, bytes),
                                    bytes == 4 ? 4 : align);
    }
    if (entries <= view->count) {
        return 0;
    }
    if (text[0] >= '0' && text[0] <= '9') {
        return ha_raise(PyExc_ValueError, where, "has %zd entries, but HIP uses %lld",
                        view->count, entries);
    }
    return ha_raise(PyExc_ValueError, where, "has %zd entries, but %s is %lld",
                    view->count, text, entries);
}

int
ha_need_texts(struct ha_types *types, const struct ha_view *view,
              const struct ha_where *where, long long entries, const char *text)
{
    if (ha_need_entries(view, where, entries, sizeof(char *), text) < 0) {
        return -1;
    }
    if (view->ptr == NULL ||
        (view->owner != NULL && Py_TYPE(view->owner) == types->block)) {
        return 0; /* made of Python texts */
    }
    for (long long i = 0; i < entries; i++) {
        const char *entry;
        size_t length;
        memcpy(&entry, (const char *)view->ptr + (size_t)i * sizeof entry,
               sizeof entry);
        if (entry != NULL && !ha_text_readable(entry, &length)) {
            return ha_raise(PyExc_ValueError, where,
                            "has the entry %p, where no text can be read", entry);
        }
    }
    return 0;
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
ha_result2(PyObject *status, PyObject *first)
{
    PyObject *result = NULL;

    if (status != NULL && first != NULL && (result = PyTuple_New(2)) != NULL) {
        PyTuple_SET_ITEM(result, 0, status);
        PyTuple_SET_ITEM(result, 1, first);
        return result;
    }
    Py_XDECREF(status);
    Py_XDECREF(first);
    return NULL;
}

PyObject *
ha_result3(PyObject *status, PyObject *first, PyObject *second)
{
    PyObject *items[] = {status, first, second};

    return ha_result_left(items, 3);
}

PyObject *
ha_result4(PyObject *status, PyObject *first, PyObject *second, PyObject *third)
{
    PyObject *items[] = {status, first, second, third};

    return ha_result_left(items, 4);
}

const char ha_taken = 0;

PyObject *
ha_result_left(PyObject *const *items, Py_ssize_t count)
{
    Py_ssize_t left = 0, used = 0;
    PyObject *result = NULL;
    bool complete = true;

    for (Py_ssize_t i = 0; i < count; i++) {
        complete = complete && items[i] != NULL;
        left += items[i] != HA_TAKEN;
    }
    if (complete) {
        result = PyTuple_New(left);
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (items[i] == HA_TAKEN) {
            continue;
        }
        if (result != NULL) {
            PyTuple_SET_ITEM(result, used++, items[i]);
        } else {
            Py_XDECREF(items[i]);
        }
    }
    return result;
}
