/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/field.h"

#include <string.h>

#include "adapters/adapter.h"
#include "adapters/block.h"
#include "adapters/cstr.h"
#include "adapters/description.h"
#include "adapters/function.h"
#include "adapters/handle.h"
#include "adapters/kind.h"
#include "adapters/message.h"
#include "adapters/number.h"
#include "adapters/pointer.h"
#include "adapters/record.h"
#include "adapters/record_from.h"
#include "adapters/saved_error.h"
#include "adapters/text.h"
#include "adapters/type.h"
#include "adapters/types.h"
#include "adapters/view.h"

static struct ha_where
field_where(const struct ha_seen_record *record, const struct ha_field *field)
{
    const char *dot = strrchr(record->info->name, '.');
    struct ha_where where = {dot == NULL ? record->info->name : dot + 1, field->name};
    return where;
}

static size_t
field_size(struct ha_types *types, const struct ha_field *field)
{
    return field->kind == HA_RECORD ? types->tables->records[field->index].size
                                    : ha_kind_size((enum ha_kind)field->kind);
}

/* Writes `bytes` bytes at `at`, where `owner` (borrowed, may be NULL) keeps what they
 * point to: memory and owner change together. */
static int
store(const struct ha_seen_record *record, unsigned char *at, const void *bytes,
      size_t size, PyObject *owner)
{
    struct ha_types *types = ha_types_of_type(Py_TYPE(record->self));
    PyObject *holder = ha_record_holder(record), *old = NULL;
    bool in_block = Py_TYPE(holder) == types->block;
    PyObject *home = in_block ? holder : record->self;
    int status;
    HA_BEGIN_SECTION2(holder, home);
    PyObject **keep =
        in_block ? &((struct ha_block *)home)->keep : &((struct ha_record *)home)->keep;
    status = ha_keep(keep, (uintptr_t)at, owner, &old);
    if (status == 0) {
        memmove(at, bytes, size);
    }
    HA_END_SECTION2();
    ha_release(old);
    return status;
}

/* The same for bytes that point to nothing. */
static void
store_plain(const struct ha_seen_record *record, unsigned char *at, const void *bytes,
            size_t size)
{
    HA_BEGIN_SECTION(ha_record_holder(record));
    memcpy(at, bytes, size);
    HA_END_SECTION();
}

/* ---- bit fields ---- */

static uint64_t
bit_mask(const struct ha_field *field)
{
    return field->bit_width >= 64 ? ~(uint64_t)0
                                  : ((uint64_t)1 << field->bit_width) - 1;
}

static uint64_t
bits_read(const struct ha_field *field, const unsigned char *at)
{
    uint64_t raw = 0;
    memcpy(&raw, at, ha_kind_size((enum ha_kind)field->kind));
    return raw >> field->bit_offset & bit_mask(field);
}

static PyObject *
bits_get(const struct ha_field *field, const unsigned char *at)
{
    uint64_t bits = bits_read(field, at);
    if (ha_kind_is_signed((enum ha_kind)field->kind) && field->kind != HA_ENUM) {
        unsigned shift = 64u - field->bit_width;
        return PyLong_FromLongLong((int64_t)(bits << shift) >> shift);
    }
    return PyLong_FromUnsignedLongLong(bits);
}

static int
bits_set(struct ha_types *types, const struct ha_seen_record *record,
         const struct ha_where *where, const struct ha_field *field, unsigned char *at,
         PyObject *value)
{
    size_t size = ha_kind_size((enum ha_kind)field->kind);
    uint64_t mask = bit_mask(field);
    int64_t number;
    uint64_t raw = 0;
    if (ha_count_from(types, value, where, HA_I64, &number) < 0) {
        return -1;
    }
    bool is_signed = ha_kind_is_signed((enum ha_kind)field->kind);
    int64_t low = is_signed ? -(int64_t)(mask / 2) - 1 : 0;
    int64_t high = (int64_t)(is_signed ? mask / 2 : mask & INT64_MAX);
    if (number < low || number > high) {
        return ha_raise(PyExc_OverflowError, where, "must be %lld .. %lld, not %lld",
                        (long long)low, (long long)high, (long long)number);
    }
    HA_BEGIN_SECTION(ha_record_holder(record));
    memcpy(&raw, at, size);
    raw &= ~(mask << field->bit_offset);
    raw |= ((uint64_t)number & mask) << field->bit_offset;
    memcpy(at, &raw, size);
    HA_END_SECTION();
    return 0;
}

