/* SPDX-License-Identifier: MIT */
/* Pointer, the base of every public type: an address plus what keeps it alive.
 *
 * The fields change only in __init__, configure, close and through createRef, in a
 * critical section of the object.  Who needs several of them *sees* the object: works
 * with a copy that keeps the owner, whatever happens to the object meanwhile.  What is
 * *gone* was closed or freed: the object has no memory any more.  What Python sees of a
 * Pointer is in pointer_object.c. */
#ifndef HA_ADAPTERS_POINTER_H
#define HA_ADAPTERS_POINTER_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include "adapters/allocation.h"
#include "adapters/together.h"
#include "adapters/types.h"
#include "adapters/view.h"

/* What became of the memory: closed by close(), or freed by a call of HIP. */
enum ha_gone { HA_HERE = 0, HA_CLOSED, HA_FREED };

struct ha_pointer {
    PyObject_HEAD
    void *ptr;
    Py_ssize_t size; /* bytes behind ptr, -1 unknown */
    PyObject *owner; /* owned; keeps the memory, or NULL */
    PyObject *weakrefs;
    bool readonly;
    uint8_t gone; /* enum ha_gone; what is gone has the address NULL */
#ifdef Py_GIL_DISABLED
    uint32_t turn; /* odd while the fields change */
#endif
    void *was; /* where freed memory was: int() goes on giving it; else unset */
};

/* True if `object` is a Pointer or of a subclass of it. */
static inline bool
ha_pointer_check(const struct ha_types *types, PyObject *object)
{
    return PyObject_TypeCheck(object, types->pointer);
}

/* The address in an object for which ha_pointer_check holds. */
static inline void *
ha_pointer_of(PyObject *object)
{
    return HA_READ(((struct ha_pointer *)object)->ptr);
}

/* The address alone, of an object that all threads may use at once and that has no
 * owner to keep: no field of it is written, not even a lock's.  False where it has an
 * owner or changes just now. */
static inline bool
ha_pointer_glance(const struct ha_pointer *self, void **ptr)
{
#ifdef Py_GIL_DISABLED
    uint32_t turn = HA_READ(self->turn);
    *ptr = HA_READ(self->ptr);
    return HA_READ(self->owner) == NULL && (turn & 1) == 0 &&
           HA_READ(self->turn) == turn;
#else
    *ptr = self->ptr;
    return self->owner == NULL;
#endif
}

/* Copies the fields of an object for which ha_pointer_check holds; ha_pointer_unsee
 * gives the owner back.  The copy is no object. */
void ha_pointer_see(PyObject *self, struct ha_pointer *seen);
/* The same in a critical section of the caller's. */
void ha_pointer_copy(const struct ha_pointer *self, struct ha_pointer *seen);
void ha_pointer_unsee(struct ha_pointer *seen);

/* Whether the memory of an array, or what it is a part of, was closed or freed.  `self`
 * is a copy, or in a critical section. */
static inline bool
ha_pointer_is_gone(const struct ha_types *types, const struct ha_pointer *self)
{
    const PyObject *owner = self->owner;
    return HA_READ(self->gone) != HA_HERE ||
           (owner != NULL &&
            ((Py_TYPE(owner) == types->allocation && ha_allocation_is_closed(owner)) ||
             (Py_TYPE(owner) == types->device_array &&
              HA_READ(((const struct ha_pointer *)owner)->gone) != HA_HERE)));
}

/* Raises "function: argument 'x': this array is closed" for what is gone; `argument`
 * may be NULL.  Answers -1. */
int ha_raise_gone(const struct ha_types *types, PyObject *exception, PyObject *self,
                  const char *function, const char *argument);
/* The same where it is gone, else 0. */
int ha_pointer_need(const struct ha_types *types, PyObject *exception, PyObject *self,
                    const char *function);
/* An instance of a native type, or of a Python subclass, with empty fields. */
PyObject *ha_pointer_alloc(PyTypeObject *type);
PyObject *ha_pointer_tp_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);
/* Sets address and owner from the view, which is emptied; 0 or -1 (never fails once the
 * view is settled). */
int ha_pointer_set(struct ha_types *types, struct ha_pointer *self,
                   struct ha_view *view);
/* Sets the fields in a critical section of the caller's; steals owner.  What was the
 * owner, owned or NULL: it is released (ha_release) behind that section, since its end
 * may run anything. */
PyObject *ha_pointer_put(struct ha_pointer *self, void *ptr, Py_ssize_t size,
                         bool readonly, PyObject *owner);
/* Sets the fields, dropping what was there; steals owner. */
void ha_pointer_assign(struct ha_pointer *self, void *ptr, Py_ssize_t size,
                       bool readonly, PyObject *owner);
/* The memory of `self` is gone.  What kept it, owned, or NULL. */
PyObject *ha_pointer_take_gone(struct ha_pointer *self, enum ha_gone gone);
/* New reference to what keeps the memory that was seen of `self` (self itself where
 * nothing else does). */
PyObject *ha_pointer_keeper(PyObject *self, const struct ha_pointer *seen);
/* Whether `bytes` bytes at `at`, which what was seen leads to, can be read here. Memory
 * of Python objects and of blocks that it keeps can; of anything else the system is
 * asked: the address may be made up, or have been valid once. */
bool ha_pointer_can_read(const struct ha_types *types, const struct ha_pointer *seen,
                         const void *at, size_t bytes);
/* The same for text up to its NUL; *length is what comes before that. */
bool ha_pointer_can_read_text(const struct ha_types *types,
                              const struct ha_pointer *seen, size_t *length);
/* Slots of the type, for types below it. */
int ha_pointer_traverse(PyObject *self, visitproc visit, void *arg);
int ha_pointer_clear(PyObject *self);
void ha_pointer_dealloc(PyObject *self);
Py_hash_t ha_pointer_hash(PyObject *self);

/* A Pointer with everything set; without an owner the garbage collector does not track
 * it.  Owned, or NULL with an exception.  Inline: constructors are a few instructions.
 */
static inline PyObject *
ha_pointer_make(PyTypeObject *type, void *ptr, Py_ssize_t size, bool readonly,
                PyObject *stolen)
{
    struct ha_pointer *self = PyObject_GC_New(struct ha_pointer, type);
    if (self == NULL) {
        Py_XDECREF(stolen);
        return NULL;
    }
    self->ptr = ptr;
    self->size = size;
    self->owner = stolen;
    self->weakrefs = NULL;
    self->readonly = readonly;
    self->gone = HA_HERE;
    if (stolen != NULL) {
        PyObject_GC_Track((PyObject *)self);
    }
    return (PyObject *)self;
}

/* A Pointer to memory of unknown length; it keeps nothing. */
PyObject *ha_pointer_new(struct ha_types *types, void *ptr);

#endif
