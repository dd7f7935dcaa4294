/* SPDX-License-Identifier: MIT */
/* What a kernel is, for all that launches one; module/kernel.h says how they are used.
 *
 * A *slot* is one argument of the signature: its place among the packed arguments, its
 * size and its kind.  All of it stays as it was made, but for what says that it is
 * published (adapters/together.h). */
#ifndef HA_MODULE_KERNEL_OBJECT_H
#define HA_MODULE_KERNEL_OBJECT_H

#include <Python.h>

#include "api/api.h"

struct ha_kernel_state {
    PyTypeObject *kernel;   /* owned */
    PyTypeObject *config;   /* owned */
    PyObject *current;      /* owned; context variable of the current stream */
    PyObject *stream_class; /* owned; hipadapt.Stream once it is there; published */
    PyObject *str_handle;   /* owned; name of the stream's attribute */
};

/* What an argument is; the letters are those of the constructor's signature. */
enum ha_slot_kind {
    HA_SLOT_ANY = '?', /* only the size is known */
    HA_SLOT_POINTER = 'p',
    HA_SLOT_RECORD = 'r',
    HA_SLOT_INTEGER = 'n', /* signed or not */
    HA_SLOT_SIGNED = 'i',
    HA_SLOT_UNSIGNED = 'u',
    HA_SLOT_FLOAT = 'f',
    HA_SLOT_BOOL = 'b',
};

struct ha_kernel_slot {
    uint32_t offset, size;
    enum ha_slot_kind kind;
    /* Class of the last number that was of the right kind; borrowed, static classes
     * only; published. */
    const PyTypeObject *fits;
};

struct ha_kernel {
    PyObject_HEAD
    hipFunction_t function;        /* NULL once its module is gone; published */
    struct ha_kernel_state *state; /* borrowed, as long as the type lives */
    struct ha_api *api;            /* borrowed likewise */
    PyObject *name;                /* owned str */
    PyObject *owner;               /* owned; keeps the function loaded */
    PyObject *weakrefs;
    struct ha_kernel_slot *slots; /* owned (PyMem) */
    Py_ssize_t count;             /* of slots, -1 unknown */
    uint32_t bytes;               /* of packed arguments */
};

/* Name for messages; borrowed. */
static inline const char *
ha_kernel_name(const struct ha_kernel *kernel)
{
    const char *name = PyUnicode_AsUTF8(kernel->name); /* made by the constructor */

    return name != NULL ? name : "?";
}

#endif
