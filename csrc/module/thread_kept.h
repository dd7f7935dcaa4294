/* SPDX-License-Identifier: MIT */
/* One object for each thread, for a free-threaded Python: what a thread makes and ends
 * again and again, and would count references of a shared object for.
 *
 * The object has no references while it is kept, is not tracked by the collector of
 * garbage, and belongs to this file; it is handed to `end` when its thread ends. */
#ifndef HA_MODULE_THREAD_KEPT_H
#define HA_MODULE_THREAD_KEPT_H

#include <Python.h>

#include <stdbool.h>

#ifdef Py_GIL_DISABLED
/* Keeps `object` (NULL: nothing) in place of what this thread has kept, which comes
 * back; `object` itself where it can't be kept.  `end` is the same at each call. */
PyObject *ha_thread_keep(PyObject *object, void (*end)(PyObject *object));

/* Whether this thread counts its references to the object apart from all others'. */
static inline bool
ha_is_own(const PyObject *object)
{
    return __atomic_load_n(&object->ob_tid, __ATOMIC_RELAXED) == _Py_ThreadId();
}
#endif

#endif
