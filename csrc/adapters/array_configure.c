/* SPDX-License-Identifier: MIT */
/* Reads all keywords into a plan, checks the plan, then applies it. */
#include <Python.h>

#include "adapters/array_configure.h"

#include <string.h>

#include "adapters/array.h"
#include "adapters/array_parse.h"
#include "adapters/format.h"
#include "adapters/message.h"
#include "adapters/pointer.h"
#include "adapters/saved_error.h"
#include "adapters/stream.h"
#include "adapters/strides.h"
#include "adapters/take.h"
#include "adapters/type.h"
#include "adapters/types.h"

struct plan {
    int ndim;
    Py_ssize_t dims[HA_MAX_DIMS];
    struct ha_format format;
    bool has_typestr;
    bool has_stream;
    bool force;
    bool readonly;
    PyObject *typestr; /* owned, or NULL */
    PyObject *stream;  /* owned, or NULL = none */
    uintptr_t stream_address;
    Py_ssize_t itemsize; /* -1 not given */
};

static const struct ha_where shape_where = {"configure", "shape"};
static const struct ha_where typestr_where = {"configure", "typestr"};

static int
plan_typestr(struct ha_types *types, struct plan *plan, PyObject *value)
{
    PyObject *text = NULL;
    if (ha_array_read_type(types, value, &typestr_where, &plan->format, &text) < 0) {
        return -1;
    }
    plan->has_typestr = true;
    Py_XSETREF(plan->typestr, text);
    return 0;
}

static int
plan_itemsize(struct plan *plan, PyObject *value)
{
    if (PyBool_Check(value) || !PyIndex_Check(value)) {
        PyErr_Format(PyExc_TypeError,
                     "configure: argument 'itemsize' must be int, not '%.200s'",
                     Py_TYPE(value)->tp_name);
        return -1;
    }
    plan->itemsize = PyNumber_AsSsize_t(value, PyExc_OverflowError);
    if (plan->itemsize == -1 && PyErr_Occurred()) {
        return -1;
    }
    if (plan->itemsize <= 0) {
        PyErr_Format(PyExc_ValueError,
                     "configure: argument 'itemsize' must be positive, not %zd",
                     plan->itemsize);
        return -1;
    }
    return 0;
}

static int
plan_stream(struct ha_types *types, struct plan *plan, PyObject *value)
{
    static const struct ha_where where = {"configure", "stream"};
    plan->has_stream = true;
    if (value == Py_None) {
        return 0;
    }
    if (ha_stream_or_none_from(types, value, &where, &plan->stream_address) < 0) {
        return -1;
    }
    if (plan->stream_address == 0) {
        PyErr_SetString(PyExc_ValueError,
                        "configure: argument 'stream' must not be 0 (None = no stream, "
                        "1 = the default stream)");
        return -1;
    }
    plan->stream = Py_NewRef(value);
    return 0;
}

static int
plan_keyword(struct ha_types *types, struct plan *plan, PyObject *name, PyObject *value)
{
    static const char allowed[] = "shape, typestr, stream, itemsize, read_only, _force";
    int truth;
    if (PyUnicode_CompareWithASCIIString(name, "shape") == 0) {
        return ha_array_read_shape(value, &shape_where, &plan->ndim, plan->dims);
    }
    if (PyUnicode_CompareWithASCIIString(name, "typestr") == 0) {
        return plan_typestr(types, plan, value);
    }
    if (PyUnicode_CompareWithASCIIString(name, "stream") == 0) {
        return plan_stream(types, plan, value);
    }
    if (PyUnicode_CompareWithASCIIString(name, "itemsize") == 0) {
        return plan_itemsize(plan, value);
    }
    bool readonly = PyUnicode_CompareWithASCIIString(name, "read_only") == 0;
    if (!readonly && PyUnicode_CompareWithASCIIString(name, "_force") != 0) {
        PyErr_Format(PyExc_KeyError, "configure: no argument '%U'; there are %s", name,
                     allowed);
        return -1;
    }
    truth = PyObject_IsTrue(value);
    if (truth < 0) {
        return -1;
    }
    *(readonly ? &plan->readonly : &plan->force) = truth != 0;
    return 0;
}

/* typestr and itemsize together must say one size. */
static int
check_itemsize(struct plan *plan)
{
    Py_ssize_t size = plan->format.size;
    if (plan->has_typestr && size == 0 && plan->itemsize < 0) {
        PyErr_Format(
            PyExc_ValueError,
            "configure: argument 'typestr' %R says no size: give 'itemsize' too",
            plan->typestr);
        return -1;
    }
    if (plan->itemsize < 0 || plan->itemsize == size) {
        return 0;
    }
    if (plan->has_typestr && size != 0) {
        PyErr_Format(PyExc_ValueError,
                     "configure: argument 'itemsize' is %zd, but an element of %R has "
                     "%zd bytes",
                     plan->itemsize, plan->typestr, size);
        return -1;
    }
    if (!plan->has_typestr) {
        plan->format = (struct ha_format){.kind = 'V', .order = '|'};
        Py_CLEAR(plan->typestr);
    }
    plan->format.size = plan->itemsize;
    return 0;
}

