/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/list.h"

#include <string.h>

#include "adapters/block.h"
#include "adapters/construct.h"
#include "adapters/kind.h"
#include "adapters/list_from.h"
#include "adapters/message.h"
#include "adapters/number.h"
#include "adapters/pointer.h"
#include "adapters/saved_error.h"
#include "adapters/type.h"
#include "adapters/type_index.h"
#include "adapters/types.h"
#include "adapters/view.h"
#include "core/readable.h"

#define REPR_ELEMENTS 16

/* A made type and its kind; PointerTo* are subclasses of ListOf*. */
struct list_row {
    const char *list_name;
    const char *pointer_name; /* or NULL */
    enum ha_kind kind;
};

static const struct list_row list_rows[] = {
    {"hipadapt.types.ListOfBytes", NULL, HA_CSTR},
    {"hipadapt.types.ListOfPointer", NULL, HA_POINTER},
    {"hipadapt.types.ListOfInt", "hipadapt.types.PointerToInt", HA_I32},
    {"hipadapt.types.ListOfUnsigned", "hipadapt.types.PointerToUnsigned", HA_U32},
    {"hipadapt.types.ListOfLong", "hipadapt.types.PointerToLong", HA_LONG},
    {"hipadapt.types.ListOfUnsignedLong", "hipadapt.types.PointerToUnsignedLong",
     HA_ULONG},
    {"hipadapt.types.ListOfInt64", "hipadapt.types.PointerToInt64", HA_I64},
    {"hipadapt.types.ListOfUInt64", "hipadapt.types.PointerToUInt64", HA_U64},
};

#define LIST_ROWS (sizeof list_rows / sizeof list_rows[0])

/* ---- construction ---- */

static enum ha_kind
kind_of_type(const struct ha_types *types, PyTypeObject *type)
{
    unsigned kind = HA_POINTER;
    ha_type_index_find(types, type, &kind);
    return (enum ha_kind)kind;
}

static bool
is_pointer_to(const struct ha_types *types, PyTypeObject *type, enum ha_kind kind)
{
    return types->pointer_to[kind] != NULL &&
           PyType_IsSubtype(type, types->pointer_to[kind]);
}

static PyObject *
list_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *self = ha_pointer_tp_new(type, args, kwargs);
    if (self != NULL) {
        ((struct ha_list_object *)self)->count = -1;
        ((struct ha_list_object *)self)->kind =
            kind_of_type(ha_types_of_type(type), type);
    }
    return self;
}

static int
list_fill(struct ha_types *types, PyObject *self, PyObject *object)
{
    struct ha_list_object *list = (struct ha_list_object *)self;
    struct ha_where where = {ha_short_name(Py_TYPE(self)), "pyobj"};
    struct ha_view view;
    if (ha_list_from(types, object, &where, list->kind, 0, &view) < 0) {
        return -1;
    }
    int status = -1;
    bool one = is_pointer_to(types, Py_TYPE(self), list->kind);
    if (one && view.count >= 0 && view.count != 1 &&
        (PyList_Check(object) || PyTuple_Check(object))) {
        ha_raise(PyExc_ValueError, &where, "must hold one element, not %zd",
                 view.count);
    } else {
        status = ha_view_settle(types, &view);
    }
    if (status == 0) {
        PyObject *owner = ha_view_take_owner(&view), *old;
        HA_BEGIN_SECTION(self);
        old = ha_pointer_put(&list->base, view.ptr, view.size, view.readonly, owner);
        list->count = view.count;
        HA_END_SECTION();
        ha_release(old);
    }
    ha_view_release(&view);
    return status;
}

static int
list_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    return ha_init_one(self, args, kwargs, list_fill);
}

static PyObject *
list_vectorcall(PyObject *type, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    return ha_construct_one((PyTypeObject *)type, args, nargsf, kwnames, list_fill);
}

