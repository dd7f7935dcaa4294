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
#include "adapters/saved_error.h"
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

/* A text that is looked at. */
struct text {
    const char *chars; /* NULL for a NULL pointer, and where none can be read */
    size_t length;
    struct ha_pointer seen; /* keeps it until text_end */
};

static void
text_of(PyObject *self, struct text *text)
{
    ha_pointer_see(self, &text->seen);
    text->chars = text->seen.ptr;
    text->length = 0;
    if (text->chars != NULL &&
        !ha_pointer_can_read_text(ha_types_of_type(Py_TYPE(self)), &text->seen,
                                  &text->length)) {
        text->chars = NULL;
        text->length = 0;
    }
}

static void
text_end(struct text *text)
{
    ha_pointer_unsee(&text->seen);
}

/* The exception of this type where there is none; answers -1. */
static int
no_text(PyObject *self, const struct text *text, PyObject *exception)
{
    const char *name = ha_short_name(Py_TYPE(self));
    if (text->seen.ptr == NULL) {
        PyErr_Format(exception, "NULL %s has no text", name);
    } else {
        PyErr_Format(exception, "%s: there is no text at %p that can be read", name,
                     text->seen.ptr);
    }
    return -1;
}

/* 0, or -1 with ValueError and nothing to end. */
static int
text_required(PyObject *self, struct text *text)
{
    text_of(self, text);
    if (text->chars != NULL) {
        return 0;
    }
    (void)no_text(self, text, PyExc_ValueError);
    text_end(text);
    return -1;
}

static PyObject *
decoded(PyObject *self)
{
    struct text text;
    if (text_required(self, &text) < 0) {
        return NULL;
    }
    PyObject *result =
        PyUnicode_DecodeUTF8(text.chars, (Py_ssize_t)text.length, "replace");
    text_end(&text);
    return result;
}

static PyObject *
cstr_str(PyObject *self)
{
    return ha_pointer_of(self) == NULL ? PyUnicode_FromString("") : decoded(self);
}

