/* SPDX-License-Identifier: MIT */
/* Numbers: ints as addresses, and range-checked C numbers. */
#ifndef HA_ADAPTERS_NUMBER_H
#define HA_ADAPTERS_NUMBER_H

#include <Python.h>

#include <stdbool.h>
#include <stddef.h>

#include "adapters/kind.h"
#include "adapters/message.h"
#include "adapters/take.h"
#include "adapters/types.h"

/* Bytes of one element, 0 for records. */
size_t ha_kind_size(enum ha_kind kind);
const char *ha_kind_name(enum ha_kind kind);
bool ha_kind_is_number(enum ha_kind kind);
bool ha_kind_is_signed(enum ha_kind kind);

/* A C number of any number kind (HA_BOOL..HA_F64, HA_ENUM as int), range checked. `out`
 * points to the C type of the kind.  int and __index__ objects; float only for
 * HA_F32/64. */
int ha_number_from(struct ha_types *types, PyObject *object,
                   const struct ha_where *where, enum ha_kind kind, void *out);
/* The same for arguments and members that count something: a float that is a whole
 * number will do, as n / block is one in programs for hip-python. */
int ha_count_from(struct ha_types *types, PyObject *object,
                  const struct ha_where *where, enum ha_kind kind, void *out);
/* Value of a member of the Python enum `type` (borrowed; NULL = any int will do), or an
 * int that is the value of one of its members; members of other enums are refused.
 * `known` answers whether an int is a value of the enum; NULL lets every int that fits
 * pass. */
int ha_enum_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
                 PyObject *type, bool (*known)(int), int *out);

static inline int
ha_int_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
            int *out)
{
    return ha_number_from(types, object, where, HA_I32, out);
}

static inline int
ha_uint_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
             unsigned *out)
{
    return ha_number_from(types, object, where, HA_U32, out);
}

static inline int
ha_size_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
             size_t *out)
{
    return ha_number_from(types, object, where, HA_SIZE, out);
}

/* Python value of the number at `from` (any alignment). */
PyObject *ha_number_to(enum ha_kind kind, const void *from);

enum ha_numpy_class { HA_NOT_NUMPY, HA_NUMPY_INTEGER, HA_NUMPY_VOID, HA_NUMPY_OTHER };

/* Is the object a numpy scalar (not an array)? */
enum ha_numpy_class ha_numpy_scalar_class(PyObject *object);
/* Rows of ints as addresses: int and numpy integers; whatever has __index__. */
int ha_take_integer(struct ha_take *take, PyObject *object);
int ha_take_index(struct ha_take *take, PyObject *object);

#endif
