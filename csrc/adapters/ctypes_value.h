/* SPDX-License-Identifier: MIT */
/* ctypes: objects that hold an address, and what kind of ctypes object something is.
 *
 * ctypes is not imported here until an address has to be given back as c_void_p: as
 * long as the program has not imported it, no object can be one of its. */
#ifndef HA_ADAPTERS_CTYPES_VALUE_H
#define HA_ADAPTERS_CTYPES_VALUE_H

#include <Python.h>

#include "adapters/take.h"
#include "adapters/types.h"

/* What kind of ctypes object something is. */
enum ha_ctypes_class {
    HA_NOT_CTYPES,
    HA_CTYPES_ADDRESS, /* c_void_p, c_char_p, c_wchar_p, POINTER(T): value is an address
                        */
    HA_CTYPES_FUNCTION,  /* CFUNCTYPE */
    HA_CTYPES_SIMPLE,    /* c_int ... */
    HA_CTYPES_AGGREGATE, /* Structure, Union */
    HA_CTYPES_ARRAY,
};

int ha_ctypes_class(struct ha_types *types, PyObject *object,
                    enum ha_ctypes_class *out); /* -1 with an exception */
/* Address stored in a ctypes pointer or function object. */
int ha_ctypes_address(PyObject *object, void **out);
/* Imports ctypes and fills types->c_*. */
int ha_ctypes_load(struct ha_types *types);
/* A new c_void_p, or NULL with an exception. */
PyObject *ha_ctypes_void_p(struct ha_types *types, void *ptr);
/* Row of objects that hold an address. */
int ha_take_ctypes(struct ha_take *take, PyObject *object);

#endif
