/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/strides.h"

#include "adapters/message.h"

bool
ha_is_contiguous(int ndim, const Py_ssize_t *shape, const Py_ssize_t *strides,
                 Py_ssize_t itemsize, char order)
{
    if (strides == NULL) {
        return true;
    }
    bool c_order = true;
    bool f_order = order != 'C';
    Py_ssize_t expected = itemsize;
    for (int i = 0; i < ndim; i++) {
        if (shape[i] == 0) {
            return true; /* no element, no gap */
        }
    }
    for (int i = ndim - 1; i >= 0; i--) {
        if (shape[i] > 1) { /* the stride of a single element means nothing */
            c_order = c_order && strides[i] == expected;
            expected *= shape[i];
        }
    }
    expected = itemsize;
    for (int i = 0; i < ndim; i++) {
        if (shape[i] > 1) {
            f_order = f_order && strides[i] == expected;
            expected *= shape[i];
        }
    }
    return c_order || f_order;
}

bool
ha_shape_bytes(int ndim, const Py_ssize_t *shape, Py_ssize_t itemsize,
               Py_ssize_t *bytes)
{
    Py_ssize_t total = itemsize;
    bool empty = false;
    for (int i = 0; i < ndim; i++) {
        if (shape[i] == 0) {
            empty = true;
        } else if (__builtin_mul_overflow(total, shape[i], &total)) {
            return false;
        }
    }
    *bytes = empty ? 0 : total;
    return true;
}

int
ha_check_span(const struct ha_where *where, const void *ptr, Py_ssize_t bytes)
{
    uintptr_t end;
    if (!ha_address_add(ptr, (uint64_t)bytes, &end)) {
        return ha_raise(PyExc_OverflowError, where,
                        "has %zd bytes at %p, which end beyond the last address", bytes,
                        ptr);
    }
    return 0;
}

PyObject *
ha_sizes_tuple(int ndim, const Py_ssize_t *sizes, Py_ssize_t unit)
{
    PyObject *tuple = PyTuple_New(ndim);
    for (int i = 0; tuple != NULL && i < ndim; i++) {
        PyObject *item = PyLong_FromSsize_t(sizes[i] * unit);
        if (item == NULL) {
            Py_CLEAR(tuple);
        } else {
            PyTuple_SET_ITEM(tuple, i, item);
        }
    }
    return tuple;
}

int
ha_raise_strides(const struct ha_where *where, const char *wanted, int ndim,
                 const Py_ssize_t *shape, const Py_ssize_t *strides)
{
    PyObject *shape_tuple = ha_sizes_tuple(ndim, shape, 1);
    PyObject *strides_tuple = ha_sizes_tuple(ndim, strides, 1);
    if (shape_tuple != NULL && strides_tuple != NULL) {
        ha_raise(PyExc_BufferError, where,
                 "must be %s memory, not an array of shape %R with strides %R bytes",
                 wanted, shape_tuple, strides_tuple);
    }
    Py_XDECREF(shape_tuple);
    Py_XDECREF(strides_tuple);
    return -1;
}