/* ---- one value ---- */

/* What `pointer` points to was given by Python or by C; the record keeps the first. */
static PyObject *
pointer_get(struct ha_types *types, const struct ha_seen_record *record,
            const struct ha_field *field, void *pointer)
{
    PyObject *owner = NULL;
    PyObject *result = NULL;
    if (field->kind == HA_HANDLE || field->kind == HA_FUNCTION) {
        owner = ha_pointer_keeper(record->self, &record->base);
        if (owner == NULL) {
            return NULL;
        }
    }
    switch ((enum ha_kind)field->kind) {
    case HA_HANDLE:
        result = ha_handle_new(types, field->index, pointer, owner);
        break;
    case HA_FUNCTION:
        result = ha_function_new(types, field->index, pointer);
        break;
    case HA_CSTR:
        if (pointer == NULL) {
            Py_RETURN_NONE;
        }
        owner = ha_pointer_keeper(record->self, &record->base);
        result = owner == NULL ? NULL : ha_cstr_new(types, pointer, owner);
        break;
    default:
        owner = ha_pointer_keeper(record->self, &record->base);
        result = owner == NULL ? NULL : ha_pointer_new(types, pointer);
        break;
    }
    if (result != NULL && ((struct ha_pointer *)result)->owner == NULL) {
        ha_pointer_assign((struct ha_pointer *)result, pointer, -1, false, owner);
        owner = NULL;
    }
    Py_XDECREF(owner);
    return result;
}

/* A nested record looks at the bytes of the one around it, and keeps that. */
static PyObject *
nested_get(struct ha_types *types, const struct ha_seen_record *record,
           const struct ha_field *field, unsigned char *at)
{
    PyObject *owner = ha_pointer_keeper(record->self, &record->base);
    if (owner == NULL) {
        return NULL;
    }
    PyObject *result = ha_record_view(types, field->index, at, owner);
    Py_DECREF(owner);
    if (result != NULL) {
        ((struct ha_record *)result)->base.readonly = record->base.readonly;
    }
    return result;
}

static PyObject *
value_get(struct ha_types *types, const struct ha_seen_record *record,
          const struct ha_field *field, unsigned char *at)
{
    void *pointer;
    int number;
    switch ((enum ha_kind)field->kind) {
    case HA_RECORD:
        return nested_get(types, record, field, at);
    case HA_POINTER:
    case HA_CSTR:
    case HA_HANDLE:
    case HA_FUNCTION:
        memcpy(&pointer, at, sizeof pointer);
        return pointer_get(types, record, field, pointer);
    case HA_ENUM:
        memcpy(&number, at, sizeof number);
        return types->tables->enum_member == NULL
                   ? PyLong_FromLong(number)
                   : types->tables->enum_member(types->module, field->index, number);
    default:
        return field->bit_width != 0 ? bits_get(field, at)
                                     : ha_number_to((enum ha_kind)field->kind, at);
    }
}

static int
pointer_set(struct ha_types *types, const struct ha_seen_record *record,
            const struct ha_field *field, const struct ha_where *where,
            unsigned char *at, PyObject *value)
{
    struct ha_view view;
    int status;
    switch ((enum ha_kind)field->kind) {
    case HA_HANDLE:
        status = ha_handle_from(types, value, where, field->index, &view);
        break;
    case HA_FUNCTION:
        status = ha_callback_from(types, value, where, field->index, NULL, NULL, &view);
        break;
    case HA_CSTR:
        status = ha_cstr_from(types, value, where, 0, &view);
        break;
    default:
        status = ha_ptr_from(types, value, where, 0, &view);
        break;
    }
    if (status == 0) {
        PyObject *owner = ha_view_hold(types, &view);
        status =
            owner == NULL ? -1 : store(record, at, &view.ptr, sizeof view.ptr, owner);
        Py_XDECREF(owner);
    }
    ha_view_release(&view);
    return status;
}

