/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/cstr.h"

#include <string.h>

#include "adapters/adapter.h"
#include "adapters/block.h"
#include "adapters/construct.h"
#include "adapters/kind.h"
#include "adapters/message.h"
#include "adapters/number.h"
#include "adapters/pointer.h"
#include "adapters/type.h"
#include "adapters/types.h"
#include "adapters/view.h"

/* ---- conversion ---- */

/* NUL inside would cut the text silently; at the end it does no harm. */
static int
check_text(const struct ha_where *where, const char *text, Py_ssize_t length)
{
    const char *nul = memchr(text, 0, (size_t)length);
    for (; nul != NULL && nul < text + length; nul++) {
        if (*nul != '\0') {
            return ha_raise(PyExc_ValueError, where,
                            "must not have a NUL inside the text");
        }
    }
    return 0;
}

static int
cstr_from_text(PyObject *object, const struct ha_where *where, unsigned flags,
               struct ha_view *out)
{
    Py_ssize_t length;
    const char *text;
    if ((flags & HA_WRITE) != 0) {
        return ha_raise(PyExc_BufferError, where,
                        "must be writable memory, not read-only '%.200s'",
                        Py_TYPE(object)->tp_name);
    }
    if (PyUnicode_Check(object)) {
        text = PyUnicode_AsUTF8AndSize(object, &length);
        if (text == NULL) {
            return -1;
        }
    } else {
        text = PyBytes_AS_STRING(object);
        length = PyBytes_GET_SIZE(object);
    }
    if (check_text(where, text, length) < 0) {
        return -1;
    }
    out->ptr = (void *)text;
    out->size = length + 1;
    out->count = length;
    out->readonly = true;
    out->owner = Py_NewRef(object); /* the UTF-8 form lives in the str */
    return 0;
}

/* Whether the text behind an address, or within memory of known length, can be read. */
static bool
can_read(struct ha_types *types, const struct ha_view *view)
{
    size_t length;
    const struct ha_pointer seen = {
        .ptr = view->ptr, .size = view->size, .owner = view->owner};
    return view->has_buffer || ha_pointer_can_read_text(types, &seen, &length);
}

/* Memory of known length without a NUL is copied to a block that has one. */
static int
terminate(struct ha_types *types, PyObject *object, struct ha_view *view)
{
    if (view->size < 0 || memchr(view->ptr, 0, (size_t)view->size) != NULL ||
        PyByteArray_CheckExact(object)) {
        return 0; /* bytearray keeps a NUL behind its last byte */
    }
    struct ha_block *block = ha_block_new(types, view->size + 1);
    if (block == NULL) {
        return -1;
    }
    memcpy(block->bytes, view->ptr, (size_t)view->size);
    Py_ssize_t size = view->size + 1;
    ha_view_release(view);
    view->ptr = block->bytes;
    view->size = size;
    view->owner = (PyObject *)block;
    view->readonly = true;
    return 0;
}

/* Addresses are taken as they are; of text elsewhere, a copy ends where it should. */
static int
take_text(struct ha_types *types, PyObject *object, const struct ha_where *where,
          unsigned flags, struct ha_view *out)
{
    ha_view_init(out);
    if (PyUnicode_Check(object) || PyBytes_Check(object)) {
        return cstr_from_text(object, where, flags, out);
    }
    if (ha_ptr_from(types, object, where, flags, out) < 0) {
        if (PyErr_ExceptionMatches(PyExc_TypeError) && !PyIndex_Check(object) &&
            !PyObject_CheckBuffer(object)) {
            PyErr_Clear();
            return ha_refuse(where, "str, bytes, a buffer, a CStr, an address or None",
                             object);
        }
        return -1;
    }
    if ((flags & HA_WRITE) == 0 && out->ptr != NULL && can_read(types, out) &&
        terminate(types, object, out) < 0) {
        ha_view_release(out);
        return -1;
    }
    return 0;
}

int
ha_cstr_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
             unsigned flags, struct ha_view *out)
{
    if (take_text(types, object, where, flags, out) < 0) {
        return -1;
    }
    if ((flags & HA_WRITE) == 0 && out->ptr != NULL && !can_read(types, out)) {
        void *address = out->ptr;
        ha_view_release(out);
        return ha_raise(PyExc_ValueError, where,
                        "must be text, not an address (%p) where none can be read",
                        address);
    }
    return 0;
}

static int
cstr_fill(struct ha_types *types, PyObject *self, PyObject *object)
{
    struct ha_where where = {ha_short_name(Py_TYPE(self)), "pyobj"};
    struct ha_view view;
    int status = take_text(types, object, &where, 0, &view);
    if (status == 0) {
        status = ha_pointer_set(types, (struct ha_pointer *)self, &view);
    }
    ha_view_release(&view);
    return status;
}

