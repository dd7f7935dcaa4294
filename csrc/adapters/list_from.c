/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/list_from.h"

#include <string.h>

#include "adapters/adapter.h"
#include "adapters/array.h"
#include "adapters/block.h"
#include "adapters/buffer.h"
#include "adapters/cstr.h"
#include "adapters/ctypes_value.h"
#include "adapters/format.h"
#include "adapters/kind.h"
#include "adapters/list.h"
#include "adapters/message.h"
#include "adapters/number.h"
#include "adapters/pointer.h"
#include "adapters/python_version.h"
#include "adapters/take.h"
#include "adapters/type.h"
#include "adapters/types.h"
#include "adapters/view.h"

/* Are bytes of this format the bytes of `kind`? */
static bool
is_kind(const struct ha_format *format, enum ha_kind kind)
{
    if (format->size != (ptrdiff_t)ha_kind_size(kind) || format->order == '>') {
        return false;
    }
    if (kind == HA_F32) {
        return format->kind == 'f';
    }
    if (kind == HA_POINTER || kind == HA_CSTR) {
        return format->kind == 'u' || format->kind == 'i' || format->kind == 'V';
    }
    return format->kind == (ha_kind_is_signed(kind) ? 'i' : 'u');
}

/* Size of list or tuple; a list may change while its entries are converted. */
static inline Py_ssize_t
sequence_size(PyObject *sequence)
{
    return PyList_CheckExact(sequence) || PyList_Check(sequence)
               ? PyList_GET_SIZE(sequence)
               : PyTuple_GET_SIZE(sequence);
}

static inline PyObject *
sequence_item(PyObject *sequence, Py_ssize_t i)
{
    return PyList_Check(sequence) ? PyList_GET_ITEM(sequence, i)
                                  : PyTuple_GET_ITEM(sequence, i);
}

/* The entries that are no small int: out of line, with a reference held. */
static int
number_entry(struct ha_types *types, PyObject *item, const struct ha_where *where,
             Py_ssize_t i, enum ha_kind kind, void *out)
{
    struct ha_entry entry;
    if (item == Py_None) {
        memset(out, 0, ha_kind_size(kind)); /* as hip-python documents */
        return 0;
    }
    ha_entry_init(&entry, where);
    ha_entry_set(&entry, i);
    Py_INCREF(item);
    int status = ha_number_from(types, item, &entry.where, kind, out);
    Py_DECREF(item);
    return status;
}

