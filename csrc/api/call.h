/* SPDX-License-Identifier: MIT */
/* What each wrapper does before and after its call: match arguments with parameters,
 * turn numbers into C, turn results into Python.
 *
 * Words: a *form* is one parameter list of a function.  Form 0 is the usual one; form
 * 1, where there is one, has in addition the record or buffer that form 0 returns, in
 * its C place; the caller then owns it and the result is the status alone.
 *
 * All functions need the GIL.  Those that return int give -1 with an exception. */
#ifndef HA_API_CALL_H
#define HA_API_CALL_H

#include <Python.h>

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "adapters/adapter.h"

struct ha_form {
    int count;
    const struct ha_where *wheres; /* function and parameter names */
};

struct ha_signature {
    int form_count;
    struct ha_form forms[2];
};

/* Puts the arguments into `bound` in the order of the form that fits; borrowed. Returns
 * the form. */
int ha_bind(const struct ha_signature *signature, PyObject *const *arguments,
            Py_ssize_t count, PyObject *keywords, PyObject **bound);

/* Numbers: exact ints that fit are taken here, all else goes to ha_number_from. */
#define HA_NUMBER(suffix, type, kind, min, max)                                        \
    static inline int ha_arg_##suffix(struct ha_types *types, PyObject *object,        \
                                      const struct ha_where *where, type *value)       \
    {                                                                                  \
        if (PyLong_CheckExact(object)) {                                               \
            int overflow = 0;                                                          \
            long long number = PyLong_AsLongLongAndOverflow(object, &overflow);        \
            if (overflow == 0 && number >= (min) && number <= (max)) {                 \
                *value = (type)number;                                                 \
                return 0;                                                              \
            }                                                                          \
        }                                                                              \
        return ha_number_from(types, object, where, kind, value);                      \
    }

HA_NUMBER(int, int, HA_I32, INT_MIN, INT_MAX)
HA_NUMBER(long_long, long long, HA_I64, LLONG_MIN, LLONG_MAX)
HA_NUMBER(uint8, uint8_t, HA_U8, 0, UINT8_MAX)
HA_NUMBER(uint16, uint16_t, HA_U16, 0, UINT16_MAX)
HA_NUMBER(uint, unsigned int, HA_U32, 0, UINT_MAX)
HA_NUMBER(uint64, uint64_t, HA_U64, 0, LLONG_MAX)
HA_NUMBER(unsigned_long_long, unsigned long long, HA_U64, 0, LLONG_MAX)
HA_NUMBER(size, size_t, HA_SIZE, 0, LLONG_MAX)

/* For size relations: 0 where the view is not known to be shorter than `bytes`, else -1
 * with a ValueError that names both numbers.  `text` is the parameter that asks for it.
 */
int ha_need_bytes(const struct ha_view *view, const struct ha_where *where,
                  size_t bytes, const char *text);

/* The same for lists and their number of entries. */
int ha_need_entries(const struct ha_view *view, const struct ha_where *where,
                    long long entries, const char *text);

/* Bytes that `rows` rows of `width` bytes take when they begin `pitch` bytes apart, and
 * `count` items of `item` bytes; SIZE_MAX where that is more than a size_t holds. */
size_t ha_size_rows(size_t pitch, size_t width, size_t rows);
size_t ha_size_items(size_t count, size_t item);

/* The tuple of a status and its outputs.  Steals all, and releases all where one is
 * NULL; then NULL. */
PyObject *ha_result_of(PyObject *const *items, Py_ssize_t count);

static inline PyObject *
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

static inline PyObject *
ha_result3(PyObject *status, PyObject *first, PyObject *second)
{
    PyObject *items[] = {status, first, second};

    return ha_result_of(items, 3);
}

static inline PyObject *
ha_result4(PyObject *status, PyObject *first, PyObject *second, PyObject *third)
{
    PyObject *items[] = {status, first, second, third};

    return ha_result_of(items, 4);
}

#endif
