/* SPDX-License-Identifier: MIT */
/* Messages of exceptions.  They begin with the function and the argument that they are
 * about: "hipMemcpy: argument 'dst' must be ..., not 'str'".
 *
 * A *where* names both.  An *entry* names one element of an argument that is a list.
 * Functions that set an exception answer -1.  All need the GIL. */
#ifndef HA_ADAPTERS_MESSAGE_H
#define HA_ADAPTERS_MESSAGE_H

#include <Python.h>

struct ha_where {
    const char *function; /* "hipMemcpy" */
    const char *argument; /* "dst" */
};

/* Sets `exception` "function: argument 'x' <text>"; answers -1.  The format is that of
 * PyUnicode_FromFormat. */
int ha_raise(PyObject *exception, const struct ha_where *where, const char *format,
             ...);
/* TypeError "function: argument 'x' must be <wanted>, not 'type'"; answers -1. */
int ha_refuse(const struct ha_where *where, const char *wanted, PyObject *object);
/* OverflowError "function: argument 'x' must be <range>, not <value>"; answers -1. */
int ha_raise_range(const struct ha_where *where, const char *range, PyObject *value);

/* Name of entry i of an argument for messages, "options[3]", written without a call per
 * entry of a fast path: where.argument points to text. */
struct ha_entry {
    struct ha_where where;
    char *digits;
    char text[96];
};

void ha_entry_init(struct ha_entry *entry, const struct ha_where *where);
void ha_entry_set(struct ha_entry *entry, Py_ssize_t i);

#endif