static PyObject *
cstr_repr(PyObject *self)
{
    const char *name = ha_short_name(Py_TYPE(self));
    PyObject *decoded = NULL, *result = NULL;
    struct text text;
    text_of(self, &text);
    if (text.seen.ptr == NULL) {
        result = PyUnicode_FromFormat("<%s NULL>", name);
    } else if (text.chars == NULL) {
        result = PyUnicode_FromFormat("<%s %p, cannot be read>", name, text.seen.ptr);
    } else {
        decoded = PyUnicode_DecodeUTF8(text.chars, (Py_ssize_t)text.length, "replace");
    }
    text_end(&text);
    if (decoded != NULL) {
        result = PyUnicode_FromFormat("%s(%R)", name, decoded);
        Py_DECREF(decoded);
    }
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
    if (PyBytes_Check(part)) {
        struct text text;
        if (text_required(self, &text) < 0) {
            return -1;
        }
        int found = memmem(text.chars, text.length, PyBytes_AS_STRING(part),
                           (size_t)PyBytes_GET_SIZE(part)) != NULL;
        text_end(&text);
        return found;
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
other_text(struct ha_types *types, PyObject *other, struct text *text)
{
    Py_ssize_t size = 0;
    if (PyObject_TypeCheck(other, types->cstr)) {
        text_of(other, text);
        return 1;
    }
    text->seen.owner = NULL;
    if (PyBytes_Check(other)) {
        text->chars = PyBytes_AS_STRING(other);
        text->length = (size_t)PyBytes_GET_SIZE(other);
        return 1;
    }
    if (!PyUnicode_Check(other)) {
        return 0;
    }
    text->chars = PyUnicode_AsUTF8AndSize(other, &size);
    text->length = (size_t)size;
    if (text->chars == NULL) { /* lone surrogates: equal to no C text */
        PyErr_Clear();
        text->chars = "";
        text->length = SIZE_MAX;
    }
    return 1;
}

static PyObject *
cstr_richcompare(PyObject *self, PyObject *other, int op)
{
    struct text left, right;
    struct ha_types *types = ha_types_of_type(Py_TYPE(self));
    if ((op != Py_EQ && op != Py_NE) || types->cstr == NULL ||
        !other_text(types, other, &right)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    text_of(self, &left);
    bool equal =
        (left.chars == NULL) == (right.chars == NULL) && left.length == right.length &&
        (left.length == 0 || memcmp(left.chars, right.chars, left.length) == 0);
    if (left.chars == NULL && right.chars == NULL) { /* two without: NULL, or dead */
        equal = left.seen.ptr == right.seen.ptr;
    }
    text_end(&left);
    text_end(&right);
    return PyBool_FromLong(equal == (op == Py_EQ));
}

static Py_hash_t
cstr_hash(PyObject *self)
{
    struct text text;
    text_of(self, &text);
    if (text.chars == NULL) {
        text_end(&text);
        return ha_pointer_hash(self);
    }
    PyObject *key = PyUnicode_DecodeUTF8(text.chars, (Py_ssize_t)text.length, NULL);
    if (key == NULL && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) {
        PyErr_Clear();
        key = PyBytes_FromStringAndSize(text.chars, (Py_ssize_t)text.length);
    }
    text_end(&text);
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
    struct text text;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|ss:decode", names, &encoding,
                                     &errors) ||
        text_required(self, &text) < 0) {
        return NULL;
    }
    PyObject *result =
        PyUnicode_Decode(text.chars, (Py_ssize_t)text.length, encoding, errors);
    text_end(&text);
    return result;
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
    PyObject *block = NULL, *old = NULL;
    bool empty = ha_pointer_of(self) == NULL;
    if (empty && (block = (PyObject *)ha_block_new(types, length + 1)) == NULL) {
        return NULL;
    }
    HA_BEGIN_SECTION(self);
    empty = empty && pointer->ptr == NULL;
    if (empty) {
        old = ha_pointer_put(pointer, ((struct ha_block *)block)->bytes, length + 1,
                             false, block);
    }
    HA_END_SECTION();
    if (!empty) {
        Py_XDECREF(block);
        PyErr_SetString(PyExc_RuntimeError, "malloc: this CStr already has text");
        return NULL;
    }
    ha_release(old);
    Py_RETURN_NONE;
}

static PyObject *
cstr_free(PyObject *self, PyObject *unused)
{
    struct ha_pointer *pointer = (struct ha_pointer *)self;
    struct ha_types *types = ha_types_of_type(Py_TYPE(self));
    PyObject *old = NULL;
    bool ours;
    (void)unused;
    HA_BEGIN_SECTION(self);
    ours = pointer->ptr == NULL ||
           (pointer->owner != NULL && Py_TYPE(pointer->owner) == types->block);
    if (ours) {
        old = ha_pointer_put(pointer, NULL, -1, false, NULL);
    }
    HA_END_SECTION();
    if (!ours) {
        PyErr_SetString(PyExc_RuntimeError, "free: the text belongs to somebody else");
        return NULL;
    }
    ha_release(old);
    Py_RETURN_NONE;
}

static int
cstr_getbuffer(PyObject *self, Py_buffer *buffer, int flags)
{
    struct text text;
    int status = -1;
    buffer->obj = NULL;
    text_of(self, &text);
    PyObject *keeper = text.chars == NULL ? NULL : ha_pointer_keeper(self, &text.seen);
    if (text.chars == NULL) {
        (void)no_text(self, &text, PyExc_BufferError);
    } else if (keeper != NULL) {
        status = PyBuffer_FillInfo(buffer, self, (void *)text.chars,
                                   (Py_ssize_t)text.length, 1, flags);
    }
    text_end(&text);
    if (status < 0) {
        Py_XDECREF(keeper);
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
