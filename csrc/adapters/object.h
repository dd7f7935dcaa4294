/* SPDX-License-Identifier: MIT */
/* Layout of the Python objects, and what the files of this room share. */
#ifndef HA_ADAPTERS_OBJECT_H
#define HA_ADAPTERS_OBJECT_H

#include <Python.h>

#include "adapters/adapter.h"
#include "adapters/as_c_void_p.h"
#include "adapters/buffer.h"
#include "adapters/ctypes_value.h"
#include "adapters/cuda_array.h"
#include "adapters/number.h"
#include "adapters/python_version.h"
#include "adapters/stream.h"
#include "adapters/take.h"
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