static int
nested_set(struct ha_types *types, const struct ha_seen_record *record,
           const struct ha_field *field, const struct ha_where *where,
           unsigned char *at, PyObject *value)
{
    struct ha_view view;
    if (ha_record_from(types, value, where, field->index, HA_BY_VALUE, &view) < 0) {
        return -1;
    }
    /* Pointers inside the copy keep what the original kept. */
    int status = store(record, at, view.ptr, types->tables->records[field->index].size,
                       view.owner);
    ha_view_release(&view);
    return status;
}

static int
value_set(struct ha_types *types, const struct ha_seen_record *record,
          const struct ha_field *field, const struct ha_where *where, unsigned char *at,
          PyObject *value)
{
    uint64_t number;
    int enum_value;
    switch ((enum ha_kind)field->kind) {
    case HA_RECORD:
        return nested_set(types, record, field, where, at, value);
    case HA_POINTER:
    case HA_CSTR:
    case HA_HANDLE:
    case HA_FUNCTION:
        return pointer_set(types, record, field, where, at, value);
    case HA_ENUM:
        if (types->tables->enum_value == NULL
                ? ha_enum_from(types, value, where, NULL, NULL, &enum_value) < 0
                : types->tables->enum_value(types->module, field->index, value, where,
                                            &enum_value) < 0) {
            return -1;
        }
        store_plain(record, at, &enum_value, sizeof enum_value);
        return 0;
    default:
        if (field->bit_width != 0) {
            return bits_set(types, record, where, field, at, value);
        }
        if (ha_count_from(types, value, where, (enum ha_kind)field->kind, &number) <
            0) {
            return -1;
        }
        store_plain(record, at, &number, ha_kind_size((enum ha_kind)field->kind));
        return 0;
    }
}

/* ---- arrays ---- */

static bool
is_text(const struct ha_field *field)
{
    return field->kind == HA_CHAR && field->count > 0;
}

static PyObject *
text_get(struct ha_types *types, const struct ha_field *field, const unsigned char *at)
{
    const char *text = (const char *)at;
    if ((field->flags & HA_FIELD_BYTES) != 0) {
        return PyBytes_FromStringAndSize(text, field->count);
    }
    return ha_text_new(types, text, (Py_ssize_t)strnlen(text, field->count));
}

static int
text_set(const struct ha_seen_record *record, const struct ha_field *field,
         const struct ha_where *where, unsigned char *at, PyObject *value)
{
    PyObject *bytes = NULL;
    Py_ssize_t room = field->count;
    if (PyUnicode_Check(value)) {
        bytes = PyUnicode_AsEncodedString(value, "utf-8", "surrogateescape");
    } else if (PyBytes_Check(value) || PyByteArray_Check(value)) {
        bytes = PyBytes_FromObject(value);
    } else {
        return ha_refuse(where, "str or bytes", value);
    }
    if (bytes == NULL) {
        return -1;
    }
    Py_ssize_t length = PyBytes_GET_SIZE(bytes);
    int status = 0;
    if ((field->flags & HA_FIELD_BYTES) == 0) {
        room--; /* for the NUL */
        if (memchr(PyBytes_AS_STRING(bytes), 0, (size_t)length) != NULL) {
            status = ha_raise(PyExc_ValueError, where,
                              "must not have a NUL inside the text");
        }
    }
    if (status == 0 && length > room) {
        status = ha_raise(PyExc_ValueError, where, "must be at most %zd bytes, not %zd",
                          room, length);
    }
    if (status == 0) {
        HA_BEGIN_SECTION(ha_record_holder(record));
        memcpy(at, PyBytes_AS_STRING(bytes), (size_t)length);
        memset(at + length, 0, field->count - (size_t)length);
        HA_END_SECTION();
    }
    Py_DECREF(bytes);
    return status;
}