static int
cstr_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    return ha_init_one(self, args, kwargs, cstr_fill);
}

static PyObject *
cstr_vectorcall(PyObject *type, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    return ha_construct_one((PyTypeObject *)type, args, nargsf, kwnames, cstr_fill);
}

PyObject *
ha_cstr_new(struct ha_types *types, const char *text, PyObject *owner)
{
    PyObject *self = ha_pointer_alloc(types->cstr);
    if (self != NULL) {
        ha_pointer_assign((struct ha_pointer *)self, (void *)text, -1, true,
                          Py_XNewRef(owner));
    }
    return self;
}

PyObject *
ha_cstr_copy(struct ha_types *types, const char *text)
{
    size_t length = strlen(text);
    PyObject *self = ha_cstr_alloc(types, length);
    if (self != NULL) {
        struct ha_pointer *pointer = (struct ha_pointer *)self;
        memcpy(pointer->ptr, text, length);
        pointer->readonly = true;
    }
    return self;
}

PyObject *
ha_cstr_alloc(struct ha_types *types, size_t size)
{
    if (size >= (size_t)PY_SSIZE_T_MAX) {
        return PyErr_NoMemory();
    }
    struct ha_block *block = ha_block_new(types, (Py_ssize_t)size + 1);
    if (block == NULL) {
        return NULL;
    }
    PyObject *self = ha_pointer_alloc(types->cstr);
    if (self == NULL) {
        Py_DECREF(block);
        return NULL;
    }
    ha_pointer_assign((struct ha_pointer *)self, block->bytes, (Py_ssize_t)size + 1,
                      false, (PyObject *)block);
    return self;
}

/* ---- text ---- */

/* The text, or NULL for a NULL pointer and for memory that can't be read. */
static const char *
text_of(PyObject *self, size_t *length)
{
    const struct ha_pointer *pointer = (struct ha_pointer *)self;
    if (pointer->ptr == NULL ||
        !ha_pointer_can_read_text(ha_types_of_type(Py_TYPE(self)), pointer, length)) {
        *length = 0;
        return NULL;
    }
    return pointer->ptr;
}

/* The same with an exception of this type; answers NULL. */
static const char *
no_text(PyObject *self, PyObject *exception)
{
    const char *name = ha_short_name(Py_TYPE(self));
    void *address = ((struct ha_pointer *)self)->ptr;
    if (address == NULL) {
        PyErr_Format(exception, "NULL %s has no text", name);
    } else {
        PyErr_Format(exception, "%s: there is no text at %p that can be read", name,
                     address);
    }
    return NULL;
}

static const char *
text_required(PyObject *self, size_t *length)
{
    const char *text = text_of(self, length);
    return text != NULL ? text : no_text(self, PyExc_ValueError);
}

static PyObject *
decoded(PyObject *self)
{
    size_t length;
    const char *text = text_required(self, &length);
    return text == NULL ? NULL
                        : PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "replace");
}

static PyObject *
cstr_str(PyObject *self)
{
    return ((struct ha_pointer *)self)->ptr == NULL ? PyUnicode_FromString("")
                                                    : decoded(self);
}

static PyObject *
cstr_repr(PyObject *self)
{
    const char *name = ha_short_name(Py_TYPE(self));
    void *address = ((struct ha_pointer *)self)->ptr;
    size_t length;
    if (address == NULL) {
        return PyUnicode_FromFormat("<%s NULL>", name);
    }
    const char *chars = text_of(self, &length);
    if (chars == NULL) {
        return PyUnicode_FromFormat("<%s %p, cannot be read>", name, address);
    }
    PyObject *text = PyUnicode_DecodeUTF8(chars, (Py_ssize_t)length, "replace");
    if (text == NULL) {
        return NULL;
    }
    PyObject *result = PyUnicode_FromFormat("%s(%R)", name, text);
    Py_DECREF(text);
    return result;
}

static Py_ssize_t
cstr_length(PyObject *self)
{
    PyObject *text = decoded(self);
    if (text == NULL) {
        return -1;
    }
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    Py_DECREF(text);
    return length;
}

static PyObject *
cstr_subscript(PyObject *self, PyObject *key)
{
    PyObject *text = decoded(self);
    if (text == NULL) {
        return NULL;
    }
    PyObject *result = PyObject_GetItem(text, key);
    Py_DECREF(text);
    return result;
}

