/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/array_index.h"

#include "adapters/array.h"
#include "adapters/take.h"
#include "adapters/type.h"

struct part {
    Py_ssize_t start[HA_MAX_DIMS];
    Py_ssize_t count[HA_MAX_DIMS];
};

static int
select_index(const struct ha_device_array *array, PyObject *key, int axis,
             struct part *part)
{
    Py_ssize_t extent = array->shape[axis];
    Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (index == -1 && PyErr_Occurred()) {
        return -1;
    }
    Py_ssize_t start = index < 0 ? index + extent : index;
    if (start < 0 || start >= extent) {
        PyErr_Format(PyExc_IndexError,
                     "index %zd is out of bounds for axis %d with extent %zd", index,
                     axis, extent);
        return -1;
    }
    part->start[axis] = start;
    part->count[axis] = 1;
    return 0;
}

static int
select_slice(const struct ha_device_array *array, PyObject *key, int axis,
             struct part *part)
{
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(key, &start, &stop, &step) < 0) {
        return -1;
    }
    Py_ssize_t count = PySlice_AdjustIndices(array->shape[axis], &start, &stop, step);
    if (step != 1 && count > 1) {
        PyErr_Format(PyExc_ValueError,
                     "step %zd on axis %d would leave gaps; sub-arrays are contiguous",
                     step, axis);
        return -1;
    }
    part->start[axis] = count == 0 ? 0 : start;
    part->count[axis] = count;
    return 0;
}

static int
select_axis(const struct ha_device_array *array, PyObject *key, int axis,
            struct part *part)
{
    if (PySlice_Check(key)) {
        return select_slice(array, key, axis, part);
    }
    if (PyIndex_Check(key) && !PyBool_Check(key)) {
        return select_index(array, key, axis, part);
    }
    PyErr_Format(
        PyExc_TypeError,
        "indices must be integers, slices with step 1 or Ellipsis, not '%.200s'",
        Py_TYPE(key)->tp_name);
    return -1;
}

static void
select_all(const struct ha_device_array *array, int first, int end, struct part *part)
{
    for (int axis = first; axis < end; axis++) {
        part->start[axis] = 0;
        part->count[axis] = array->shape[axis];
    }
}

/* `keys` is a tuple. */
static int
select_part(const struct ha_device_array *array, PyObject *keys, struct part *part)
{
    Py_ssize_t given = PyTuple_GET_SIZE(keys);
    Py_ssize_t ellipses = 0;
    for (Py_ssize_t i = 0; i < given; i++) {
        ellipses += PyTuple_GET_ITEM(keys, i) == Py_Ellipsis;
    }
    if (ellipses > 1 || given - ellipses > array->ndim) {
        PyErr_Format(PyExc_IndexError,
                     ellipses > 1 ? "more than one Ellipsis for %d axes (%zd indices)"
                                  : "too many indices for %d axes: %zd",
                     array->ndim, given - ellipses);
        return -1;
    }
    int axis = 0;
    int skipped = array->ndim - (int)(given - ellipses);
    for (Py_ssize_t i = 0; i < given; i++) {
        PyObject *key = PyTuple_GET_ITEM(keys, i);
        if (key == Py_Ellipsis) {
            select_all(array, axis, axis + skipped, part);
            axis += skipped;
        } else if (select_axis(array, key, axis++, part) < 0) {
            return -1;
        }
    }
    select_all(array, axis, array->ndim, part);
    return 0;
}

/* Without gaps: after the first axis with several elements all others are whole. */
static bool
part_is_contiguous(const struct ha_device_array *array, const struct part *part)
{
    bool several = false;
    for (int axis = 0; axis < array->ndim; axis++) {
        if (part->count[axis] == 0) {
            return true;
        }
    }
    for (int axis = 0; axis < array->ndim; axis++) {
        if (several && part->count[axis] != array->shape[axis]) {
            return false;
        }
        several = several || part->count[axis] > 1;
    }
    return true;
}

static PyObject *
make_part(PyObject *self, const struct ha_device_array *array, const struct part *part)
{
    if (!part_is_contiguous(array, part)) {
        PyErr_SetString(
            PyExc_ValueError,
            "the sub-array would have gaps; only the first axis with several "
            "elements may be cut");
        return NULL;
    }
    Py_ssize_t offset = 0;
    Py_ssize_t stride = array->format.size;
    for (int axis = array->ndim - 1; axis >= 0; axis--) {
        offset += part->start[axis] * stride;
        stride *= array->shape[axis];
    }
    return ha_array_part(ha_types_of_type(Py_TYPE(self)), self, array, offset,
                         part->count);
}

PyObject *
ha_array_subscript(PyObject *self, PyObject *key)
{
    struct ha_device_array seen;
    struct part part;
    PyObject *result = NULL;
    PyObject *keys = PyTuple_Check(key) ? Py_NewRef(key) : PyTuple_Pack(1, key);
    if (keys == NULL || ha_array_see(self, &seen) < 0) {
        Py_XDECREF(keys);
        return NULL;
    }
    if (select_part(&seen, keys, &part) == 0) {
        result = make_part(self, &seen, &part);
    }
    ha_array_unsee(&seen);
    Py_DECREF(keys);
    return result;
}

static PyObject *
item_of(PyObject *self, const struct ha_device_array *array, Py_ssize_t index)
{
    struct part part;
    if (array->ndim == 0) {
        PyErr_SetString(PyExc_TypeError, "an array without dimensions is not iterable");
        return NULL;
    }
    if (index < 0 || index >= array->shape[0]) {
        PyErr_Format(PyExc_IndexError, "index %zd is out of bounds for extent %zd",
                     index, array->shape[0]);
        return NULL;
    }
    select_all(array, 0, array->ndim, &part);
    part.start[0] = index;
    part.count[0] = 1;
    return make_part(self, array, &part);
}

PyObject *
ha_array_item(PyObject *self, Py_ssize_t index)
{
    struct ha_device_array seen;
    if (ha_array_see(self, &seen) < 0) {
        return NULL;
    }
    PyObject *item = item_of(self, &seen, index);
    ha_array_unsee(&seen);
    return item;
}
