/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/record_from.h"

#include <string.h>

#include "adapters/adapter.h"
#include "adapters/description.h"
#include "adapters/field.h"
#include "adapters/message.h"
#include "adapters/pointer.h"
#include "adapters/record.h"
#include "adapters/record_type.h"
#include "adapters/type.h"
#include "adapters/types.h"
#include "adapters/view.h"

static int
too_many_values(const struct ha_record *self, Py_ssize_t given)
{
    PyErr_Format(PyExc_TypeError, "%s() takes at most %u values (%zd given)",
                 ha_short_name(Py_TYPE(self)), (unsigned)self->info->field_count,
                 given);
    return -1;
}

/* Sets a member of a record that nobody else has. */
static int
set_one(struct ha_types *types, struct ha_record *self, const struct ha_field *field,
        PyObject *value)
{
    struct ha_seen_record seen;
    ha_record_see((PyObject *)self, &seen);
    int status = ha_field_set(types, &seen, field, seen.base.ptr, value);
    ha_pointer_unsee(&seen.base);
    return status;
}

static int
set_by_name(struct ha_types *types, struct ha_record *self, PyObject *name,
            PyObject *value, Py_ssize_t positional)
{
    const struct ha_field *field = ha_record_find_field(self->info, name);
    if (field == NULL || field - self->info->fields < positional) {
        PyErr_Format(PyExc_TypeError,
                     field == NULL ? "%s() got an unexpected keyword argument '%U'"
                                   : "%s() got multiple values for argument '%U'",
                     ha_short_name(Py_TYPE(self)), name);
        return -1;
    }
    return set_one(types, self, field, value);
}

/* Sets members of a record that has just been made. */
static int
set_values(struct ha_types *types, struct ha_record *self, PyObject *const *args,
           Py_ssize_t nargs, PyObject *kwnames)
{
    if (nargs > (Py_ssize_t)self->info->field_count) {
        return too_many_values(self, nargs);
    }
    for (Py_ssize_t i = 0; i < nargs; i++) {
        if (set_one(types, self, &self->info->fields[i], args[i]) < 0) {
            return -1;
        }
    }
    Py_ssize_t keywords = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    for (Py_ssize_t i = 0; i < keywords; i++) {
        if (set_by_name(types, self, PyTuple_GET_ITEM(kwnames, i), args[nargs + i],
                        nargs) < 0) {
            return -1;
        }
    }
    return 0;
}

PyObject *
ha_record_vectorcall(PyObject *type, PyObject *const *args, size_t nargsf,
                     PyObject *kwnames)
{
    struct ha_types *types = ha_types_of_type((PyTypeObject *)type);
    PyObject *self = ha_record_tp_new((PyTypeObject *)type, NULL, NULL);
    if (self != NULL && set_values(types, (struct ha_record *)self, args,
                                   PyVectorcall_NARGS(nargsf), kwnames) < 0) {
        Py_CLEAR(self);
    }
    return self;
}

/* Python subclasses come here.  Values go into a new record first, so that a second
 * __init__ that fails changes nothing. */
int
ha_record_tp_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    struct ha_record *record = (struct ha_record *)self;
    struct ha_types *types = ha_types_of_type(Py_TYPE(self));
    unsigned index = (unsigned)(record->info - types->tables->records);
    struct ha_record *fresh = (struct ha_record *)ha_record_new(types, index, NULL, 1);
    int status = -1;
    if (fresh == NULL) {
        return -1;
    }
    if (set_values(types, fresh, ((PyTupleObject *)args)->ob_item,
                   PyTuple_GET_SIZE(args), NULL) < 0) {
        goto done;
    }
    PyObject *name, *value;
    Py_ssize_t position = 0;
    while (kwargs != NULL && PyDict_Next(kwargs, &position, &name, &value)) {
        if (set_by_name(types, fresh, name, value, PyTuple_GET_SIZE(args)) < 0) {
            goto done;
        }
    }
    ha_record_put(record, fresh->base.ptr, fresh->base.size, false,
                  Py_NewRef(fresh->base.owner), 1);
    status = 0;
done:
    Py_DECREF(fresh);
    return status;
}