static PyObject *
cstr_item(PyObject *self, Py_ssize_t index)
{
    PyObject *text = decoded(self);
    if (text == NULL) {
        return NULL;
    }
    PyObject *result = PySequence_GetItem(text, index);
    Py_DECREF(text);
    return result;
}

static int
cstr_contains(PyObject *self, PyObject *part)
{
    size_t length;
    if (PyBytes_Check(part)) {
        const char *text = text_required(self, &length);
        return text == NULL ? -1
                            : memmem(text, length, PyBytes_AS_STRING(part),
                                     (size_t)PyBytes_GET_SIZE(part)) != NULL;
    }
    PyObject *text = decoded(self);
    if (text == NULL) {
        return -1;
    }
    int found = PyUnicode_Contains(text, part);
    Py_DECREF(text);
    return found;
}

/* Bytes of what a CStr is compared with; 0 where it is no text. */
static int
other_text(struct ha_types *types, PyObject *other, const char **text, size_t *length)
{
    Py_ssize_t size = 0;
    if (PyObject_TypeCheck(other, types->cstr)) {
        *text = text_of(other, length);
        return 1;
    }
    if (PyBytes_Check(other)) {
        *text = PyBytes_AS_STRING(other);
        *length = (size_t)PyBytes_GET_SIZE(other);
        return 1;
    }
    if (!PyUnicode_Check(other)) {
        return 0;
    }
    *text = PyUnicode_AsUTF8AndSize(other, &size);
    *length = (size_t)size;
    if (*text == NULL) { /* lone surrogates: equal to no C text */
        PyErr_Clear();
        *text = "";
        *length = SIZE_MAX;
    }
    return 1;
}

static PyObject *
cstr_richcompare(PyObject *self, PyObject *other, int op)
{
    size_t length, other_length = 0;
    const char *other_chars = NULL;
    struct ha_types *types = ha_types_of_type(Py_TYPE(self));
    if ((op != Py_EQ && op != Py_NE) || types->cstr == NULL ||
        !other_text(types, other, &other_chars, &other_length)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    const char *text = text_of(self, &length);
    bool equal = (text == NULL) == (other_chars == NULL) && length == other_length &&
                 (length == 0 || memcmp(text, other_chars, length) == 0);
    if (text == NULL && other_chars == NULL) { /* two without text: NULL, or dead */
        equal = ha_pointer_of(self) == ha_pointer_of(other);
    }
    return PyBool_FromLong(equal == (op == Py_EQ));
}

static Py_hash_t
cstr_hash(PyObject *self)
{
    size_t length;
    const char *text = text_of(self, &length);
    if (text == NULL) {
        return ha_pointer_hash(self);
    }
    PyObject *key = PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, NULL);
    if (key == NULL && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) {
        PyErr_Clear();
        key = PyBytes_FromStringAndSize(text, (Py_ssize_t)length);
    }
    if (key == NULL) {
        return -1;
    }
    Py_hash_t hash = PyObject_Hash(key);
    Py_DECREF(key);
    return hash;
}

/* ---- methods ---- */

static PyObject *
cstr_decode(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"encoding", "errors", NULL};
    const char *encoding = "utf-8";
    const char *errors = "strict";
    size_t length;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|ss:decode", names, &encoding,
                                     &errors)) {
        return NULL;
    }
    const char *text = text_required(self, &length);
    return text == NULL ? NULL
                        : PyUnicode_Decode(text, (Py_ssize_t)length, encoding, errors);
}

static PyObject *
cstr_encode(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"encoding", "errors", NULL};
    const char *encoding = "utf-8";
    const char *errors = "strict";
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|ss:encode", names, &encoding,
                                     &errors)) {
        return NULL;
    }
    PyObject *text = decoded(self);
    if (text == NULL) {
        return NULL;
    }
    PyObject *result = PyUnicode_AsEncodedString(text, encoding, errors);
    Py_DECREF(text);
    return result;
}

static PyObject *
cstr_format(PyObject *self, PyObject *spec)
{
    PyObject *text = cstr_str(self);
    if (text == NULL) {
        return NULL;
    }
    PyObject *result = PyObject_Format(text, spec);
    Py_DECREF(text);
    return result;
}

