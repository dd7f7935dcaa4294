/* SPDX-License-Identifier: MIT */
/* Threads that work on the same objects at the same time.
 *
 * Where there is a GIL it guards all that "needs the GIL", and what is below costs
 * nothing.  In a free-threaded Python such a function needs a thread state that is
 * attached, which keeps no other thread off; there
 *
 * - the fields of an object are read and written in a critical section of it
 *   (HA_BEGIN_SECTION), which ends while the thread waits for something else;
 *   what has to outlast that is copied out, with references;
 * - what is made once and stays is *published*: written as a whole before the address
 * of it, and read from there (HA_READ, HA_PUBLISH);
 * - all else has a *guard*: a lock that is held for a few lines, in which nothing of
 *   Python runs, nothing waits and no other guard is taken.  A fork stops all threads
 *   where they hold none.
 *
 * docs/threads.md lists what is shared. */
#ifndef HA_ADAPTERS_TOGETHER_H
#define HA_ADAPTERS_TOGETHER_H

#include <Python.h>

#include <stdbool.h>

/* Python's own macros leave their arguments alone where there is a GIL. */
#ifdef Py_GIL_DISABLED
#define HA_BEGIN_SECTION(object) Py_BEGIN_CRITICAL_SECTION(object)
#define HA_END_SECTION() Py_END_CRITICAL_SECTION()
#define HA_BEGIN_SECTION2(first, second) Py_BEGIN_CRITICAL_SECTION2(first, second)
#define HA_END_SECTION2() Py_END_CRITICAL_SECTION2()
#else
#define HA_BEGIN_SECTION(object)                                                       \
    {                                                                                  \
        (void)(object);
#define HA_END_SECTION() }
#define HA_BEGIN_SECTION2(first, second)                                               \
    {                                                                                  \
        (void)(first), (void)(second);
#define HA_END_SECTION2() }
#endif

struct ha_guard {
#ifdef Py_GIL_DISABLED
    PyMutex mutex;
#else
    char nothing; /* ISO C has no empty struct */
#endif
};

static inline void
ha_guard_take(struct ha_guard *guard)
{
#ifdef Py_GIL_DISABLED
    PyMutex_Lock(&guard->mutex);
#else
    (void)guard;
#endif
}

static inline void
ha_guard_give(struct ha_guard *guard)
{
#ifdef Py_GIL_DISABLED
    PyMutex_Unlock(&guard->mutex);
#else
    (void)guard;
#endif
}

/* A field that other threads may write meanwhile: numbers and addresses. */
#define HA_READ(field) __atomic_load_n(&(field), __ATOMIC_ACQUIRE)
#define HA_PUBLISH(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELEASE)

/* Adds to a number; what it was before. */
#ifdef Py_GIL_DISABLED
#define HA_ADD(field, more) __atomic_fetch_add(&(field), (more), __ATOMIC_ACQ_REL)
#else
#define HA_ADD(field, more) (((field) += (more)) - (more))
#endif

/* Sets a number or an address; what it was before. */
#define HA_SWAP(field, value) __atomic_exchange_n(&(field), (value), __ATOMIC_ACQ_REL)

/* Makes `made` (stolen, not NULL) the object of a slot that is made once, unless
 * another thread was first; the object that is there, borrowed. */
static inline PyObject *
ha_publish_once(PyObject **slot, PyObject *made)
{
    PyObject *there = NULL;

    if (__atomic_compare_exchange_n(slot, &there, made, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
        return made;
    }
    Py_DECREF(made);
    return there;
}

/* An object that calls of all threads give back, and that no other thread has yet: it
 * lives as long as the process where they would else count its references in turn. */
static inline void
ha_keep_for_good(PyObject *object)
{
#ifdef Py_GIL_DISABLED
    if (PyObject_IS_GC(object) && PyObject_GC_IsTracked(object)) {
        PyObject_GC_UnTrack(object);
    }
    object->ob_tid = _Py_UNOWNED_TID;
    __atomic_store_n(&object->ob_ref_local, _Py_IMMORTAL_REFCNT_LOCAL,
                     __ATOMIC_RELAXED);
    __atomic_store_n(&object->ob_ref_shared, (Py_ssize_t)0, __ATOMIC_RELAXED);
#else
    (void)object;
#endif
}

/* A function (or NULL) that all threads call: the interpreter need not count references
 * to it at each call. */
static inline void
ha_called_by_all(PyObject *function)
{
#if defined(Py_GIL_DISABLED) && PY_VERSION_HEX >= 0x030E0000
    if (function != NULL) {
        (void)PyUnstable_Object_EnableDeferredRefcount(function);
    }
#else
    (void)function;
#endif
}

#endif