static int
fill_32(struct ha_types *types, PyObject *sequence, const struct ha_where *where,
        enum ha_kind kind, uint32_t *out, Py_ssize_t count)
{
    Py_ssize_t low = kind == HA_I32 ? INT32_MIN : 0;
    Py_ssize_t high = kind == HA_I32 ? INT32_MAX : (Py_ssize_t)UINT32_MAX;
    for (Py_ssize_t i = 0; i < count && i < sequence_size(sequence); i++) {
        PyObject *item = sequence_item(sequence, i);
        Py_ssize_t value;
        if (PyLong_CheckExact(item) && ha_long_is_compact(item, &value) &&
            value >= low && value <= high) {
            out[i] = (uint32_t)value;
        } else if (number_entry(types, item, where, i, kind, &out[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

static int
fill_64(struct ha_types *types, PyObject *sequence, const struct ha_where *where,
        enum ha_kind kind, uint64_t *out, Py_ssize_t count)
{
    bool is_signed = ha_kind_is_signed(kind);
    for (Py_ssize_t i = 0; i < count && i < sequence_size(sequence); i++) {
        PyObject *item = sequence_item(sequence, i);
        Py_ssize_t value;
        if (PyLong_CheckExact(item) && ha_long_is_compact(item, &value) &&
            (value >= 0 || is_signed)) {
            out[i] = (uint64_t)value;
        } else if (number_entry(types, item, where, i, kind, &out[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

static int
fill_floats(struct ha_types *types, PyObject *sequence, const struct ha_where *where,
            float *out, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count && i < sequence_size(sequence); i++) {
        if (number_entry(types, sequence_item(sequence, i), where, i, HA_F32, &out[i]) <
            0) {
            return -1;
        }
    }
    return 0;
}

/* Whether the bytes of an object are text of known length: a buffer, but not one that
 * holds an address or a number. */
static int
is_text_memory(struct ha_types *types, PyObject *item)
{
    enum ha_ctypes_class class;
    if (!PyObject_CheckBuffer(item) || ha_numpy_scalar_class(item) != HA_NOT_NUMPY ||
        (ha_pointer_check(types, item) &&
         !PyObject_TypeCheck(item, types->nd_buffer))) {
        return 0;
    }
    if (ha_ctypes_class(types, item, &class) < 0) {
        return -1;
    }
    return class == HA_NOT_CTYPES || class == HA_CTYPES_ARRAY ||
           class == HA_CTYPES_AGGREGATE;
}

/* A copy of the buffer's bytes with a NUL behind them. */
static int
copy_text(struct ha_types *types, PyObject *item, const struct ha_where *where,
          struct ha_view *out)
{
    struct ha_view view;
    struct ha_take take = {.types = types, .where = where, .view = &view};
    ha_view_init(&view);
    int status = ha_take_buffer(&take, item);
    struct ha_block *block = status < 0 ? NULL : ha_block_new(types, view.size + 1);
    if (block != NULL) {
        memcpy(block->bytes, view.size == 0 ? "" : view.ptr, (size_t)view.size);
        out->ptr = block->bytes;
        out->size = view.size + 1;
        out->owner = (PyObject *)block;
    }
    ha_view_release(&view);
    return block == NULL ? -1 : 0;
}

/* An entry of ListOfBytes.  An address is none: C would read there until it finds a
 * NUL, wherever that is. */
static int
text_entry(struct ha_types *types, PyObject *item, const struct ha_where *where,
           struct ha_view *out)
{
    ha_view_init(out);
    if (PyUnicode_Check(item) || PyBytes_Check(item) ||
        PyObject_TypeCheck(item, types->cstr)) {
        return ha_cstr_from(types, item, where, HA_NOT_NULL, out);
    }
    int status = is_text_memory(types, item);
    if (status > 0) {
        return copy_text(types, item, where, out);
    }
    return status < 0
               ? -1
               : ha_refuse(where, "bytes, str, a CStr or a buffer with text", item);
}

/* Texts and pointers: each entry's owner is kept by the block. */
static int
fill_pointers(struct ha_types *types, PyObject *sequence, const struct ha_where *where,
              enum ha_kind kind, struct ha_block *block, Py_ssize_t count)
{
    void **out = (void **)block->bytes;
    struct ha_entry entry;
    ha_entry_init(&entry, where);
    for (Py_ssize_t i = 0; i < count && i < sequence_size(sequence); i++) {
        struct ha_view view;
        PyObject *item = Py_NewRef(sequence_item(sequence, i));
        ha_entry_set(&entry, i);
        int status = kind == HA_CSTR ? text_entry(types, item, &entry.where, &view)
                                     : ha_ptr_from(types, item, &entry.where, 0, &view);
        Py_DECREF(item);
        if (status == 0) {
            out[i] = view.ptr;
            PyObject *owner = ha_view_hold(types, &view);
            status =
                owner == NULL ? -1 : ha_keep(&block->keep, (uintptr_t)i, owner, NULL);
            Py_XDECREF(owner);
        }
        ha_view_release(&view);
        if (status < 0) {
            return -1;
        }
    }
    return 0;
}

static int
fill_from(struct ha_types *types, PyObject *sequence, const struct ha_where *where,
          enum ha_kind kind, struct ha_view *out)
{
    Py_ssize_t count = sequence_size(sequence);
    Py_ssize_t size = (Py_ssize_t)ha_kind_size(kind);
    if (count > PY_SSIZE_T_MAX / size) {
        PyErr_NoMemory();
        return -1;
    }
    struct ha_block *block = ha_block_new(types, count * size);
    if (block == NULL) {
        return -1;
    }
    int status;
    if (kind == HA_CSTR || kind == HA_POINTER) {
        status = fill_pointers(types, sequence, where, kind, block, count);
    } else if (kind == HA_F32) {
        status = fill_floats(types, sequence, where, (float *)block->bytes, count);
    } else if (size == 4) {
        status = fill_32(types, sequence, where, kind, (uint32_t *)block->bytes, count);
    } else {
        status = fill_64(types, sequence, where, kind, (uint64_t *)block->bytes, count);
    }
    if (status < 0) {
        Py_DECREF(block);
        return -1;
    }
    out->ptr = block->bytes;
    out->size = count * size;
    out->count = count;
    out->owner = (PyObject *)block;
    return 0;
}

static int
list_from_sequence(struct ha_types *types, PyObject *sequence,
                   const struct ha_where *where, enum ha_kind kind, struct ha_view *out)
{
    PyObject *held = ha_sequence_hold(sequence);
    Py_ssize_t count = held == NULL ? 0 : sequence_size(held);
    int status = held == NULL ? -1 : fill_from(types, held, where, kind, out);
    if (status == 0 && sequence_size(sequence) != count) {
        PyErr_Format(PyExc_RuntimeError, "%s: argument '%s' changed while it was read",
                     where->function, where->argument);
        ha_view_release(out);
        status = -1;
    }
    Py_XDECREF(held);
    return status;
}

/* Raw bytes may hold anything; everything else says what it holds. */
static bool
is_raw_bytes(struct ha_types *types, PyObject *object, const struct ha_format *format)
{
    return PyBytes_CheckExact(object) || PyByteArray_CheckExact(object) ||
           (PyObject_TypeCheck(object, types->nd_buffer) &&
            ha_format_equal(format, &ha_format_bytes));
}

static int
check_elements(struct ha_types *types, PyObject *object, const struct ha_where *where,
               enum ha_kind kind, const struct ha_shape *shape, struct ha_view *out)
{
    Py_ssize_t size = (Py_ssize_t)ha_kind_size(kind);
    char typestr[HA_FORMAT_TEXT_CHARS];
    if (is_raw_bytes(types, object, &shape->format)) {
        if (out->size % size != 0) {
            return ha_raise(PyExc_BufferError, where,
                            "must be whole elements of %zd bytes, not %zd bytes", size,
                            out->size);
        }
    } else if (!is_kind(&shape->format, kind)) {
        ha_format_typestr(&shape->format, typestr);
        return ha_raise(PyExc_TypeError, where,
                        "must have elements of C type %s, not '%s' ('%.200s')",
                        ha_kind_name(kind), typestr, Py_TYPE(object)->tp_name);
    }
    out->count = out->size / size;
    return 0;
}

/* Everything but list and tuple: the adapter order, with a look at the element type. */
static int
list_from_memory(struct ha_types *types, PyObject *object, const struct ha_where *where,
                 enum ha_kind kind, struct ha_view *out)
{
    struct ha_shape shape;
    ha_shape_init(&shape);
    shape.any_order = true;
    struct ha_take take = {
        .types = types, .where = where, .view = out, .shape = &shape};
    int status = ha_take_all(&take, object);
    Py_XDECREF(shape.typestr);
    Py_XDECREF(shape.stream);
    if (status < 0) {
        return -1;
    }
    if (PyObject_TypeCheck(object, types->nd_buffer)) {
        HA_BEGIN_SECTION(object);
        shape.format = ((struct ha_device_array *)object)->format;
        HA_END_SECTION();
        shape.ndim = 1;
    }
    if (shape.ndim >= 0 && out->size >= 0) {
        return check_elements(types, object, where, kind, &shape, out);
    }
    if (out->size >= 0) {
        Py_ssize_t element_bytes = (Py_ssize_t)ha_kind_size(kind);
        if (out->size % element_bytes != 0) {
            return ha_raise(PyExc_BufferError, where,
                            "must be a whole number of elements of %zd bytes, not %zd "
                            "bytes",
                            element_bytes, out->size);
        }
        out->count = out->size / element_bytes;
    }
    return 0;
}

/* Is the object one of our lists?  Its elements must at least be as wide. */
static int
list_from_list(struct ha_types *types, PyObject *object, const struct ha_where *where,
               enum ha_kind kind, struct ha_view *out)
{
    if (!ha_pointer_check(types, object)) {
        return 0;
    }
    bool is_list = PyObject_TypeCheck(object, types->list_bytes) ||
                   PyObject_TypeCheck(object, types->list_pointer);
    for (int i = 0; !is_list && i < HA_KIND_COUNT; i++) {
        is_list = types->list_number[i] != NULL &&
                  PyObject_TypeCheck(object, types->list_number[i]);
    }
    if (!is_list) {
        return 0;
    }
    struct ha_list_object *list = (struct ha_list_object *)object;
    struct ha_pointer seen;
    if (ha_kind_size(list->kind) != ha_kind_size(kind)) {
        return ha_raise(PyExc_TypeError, where,
                        "must have elements of C type %s, not %s", ha_kind_name(kind),
                        ha_kind_name(list->kind));
    }
    HA_BEGIN_SECTION(object);
    ha_pointer_copy(&list->base, &seen);
    out->count = list->count;
    HA_END_SECTION();
    out->ptr = seen.ptr;
    out->size = seen.size;
    out->readonly = seen.readonly;
    if (ha_is_native(Py_TYPE(object))) {
        out->owner = seen.owner;
        return 1;
    }
    out->owner = ha_pointer_keeper(object, &seen);
    ha_pointer_unsee(&seen);
    return out->owner == NULL ? -1 : 1;
}

int
ha_list_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
             enum ha_kind kind, unsigned flags, struct ha_view *out)
{
    int status;
    ha_view_init(out);
    if (object == Py_None) {
        out->count = 0;
        return 0;
    }
    if (PyList_Check(object) || PyTuple_Check(object)) {
        status = list_from_sequence(types, object, where, kind, out);
    } else {
        status = list_from_list(types, object, where, kind, out);
        if (status == 0) {
            status = list_from_memory(types, object, where, kind, out);
        }
    }
    if (status < 0) {
        ha_view_release(out);
        return -1;
    }
    if (out->ptr == NULL) {
        out->count = 0;
    }
    if ((flags & HA_WRITE) != 0 && out->readonly) {
        ha_view_release(out);
        return ha_raise(PyExc_BufferError, where,
                        "must be writable memory, not read-only '%.200s'",
                        Py_TYPE(object)->tp_name);
    }
    return 0;
}

int
ha_list_bytes_from(struct ha_types *types, PyObject *object,
                   const struct ha_where *where, unsigned flags, struct ha_view *out)
{
    return ha_list_from(types, object, where, HA_CSTR, flags, out);
}

int
ha_list_ptr_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
                 unsigned flags, struct ha_view *out)
{
    return ha_list_from(types, object, where, HA_POINTER, flags, out);
}

int
ha_list_number_from(struct ha_types *types, PyObject *object,
                    const struct ha_where *where, enum ha_kind kind, unsigned flags,
                    struct ha_view *out)
{
    return ha_list_from(types, object, where, kind, flags, out);
}
