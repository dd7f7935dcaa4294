/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/pointer_object.h"

#include <string.h>
#include <structmember.h>

#include "adapters/adapter.h"
#include "adapters/buffer_hold.h"
#include "adapters/construct.h"
#include "adapters/ctypes_value.h"
#include "adapters/message.h"
#include "adapters/pointer.h"
#include "adapters/strides.h"
#include "adapters/type.h"
#include "adapters/types.h"
#include "adapters/view.h"

/* ---- construction ---- */

static const struct ha_where constructor = {"Pointer", "pyobj"};

static PyObject *
pointer_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf,
                   PyObject *kwnames)
{
    PyTypeObject *type = (PyTypeObject *)self;
    PyObject *object;
    if (kwnames == NULL && PyVectorcall_NARGS(nargsf) == 1) {
        object = args[0];
    } else if ((object = ha_one_argument(type, args, nargsf, kwnames)) == NULL) {
        return NULL;
    }
    struct ha_types *types = (struct ha_types *)PyType_GetModuleState(type);
    struct ha_view view;
    if (ha_ptr_from(types, object, &constructor, 0, &view) < 0) {
        return NULL;
    }
    PyObject *owner = ha_view_take_owner(&view);
    if (view.has_buffer && (owner = ha_hold_new(types, &view.buffer)) == NULL) {
        ha_view_release(&view);
        return NULL;
    }
    return ha_pointer_make(type, view.ptr, view.size, view.readonly, owner);
}

static int
pointer_fill(struct ha_types *types, PyObject *self, PyObject *object)
{
    struct ha_where where = {ha_short_name(Py_TYPE(self)), "pyobj"};
    struct ha_view view;
    int status = ha_ptr_from(types, object, &where, 0, &view);
    if (status == 0) {
        status = ha_pointer_set(types, (struct ha_pointer *)self, &view);
    }
    ha_view_release(&view);
    return status;
}

static int
pointer_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    return ha_init_one(self, args, kwargs, pointer_fill);
}

/* ---- operators ---- */

static PyObject *
pointer_int(PyObject *self)
{
    const struct ha_pointer *pointer = (struct ha_pointer *)self;
    void *address;
    HA_BEGIN_SECTION(self);
    address = pointer->gone == HA_FREED ? pointer->was : pointer->ptr;
    HA_END_SECTION();
    return PyLong_FromVoidPtr(address);
}

/* Python would take __index__ instead, and give the address for a number that is stored
 * there. */
static PyObject *
pointer_float(PyObject *self)
{
    struct ha_types *types = ha_types_of_type(Py_TYPE(self));
    const char *advice = "int() gives its address";
    if (PyObject_TypeCheck(self, types->nd_buffer)) {
        advice = "numpy() copies its elements, and int() gives its address";
    } else if (PyObject_TypeCheck(self, types->cstr)) {
        advice = "str() gives its text, and int() gives its address";
    } else if (Py_TYPE(self)->tp_as_mapping->mp_length != NULL) {
        advice = "an index reads an element, and int() gives its address";
    }
    return PyErr_Format(PyExc_TypeError, "a %s is no number: %s",
                        ha_short_name(Py_TYPE(self)), advice);
}

static int
pointer_bool(PyObject *self)
{
    return ha_pointer_of(self) != NULL;
}

