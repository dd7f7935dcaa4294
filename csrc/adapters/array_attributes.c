/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/array_attributes.h"

#include "adapters/array.h"
#include "adapters/array_methods.h"
#include "adapters/buffer_hold.h"
#include "adapters/elements.h"
#include "adapters/format.h"
#include "adapters/memory.h"
#include "adapters/pointer.h"
#include "adapters/strides.h"
#include "adapters/type.h"
#include "adapters/types.h"

/* ---- read from fields that stay what they are meanwhile ---- */

static PyObject *
shape_of(const struct ha_device_array *array)
{
    return ha_sizes_tuple(array->ndim, array->shape, 1);
}

static PyObject *
strides_of(const struct ha_device_array *array)
{
    return ha_sizes_tuple(array->ndim, array->shape + array->ndim, array->format.size);
}

static PyObject *
ndim_of(const struct ha_device_array *array)
{
    return PyLong_FromLong(array->ndim);
}

static PyObject *
rank_of(const struct ha_device_array *array)
{
    long rank = 0;
    for (int i = 0; i < array->ndim; i++) {
        rank += array->shape[i] > 1;
    }
    return PyLong_FromLong(rank);
}

static PyObject *
size_of(const struct ha_device_array *array)
{
    return PyLong_FromSsize_t(ha_array_count(array));
}

static PyObject *
nbytes_of(const struct ha_device_array *array)
{
    return PyLong_FromSsize_t(ha_array_count(array) * array->format.size);
}

static PyObject *
itemsize_of(const struct ha_device_array *array)
{
    return PyLong_FromSsize_t(array->format.size);
}

static PyObject *
interface_typestr(const struct ha_device_array *array)
{
    char text[HA_FORMAT_TEXT_CHARS];
    ha_format_typestr(&array->format, text);
    return PyUnicode_FromString(text);
}

static PyObject *
typestr_of(const struct ha_device_array *array)
{
    if (array->typestr != NULL && !ha_elements_check(array->typestr)) {
        return Py_NewRef(array->typestr);
    }
    if (ha_format_equal(&array->format, &ha_format_bytes)) {
        return PyUnicode_FromString("B");
    }
    if (array->format.extended != 0) {
        return PyUnicode_FromString(ha_format_name(&array->format));
    }
    return interface_typestr(array);
}

static PyObject *
type_name_of(const struct ha_device_array *array)
{
    char text[HA_FORMAT_TEXT_CHARS];
    const char *name = ha_format_name(&array->format);
    if (name == NULL) {
        ha_format_typestr(&array->format, text);
        name = text;
    }
    return PyUnicode_FromString(name);
}

static PyObject *
is_read_only_of(const struct ha_device_array *array)
{
    return PyBool_FromLong(array->base.readonly);
}

static PyObject *
stream_of(const struct ha_device_array *array)
{
    if (array->stream == NULL) {
        Py_RETURN_NONE;
    }
    return PyLong_FromUnsignedLongLong(array->stream_address);
}

/* ---- attributes ---- */

#define GETTER(name)                                                                   \
    static PyObject *get_##name(PyObject *self, void *Py_UNUSED(closure))              \
    {                                                                                  \
        PyObject *value;                                                               \
        HA_BEGIN_SECTION(self);                                                        \
        value = name##_of((struct ha_device_array *)self);                             \
        HA_END_SECTION();                                                              \
        return value;                                                                  \
    }

GETTER(shape)
GETTER(strides)
GETTER(ndim)
GETTER(rank)
GETTER(size)
GETTER(nbytes)
GETTER(itemsize)
GETTER(typestr)
GETTER(type_name)
GETTER(is_read_only)
GETTER(stream)

static PyObject *
get_owner(PyObject *self, void *closure)
{
    struct ha_types *types = ha_types_of_type(Py_TYPE(self));
    struct ha_pointer seen;
    (void)closure;
    ha_pointer_see(self, &seen);
    PyObject *owner = seen.owner;
    if (owner != NULL && Py_TYPE(owner) == types->hold) {
        owner = ((struct ha_hold *)owner)->buffer.obj;
    }
    owner = Py_NewRef(owner == NULL ? Py_None : owner);
    ha_pointer_unsee(&seen);
    return owner;
}

static PyObject *
get_memory(PyObject *self, void *closure)
{
    struct ha_device_array seen;
    int device;
    (void)closure;
    if (ha_array_see(self, &seen) < 0) {
        return NULL;
    }
    enum ha_memory_place place =
        ha_array_locate(ha_types_of_type(Py_TYPE(self)), &seen, &device);
    ha_array_unsee(&seen);
    if (place == HA_PLACE_UNKNOWN) {
        Py_RETURN_NONE;
    }
    return PyUnicode_FromString(ha_place_name(place));
}

/* ---- CUDA array interface ---- */

/* (address, read-only), with the address 0 that the protocol wants for no elements. */
static PyObject *
interface_data(const struct ha_device_array *array)
{
    void *address = ha_array_count(array) == 0 ? NULL : array->base.ptr;
    PyObject *number = PyLong_FromVoidPtr(address);
    if (number == NULL) {
        return NULL;
    }
    PyObject *data = PyTuple_Pack(2, number, array->base.readonly ? Py_True : Py_False);
    Py_DECREF(number);
    return data;
}

