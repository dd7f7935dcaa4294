/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/pointer.h"

#include <string.h>

#include "adapters/saved_error.h"
#include "adapters/type.h"
#include "adapters/types.h"
#include "adapters/view.h"
#include "core/readable.h"

PyObject *
ha_pointer_alloc(PyTypeObject *type)
{
    PyObject *self = type->tp_alloc(type, 0);
    if (self != NULL) {
        ((struct ha_pointer *)self)->size = -1;
    }
    return self;
}

PyObject *
ha_pointer_tp_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)args; /* a subclass may have any parameters; tp_init checks ours */
    (void)kwargs;
    return ha_pointer_alloc(type);
}

int
ha_pointer_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((struct ha_pointer *)self)->owner);
    return 0;
}

int
ha_pointer_clear(PyObject *self)
{
    /* The address goes with its owner, so that it never dangles. */
    struct ha_pointer *pointer = (struct ha_pointer *)self;
    if (pointer->owner != NULL) {
        ha_pointer_assign(pointer, NULL, -1, false, NULL);
    }
    return 0;
}

void
ha_pointer_dealloc(PyObject *self)
{
    struct ha_pointer *pointer = (struct ha_pointer *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (pointer->weakrefs != NULL) {
        PyObject_ClearWeakRefs(self);
    }
    PyObject *owner = pointer->owner;
    pointer->owner = NULL;
    ha_release(owner);
    type->tp_free(self);
    Py_DECREF(type);
}

void
ha_pointer_copy(const struct ha_pointer *self, struct ha_pointer *seen)
{
    seen->ptr = self->ptr;
    seen->size = self->size;
    seen->owner = Py_XNewRef(self->owner);
    seen->readonly = self->readonly;
    seen->gone = self->gone;
    seen->was = self->was;
}

void
ha_pointer_see(PyObject *self, struct ha_pointer *seen)
{
    HA_BEGIN_SECTION(self);
    ha_pointer_copy((struct ha_pointer *)self, seen);
    HA_END_SECTION();
}

void
ha_pointer_unsee(struct ha_pointer *seen)
{
    ha_release(seen->owner);
}

/* Around changes, in a critical section: who glances meanwhile looks again in one. */
static void
turn(struct ha_pointer *self)
{
#ifdef Py_GIL_DISABLED
    (void)HA_ADD(self->turn, 1);
#else
    (void)self;
#endif
}

PyObject *
ha_pointer_put(struct ha_pointer *self, void *ptr, Py_ssize_t size, bool readonly,
               PyObject *owner)
{
    PyObject *old = self->owner;
    turn(self);
    HA_PUBLISH(self->ptr, ptr);
    HA_PUBLISH(self->size, size);
    self->readonly = readonly;
    HA_PUBLISH(self->gone, (uint8_t)HA_HERE);
    HA_PUBLISH(self->owner, owner);
    turn(self);
    if (owner != NULL && !PyObject_GC_IsTracked((PyObject *)self)) {
        PyObject_GC_Track((PyObject *)self);
    }
    return old;
}

void
ha_pointer_assign(struct ha_pointer *self, void *ptr, Py_ssize_t size, bool readonly,
                  PyObject *owner)
{
    PyObject *old;
    HA_BEGIN_SECTION(self);
    old = ha_pointer_put(self, ptr, size, readonly, owner);
    HA_END_SECTION();
    ha_release(old);
}

PyObject *
ha_pointer_take_gone(struct ha_pointer *self, enum ha_gone gone)
{
    PyObject *old;
    HA_BEGIN_SECTION(self);
    old = self->owner;
    self->was = self->ptr;
    turn(self);
    HA_PUBLISH(self->ptr, NULL);
    HA_PUBLISH(self->size, 0);
    HA_PUBLISH(self->owner, NULL);
    HA_PUBLISH(self->gone, (uint8_t)gone);
    turn(self);
    HA_END_SECTION();
    return old;
}

/* Whether it was freed, not only closed. */
static bool
is_freed(const struct ha_types *types, PyObject *self)
{
    const struct ha_pointer *pointer = (struct ha_pointer *)self;
    bool freed;
    HA_BEGIN_SECTION(self);
    const PyObject *owner = pointer->owner;
    freed = pointer->gone == HA_FREED ||
            (owner != NULL && Py_TYPE(owner) == types->device_array &&
             HA_READ(((const struct ha_pointer *)owner)->gone) == HA_FREED);
    HA_END_SECTION();
    return freed;
}

int
ha_raise_gone(const struct ha_types *types, PyObject *exception, PyObject *self,
              const char *function, const char *argument)
{
    const char *what = PyObject_TypeCheck(self, types->nd_buffer) ? "array" : "pointer";
    const char *state = is_freed(types, self) ? "was freed" : "is closed";
    if (argument == NULL) {
        PyErr_Format(exception, "%s: this %s %s", function, what, state);
    } else {
        PyErr_Format(exception, "%s: argument '%s': this %s %s", function, argument,
                     what, state);
    }
    return -1;
}

int
ha_pointer_need(const struct ha_types *types, PyObject *exception, PyObject *self,
                const char *function)
{
    bool gone;
    HA_BEGIN_SECTION(self);
    gone = ha_pointer_is_gone(types, (struct ha_pointer *)self);
    HA_END_SECTION();
    return gone ? ha_raise_gone(types, exception, self, function, NULL) : 0;
}

int
ha_pointer_set(struct ha_types *types, struct ha_pointer *self, struct ha_view *view)
{
    if (ha_view_settle(types, view) < 0) {
        return -1;
    }
    ha_pointer_assign(self, view->ptr, view->size, view->readonly,
                      ha_view_take_owner(view));
    return 0;
}

PyObject *
ha_pointer_keeper(PyObject *self, const struct ha_pointer *seen)
{
    if (seen->owner == NULL) {
        return Py_NewRef(self);
    }
    if (ha_is_native(Py_TYPE(self))) {
        return Py_NewRef(seen->owner);
    }
    return PyTuple_Pack(2, self, seen->owner);
}

static bool
keeps_host_memory(const struct ha_types *types, const struct ha_pointer *seen)
{
    const PyObject *owner = seen->owner;
    return owner != NULL && seen->size >= 0 &&
           (Py_TYPE(owner) == types->block || Py_TYPE(owner) == types->hold ||
            PyBytes_CheckExact(owner) || PyUnicode_CheckExact(owner));
}

bool
ha_pointer_can_read(const struct ha_types *types, const struct ha_pointer *seen,
                    const void *at, size_t bytes)
{
    return keeps_host_memory(types, seen) || ha_memory_readable(at, bytes);
}

bool
ha_pointer_can_read_text(const struct ha_types *types, const struct ha_pointer *seen,
                         size_t *length)
{
    if (seen->size < 0) {
        return ha_text_readable(seen->ptr, length);
    }
    if (!ha_pointer_can_read(types, seen, seen->ptr, (size_t)seen->size)) {
        return false;
    }
    *length = strnlen(seen->ptr, (size_t)seen->size);
    return true;
}

PyObject *
ha_pointer_new(struct ha_types *types, void *ptr)
{
    return ha_pointer_make(types->pointer, ptr, -1, false, NULL);
}

Py_hash_t
ha_pointer_hash(PyObject *self)
{
    uintptr_t address = (uintptr_t)ha_pointer_of(self);
    Py_hash_t hash = (Py_hash_t)(address >> 4 | address << (8 * sizeof address - 4));
    return hash == -1 ? -2 : hash;
}
