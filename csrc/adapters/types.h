/* SPDX-License-Identifier: MIT */
/* The adapters' part of the module state: the types, and what else the files of this
 * room find behind their module.
 *
 * struct ha_types is the first member of the module state.  state.c writes it before
 * anybody else has the module.  What is made on first use is published then
 * (together.h), and stays.  It owns its objects unless a field says otherwise. */
#ifndef HA_ADAPTERS_TYPES_H
#define HA_ADAPTERS_TYPES_H

#include <Python.h>

#include <stddef.h>

#include "adapters/kind.h"
#include "adapters/together.h"

struct ha_memory_hooks; /* memory.h */
struct ha_tables;       /* description.h */
struct ha_type_table;   /* type_index.c */

/* What the state remembers of one type made from a description. */
struct ha_type_entry {
    PyTypeObject *type; /* owned; NULL until first use; published */
    void *memory;       /* owned (PyMem): tables that the type points into; published */
};

struct ha_types {
    PyTypeObject *pointer;
    PyTypeObject *nd_buffer;
    PyTypeObject *device_array;
    PyTypeObject *cstr;
    PyTypeObject *list_bytes;
    PyTypeObject *list_pointer;
    PyTypeObject *list_number[HA_KIND_COUNT]; /* NULL where there is no such list */
    PyTypeObject *pointer_to[HA_KIND_COUNT];  /* PointerToInt ...; NULL likewise */
    PyTypeObject *launch_extra;
    PyTypeObject *handle;   /* base of all handle types */
    PyTypeObject *function; /* base of all function pointer types */
    PyTypeObject *record;   /* base of all record types */
    PyTypeObject *text;     /* str of records */
    PyTypeObject *accessor; /* get_x and set_x of records */
    PyTypeObject *hold;
    PyTypeObject *block;
    PyTypeObject *allocation;
    PyTypeObject *tensor;
    /* Interned names. */
    PyObject *str_cuda_array_interface;
    PyObject *str_cuda_stream;
    PyObject *str_as_c_void_p;
    PyObject *str_dlpack, *str_dlpack_device;
    PyObject *str_shape, *str_typestr, *str_data, *str_strides, *str_version;
    PyObject *str_mask, *str_stream, *str_itemsize, *str_read_only, *str_force;
    PyObject *str_max_version, *str_str, *str_name, *str_dtype, *str_close, *str_descr;
    PyObject *str_names;
    PyObject *str_is_neg, *str_is_conj, *str_requires_grad;
    PyObject *str_dl_device, *str_copy, *str_dlpack_exchange;
    PyObject *dlpack_kwnames; /* ("max_version",) */
    PyObject *dlpack_version; /* (1, 3) */
    /* NULL until the program has imported ctypes; before that no object can be one of
     * its.  ctypes_module is published when the others are there. */
    PyObject *ctypes_module;
    PyTypeObject *c_void_p, *c_simple, *c_pointer, *c_function, *c_structure, *c_union;
    PyTypeObject *c_array, *c_char_p, *c_wchar_p;
    PyObject *c_alignment; /* ctypes.alignment */
    PyObject *module;      /* borrowed: the module whose state this is */
    const struct ha_tables *tables;
    const struct ha_memory_hooks
        *memory; /* static; NULL until the room above sets it */
    struct ha_type_entry *records, *handles,
        *functions;                   /* owned arrays, tables' order */
    struct ha_type_table *type_table; /* owned; see type_index.c; published */
    size_t type_count;                /* in it; guard */
    struct ha_guard guard;            /* of what is made on first use */
};

static inline struct ha_types *
ha_types_of(PyObject *module)
{
    return (struct ha_types *)PyModule_GetState(module);
}

#endif