static PyObject *
allocate(struct ha_types *types, PyTypeObject *type, Py_ssize_t count)
{
    struct ha_list_object *list = (struct ha_list_object *)list_new(type, NULL, NULL);
    if (list == NULL) {
        return NULL;
    }
    Py_ssize_t size = (Py_ssize_t)ha_kind_size(list->kind);
    struct ha_block *block = NULL;
    if (count > PY_SSIZE_T_MAX / size) {
        PyErr_NoMemory();
    } else {
        block = ha_block_new(types, count * size);
    }
    if (block == NULL) {
        Py_DECREF(list);
        return NULL;
    }
    list->count = count;
    ha_pointer_assign(&list->base, block->bytes, count * size, false,
                      (PyObject *)block);
    return (PyObject *)list;
}

PyObject *
ha_list_alloc(struct ha_types *types, enum ha_kind kind, Py_ssize_t count)
{
    PyTypeObject *type = kind == HA_CSTR      ? types->list_bytes
                         : kind == HA_POINTER ? types->list_pointer
                                              : types->list_number[kind];
    if (type == NULL || count < 0) {
        PyErr_Format(PyExc_SystemError, "no list of %zd %s", count, ha_kind_name(kind));
        return NULL;
    }
    return allocate(types, type, count);
}

static PyObject *
list_allocate(PyObject *cls, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const struct ha_where where = {"allocate", "count"};
    PyTypeObject *type = (PyTypeObject *)cls;
    struct ha_types *types = ha_types_of_type(type);
    Py_ssize_t keywords = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    int64_t count = 1;
    if (keywords > 0 &&
        PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, 0), "count") != 0) {
        return PyErr_Format(PyExc_TypeError,
                            "allocate() got an unexpected keyword argument '%U'",
                            PyTuple_GET_ITEM(kwnames, 0));
    }
    bool optional = is_pointer_to(types, type, kind_of_type(types, type));
    if (nargs + keywords > 1 || (nargs + keywords == 0 && !optional)) {
        return PyErr_Format(PyExc_TypeError, "allocate() takes 1 argument (%zd given)",
                            nargs + keywords);
    }
    if (nargs + keywords == 1) {
        if (ha_number_from(types, args[0], &where, HA_I64, &count) < 0) {
            return NULL;
        }
        if (count < 0) {
            ha_raise_range(&where, "0 or more", args[0]);
            return NULL;
        }
    }
    return allocate(types, type, (Py_ssize_t)count);
}

/* ---- elements ---- */

/* A list that is looked at; see pointer.h. */
struct seen_list {
    struct ha_pointer base;
    Py_ssize_t count;
    enum ha_kind kind;
    PyTypeObject *type; /* borrowed, as long as the list */
};

static void
list_see(PyObject *self, struct seen_list *seen)
{
    const struct ha_list_object *list = (struct ha_list_object *)self;
    HA_BEGIN_SECTION(self);
    ha_pointer_copy(&list->base, &seen->base);
    seen->count = list->count;
    HA_END_SECTION();
    seen->kind = list->kind;
    seen->type = Py_TYPE(self);
}

/* Number of elements; -1 with TypeError where it is not known.  A PointerTo* made from
 * an address has one, but only callers that ask for it may read it: repr, == and hash
 * don't. */
static Py_ssize_t
seen_length(const struct seen_list *seen)
{
    if (seen->count < 0) {
        if (seen->base.ptr != NULL &&
            is_pointer_to(ha_types_of_type(seen->type), seen->type, seen->kind)) {
            return 1;
        }
        PyErr_Format(PyExc_TypeError,
                     "the length of this %s is not known: it was made from an address",
                     ha_short_name(seen->type));
    }
    return seen->count;
}

static Py_ssize_t
list_length(PyObject *self)
{
    struct seen_list seen;
    list_see(self, &seen);
    ha_pointer_unsee(&seen.base); /* the elements are not looked at */
    return seen_length(&seen);
}

