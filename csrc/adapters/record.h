/* SPDX-License-Identifier: MIT */
/* Records: instances of every C struct and union of the API tables.
 *
 * A record instance owns its memory (a block), or looks at memory that its owner keeps:
 * a nested record keeps the record around it.  Record memory is plain bytes; where a
 * pointer member is set from Python the object that keeps the target is kept by the
 * record's block.  Members are read and written in a critical section of the *holder*,
 * what the memory belongs to: the owner, or the record where it has none.  All
 * functions need the GIL. */
#ifndef HA_ADAPTERS_RECORD_H
#define HA_ADAPTERS_RECORD_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include "adapters/description.h"
#include "adapters/pointer.h"
#include "adapters/types.h"

struct ha_record {
    struct ha_pointer base;
    const struct ha_record_info *info;
    PyObject *keep;   /* owned dict {address: owner} where base.owner is no block */
    Py_ssize_t count; /* elements, -1 unknown */
};

/* A record that is looked at; see pointer.h. */
struct ha_seen_record {
    struct ha_pointer base; /* ha_pointer_unsee ends it */
    PyObject *self;         /* borrowed */
    const struct ha_record_info *info;
    Py_ssize_t count;
};

void ha_record_see(PyObject *self, struct ha_seen_record *seen);
/* The address; ValueError for NULL and for memory that can't be read. */
unsigned char *ha_record_data(const struct ha_seen_record *seen);
/* Needs: an address. */
bool ha_record_can_read(const struct ha_seen_record *seen);

static inline PyObject *
ha_record_holder(const struct ha_seen_record *seen)
{
    return seen->base.owner != NULL ? seen->base.owner : seen->self;
}

/* An instance of a record type without memory. */
struct ha_record *ha_record_empty(struct ha_types *types, PyTypeObject *type);
/* Gives `self` fresh memory for `count` elements, zeroed where `bytes` is NULL; `each`:
 * `bytes` is one element, which all of them get. */
int ha_record_allocate(struct ha_types *types, struct ha_record *self,
                       const void *bytes, bool each, Py_ssize_t count);
/* Sets memory and count, dropping what was there; steals owner. */
void ha_record_put(struct ha_record *self, void *ptr, Py_ssize_t size, bool readonly,
                   PyObject *owner, Py_ssize_t count);
/* NULL, without an exception, where there is none of this name. */
const struct ha_field *ha_record_find_field(const struct ha_record_info *info,
                                            PyObject *name);
/* For records that HIP has freed: a record that looks at `ptr`, and has no owner
 * that keeps the memory, is NULL from now on.  Never fails. */
void ha_record_forget(struct ha_types *types, PyObject *object, const void *ptr);

/* Slots of the types.  A new record is its initial value. */
PyObject *ha_record_tp_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);
int ha_record_traverse(PyObject *self, visitproc visit, void *arg);
int ha_record_clear(PyObject *self);
void ha_record_dealloc(PyObject *self);

#endif