/* dict[name] = value, which is stolen and may be NULL after an error; 0 or -1. */
static int
set_entry(PyObject *dict, PyObject *name, PyObject *value)
{
    int status = value == NULL ? -1 : PyDict_SetItem(dict, name, value);
    Py_XDECREF(value);
    return status;
}

/* What typestr can't say of elements with fields: 0 or -1. */
static int
set_descr(PyObject *dict, struct ha_types *types, const struct ha_device_array *array)
{
    if (!ha_elements_check(array->typestr)) {
        return 0;
    }
    PyObject *descr = ha_elements_descr(array->typestr);
    if (descr == NULL) {
        return PyErr_Occurred() == NULL ? 0 : -1;
    }
    return set_entry(dict, types->str_descr, descr);
}

/* stream is None where consumers have nothing to wait for. */
static PyObject *
interface_of(struct ha_types *types, const struct ha_device_array *array)
{
    PyObject *result = PyDict_New();
    if (result != NULL &&
        (set_entry(result, types->str_shape, shape_of(array)) < 0 ||
         set_entry(result, types->str_typestr, interface_typestr(array)) < 0 ||
         set_entry(result, types->str_data, interface_data(array)) < 0 ||
         set_entry(result, types->str_strides, Py_NewRef(Py_None)) < 0 ||
         set_entry(result, types->str_stream, stream_of(array)) < 0 ||
         set_entry(result, types->str_version, PyLong_FromLong(3)) < 0 ||
         set_descr(result, types, array) < 0)) {
        Py_CLEAR(result);
    }
    return result;
}

static PyObject *
get_cuda_array_interface(PyObject *self, void *closure)
{
    struct ha_types *types = ha_types_of_type(Py_TYPE(self));
    struct ha_device_array seen;
    PyObject *result = NULL;
    (void)closure;
    if (ha_array_see(self, &seen) < 0) {
        return NULL;
    }
    if (ha_pointer_is_gone(types, &seen.base)) {
        ha_raise_gone(types, PyExc_ValueError, self, "__cuda_array_interface__", NULL);
    } else {
        result = interface_of(types, &seen);
    }
    ha_array_unsee(&seen);
    return result;
}

/* ---- text and table ---- */

static PyObject *
repr_of(PyObject *self, const struct ha_device_array *array)
{
    PyObject *shape = shape_of(array);
    PyObject *typestr = typestr_of(array);
    PyObject *result = NULL;
    if (shape != NULL && typestr != NULL) {
        const char *readonly = array->base.readonly ? ", read-only" : "";
        const char *const states[] = {
            [HA_HERE] = " NULL", [HA_CLOSED] = ", closed", [HA_FREED] = ", freed"};
        result = array->base.ptr == NULL
                     ? PyUnicode_FromFormat("<%s%s, shape=%R, typestr=%R%s>",
                                            ha_short_name(Py_TYPE(self)),
                                            states[array->base.gone], shape, typestr,
                                            readonly)
                     : PyUnicode_FromFormat("<%s %p, shape=%R, typestr=%R%s>",
                                            ha_short_name(Py_TYPE(self)),
                                            array->base.ptr, shape, typestr, readonly);
    }
    Py_XDECREF(shape);
    Py_XDECREF(typestr);
    return result;
}

PyObject *
ha_array_repr(PyObject *self)
{
    struct ha_device_array seen;
    if (ha_array_see(self, &seen) < 0) {
        return NULL;
    }
    PyObject *result = repr_of(self, &seen);
    ha_array_unsee(&seen);
    return result;
}

PyGetSetDef ha_array_getset[] = {
    {"shape", get_shape, NULL, PyDoc_STR("Extents of the axes."), NULL},
    {"ndim", get_ndim, NULL, PyDoc_STR("Number of axes."), NULL},
    {"rank", get_rank, NULL, PyDoc_STR("Number of axes with more than one element."),
     NULL},
    {"size", get_size, NULL, PyDoc_STR("Number of elements."), NULL},
    {"nbytes", get_nbytes, NULL, PyDoc_STR("Number of bytes."), NULL},
    {"itemsize", get_itemsize, NULL, PyDoc_STR("Bytes of one element."), NULL},
    {"dtype", ha_array_dtype, NULL,
     PyDoc_STR(
         "Element type as numpy.dtype; its name where numpy is not installed, or\n"
         "ml_dtypes for bfloat16 and the 8-bit floats."),
     NULL},
    {"type_name", get_type_name, NULL,
     PyDoc_STR("Name of the element type: 'float32', 'bfloat16'."), NULL},
    {"strides", get_strides, NULL,
     PyDoc_STR("Bytes from one element to the next, for each axis."), NULL},
    {"typestr", get_typestr, NULL, PyDoc_STR("Element type, as it was given."), NULL},
    {"is_read_only", get_is_read_only, NULL,
     PyDoc_STR("Whether calls that write refuse the array."), NULL},
    {"owner", get_owner, NULL, PyDoc_STR("What keeps the memory, or None."), NULL},
    {"memory", get_memory, NULL,
     PyDoc_STR(
         "'device', 'pinned', 'managed', 'host', or None where HIP does not know\n"
         "the address."),
     NULL},
    {"stream_as_int", get_stream, NULL,
     PyDoc_STR("Address of the stream to wait for, or None."), NULL},
    {"__cuda_array_interface__", get_cuda_array_interface, NULL,
     PyDoc_STR("CUDA array interface, version 3; a new dict each time."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