static PyObject *
array_get(struct ha_types *types, const struct ha_seen_record *record,
          const struct ha_field *field, unsigned char *at)
{
    size_t size = field_size(types, field);
    PyObject *result = PyList_New(field->count);
    for (uint32_t i = 0; result != NULL && i < field->count; i++) {
        PyObject *item = value_get(types, record, field, at + i * size);
        if (item == NULL) {
            Py_CLEAR(result);
        } else {
            PyList_SET_ITEM(result, (Py_ssize_t)i, item);
        }
    }
    return result;
}

/* All values are converted before the first byte is changed.  Pointers are converted in
 * place, one by one: an address and what is kept for it always go together. */
static int
array_set(struct ha_types *types, const struct ha_seen_record *record,
          const struct ha_field *field, const struct ha_where *where, unsigned char *at,
          PyObject *value)
{
    size_t size = field_size(types, field);
    bool plain = ha_kind_is_number((enum ha_kind)field->kind);
    unsigned char *copy = NULL;
    int status = -1;
    if (PyUnicode_Check(value) || !PySequence_Check(value)) {
        return ha_refuse(where, "a sequence", value);
    }
    PyObject *items = PySequence_Tuple(value);
    if (items == NULL) {
        return -1;
    }
    if (PyTuple_GET_SIZE(items) != (Py_ssize_t)field->count) {
        ha_raise(PyExc_ValueError, where, "must hold %u values, not %zd",
                 (unsigned)field->count, PyTuple_GET_SIZE(items));
        goto done;
    }
    if (plain) {
        copy = PyMem_Malloc(size * field->count);
        if (copy == NULL) {
            PyErr_NoMemory();
            goto done;
        }
    }
    for (uint32_t i = 0; i < field->count; i++) {
        if (value_set(types, record, field, where, (plain ? copy : at) + i * size,
                      PyTuple_GET_ITEM(items, (Py_ssize_t)i)) < 0) {
            goto done;
        }
    }
    if (plain) {
        store_plain(record, at, copy, size * field->count);
    }
    status = 0;
done:
    PyMem_Free(copy);
    Py_DECREF(items);
    return status;
}

/* ---- both ---- */

PyObject *
ha_field_get(struct ha_types *types, const struct ha_seen_record *record,
             const struct ha_field *field, unsigned char *element)
{
    unsigned char *at = element + field->offset;
    PyObject *value;
    HA_BEGIN_SECTION(ha_record_holder(record));
    if (is_text(field)) {
        value = text_get(types, field, at);
    } else {
        value = field->count > 0 ? array_get(types, record, field, at)
                                 : value_get(types, record, field, at);
    }
    HA_END_SECTION();
    return value;
}

int
ha_field_set(struct ha_types *types, const struct ha_seen_record *record,
             const struct ha_field *field, unsigned char *element, PyObject *value)
{
    struct ha_where where = field_where(record, field);
    unsigned char *at = element + field->offset;
    if (is_text(field)) {
        return text_set(record, field, &where, at, value);
    }
    return field->count > 0 ? array_set(types, record, field, &where, at, value)
                            : value_set(types, record, field, &where, at, value);
}

/* By member, because padding and text behind its NUL hold anything. */
static bool
field_equal(struct ha_types *types, const struct ha_field *field,
            const unsigned char *left, const unsigned char *right)
{
    left += field->offset;
    right += field->offset;
    if (field->bit_width != 0) {
        return bits_read(field, left) == bits_read(field, right);
    }
    if (is_text(field) && (field->flags & HA_FIELD_BYTES) == 0) {
        return strncmp((const char *)left, (const char *)right, field->count) == 0;
    }
    size_t count = field->count == 0 ? 1 : field->count;
    size_t size = field_size(types, field);
    if (field->kind != HA_RECORD) {
        return memcmp(left, right, count * size) == 0;
    }
    const struct ha_record_info *info = &types->tables->records[field->index];
    for (size_t i = 0; i < count; i++) {
        if (!ha_record_bytes_equal(types, info, left + i * size, right + i * size)) {
            return false;
        }
    }
    return true;
}

bool
ha_record_bytes_equal(struct ha_types *types, const struct ha_record_info *info,
                      const unsigned char *left, const unsigned char *right)
{
    for (uint32_t i = 0; i < info->field_count; i++) {
        if (!field_equal(types, &info->fields[i], left, right)) {
            return false;
        }
    }
    return true;
}