static PyObject *
pointer_richcompare(PyObject *left, PyObject *right, int op)
{
    PyTypeObject *type = Py_TYPE(left);
    if (op != Py_EQ && op != Py_NE) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    struct ha_types *types = ha_types_of_type(type);
    if (types->pointer == NULL || !ha_pointer_check(types, right)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    if (Py_TYPE(right)->tp_richcompare != type->tp_richcompare &&
        !PyType_IsSubtype(type, Py_TYPE(right)) && ha_is_native(Py_TYPE(right))) {
        /* Lists, records and texts compare what they hold, and decide themselves. */
        Py_RETURN_NOTIMPLEMENTED;
    }
    bool equal = ha_pointer_of(left) == ha_pointer_of(right);
    return PyBool_FromLong(equal == (op == Py_EQ));
}

static PyObject *
pointer_repr(PyObject *self)
{
    struct ha_pointer seen;
    const char *name = ha_short_name(Py_TYPE(self));
    ha_pointer_see(self, &seen);
    ha_pointer_unsee(&seen); /* the memory is not looked at */
    if (seen.ptr == NULL) {
        return PyUnicode_FromFormat(seen.gone == HA_FREED ? "<%s, freed>" : "<%s NULL>",
                                    name);
    }
    const char *readonly = seen.readonly ? ", read-only" : "";
    if (seen.size < 0) {
        return PyUnicode_FromFormat("<%s %p%s>", name, seen.ptr, readonly);
    }
    return PyUnicode_FromFormat("<%s %p, %zd bytes%s>", name, seen.ptr, seen.size,
                                readonly);
}

/* A Pointer to `offset` bytes behind what was seen. */
static PyObject *
pointer_behind(PyObject *self, const struct ha_pointer *seen, Py_ssize_t offset)
{
    struct ha_types *types = ha_types_of_type(Py_TYPE(self));
    uintptr_t address;
    if (seen->size >= 0 && offset > seen->size) {
        return PyErr_Format(PyExc_IndexError, "offset %zd is beyond the %zd bytes",
                            offset, seen->size);
    }
    if (ha_pointer_is_gone(types, seen)) {
        ha_raise_gone(types, PyExc_ValueError, self, "[]", NULL);
        return NULL;
    }
    if (seen->ptr == NULL && offset > 0) {
        return PyErr_Format(PyExc_ValueError, "offset %zd from NULL", offset);
    }
    if (!ha_address_add(seen->ptr, (uint64_t)offset, &address)) {
        return PyErr_Format(PyExc_OverflowError,
                            "offset %zd from %p is beyond the last address", offset,
                            seen->ptr);
    }
    PyObject *owner = ha_pointer_keeper(self, seen);
    if (owner == NULL) {
        return NULL;
    }
    return ha_pointer_make(types->pointer, (void *)address,
                           seen->size < 0 ? -1 : seen->size - offset, seen->readonly,
                           owner);
}

static PyObject *
pointer_subscript(PyObject *self, PyObject *key)
{
    struct ha_pointer seen;
    if (!PyIndex_Check(key) || PyBool_Check(key)) {
        return PyErr_Format(PyExc_TypeError,
                            "%s offsets must be integers (bytes), not '%.200s'",
                            ha_short_name(Py_TYPE(self)), Py_TYPE(key)->tp_name);
    }
    Py_ssize_t offset = PyNumber_AsSsize_t(key, PyExc_OverflowError);
    if (offset == -1 && PyErr_Occurred()) {
        return NULL;
    }
    if (offset < 0) {
        return PyErr_Format(PyExc_ValueError, "offset %zd is negative", offset);
    }
    ha_pointer_see(self, &seen);
    PyObject *result = pointer_behind(self, &seen, offset);
    ha_pointer_unsee(&seen);
    return result;
}

/* ---- attributes ---- */

static PyObject *
pointer_is_ptr_null(PyObject *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(ha_pointer_of(self) == NULL);
}

static PyObject *
pointer_as_c_void_p(PyObject *self, PyObject *unused)
{
    (void)unused;
    struct ha_types *types = ha_types_of_type(Py_TYPE(self));
    if (ha_pointer_need(types, PyExc_ValueError, self, "as_c_void_p") < 0) {
        return NULL;
    }
    return ha_ctypes_void_p(types, ha_pointer_of(self));
}

static PyObject *
pointer_create_ref(PyObject *self, PyObject *unused)
{
    (void)unused;
    struct ha_types *types = ha_types_of_type(Py_TYPE(self));
    return ha_pointer_make(types->pointer, &((struct ha_pointer *)self)->ptr,
                           sizeof(void *), false, Py_NewRef(self));
}

static PyObject *
pointer_from_obj(PyObject *cls, PyObject *object)
{
    if (PyObject_TypeCheck(object, (PyTypeObject *)cls)) {
        return Py_NewRef(object);
    }
    return PyObject_CallOneArg(cls, object);
}

static PyObject *
pointer_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyErr_Format(PyExc_TypeError,
                        "cannot pickle or copy '%s': an address means nothing in "
                        "another process",
                        ha_short_name(Py_TYPE(self)));
}

/* Without this, bytes(obj) would take __index__ for a count and ask for as many zeros.
 */
