/* SPDX-License-Identifier: MIT */
/* Kernels that are called: kernel[grid, block, shared, stream](*args).
 *
 * A *kernel* has the address of a HIP function and, where it is known, its *signature*:
 * place, size and kind of each argument.  A *launch configuration* is what kernel[...]
 * gives; calling it packs the arguments by the signature (without one by the rules of
 * adapters/launch.h) and launches.  Memory of arguments is kept until the stream has
 * passed the kernel, as by hipModuleLaunchKernel.
 *
 * The *current stream* is that of the innermost `with stream:` of the running context:
 * a context variable whose value is None or a tuple that begins with the stream.
 *
 * hipadapt/_objects/kernel.py makes the public class from the kernel type, and raises
 * what a failed launch raises.  All functions need the GIL, which is released around
 * HIP's. */
#ifndef HA_MODULE_KERNEL_H
#define HA_MODULE_KERNEL_H

#include <Python.h>

#include "api/api.h"

struct ha_kernel_state {
    PyTypeObject *kernel;   /* owned */
    PyTypeObject *config;   /* owned */
    PyObject *current;      /* owned; context variable of the current stream */
    PyObject *stream_class; /* owned; hipadapt.Stream once it is there, or NULL */
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
     * only. */
    const PyTypeObject *fits;
};

struct ha_kernel {
    PyObject_HEAD
    hipFunction_t function;        /* NULL once its module is gone */
    struct ha_kernel_state *state; /* borrowed, as long as the type lives */
    struct ha_api *api;            /* borrowed likewise */
    PyObject *name;                /* owned str */
    PyObject *owner;               /* owned; keeps the function loaded */
    PyObject *weakrefs;
    struct ha_kernel_slot *slots; /* owned (PyMem) */
    Py_ssize_t count;             /* of slots, -1 unknown */
    uint32_t bytes;               /* of packed arguments */
};

/* Name for messages. */
const char *ha_kernel_name(const struct ha_kernel *kernel);

/* What the provider knows about a function's arguments: a tuple of (offset, bytes, enum
 * ha_arg_kind), or None.  A method of the module. */
PyObject *ha_kernel_parameters(PyObject *module, PyObject *function);

/* Makes the types and adds them to the module; 0, or -1 with an exception. */
int ha_kernel_init(PyObject *module, struct ha_kernel_state *state);
int ha_kernel_state_traverse(struct ha_kernel_state *state, visitproc visit, void *arg);
void ha_kernel_state_clear(struct ha_kernel_state *state);

#endif
