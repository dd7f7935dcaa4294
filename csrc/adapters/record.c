/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/record.h"

#include <string.h>

#include "adapters/block.h"
#include "adapters/description.h"
#include "adapters/pointer.h"
#include "adapters/saved_error.h"
#include "adapters/type.h"
#include "adapters/type_index.h"
#include "adapters/types.h"

void
ha_record_see(PyObject *self, struct ha_seen_record *seen)
{
    const struct ha_record *record = (struct ha_record *)self;
    HA_BEGIN_SECTION(self);
    ha_pointer_copy(&record->base, &seen->base);
    seen->count = record->count;
    HA_END_SECTION();
    seen->self = self;
    seen->info = record->info;
}

bool
ha_record_can_read(const struct ha_seen_record *seen)
{
    size_t count = seen->count > 0 ? (size_t)seen->count : 1;
    return ha_pointer_can_read(ha_types_of_type(Py_TYPE(seen->self)), &seen->base,
                               seen->base.ptr, count * seen->info->size);
}

unsigned char *
ha_record_data(const struct ha_seen_record *seen)
{
    if (seen->base.ptr == NULL) {
        PyErr_Format(PyExc_ValueError, "NULL %s has no members",
                     ha_short_name(Py_TYPE(seen->self)));
        return NULL;
    }
    if (!ha_record_can_read(seen)) {
        PyErr_Format(PyExc_ValueError, "%s: there is no memory at %p that can be read",
                     ha_short_name(Py_TYPE(seen->self)), seen->base.ptr);
        return NULL;
    }
    return seen->base.ptr;
}

void
ha_record_put(struct ha_record *self, void *ptr, Py_ssize_t size, bool readonly,
              PyObject *owner, Py_ssize_t count)
{
    PyObject *old, *keep;
    HA_BEGIN_SECTION(self);
    old = ha_pointer_put(&self->base, ptr, size, readonly, owner);
    keep = self->keep;
    self->keep = NULL;
    self->count = count;
    HA_END_SECTION();
    ha_release(old);
    ha_release(keep);
}

int
ha_record_allocate(struct ha_types *types, struct ha_record *self, const void *bytes,
                   bool each, Py_ssize_t count)
{
    const struct ha_record_info *info = self->info;
    Py_ssize_t size = (Py_ssize_t)info->size;
    Py_ssize_t extra = info->align > 16 ? (Py_ssize_t)info->align : 0;
    if (count > (PY_SSIZE_T_MAX - extra) / (size == 0 ? 1 : size)) {
        PyErr_NoMemory();
        return -1;
    }
    struct ha_block *block = ha_block_new(types, count * size + extra);
    if (block == NULL) {
        return -1;
    }
    unsigned char *data = block->bytes;
    if (extra != 0) {
        data += (uintptr_t)-(uintptr_t)data & (info->align - 1);
    }
    for (Py_ssize_t i = 0; bytes != NULL && i < count; i++) {
        memcpy(data + i * size, (const unsigned char *)bytes + (each ? 0 : i * size),
               (size_t)size);
    }
    ha_record_put(self, data, count * size, false, (PyObject *)block, count);
    return 0;
}

struct ha_record *
ha_record_empty(struct ha_types *types, PyTypeObject *type)
{
    unsigned index;
    if (!ha_type_index_find(types, type, &index)) {
        PyErr_Format(PyExc_TypeError, "cannot create '%.200s' instances",
                     type->tp_name);
        return NULL;
    }
    struct ha_record *self = (struct ha_record *)ha_pointer_alloc(type);
    if (self != NULL) {
        self->info = &types->tables->records[index];
        self->count = -1;
    }
    return self;
}

PyObject *
ha_record_tp_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    struct ha_types *types = ha_types_of_type(type);
    struct ha_record *self = ha_record_empty(types, type);
    (void)args;
    (void)kwargs;
    if (self != NULL &&
        ha_record_allocate(types, self, self->info->initial, true, 1) < 0) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

const struct ha_field *
ha_record_find_field(const struct ha_record_info *info, PyObject *name)
{
    for (uint32_t i = 0; i < info->field_count; i++) {
        if (PyUnicode_CompareWithASCIIString(name, info->fields[i].name) == 0) {
            return &info->fields[i];
        }
    }
    return NULL;
}

void
ha_record_forget(struct ha_types *types, PyObject *object, const void *ptr)
{
    if (!PyObject_TypeCheck(object, types->record)) {
        return;
    }
    struct ha_record *self = (struct ha_record *)object;
    HA_BEGIN_SECTION(object);
    if (self->base.ptr == ptr && self->base.owner == NULL) {
        (void)ha_pointer_put(&self->base, NULL, -1, self->base.readonly, NULL);
        self->count = -1;
    }
    HA_END_SECTION();
}

int
ha_record_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((struct ha_record *)self)->keep);
    return ha_pointer_traverse(self, visit, arg);
}

int
ha_record_clear(PyObject *self)
{
    Py_CLEAR(((struct ha_record *)self)->keep);
    return ha_pointer_clear(self);
}

void
ha_record_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    Py_CLEAR(((struct ha_record *)self)->keep);
    ha_pointer_dealloc(self);
}
