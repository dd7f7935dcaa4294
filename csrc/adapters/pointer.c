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
ha_pointer_assign(struct ha_pointer *self, void *ptr, Py_ssize_t size, bool readonly,
                  PyObject *owner)
{
    PyObject *old = self->owner;
    self->ptr = ptr;
    self->size = size;
    self->readonly = readonly;
    self->gone = HA_HERE;
    self->owner = owner;
    if (owner != NULL && !PyObject_GC_IsTracked((PyObject *)self)) {
        PyObject_GC_Track((PyObject *)self);
    }
    ha_release(old); /* last: this may run anything */
}

void
ha_pointer_set_gone(struct ha_pointer *self, enum ha_gone gone)
{
    PyObject *old = self->owner;
    self->was = self->ptr;
    self->ptr = NULL;
    self->size = 0;
    self->owner = NULL;
    self->gone = (uint8_t)gone;
    ha_release(old); /* last: this may run anything */
}

int
ha_raise_gone(const struct ha_types *types, PyObject *exception,
              const struct ha_pointer *self, const char *function, const char *argument)
{
    const char *what =
        PyObject_TypeCheck((PyObject *)self, types->nd_buffer) ? "array" : "pointer";
    const PyObject *owner = self->owner;
    bool freed = self->gone == HA_FREED ||
                 (owner != NULL && Py_TYPE(owner) == types->device_array &&
                  ((const struct ha_pointer *)owner)->gone == HA_FREED);
    const char *state = freed ? "was freed" : "is closed";
    if (argument == NULL) {
        PyErr_Format(exception, "%s: this %s %s", function, what, state);
    } else {
        PyErr_Format(exception, "%s: argument '%s': this %s %s", function, argument,
                     what, state);
    }
    return -1;
}

int
ha_pointer_set(struct ha_types *types, struct ha_pointer *self, struct ha_view *view)
{
    if (ha_view_settle(types, view) < 0) {
        return -1;
    }
    PyObject *owner = view->owner;
    view->owner = NULL;
    ha_pointer_assign(self, view->ptr, view->size, view->readonly, owner);
    return 0;
}

PyObject *
ha_pointer_keeper(struct ha_pointer *self)
{
    if (self->owner == NULL) {
        return Py_NewRef((PyObject *)self);
    }
    if (ha_is_native(Py_TYPE(self))) {
        return Py_NewRef(self->owner);
    }
    return PyTuple_Pack(2, (PyObject *)self, self->owner);
}

static bool
keeps_host_memory(const struct ha_types *types, const struct ha_pointer *self)
{
    const PyObject *owner = self->owner;
    return owner != NULL && self->size >= 0 &&
           (Py_TYPE(owner) == types->block || Py_TYPE(owner) == types->hold ||
            PyBytes_CheckExact(owner) || PyUnicode_CheckExact(owner));
}

bool
ha_pointer_can_read(const struct ha_types *types, const struct ha_pointer *self,
                    const void *at, size_t bytes)
{
    return keeps_host_memory(types, self) || ha_memory_readable(at, bytes);
}

bool
ha_pointer_can_read_text(const struct ha_types *types, const struct ha_pointer *self,
                         size_t *length)
{
    if (self->size < 0) {
        return ha_text_readable(self->ptr, length);
    }
    if (!ha_pointer_can_read(types, self, self->ptr, (size_t)self->size)) {
        return false;
    }
    *length = strnlen(self->ptr, (size_t)self->size);
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
    uintptr_t address = (uintptr_t)((struct ha_pointer *)self)->ptr;
    Py_hash_t hash = (Py_hash_t)(address >> 4 | address << (8 * sizeof address - 4));
    return hash == -1 ? -2 : hash;
}