static int
check_bytes(const struct plan *plan, const struct ha_device_array *array,
            Py_ssize_t *bytes)
{
    Py_ssize_t old = 0;
    ha_shape_bytes(array->ndim, array->shape, array->format.size, &old);
    if (!ha_shape_bytes(plan->ndim, plan->dims, plan->format.size, bytes)) {
        PyErr_SetString(
            PyExc_OverflowError,
            "configure: argument 'shape' has more bytes than fit in memory");
        return -1;
    }
    if (array->limit >= 0 && *bytes > array->limit) {
        PyErr_Format(PyExc_ValueError,
                     "configure: the array would change from %zd to %zd bytes, but the "
                     "memory has %zd; _force serves where its length is not known",
                     old, *bytes, array->limit);
        return -1;
    }
    if (*bytes != old && !plan->force) {
        PyErr_Format(PyExc_ValueError,
                     "configure: the array would change from %zd to %zd bytes; give "
                     "_force=True if that is meant",
                     old, *bytes);
        return -1;
    }
    if (*bytes > old && array->base.ptr == NULL) {
        return ha_raise(PyExc_ValueError, &shape_where,
                        "takes %zd bytes, but the array is NULL", *bytes);
    }
    if (ha_check_span(&shape_where, array->base.ptr, *bytes) < 0) {
        return -1;
    }
    if (array->source_readonly && !plan->readonly) {
        PyErr_SetString(PyExc_ValueError,
                        "configure: argument 'read_only' can't be False: the memory "
                        "is read-only");
        return -1;
    }
    return 0;
}

/* Nothing fails here but the memory for a long shape, before anything is changed.
 * plan->stream is what has gone out of the array then. */
static int
apply(struct plan *plan, struct ha_device_array *array, Py_ssize_t bytes)
{
    if (ha_array_set_shape(array, plan->ndim, plan->dims, &plan->format,
                           plan->typestr) < 0) {
        return -1;
    }
    plan->typestr = NULL;
    if (plan->has_stream) {
        PyObject *old = array->stream;
        array->stream_address = plan->stream_address;
        array->stream = plan->stream;
        plan->stream = old;
        if (array->stream != NULL && !PyObject_GC_IsTracked((PyObject *)array)) {
            PyObject_GC_Track((PyObject *)array);
        }
    }
    array->base.readonly = plan->readonly;
    if (array->base.size >= 0 || plan->force) {
        HA_PUBLISH(array->base.size, bytes);
    }
    return 0;
}

/* What the plan begins with: the array as it is. */
static void
plan_from(struct plan *plan, const struct ha_device_array *array)
{
    memset(plan, 0, sizeof *plan);
    plan->ndim = array->ndim;
    memcpy(plan->dims, array->shape, (size_t)array->ndim * sizeof plan->dims[0]);
    plan->format = array->format;
    plan->readonly = array->base.readonly;
    plan->itemsize = -1;
}

PyObject *
ha_array_configure(PyObject *self, PyObject *args, PyObject *kwargs)
{
    struct ha_device_array *array = (struct ha_device_array *)self;
    struct ha_types *types = ha_types_of_type(Py_TYPE(self));
    struct plan plan;
    Py_ssize_t bytes;
    int status = -1;
    if (PyTuple_GET_SIZE(args) > 0) {
        PyErr_SetString(PyExc_TypeError, "configure() takes keyword arguments only");
        return NULL;
    }
    if (ha_pointer_need(types, PyExc_ValueError, self, "configure") < 0) {
        return NULL;
    }
    HA_BEGIN_SECTION(self);
    plan_from(&plan, array);
    HA_END_SECTION();
    PyObject *name, *value;
    Py_ssize_t position = 0;
    while (kwargs != NULL && PyDict_Next(kwargs, &position, &name, &value)) {
        if (plan_keyword(types, &plan, name, value) < 0) {
            goto done;
        }
    }
    HA_BEGIN_SECTION(self);
    if (!plan.has_typestr) {
        plan.typestr = Py_XNewRef(array->typestr);
    }
    if (check_itemsize(&plan) == 0 && check_bytes(&plan, array, &bytes) == 0) {
        status = apply(&plan, array, bytes);
    }
    HA_END_SECTION();
done:
    Py_XDECREF(plan.typestr);
    ha_release(plan.stream);
    return status < 0 ? NULL : Py_NewRef(self);
}
