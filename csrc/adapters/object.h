/* SPDX-License-Identifier: MIT */
/* Layout of the Python objects, and what the files of this room share. */
#ifndef HA_ADAPTERS_OBJECT_H
#define HA_ADAPTERS_OBJECT_H

#include <Python.h>
#if PY_VERSION_HEX < 0x030B0000
#include <longintrepr.h>

static inline int
PyFloat_Pack2(double value, char *bytes, int little_endian)
{
    return _PyFloat_Pack2(value, (unsigned char *)bytes, little_endian);
}
#endif

#include "adapters/adapter.h"
#include "adapters/allocation.h"
#include "adapters/block.h"
#include "adapters/buffer_hold.h"
#include "adapters/construct.h"
#include "adapters/format.h"
#include "adapters/memory.h"
#include "adapters/message.h"
#include "adapters/pointer_object.h"
#include "adapters/pointer_type.h"
#include "adapters/record.h"
#include "adapters/type_index.h"
#include "adapters/saved_error.h"
#include "adapters/strides.h"

#define HA_INLINE_DIMS 4
#define HA_MAX_DIMS 64

struct ha_device_array {
    struct ha_pointer base;
    /* Extents, then as many strides in elements: inline_shape, or owned (PyMem) beyond
     * HA_INLINE_DIMS. */
    Py_ssize_t *shape;
    Py_ssize_t inline_shape[2 * HA_INLINE_DIMS];
    PyObject *typestr; /* owned; as the user wrote it, or the elements' fields
                        * (elements.h), or NULL = made from format */
    PyObject *stream;  /* owned; what was given as stream, or NULL = none */
    uintptr_t stream_address;
    struct ha_format format;
    int ndim;
    int device;                 /* of the memory, -1 unknown */
    Py_ssize_t limit;           /* bytes that the memory is known to have, -1 unknown */
    enum ha_memory_place place; /* as it was given; see ha_array_locate */
    bool source_readonly;       /* the memory itself, not only our flag, is read-only */
};

struct ha_list_object {
    struct ha_pointer base;
    Py_ssize_t count;  /* elements, -1 unknown */
    enum ha_kind kind; /* HA_CSTR for ListOfBytes, HA_POINTER for ListOfPointer */
};

struct ha_record {
    struct ha_pointer base;
    const struct ha_record_info *info;
    PyObject *keep;   /* owned dict {address: owner} where base.owner is no block */
    Py_ssize_t count; /* elements, -1 unknown */
};

/* ---- one conversion in flight (adapter.c and the protocol files) ---- */

/* Shape and type, for NDBuffer: filled by the rows that know them. */
struct ha_shape {
    int ndim;       /* -1: the row did not know */
    bool any_order; /* set by the caller: F order will do, only the bytes matter */
    enum ha_memory_place place;
    int device; /* -1 unknown */
    struct ha_format format;
    PyObject *typestr; /* owned, or NULL; a str, or fields (elements.h) */
    PyObject *stream;  /* owned, or NULL */
    Py_ssize_t dims[HA_MAX_DIMS];
};

/* Nothing is known yet.  A shape is large: only what is read before is set. */
static inline void
ha_shape_init(struct ha_shape *shape)
{
    shape->ndim = -1;
    shape->any_order = false;
    shape->place = HA_PLACE_UNKNOWN;
    shape->device = -1;
    shape->typestr = NULL;
    shape->stream = NULL;
}

struct ha_take {
    struct ha_types *types;
    const struct ha_where *where;
    struct ha_view *view;
    struct ha_shape *shape; /* NULL where only the address is wanted */
    bool write;             /* somebody is going to write there */
};

/* A row: 1 = taken and view filled, 0 = not for this row, -1 = exception set. */
int ha_take_ctypes(struct ha_take *take, PyObject *object);
int ha_take_cuda_array(struct ha_take *take, PyObject *object);
int ha_take_buffer(struct ha_take *take, PyObject *object);
int ha_take_exchange(struct ha_take *take, PyObject *object);
int ha_take_dlpack(struct ha_take *take, PyObject *object);
int ha_take_integer(struct ha_take *take, PyObject *object);
int ha_take_index(struct ha_take *take, PyObject *object);
/* All rows in order, without the checks of flags. */
int ha_take_all(struct ha_take *take, PyObject *object);
/* The first four rows: None, Pointer, int, ctypes pointers. */
int ha_take_address(struct ha_take *take, PyObject *object);
/* Row of as_c_void_p(). */
int ha_take_as_c_void_p(struct ha_take *take, PyObject *object);

/* The adapter order for docs and tests: a new tuple of (name, accepts) tuples, which
 * the module has as adapter_order. */
PyObject *ha_adapter_rows(void);

/* ---- helpers ---- */

/* getattr that answers 1 with an owned value, 0 where absent, -1 on other errors. */
int ha_get_attribute(PyObject *object, PyObject *name, PyObject **value);