static PyObject *
cstr_malloc(PyObject *self, PyObject *argument)
{
    struct ha_pointer *pointer = (struct ha_pointer *)self;
    struct ha_types *types = ha_types_of_type(Py_TYPE(self));
    static const struct ha_where where = {"malloc", "content_len"};
    int64_t length;
    if (ha_number_from(types, argument, &where, HA_I64, &length) < 0) {
        return NULL;
    }
    if (length < 0 || length >= PY_SSIZE_T_MAX) {
        ha_raise_range(&where, "0 .. 2**63-2", argument);
        return NULL;
    }
    if (pointer->ptr != NULL) {
        PyErr_SetString(PyExc_RuntimeError, "malloc: this CStr already has text");
        return NULL;
    }
    struct ha_block *block = ha_block_new(types, (Py_ssize_t)length + 1);
    if (block == NULL) {
        return NULL;
    }
    ha_pointer_assign(pointer, block->bytes, (Py_ssize_t)length + 1, false,
                      (PyObject *)block);
    Py_RETURN_NONE;
}

static PyObject *
cstr_free(PyObject *self, PyObject *unused)
{
    struct ha_pointer *pointer = (struct ha_pointer *)self;
    struct ha_types *types = ha_types_of_type(Py_TYPE(self));
    (void)unused;
    if (pointer->ptr != NULL &&
        (pointer->owner == NULL || Py_TYPE(pointer->owner) != types->block)) {
        PyErr_SetString(PyExc_RuntimeError, "free: the text belongs to somebody else");
        return NULL;
    }
    ha_pointer_assign(pointer, NULL, -1, false, NULL);
    Py_RETURN_NONE;
}

static int
cstr_getbuffer(PyObject *self, Py_buffer *buffer, int flags)
{
    size_t length;
    const char *text = text_of(self, &length);
    buffer->obj = NULL;
    if (text == NULL) {
        no_text(self, PyExc_BufferError);
        return -1;
    }
    PyObject *keeper = ha_pointer_keeper((struct ha_pointer *)self);
    if (keeper == NULL) {
        return -1;
    }
    if (PyBuffer_FillInfo(buffer, self, (void *)text, (Py_ssize_t)length, 1, flags) <
        0) {
        Py_DECREF(keeper);
        return -1;
    }
    buffer->internal = keeper; /* so that a later __init__ or free can't hurt */
    return 0;
}

static void
cstr_releasebuffer(PyObject *self, Py_buffer *buffer)
{
    (void)self;
    Py_CLEAR(buffer->internal);
}

#define KEYWORDS(function) (PyCFunction)(void (*)(void))(function)

static PyMethodDef cstr_methods[] = {
    {"decode", KEYWORDS(cstr_decode), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("decode($self, /, encoding='utf-8', errors='strict')\n--\n\n"
               "The text as str.")},
    {"encode", KEYWORDS(cstr_encode), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("encode($self, /, encoding='utf-8', errors='strict')\n--\n\n"
               "The text as bytes.")},
    {"malloc", cstr_malloc, METH_O,
     PyDoc_STR("malloc($self, content_len, /)\n--\n\n"
               "Zeroed memory for content_len bytes and a NUL; only for a NULL CStr.")},
    {"free", cstr_free, METH_NOARGS,
     PyDoc_STR("free($self, /)\n--\n\nGives back what malloc made.")},
    {"__format__", cstr_format, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(
    cstr_doc,
    "CStr(pyobj=None)\n--\n\n"
    "Text of C (``char *``).\n\n"
    "Made from str (UTF-8), bytes, buffers and addresses.  Behaves like the text:\n"
    "str(), len(), [], in, ==, hash.  Keeps what it was made from.");

static PyType_Slot cstr_slots[] = {
    {Py_tp_doc, (void *)cstr_doc},
    {Py_tp_init, cstr_init},
    {Py_tp_dealloc, ha_pointer_dealloc},
    {Py_tp_traverse, ha_pointer_traverse},
    {Py_tp_clear, ha_pointer_clear},
    {Py_tp_str, cstr_str},
    {Py_tp_repr, cstr_repr},
    {Py_tp_hash, cstr_hash},
    {Py_tp_richcompare, cstr_richcompare},
    {Py_sq_length, cstr_length},
    {Py_sq_item, cstr_item},
    {Py_sq_contains, cstr_contains},
    {Py_mp_length, cstr_length},
    {Py_mp_subscript, cstr_subscript},
    {Py_bf_getbuffer, cstr_getbuffer},
    {Py_bf_releasebuffer, cstr_releasebuffer},
    {Py_tp_methods, cstr_methods},
    {0, NULL},
};

static PyType_Spec cstr_spec = {
    .name = "hipadapt.types.CStr",
    .basicsize = sizeof(struct ha_pointer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = cstr_slots,
};

int
ha_cstr_init(struct ha_types *types)
{
    if (ha_type_make(types, &cstr_spec, types->pointer, true, &types->cstr) < 0) {
        return -1;
    }
    types->cstr->tp_vectorcall = cstr_vectorcall;
    return 0;
}