/* The addresses in a list may be anything: C or a buffer of the program wrote them. */
static PyObject *
text_element(const struct seen_list *seen, Py_ssize_t i, const char *text)
{
    size_t length;
    if (text == NULL) {
        Py_RETURN_NONE;
    }
    if (!ha_text_readable(text, &length)) {
        return PyErr_Format(PyExc_ValueError,
                            "%s: element %zd is %p, where no text can be read",
                            ha_short_name(seen->type), i, text);
    }
    return PyBytes_FromStringAndSize(text, (Py_ssize_t)length);
}

static PyObject *
element(PyObject *self, const struct seen_list *seen, Py_ssize_t i)
{
    const unsigned char *at =
        (const unsigned char *)seen->base.ptr + (size_t)i * ha_kind_size(seen->kind);
    struct ha_types *types = ha_types_of_type(seen->type);
    if (!ha_pointer_can_read(types, &seen->base, at, ha_kind_size(seen->kind))) {
        return PyErr_Format(PyExc_ValueError,
                            "%s: element %zd at %p is in memory that cannot be read",
                            ha_short_name(seen->type), i, at);
    }
    if (ha_kind_is_number(seen->kind)) {
        return ha_number_to(seen->kind, at);
    }
    void *pointer;
    memcpy(&pointer, at, sizeof pointer);
    if (seen->kind == HA_CSTR) {
        return text_element(seen, i, pointer);
    }
    PyObject *result = ha_pointer_new(types, pointer);
    PyObject *owner = result == NULL ? NULL : ha_pointer_keeper(self, &seen->base);
    if (owner == NULL) {
        Py_XDECREF(result);
        return NULL;
    }
    ha_pointer_assign((struct ha_pointer *)result, pointer, -1, false, owner);
    return result;
}

static PyObject *
list_item(PyObject *self, Py_ssize_t i)
{
    struct seen_list seen;
    PyObject *item = NULL;
    list_see(self, &seen);
    Py_ssize_t length = seen_length(&seen);
    if (length >= 0 && (i < 0 || i >= length)) {
        PyErr_Format(PyExc_IndexError, "index is out of range: %s has %zd elements",
                     ha_short_name(Py_TYPE(self)), length);
    } else if (length >= 0) {
        item = element(self, &seen, i);
    }
    ha_pointer_unsee(&seen.base);
    return item;
}

/* A new list of every step-th element. */
static PyObject *
elements(PyObject *self, const struct seen_list *seen, Py_ssize_t start,
         Py_ssize_t step, Py_ssize_t count)
{
    PyObject *result = PyList_New(count);
    for (Py_ssize_t i = 0; result != NULL && i < count; i++) {
        PyObject *item = element(self, seen, start + i * step);
        if (item == NULL) {
            Py_CLEAR(result);
        } else {
            PyList_SET_ITEM(result, i, item);
        }
    }
    return result;
}

static PyObject *
list_slice(PyObject *self, PyObject *key)
{
    Py_ssize_t start, stop, step;
    struct seen_list seen;
    PyObject *result = NULL;
    list_see(self, &seen);
    Py_ssize_t length = seen_length(&seen);
    if (length >= 0 && PySlice_Unpack(key, &start, &stop, &step) == 0) {
        Py_ssize_t count = PySlice_AdjustIndices(length, &start, &stop, step);
        result = elements(self, &seen, start, step, count);
    }
    ha_pointer_unsee(&seen.base);
    return result;
}

static PyObject *
list_subscript(PyObject *self, PyObject *key)
{
    if (PySlice_Check(key)) {
        return list_slice(self, key);
    }
    if (!PyIndex_Check(key)) {
        return PyErr_Format(PyExc_TypeError,
                            "%s indices must be integers or slices, not '%.200s'",
                            ha_short_name(Py_TYPE(self)), Py_TYPE(key)->tp_name);
    }
    Py_ssize_t i = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (i == -1 && PyErr_Occurred()) {
        return NULL;
    }
    Py_ssize_t length = list_length(self);
    return length < 0 ? NULL : list_item(self, i < 0 ? i + length : i);
}