static PyObject *
pointer_bytes(PyObject *self, PyObject *unused)
{
    struct ha_pointer seen;

    (void)unused;
    ha_pointer_see(self, &seen);
    /* A call's result that was copied into bytes, whole. */
    if (seen.owner != NULL && PyBytes_CheckExact(seen.owner) &&
        seen.ptr == PyBytes_AS_STRING(seen.owner) &&
        seen.size == PyBytes_GET_SIZE(seen.owner)) {
        return seen.owner;
    }
    ha_pointer_unsee(&seen);
    if (!PyObject_CheckBuffer(self)) {
        return PyErr_Format(PyExc_TypeError,
                            "cannot read '%s' as bytes: its length is not known",
                            ha_short_name(Py_TYPE(self)));
    }
    /* Not PyBytes_FromObject: that asks for a format, which not all elements have. */
    Py_buffer buffer;
    if (PyObject_GetBuffer(self, &buffer, PyBUF_SIMPLE) < 0) {
        return NULL;
    }
    PyObject *bytes = PyBytes_FromStringAndSize(buffer.buf, buffer.len);
    PyBuffer_Release(&buffer);
    return bytes;
}

static PyMethodDef pointer_methods[] = {
    {"as_c_void_p", pointer_as_c_void_p, METH_NOARGS,
     PyDoc_STR("as_c_void_p($self, /)\n--\n\nThe address as ctypes.c_void_p.")},
    {"createRef", pointer_create_ref, METH_NOARGS,
     PyDoc_STR("createRef($self, /)\n--\n\n"
               "Pointer to the address stored in this object (C's &p), for calls that\n"
               "write or consume a handle.  Keeps this object.")},
    {"fromObj", pointer_from_obj, METH_O | METH_CLASS,
     PyDoc_STR("fromObj($type, pyobj, /)\n--\n\n"
               "pyobj itself if it is an instance of this type, else type(pyobj).")},
    {"fromPyobj", pointer_from_obj, METH_O | METH_CLASS,
     PyDoc_STR("fromPyobj($type, pyobj, /)\n--\n\nThe same as fromObj.")},
    {"__bytes__", pointer_bytes, METH_NOARGS, NULL},
    {"__reduce__", pointer_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef pointer_getset[] = {
    {"is_ptr_null", pointer_is_ptr_null, NULL,
     PyDoc_STR("Whether the address is NULL."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef pointer_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(struct ha_pointer, weakrefs), READONLY,
     NULL},
    {NULL, 0, 0, 0, NULL},
};

PyDoc_STRVAR(
    pointer_doc,
    "Pointer(pyobj=None)\n--\n\n"
    "An address for C, with what keeps its memory alive.\n\n"
    "Parameters\n----------\n"
    "pyobj : object\n"
    "    None, a Pointer, an int address, a ctypes.c_void_p, an object with\n"
    "    __cuda_array_interface__, the buffer protocol, as_c_void_p() or DLPack,\n"
    "    in this order.\n\n"
    "Raises\n------\n"
    "TypeError, OverflowError, BufferError\n"
    "    For objects that have no address, ints that are none, and memory with\n"
    "    gaps.\n\n"
    "Examples\n--------\n"
    ">>> from hipadapt.types import Pointer\n"
    ">>> hex(Pointer(4096))\n"
    "'0x1000'\n");

static PyType_Slot pointer_slots[] = {
    {Py_tp_doc, (void *)pointer_doc},
    {Py_tp_new, ha_pointer_tp_new},
    {Py_tp_init, pointer_init},
    {Py_tp_dealloc, ha_pointer_dealloc},
    {Py_tp_traverse, ha_pointer_traverse},
    {Py_tp_clear, ha_pointer_clear},
    {Py_tp_repr, pointer_repr},
    {Py_tp_hash, ha_pointer_hash},
    {Py_tp_richcompare, pointer_richcompare},
    {Py_nb_int, pointer_int},
    {Py_nb_index, pointer_int},
    {Py_nb_float, pointer_float},
    {Py_nb_bool, pointer_bool},
    {Py_mp_subscript, pointer_subscript},
    {Py_tp_methods, pointer_methods},
    {Py_tp_getset, pointer_getset},
    {Py_tp_members, pointer_members},
    {0, NULL},
};

static PyType_Spec pointer_spec = {
    .name = "hipadapt.types.Pointer",
    .basicsize = sizeof(struct ha_pointer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = pointer_slots,
};

int
ha_pointer_init(struct ha_types *types)
{
    if (ha_type_make(types, &pointer_spec, NULL, true, &types->pointer) < 0) {
        return -1;
    }
    types->pointer->tp_vectorcall = pointer_vectorcall;
    return 0;
}
