/* SPDX-License-Identifier: MIT */
/* Exceptions that are put aside while something runs that may raise. */
#ifndef HA_ADAPTERS_SAVED_ERROR_H
#define HA_ADAPTERS_SAVED_ERROR_H

#include <Python.h>

/* An exception that is put aside while something runs that may raise. */
struct ha_saved_error {
#if PY_VERSION_HEX >= 0x030C0000
    PyObject *exception; /* owned, or NULL */
#else
    PyObject *type, *value, *traceback; /* owned, or NULL */
#endif
};

void ha_error_save(struct ha_saved_error *saved);
void ha_error_restore(struct ha_saved_error *saved);
void ha_error_drop(struct ha_saved_error *saved);
/* Py_DECREF for owners: they run foreign code (deleters of DLPack), which must not see
 * nor lose the exception that is on its way.  `object` may be NULL. */
void ha_release(PyObject *object);

#endif