static PyObject *
list_to_list(PyObject *self, PyObject *unused)
{
    struct seen_list seen;
    PyObject *result = NULL;
    (void)unused;
    list_see(self, &seen);
    Py_ssize_t length = seen_length(&seen);
    if (length >= 0) {
        result = elements(self, &seen, 0, 1, length);
    }
    ha_pointer_unsee(&seen.base);
    return result;
}

static PyObject *
list_to_tuple(PyObject *self, PyObject *unused)
{
    PyObject *list = list_to_list(self, unused);
    if (list == NULL) {
        return NULL;
    }
    PyObject *result = PyList_AsTuple(list);
    Py_DECREF(list);
    return result;
}

static PyObject *
seen_repr(PyObject *self, const struct seen_list *seen)
{
    const char *name = ha_short_name(seen->type);
    if (seen->base.ptr == NULL) {
        return PyUnicode_FromFormat("<%s NULL>", name);
    }
    if (seen->count < 0) {
        return PyUnicode_FromFormat("<%s %p, length unknown>", name, seen->base.ptr);
    }
    if (seen->count > REPR_ELEMENTS) {
        return PyUnicode_FromFormat("<%s %p, %zd elements>", name, seen->base.ptr,
                                    seen->count);
    }
    PyObject *items = elements(self, seen, 0, 1, seen->count);
    if (items == NULL && PyErr_ExceptionMatches(PyExc_ValueError)) {
        PyErr_Clear();
        return PyUnicode_FromFormat("<%s %p, %zd elements, cannot be read>", name,
                                    seen->base.ptr, seen->count);
    }
    if (items == NULL) {
        return NULL;
    }
    PyObject *result = PyUnicode_FromFormat("%s(%R)", name, items);
    Py_DECREF(items);
    return result;
}

static PyObject *
list_repr(PyObject *self)
{
    struct seen_list seen;
    list_see(self, &seen);
    PyObject *result = seen_repr(self, &seen);
    ha_pointer_unsee(&seen.base);
    return result;
}

/* NULL and empty lists are false; of an address without a length nothing else is known.
 */
static int
list_bool(PyObject *self)
{
    struct seen_list seen;
    list_see(self, &seen);
    ha_pointer_unsee(&seen.base);
    return seen.base.ptr != NULL && seen.count != 0;
}

/* ---- comparison ---- */

static bool
is_list(PyObject *object)
{
    return PyObject_TypeCheck(object, &PyBaseObject_Type) &&
           Py_TYPE(object)->tp_repr == list_repr;
}

/* The elements of what a list is compared with, as a list; NULL without an exception
 * where it has none. */
static PyObject *
other_elements(PyObject *other)
{
    if (PyList_Check(other) || PyTuple_Check(other)) {
        return PySequence_List(other);
    }
    return NULL;
}

/* For elements that were asked for in vain: those that can't be read equal nothing. */
static PyObject *
differs(int op)
{
    if (!PyErr_ExceptionMatches(PyExc_ValueError)) {
        return NULL;
    }
    PyErr_Clear();
    return PyBool_FromLong(op == Py_NE);
}

static PyObject *
compare_elements(PyObject *self, PyObject *other, int op)
{
    PyObject *left = list_to_list(self, NULL);
    if (left == NULL) {
        return differs(op);
    }
    PyObject *right = other_elements(other);
    PyObject *result = NULL;
    if (right != NULL) {
        result = PyObject_RichCompare(left, right, op);
    }
    Py_DECREF(left);
    Py_XDECREF(right);
    return result;
}

