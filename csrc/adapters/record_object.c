/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/record_object.h"

#include <string.h>

#include "adapters/description.h"
#include "adapters/field.h"
#include "adapters/kind.h"
#include "adapters/message.h"
#include "adapters/number.h"
#include "adapters/pointer.h"
#include "adapters/record.h"
#include "adapters/record_from.h"
#include "adapters/record_type.h"
#include "adapters/type.h"
#include "adapters/type_index.h"
#include "adapters/types.h"
#include "adapters/view.h"

/* ---- class methods ---- */

static PyObject *
record_from_obj(PyObject *cls, PyObject *object)
{
    PyTypeObject *type = (PyTypeObject *)cls;
    struct ha_types *types = ha_types_of_type(type);
    struct ha_where where = {ha_short_name(type), "pyobj"};
    struct ha_view view;
    if (PyObject_TypeCheck(object, type)) {
        return Py_NewRef(object);
    }
    struct ha_record *self = ha_record_empty(types, type);
    if (self == NULL) {
        return NULL;
    }
    unsigned index = (unsigned)(self->info - types->tables->records);
    if (ha_record_from(types, object, &where, index, HA_ANYWHERE, &view) < 0 ||
        ha_view_settle(types, &view) < 0) {
        ha_view_release(&view);
        Py_DECREF(self);
        return NULL;
    }
    ha_record_put(self, view.ptr, view.size, view.readonly, ha_view_take_owner(&view),
                  view.count);
    ha_view_release(&view);
    return (PyObject *)self;
}