PyObject *
ha_record_new(struct ha_types *types, unsigned index, const void *bytes,
              Py_ssize_t count)
{
    PyTypeObject *type = ha_record_type(types, index);
    struct ha_record *self = type == NULL ? NULL : ha_record_empty(types, type);
    if (self == NULL) {
        return NULL;
    }
    const void *from = bytes == NULL ? self->info->initial : bytes;
    if (ha_record_allocate(types, self, from, bytes == NULL, count) < 0) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

PyObject *
ha_record_view(struct ha_types *types, unsigned index, void *ptr, PyObject *owner)
{
    PyTypeObject *type = ha_record_type(types, index);
    struct ha_record *self = type == NULL ? NULL : ha_record_empty(types, type);
    if (self != NULL) {
        ha_record_put(self, ptr, ptr == NULL ? -1 : (Py_ssize_t)self->info->size, false,
                      Py_XNewRef(owner), ptr == NULL ? -1 : 1);
    }
    return (PyObject *)self;
}

/* Messages about members name the record; this puts the call and its argument before.
 */
static void
name_argument(const struct ha_where *where)
{
    PyObject *type, *value, *traceback;

    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    bool plain = type == PyExc_TypeError || type == PyExc_ValueError ||
                 type == PyExc_OverflowError || type == PyExc_BufferError;
    PyObject *text = plain && value != NULL ? PyObject_Str(value) : NULL;
    if (text == NULL) {
        PyErr_Clear();
        PyErr_Restore(type, value, traceback);
        return;
    }
    PyErr_Format(type, "%s: argument '%s': %U", where->function, where->argument, text);
    Py_DECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
}

/* Values in a list or tuple make a record that lives as long as the view. */
static int
record_from_values(struct ha_types *types, PyObject *object,
                   const struct ha_where *where, unsigned index, struct ha_view *out)
{
    PyObject *values = PySequence_Tuple(object);
    PyObject *record = values == NULL ? NULL : ha_record_new(types, index, NULL, 1);
    int status = -1;
    if (record != NULL && set_values(types, (struct ha_record *)record,
                                     ((PyTupleObject *)values)->ob_item,
                                     PyTuple_GET_SIZE(values), NULL) == 0) {
        struct ha_pointer *pointer = (struct ha_pointer *)record;
        out->ptr = pointer->ptr;
        out->size = pointer->size;
        out->count = 1;
        out->owner = Py_NewRef(pointer->owner);
        status = 0;
    } else if (record != NULL) {
        name_argument(where);
    }
    Py_XDECREF(record);
    Py_XDECREF(values);
    return status;
}

/* What keeps the memory, and what its members point to: owned, or NULL with or without
 * an exception.  A block has both; other memory leaves the second to the record. */
static PyObject *
record_keeper(PyObject *record, const struct ha_pointer *seen)
{
    if (HA_READ(((struct ha_record *)record)->keep) == NULL) {
        return Py_XNewRef(seen->owner);
    }
    return seen->owner == NULL ? Py_NewRef(record)
                               : PyTuple_Pack(2, record, seen->owner);
}

/* A record of just this type: what ha_ptr_from would find, without looking. */
static int
from_record(PyObject *object, const struct ha_where *where, unsigned flags,
            struct ha_view *out)
{
    const struct ha_record_info *info = ((struct ha_record *)object)->info;
    struct ha_seen_record seen;
    int status = 0;
    ha_record_see(object, &seen);
    out->ptr = seen.base.ptr;
    out->size = seen.base.size;
    out->count = seen.count;
    out->readonly = seen.base.readonly;
    if ((flags & HA_NOT_NULL) != 0 && out->ptr == NULL) {
        status = ha_raise(PyExc_ValueError, where, "must not be NULL");
    } else if ((flags & HA_WRITE) != 0 && out->readonly) {
        status = ha_raise(PyExc_BufferError, where,
                          "must be writable memory, not read-only '%.200s'",
                          Py_TYPE(object)->tp_name);
    } else if ((flags & HA_ANYWHERE) == 0) {
        status = ha_need_memory(out, where, info->size, info->align);
    }
    if (status == 0) {
        out->owner = record_keeper(object, &seen.base);
        status = out->owner == NULL && PyErr_Occurred() ? -1 : 0;
    }
    ha_pointer_unsee(&seen.base);
    if (status < 0) {
        ha_view_init(out);
    }
    return status;
}

/* Bytes are copied right here from memory that the host can read: buffers, no arrays of
 * a device and no bare addresses. */
static int
check_by_value(const struct ha_record_info *info, PyObject *object,
               const struct ha_where *where, struct ha_view *out)
{
    if (out->has_buffer || PyBytes_CheckExact(object)) {
        return 0;
    }
    ha_view_release(out);
    const char *dot = strrchr(info->name, '.');
    return ha_raise(PyExc_TypeError, where,
                    "must be a %s, its values or a buffer with them, not '%.200s'",
                    dot == NULL ? info->name : dot + 1, Py_TYPE(object)->tp_name);
}

int
ha_record_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
               unsigned index, unsigned flags, struct ha_view *out)
{
    const struct ha_record_info *info = &types->tables->records[index];
    ha_view_init(out);
    if (Py_TYPE(object) == HA_READ(types->records[index].type)) {
        return from_record(object, where, flags, out);
    }
    if (PyTuple_Check(object) || PyList_Check(object)) {
        return record_from_values(types, object, where, index, out);
    }
    bool is_record = PyObject_TypeCheck(object, types->record);
    if (is_record && ((struct ha_record *)object)->info != info) {
        const char *dot = strrchr(info->name, '.');
        return ha_refuse(where, dot == NULL ? info->name : dot + 1, object);
    }
    if (ha_ptr_from(types, object, where, flags, out) < 0) {
        return -1;
    }
    if (!is_record && out->ptr != NULL && (flags & HA_KNOWN) != 0 &&
        check_by_value(info, object, where, out) < 0) {
        return -1;
    }
    if (out->size >= 0 && out->size < (Py_ssize_t)info->size) {
        Py_ssize_t size = out->size;
        ha_view_release(out);
        return ha_raise(PyExc_BufferError, where,
                        "must be at least %u bytes for %s, not %zd",
                        (unsigned)info->size, info->name, size);
    }
    if ((flags & HA_ANYWHERE) == 0 &&
        ha_need_memory(out, where, info->size, info->align) < 0) {
        ha_view_release(out);
        return -1;
    }
    out->count =
        out->size < 0 || info->size == 0 ? -1 : out->size / (Py_ssize_t)info->size;
    return 0;
}