/* Type kinds of foreign objects. */
enum ha_ctypes_class {
    HA_NOT_CTYPES,
    HA_CTYPES_ADDRESS, /* c_void_p, c_char_p, c_wchar_p, POINTER(T): value is an address
                        */
    HA_CTYPES_FUNCTION,  /* CFUNCTYPE */
    HA_CTYPES_SIMPLE,    /* c_int ... */
    HA_CTYPES_AGGREGATE, /* Structure, Union */
    HA_CTYPES_ARRAY,
};
int ha_ctypes_class(struct ha_types *types, PyObject *object,
                    enum ha_ctypes_class *out); /* -1 with an exception */
/* Address stored in a ctypes pointer or function object. */
int ha_ctypes_address(PyObject *object, void **out);
/* Imports ctypes and fills types->c_*. */
int ha_ctypes_load(struct ha_types *types);
PyObject *ha_ctypes_void_p(struct ha_types *types, void *ptr);

enum ha_numpy_class { HA_NOT_NUMPY, HA_NUMPY_INTEGER, HA_NUMPY_VOID, HA_NUMPY_OTHER };
/* Is the object a numpy scalar (not an array)? */
enum ha_numpy_class ha_numpy_scalar_class(PyObject *object);

/* Value of an int of few bits, without a call; false if it needs one. */
static inline bool
ha_long_is_compact(PyObject *object, Py_ssize_t *value)
{
#if PY_VERSION_HEX >= 0x030C0000
    if (!PyUnstable_Long_IsCompact((const PyLongObject *)object)) {
        return false;
    }
    *value = PyUnstable_Long_CompactValue((const PyLongObject *)object);
    return true;
#else
    Py_ssize_t size = Py_SIZE(object);
    if (size < -1 || size > 1) {
        return false;
    }
    *value = size == 0 ? 0 : size * (Py_ssize_t)((PyLongObject *)object)->ob_digit[0];
    return true;
#endif
}

/* Bytes of one element, 0 for records. */
size_t ha_kind_size(enum ha_kind kind);
const char *ha_kind_name(enum ha_kind kind);
bool ha_kind_is_number(enum ha_kind kind);
bool ha_kind_is_signed(enum ha_kind kind);
/* Python value of the number at `from` (any alignment). */
PyObject *ha_number_to(enum ha_kind kind, const void *from);

int ha_array_init(struct ha_types *types);
int ha_cstr_init(struct ha_types *types);
int ha_list_init(struct ha_types *types);
int ha_record_init(struct ha_types *types);
int ha_handle_init(struct ha_types *types);
int ha_function_init(struct ha_types *types);
int ha_text_init(struct ha_types *types);
int ha_launch_extra_init(struct ha_types *types);

/* record.c: memory of records. */
/* The address; ValueError for NULL and for memory that can't be read. */
unsigned char *ha_record_data(const struct ha_record *self);
/* Needs: an address. */
bool ha_record_can_read(const struct ha_record *self);
/* An instance of a record type without memory. */
struct ha_record *ha_record_empty(struct ha_types *types, PyTypeObject *type);
/* Gives `self` fresh memory for `count` elements, zeroed where `bytes` is NULL; `each`:
 * `bytes` is one element, which all of them get. */
int ha_record_allocate(struct ha_types *types, struct ha_record *self,
                       const void *bytes, bool each, Py_ssize_t count);
/* NULL, without an exception, where there is none of this name. */
const struct ha_field *ha_record_find_field(const struct ha_record_info *info,
                                            PyObject *name);
PyObject *ha_record_tp_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);
int ha_record_tp_init(PyObject *self, PyObject *args, PyObject *kwargs);

/* record_object.c and record_type.c: their Python types. */
PyObject *ha_record_property_get(PyObject *self, void *closure);
PyObject *ha_record_vectorcall(PyObject *type, PyObject *const *args, size_t nargsf,
                               PyObject *kwnames);
int ha_record_traverse(PyObject *self, visitproc visit, void *arg);
int ha_record_clear(PyObject *self);
void ha_record_dealloc(PyObject *self);
int ha_accessor_init(struct ha_types *types);

/* handle.c: a stream handle, an object with __cuda_stream__, or an address by the
 * adapter order. */
int ha_stream_from(struct ha_types *types, PyObject *object,
                   const struct ha_where *where, uintptr_t *out);

/* list.c and list_from.c */
PyObject *ha_list_new(struct ha_types *types, PyTypeObject *type, enum ha_kind kind,
                      struct ha_view *view);
int ha_list_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
                 enum ha_kind kind, unsigned flags, struct ha_view *out);
/* Are bytes of this format the bytes of `kind`? */
bool ha_format_is_kind(const struct ha_format *format, enum ha_kind kind);

/* text.c: the str of a text member; new reference. */
PyObject *ha_text_new(struct ha_types *types, const char *bytes, Py_ssize_t size);

/* field.c: members of records. */
PyObject *ha_field_get(struct ha_types *types, struct ha_record *record,
                       const struct ha_field *field, unsigned char *element);
int ha_field_set(struct ha_types *types, struct ha_record *record,
                 const struct ha_field *field, unsigned char *element, PyObject *value);
bool ha_field_equal(struct ha_types *types, const struct ha_field *field,
                    const unsigned char *left, const unsigned char *right);
bool ha_record_bytes_equal(struct ha_types *types, const struct ha_record_info *info,
                           const unsigned char *left, const unsigned char *right);
int ha_record_keep(struct ha_record *record, const void *address, PyObject *owner);

#endif
