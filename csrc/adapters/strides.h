/* SPDX-License-Identifier: MIT */
/* Shapes and strides: how many bytes they take, and whether there are gaps.
 *
 * Extents are not negative; strides are in bytes unless a function says otherwise.  All
 * need the GIL. */
#ifndef HA_ADAPTERS_STRIDES_H
#define HA_ADAPTERS_STRIDES_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include "adapters/message.h"

/* True if the strides (bytes; NULL = C order) leave no gap; order 'C', or 'A' = C or F.
 */
bool ha_is_contiguous(int ndim, const Py_ssize_t *shape, const Py_ssize_t *strides,
                      Py_ssize_t itemsize, char order);
/* Product of shape and itemsize into `bytes`; false if it does not fit. */
bool ha_shape_bytes(int ndim, const Py_ssize_t *shape, Py_ssize_t itemsize,
                    Py_ssize_t *bytes);

/* `ptr` plus `bytes` into `end`; false where that is beyond the last address. */
static inline bool
ha_address_add(const void *ptr, uint64_t bytes, uintptr_t *end)
{
    return !__builtin_add_overflow((uintptr_t)ptr, bytes, end);
}

/* OverflowError where memory of `bytes` at `ptr` would go beyond the last address: 0 or
 * -1. */
int ha_check_span(const struct ha_where *where, const void *ptr, Py_ssize_t bytes);
/* BufferError that shows shape and strides; answers -1. */
int ha_raise_strides(const struct ha_where *where, const char *wanted, int ndim,
                     const Py_ssize_t *shape, const Py_ssize_t *strides);
/* A tuple of ints: each size times `unit`, whose products fit. */
PyObject *ha_sizes_tuple(int ndim, const Py_ssize_t *sizes, Py_ssize_t unit);

#endif
