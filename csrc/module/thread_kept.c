/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "module/thread_kept.h"

#ifdef Py_GIL_DISABLED

#include "adapters/saved_error.h"

/* In the dictionary of the thread's state, which clears it at the end. */
#define NAME "hipadapt._core.kept"

struct kept {
    PyObject *object; /* owned; NULL: none */
    void (*end)(PyObject *object);
};

static _Thread_local struct kept *own; /* owned by the dictionary */

static void
kept_end(PyObject *capsule)
{
    struct kept *kept = PyCapsule_GetPointer(capsule, NAME);

    if (own == kept) { /* else another thread clears the state of one that is gone */
        own = NULL;
    }
    if (kept->object != NULL) {
        kept->end(kept->object);
    }
    PyMem_Free(kept);
}

static struct kept *
kept_new(void (*end)(PyObject *object))
{
    PyObject *dictionary = PyThreadState_GetDict();
    struct kept *kept = dictionary != NULL ? PyMem_Calloc(1, sizeof *kept) : NULL;
    PyObject *capsule = kept != NULL ? PyCapsule_New(kept, NAME, NULL) : NULL;

    if (capsule == NULL) {
        PyMem_Free(kept);
        return NULL;
    }
    kept->end = end;
    if (PyCapsule_SetDestructor(capsule, kept_end) == 0 &&
        PyDict_SetItemString(dictionary, NAME, capsule) == 0) {
        own = kept;
    }
    Py_DECREF(capsule);
    return own;
}

/* NULL without memory or a dictionary, which nobody needs to know. */
static struct kept *
kept_need(void (*end)(PyObject *object))
{
    struct ha_saved_error error;

    if (own == NULL) {
        ha_error_save(&error);
        (void)kept_new(end);
        PyErr_Clear();
        ha_error_restore(&error);
    }
    return own;
}

PyObject *
ha_thread_keep(PyObject *object, void (*end)(PyObject *object))
{
    struct kept *kept = object != NULL ? kept_need(end) : own;

    if (kept == NULL) {
        return object;
    }
    PyObject *before = kept->object;
    kept->object = object;
    return before;
}

#else

/* ISO C has no empty file. */
typedef int ha_thread_kept_is_empty;

#endif