static PyObject *
list_richcompare(PyObject *self, PyObject *other, int op)
{
    struct seen_list seen, that;
    if (op != Py_EQ && op != Py_NE) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    list_see(self, &seen);
    ha_pointer_unsee(&seen.base);
    if (PyList_Check(other) || PyTuple_Check(other)) {
        if (seen.count < 0) {
            Py_RETURN_NOTIMPLEMENTED;
        }
        return compare_elements(self, other, op);
    }
    struct ha_types *types = ha_types_of_type(Py_TYPE(self));
    if (types->pointer == NULL || !ha_pointer_check(types, other) ||
        kind_of_type(types, Py_TYPE(other)) != seen.kind || !is_list(other)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    list_see(other, &that);
    ha_pointer_unsee(&that.base);
    bool equal = seen.base.ptr == that.base.ptr && seen.count == that.count;
    if (!equal && seen.count >= 0 && that.count >= 0) {
        PyObject *elements = list_to_list(other, NULL);
        if (elements == NULL) {
            return differs(op);
        }
        PyObject *result = compare_elements(self, elements, op);
        Py_DECREF(elements);
        return result;
    }
    return PyBool_FromLong(equal == (op == Py_EQ));
}

static Py_hash_t
list_hash(PyObject *self)
{
    if (HA_READ(((struct ha_list_object *)self)->count) < 0) {
        return ha_pointer_hash(self);
    }
    PyObject *elements = list_to_tuple(self, NULL);
    if (elements == NULL && PyErr_ExceptionMatches(PyExc_ValueError)) {
        PyErr_Clear(); /* can't be read */
        return ha_pointer_hash(self);
    }
    if (elements == NULL) {
        return -1;
    }
    Py_hash_t hash = PyObject_Hash(elements);
    Py_DECREF(elements);
    return hash;
}

/* ---- PointerTo* ---- */

/* 0, or -1 with ValueError where there is no value. */
static int
need_target(const struct seen_list *seen)
{
    if (seen->base.ptr == NULL || seen->count == 0) {
        PyErr_Format(PyExc_ValueError, "NULL %s has no value",
                     ha_short_name(seen->type));
        return -1;
    }
    return 0;
}

static PyObject *
pointer_to_get(PyObject *self, void *closure)
{
    struct seen_list seen;
    (void)closure;
    list_see(self, &seen);
    PyObject *value = need_target(&seen) < 0 ? NULL : element(self, &seen, 0);
    ha_pointer_unsee(&seen.base);
    return value;
}

/* Writes the value where `seen` points to. */
static int
set_target(const struct seen_list *seen, PyObject *value)
{
    struct ha_types *types = ha_types_of_type(seen->type);
    struct ha_where where = {ha_short_name(seen->type), "value"};
    uint64_t number;
    if (value == NULL) {
        PyErr_SetString(PyExc_AttributeError, "value can't be deleted");
        return -1;
    }
    if (seen->base.readonly) {
        return ha_raise(PyExc_BufferError, &where, "is in read-only memory");
    }
    if (!ha_pointer_can_read(types, &seen->base, seen->base.ptr,
                             ha_kind_size(seen->kind))) {
        return ha_raise(PyExc_ValueError, &where, "is at %p, where there is no memory",
                        seen->base.ptr);
    }
    if (ha_number_from(types, value, &where, seen->kind, &number) < 0) {
        return -1;
    }
    memcpy(seen->base.ptr, &number, ha_kind_size(seen->kind));
    return 0;
}

static int
pointer_to_set(PyObject *self, PyObject *value, void *closure)
{
    struct seen_list seen;
    int status = -1;
    (void)closure;
    list_see(self, &seen);
    if (need_target(&seen) == 0) {
        status = set_target(&seen, value);
    }
    ha_pointer_unsee(&seen.base);
    return status;
}

/* ---- types ---- */

static PyMethodDef list_methods[] = {
    {"allocate", (PyCFunction)(void (*)(void))list_allocate,
     METH_FASTCALL | METH_KEYWORDS | METH_CLASS,
     PyDoc_STR("allocate($type, /, count)\n--\n\n"
               "A new, zeroed array of count elements (PointerTo*: 1 by default).")},
    {"to_list", list_to_list, METH_NOARGS,
     PyDoc_STR("to_list($self, /)\n--\n\nThe elements as list.")},
    {"to_tuple", list_to_tuple, METH_NOARGS,
     PyDoc_STR("to_tuple($self, /)\n--\n\nThe elements as tuple.")},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef pointer_to_getset[] = {
    {"value", pointer_to_get, pointer_to_set, PyDoc_STR("The value pointed to."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(
    list_doc,
    "ListOf(pyobj=None)\n--\n\n"
    "Array of C values from a list or tuple of them.\n\n"
    "Also takes a list of its own type (shares it), arrays and buffers whose\n"
    "element type fits (uses their memory), and what Pointer takes as address\n"
    "(then the length is not known).  Numbers are range-checked; None is 0 or NULL.\n"
    "The objects that entries point to are kept.");

PyDoc_STRVAR(pointer_to_doc,
             "PointerTo(pyobj=None)\n--\n\n"
             "Pointer to one C number: a list of length 1, with the attribute value.");

static PyType_Slot list_slots[] = {
    {Py_tp_doc, (void *)list_doc},
    {Py_tp_new, list_new},
    {Py_tp_init, list_init},
    {Py_tp_dealloc, ha_pointer_dealloc},
    {Py_tp_traverse, ha_pointer_traverse},
    {Py_tp_clear, ha_pointer_clear},
    {Py_tp_repr, list_repr},
    {Py_tp_hash, list_hash},
    {Py_tp_richcompare, list_richcompare},
    {Py_nb_bool, list_bool},
    {Py_sq_length, list_length},
    {Py_sq_item, list_item},
    {Py_mp_length, list_length},
    {Py_mp_subscript, list_subscript},
    {Py_tp_methods, list_methods},
    {0, NULL},
};

static PyType_Slot pointer_to_slots[] = {
    {Py_tp_doc, (void *)pointer_to_doc},   {Py_tp_dealloc, ha_pointer_dealloc},
    {Py_tp_traverse, ha_pointer_traverse}, {Py_tp_clear, ha_pointer_clear},
    {Py_tp_getset, pointer_to_getset},     {0, NULL},
};

static int
make_row(struct ha_types *types, const struct list_row *row, PyTypeObject **list,
         PyTypeObject **pointer_to)
{
    PyType_Spec spec = {
        .name = row->list_name,
        .basicsize = sizeof(struct ha_list_object),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
                 Py_TPFLAGS_IMMUTABLETYPE,
        .slots = list_slots,
    };
    if (ha_type_make(types, &spec, types->pointer, true, list) < 0) {
        return -1;
    }
    if (ha_type_index_add(types, *list, row->kind) < 0) {
        PyErr_NoMemory();
        return -1;
    }
    (*list)->tp_vectorcall = list_vectorcall;
    if (row->pointer_name == NULL) {
        return 0;
    }
    spec.name = row->pointer_name;
    spec.slots = pointer_to_slots;
    if (ha_type_make(types, &spec, *list, true, pointer_to) < 0) {
        return -1;
    }
    (*pointer_to)->tp_vectorcall = list_vectorcall;
    return 0;
}

int
ha_list_init(struct ha_types *types)
{
    for (size_t i = 0; i < LIST_ROWS; i++) {
        const struct list_row *row = &list_rows[i];
        PyTypeObject **list = row->kind == HA_CSTR ? &types->list_bytes
                              : row->kind == HA_POINTER
                                  ? &types->list_pointer
                                  : &types->list_number[row->kind];
        if (make_row(types, row, list, &types->pointer_to[row->kind]) < 0) {
            return -1;
        }
    }
    return 0;
}