static PyObject *
record_class_allocate(PyObject *cls, PyObject *argument)
{
    static const struct ha_where where = {"allocate", "count"};
    PyTypeObject *type = (PyTypeObject *)cls;
    struct ha_types *types = ha_types_of_type(type);
    int64_t count;
    if (ha_number_from(types, argument, &where, HA_I64, &count) < 0) {
        return NULL;
    }
    if (count < 0) {
        ha_raise_range(&where, "0 or more", argument);
        return NULL;
    }
    struct ha_record *self = ha_record_empty(types, type);
    if (self != NULL &&
        ha_record_allocate(types, self, NULL, false, (Py_ssize_t)count) < 0) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

/* Description of a class, or NULL with TypeError for the base class. */
static const struct ha_record_info *
class_info(PyObject *cls)
{
    struct ha_types *types = ha_types_of_type((PyTypeObject *)cls);
    unsigned index;
    if (!ha_type_index_find(types, (PyTypeObject *)cls, &index)) {
        PyErr_SetString(PyExc_TypeError, "Record itself describes no C struct");
        return NULL;
    }
    return &types->tables->records[index];
}

static PyObject *
record_properties(PyObject *cls, PyObject *unused)
{
    const struct ha_record_info *info = class_info(cls);
    (void)unused;
    PyObject *result = info == NULL ? NULL : PyList_New(info->field_count);
    for (uint32_t i = 0; result != NULL && i < info->field_count; i++) {
        PyObject *name = PyUnicode_FromString(info->fields[i].name);
        if (name == NULL) {
            Py_CLEAR(result);
        } else {
            PyList_SET_ITEM(result, (Py_ssize_t)i, name);
        }
    }
    return result;
}

static PyObject *
record_c_sizeof(PyObject *cls, PyObject *unused)
{
    const struct ha_record_info *info = class_info(cls);
    (void)unused;
    return info == NULL ? NULL : PyLong_FromUnsignedLong(info->size);
}

/* ---- behaviour ---- */

static Py_ssize_t
record_length(PyObject *self)
{
    return (Py_ssize_t)((struct ha_record *)self)->info->field_count;
}

static PyObject *
record_item(PyObject *self, Py_ssize_t i)
{
    struct ha_record *record = (struct ha_record *)self;
    if (i < 0 || i >= record_length(self)) {
        return PyErr_Format(PyExc_IndexError,
                            "index is out of range: %s has %zd members",
                            ha_short_name(Py_TYPE(self)), record_length(self));
    }
    return ha_record_property_get(self, (void *)&record->info->fields[i]);
}

static PyObject *
record_subscript(PyObject *self, PyObject *key)
{
    if (PyUnicode_Check(key)) {
        const struct ha_field *field =
            ha_record_find_field(((struct ha_record *)self)->info, key);
        if (field == NULL) {
            PyErr_SetObject(PyExc_KeyError, key);
            return NULL;
        }
        return ha_record_property_get(self, (void *)field);
    }
    if (PySlice_Check(key)) {
        PyObject *values = PySequence_List(self);
        PyObject *result = values == NULL ? NULL : PyObject_GetItem(values, key);
        Py_XDECREF(values);
        return result;
    }
    Py_ssize_t i = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (i == -1 && PyErr_Occurred()) {
        return NULL;
    }
    return record_item(self, i < 0 ? i + record_length(self) : i);
}

static int
record_contains(PyObject *self, PyObject *name)
{
    return PyUnicode_Check(name) &&
           ha_record_find_field(((struct ha_record *)self)->info, name) != NULL;
}

static PyObject *
record_repr(PyObject *self)
{
    struct ha_record *record = (struct ha_record *)self;
    const char *name = ha_short_name(Py_TYPE(self));
    struct ha_seen_record seen;
    ha_record_see(self, &seen);
    bool readable = seen.base.ptr != NULL && ha_record_can_read(&seen);
    ha_pointer_unsee(&seen.base);
    if (seen.base.ptr == NULL) {
        return PyUnicode_FromFormat("<%s NULL>", name);
    }
    if (!readable) {
        return PyUnicode_FromFormat("<%s %p, cannot be read>", name, seen.base.ptr);
    }
    if (seen.count > 1) {
        return PyUnicode_FromFormat("<%s %p, %zd elements>", name, seen.base.ptr,
                                    seen.count);
    }
    PyObject *parts = PyList_New(0);
    PyObject *separator = PyUnicode_FromString(", ");
    PyObject *joined = NULL;
    PyObject *result = NULL;
    if (separator == NULL) {
        Py_CLEAR(parts);
    }
    for (uint32_t i = 0; parts != NULL && i < record->info->field_count; i++) {
        const struct ha_field *field = &record->info->fields[i];
        PyObject *value = ha_record_property_get(self, (void *)field);
        PyObject *part =
            value == NULL ? NULL : PyUnicode_FromFormat("%s=%R", field->name, value);
        if (part == NULL || PyList_Append(parts, part) < 0) {
            Py_CLEAR(parts);
        }
        Py_XDECREF(part);
        Py_XDECREF(value);
    }
    if (parts != NULL) {
        joined = PyUnicode_Join(separator, parts);
    }
    if (joined != NULL) {
        result = PyUnicode_FromFormat("%s(%U)", name, joined);
    }
    Py_XDECREF(joined);
    Py_XDECREF(separator);
    Py_XDECREF(parts);
    return result;
}

static bool
seen_equal(struct ha_types *types, const struct ha_seen_record *left,
           const struct ha_seen_record *right)
{
    bool equal = left->base.ptr == right->base.ptr;
    if (!equal && left->base.ptr != NULL && right->base.ptr != NULL &&
        ha_record_can_read(left) && ha_record_can_read(right)) {
        Py_ssize_t count = left->count < 0 ? 1 : left->count;
        equal = count == (right->count < 0 ? 1 : right->count);
        for (Py_ssize_t i = 0; equal && i < count; i++) {
            size_t offset = (size_t)i * left->info->size;
            equal = ha_record_bytes_equal(types, left->info,
                                          (unsigned char *)left->base.ptr + offset,
                                          (unsigned char *)right->base.ptr + offset);
        }
    }
    return equal;
}

static PyObject *
record_richcompare(PyObject *self, PyObject *other, int op)
{
    struct ha_types *types = ha_types_of_type(Py_TYPE(self));
    if ((op != Py_EQ && op != Py_NE) || types->record == NULL ||
        !PyObject_TypeCheck(other, types->record) ||
        ((struct ha_record *)other)->info != ((struct ha_record *)self)->info) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    struct ha_seen_record left, right;
    ha_record_see(self, &left);
    ha_record_see(other, &right);
    bool equal = seen_equal(types, &left, &right);
    ha_pointer_unsee(&left.base);
    ha_pointer_unsee(&right.base);
    return PyBool_FromLong(equal == (op == Py_EQ));
}

/* Members change, so only the type can go into the hash. */
static Py_hash_t
record_hash(PyObject *self)
{
    Py_hash_t hash = (Py_hash_t)((uintptr_t)((struct ha_record *)self)->info >> 4);
    return hash == -1 ? -2 : hash;
}

static int
record_bool(PyObject *self)
{
    return ha_pointer_of(self) != NULL;
}

static int
record_getbuffer(PyObject *self, Py_buffer *buffer, int flags)
{
    struct ha_pointer seen;
    buffer->obj = NULL;
    ha_pointer_see(self, &seen);
    if (seen.ptr == NULL || seen.size < 0) {
        ha_pointer_unsee(&seen);
        PyErr_Format(PyExc_BufferError, "%s is NULL or of unknown length",
                     ha_short_name(Py_TYPE(self)));
        return -1;
    }
    PyObject *keeper = ha_pointer_keeper(self, &seen);
    ha_pointer_unsee(&seen);
    if (keeper == NULL) {
        return -1;
    }
    if (PyBuffer_FillInfo(buffer, self, seen.ptr, seen.size, seen.readonly, flags) <
        0) {
        Py_DECREF(keeper);
        return -1;
    }
    buffer->internal = keeper; /* a second __init__ replaces the memory */
    return 0;
}

static void
record_releasebuffer(PyObject *self, Py_buffer *buffer)
{
    (void)self;
    Py_CLEAR(buffer->internal);
}

/* ---- types ---- */

static PyMethodDef record_methods[] = {
    {"fromObj", record_from_obj, METH_O | METH_CLASS,
     PyDoc_STR(
         "fromObj($type, pyobj, /)\n--\n\n"
         "pyobj itself if it is a record of this type; else a record that looks at\n"
         "the memory that Pointer would take, or one made of a tuple of values.")},
    {"fromPyobj", record_from_obj, METH_O | METH_CLASS,
     PyDoc_STR("fromPyobj($type, pyobj, /)\n--\n\nThe same as fromObj.")},
    {"allocate", record_class_allocate, METH_O | METH_CLASS,
     PyDoc_STR(
         "allocate($type, count, /)\n--\n\n"
         "A zeroed array of count records; get_x(i) and set_x(i, v) reach them.")},
    {"PROPERTIES", record_properties, METH_NOARGS | METH_CLASS,
     PyDoc_STR("PROPERTIES($type, /)\n--\n\nNames of the members.")},
    {"c_sizeof", record_c_sizeof, METH_NOARGS | METH_CLASS,
     PyDoc_STR("c_sizeof($type, /)\n--\n\nBytes of one record in C.")},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(record_doc,
             "Base of all C structs and unions; makes no instances itself.");

static PyType_Slot record_slots[] = {
    {Py_tp_doc, (void *)record_doc},
    {Py_tp_new, ha_record_tp_new},
    {Py_tp_init, ha_record_tp_init},
    {Py_tp_dealloc, ha_record_dealloc},
    {Py_tp_traverse, ha_record_traverse},
    {Py_tp_clear, ha_record_clear},
    {Py_tp_repr, record_repr},
    {Py_tp_hash, record_hash},
    {Py_tp_richcompare, record_richcompare},
    {Py_tp_iter, PySeqIter_New}, /* for type checkers: f(*grid) */
    {Py_nb_bool, record_bool},
    {Py_sq_length, record_length},
    {Py_sq_item, record_item},
    {Py_sq_contains, record_contains},
    {Py_mp_length, record_length},
    {Py_mp_subscript, record_subscript},
    {Py_bf_getbuffer, record_getbuffer},
    {Py_bf_releasebuffer, record_releasebuffer},
    {Py_tp_methods, record_methods},
    {0, NULL},
};

static PyType_Spec record_spec = {
    .name = "hipadapt.types.Record",
    .basicsize = sizeof(struct ha_record),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = record_slots,
};

int
ha_record_init(struct ha_types *types)
{
    return ha_type_make(types, &record_spec, types->pointer, true, &types->record);
}
