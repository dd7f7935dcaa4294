/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/array_object.h"

#include <string.h>

#include "adapters/adapter.h"
#include "adapters/array.h"
#include "adapters/array_attributes.h"
#include "adapters/array_buffer.h"
#include "adapters/array_configure.h"
#include "adapters/array_from.h"
#include "adapters/array_index.h"
#include "adapters/array_methods.h"
#include "adapters/construct.h"
#include "adapters/dlpack.h"
#include "adapters/dlpack_exchange.h"
#include "adapters/dlpack_export.h"
#include "adapters/dlpack_import.h"
#include "adapters/format.h"
#include "adapters/memory.h"
#include "adapters/message.h"
#include "adapters/pointer.h"
#include "adapters/saved_error.h"
#include "adapters/stream.h"
#include "adapters/take.h"
#include "adapters/type.h"
#include "adapters/types.h"
#include "adapters/view.h"

/* In a critical section of the array. */
static void
shape_from_array(struct ha_shape *shape, const struct ha_device_array *array)
{
    shape->ndim = array->ndim;
    memcpy(shape->dims, array->shape, (size_t)array->ndim * sizeof *array->shape);
    shape->format = array->format;
    shape->typestr = Py_XNewRef(array->typestr);
    shape->stream = Py_XNewRef(array->stream);
    shape->place = array->place;
    shape->device = array->device;
}

/* What another array says, with its memory as it was taken: what has changed since says
 * something of other memory. */
static int
shape_and_limit(struct ha_shape *shape, Py_ssize_t *limit, PyObject *object,
                const struct ha_view *view)
{
    const struct ha_device_array *array = (struct ha_device_array *)object;
    bool same;
    HA_BEGIN_SECTION(object);
    same = array->base.ptr == view->ptr && array->base.size == view->size;
    if (same) {
        shape_from_array(shape, array);
        *limit = array->limit < 0 ? -1 : view->size;
    }
    HA_END_SECTION();
    if (!same) {
        PyErr_Format(PyExc_RuntimeError, "%s changed while it was read",
                     ha_short_name(Py_TYPE(object)));
    }
    return same ? 0 : -1;
}

/* Sets all fields at once: 0 and the references taken, or -1 with the array as it was.
 * What has gone out of it is in shape->stream. */
static int
array_set(struct ha_device_array *array, struct ha_shape *shape, struct ha_view *view,
          Py_ssize_t limit, uintptr_t stream_address)
{
    PyObject *old = NULL, *owner = ha_view_take_owner(view);
    int status;
    HA_BEGIN_SECTION(array);
    status = ha_array_set_shape(array, shape->ndim, shape->dims, &shape->format,
                                shape->typestr);
    if (status == 0) {
        PyObject *stream = array->stream;
        array->place = view->ptr == NULL ? HA_PLACE_UNKNOWN : shape->place;
        array->device = view->ptr == NULL ? -1 : shape->device;
        array->source_readonly = view->readonly;
        array->limit = limit;
        array->stream_address = stream_address;
        array->stream = shape->stream;
        shape->stream = stream;
        shape->typestr = NULL;
        old =
            ha_pointer_put(&array->base, view->ptr, view->size, view->readonly, owner);
        owner = NULL;
    }
    HA_END_SECTION();
    ha_release(owner);
    ha_release(old);
    return status;
}

static int
array_fill(struct ha_types *types, PyObject *self, PyObject *object)
{
    struct ha_device_array *array = (struct ha_device_array *)self;
    struct ha_where where = {ha_short_name(Py_TYPE(self)), "pyobj"};
    struct ha_shape shape;
    struct ha_view view;
    uintptr_t stream_address = 0;
    int status = -1;
    ha_shape_init(&shape);
    ha_view_init(&view);
    struct ha_take take = {
        .types = types, .where = &where, .view = &view, .shape = &shape};
    if (ha_take_all(&take, object) < 0) {
        goto done;
    }
    Py_ssize_t limit = view.size;
    if (PyObject_TypeCheck(object, types->nd_buffer)) {
        if (shape_and_limit(&shape, &limit, object, &view) < 0) {
            goto done;
        }
    } else if (shape.ndim < 0) {
        /* Only an address: bytes, one of them where the size is not known, and none
         * behind NULL. */
        shape.ndim = 1;
        shape.dims[0] = view.size >= 0 ? view.size : view.ptr != NULL;
        shape.format = ha_format_bytes;
    }
    if (ha_stream_or_none_from(types, shape.stream, &where, &stream_address) < 0 ||
        ha_view_settle(types, &view) < 0) {
        goto done;
    }
    status = array_set(array, &shape, &view, limit, stream_address);
done:
    Py_XDECREF(shape.typestr);
    Py_XDECREF(shape.stream);
    ha_view_release(&view);
    return status;
}

static PyObject *
array_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *self = ha_pointer_tp_new(type, args, kwargs);
    if (self != NULL) {
        struct ha_device_array *array = (struct ha_device_array *)self;
        array->shape = array->inline_shape;
        array->inline_shape[0] = 0;
        array->inline_shape[1] = 1;
        array->limit = -1;
        array->ndim = 1;
        array->format = ha_format_bytes;
        array->device = -1;
    }
    return self;
}

static int
array_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    return ha_init_one(self, args, kwargs, array_fill);
}

static PyObject *
array_vectorcall(PyObject *type, PyObject *const *args, size_t nargsf,
                 PyObject *kwnames)
{
    return ha_construct_one((PyTypeObject *)type, args, nargsf, kwnames, array_fill);
}

static Py_ssize_t
array_length(PyObject *self)
{
    const struct ha_device_array *array = (struct ha_device_array *)self;
    Py_ssize_t length = -1;
    HA_BEGIN_SECTION(self);
    if (array->ndim > 0) {
        length = array->shape[0];
    }
    HA_END_SECTION();
    if (length < 0) {
        PyErr_Format(PyExc_TypeError, "len() of a %s without dimensions",
                     ha_short_name(Py_TYPE(self)));
    }
    return length;
}

/* Without this bool() would ask for the length. */
static int
array_bool(PyObject *self)
{
    return ha_pointer_of(self) != NULL;
}

#define FAST(function) (PyCFunction)(void (*)(void))(function)

static PyMethodDef array_methods[] = {
    {"configure", FAST(ha_array_configure), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR(
         "configure($self, /, *, shape=..., typestr=..., stream=..., itemsize=...,\n"
         "          read_only=..., _force=False)\n--\n\n"
         "Changes shape, element type and other metadata, and returns the array.\n\n"
         "All of it or nothing: after an error the array is as it was.\n\n"
         "Parameters\n----------\n"
         "shape : tuple of int\n    Extents; their product times the element size "
         "must\n"
         "    stay the same unless _force is true.\n"
         "typestr : str\n    ``<f4``, ``float32``, ``f``, ``|u1`` and so on, or a "
         "numpy dtype.\n"
         "stream : int, stream or None\n    What consumers have to wait for.\n"
         "itemsize : int\n    Bytes of an element where typestr does not say it.\n"
         "read_only : bool\n    Calls that write refuse the array.\n"
         "_force : bool\n    Allows another number of bytes: fewer, or more where the\n"
         "    length of the memory is not known, as behind an address.\n\n"
         "Raises\n------\n"
         "ValueError\n    More bytes than the memory is known to have, or another "
         "number\n"
         "    of them without _force.\n")},
    {"host", ha_array_host, METH_NOARGS,
     PyDoc_STR("host($self, /)\n--\n\n"
               "NDBuffer over the same memory for the processor, once it is ready.\n\n"
               "Waits for the array's stream, or for the device where the array names\n"
               "none.  numpy, torch and jax take the view without a copy.\n\n"
               "Raises\n------\n"
               "BufferError\n"
               "    The processor does not see the memory: device memory of a GPU.\n")},
    {"__dlpack__", FAST(ha_dl_export), METH_FASTCALL | METH_KEYWORDS,
     PyDoc_STR(
         "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None,\n"
         "           copy=None)\n--\n\n"
         "A capsule with this array, for from_dlpack of other packages.\n\n"
         "stream None or 0 is the default stream, -1 asks for no order; the memory\n"
         "of the host is given for dl_device=(1, 0), after a wait.\n")},
    {"numpy", FAST(ha_array_numpy), METH_FASTCALL | METH_KEYWORDS,
     PyDoc_STR(
         "numpy($self, /)\n--\n\n"
         "A numpy array with a copy of the elements, once they are complete.\n\n"
         "Raises\n------\n"
         "ImportError\n    numpy is not installed, or ml_dtypes for element types\n"
         "    of its own.\n")},
    {"__array__", FAST(ha_array_array), METH_FASTCALL | METH_KEYWORDS,
     PyDoc_STR("__array__($self, /, dtype=None, *, copy=None)\n--\n\n"
               "What numpy.asarray calls: a view where the processor sees the memory,\n"
               "and a copy of device memory.")},
    {"__dlpack_device__", ha_dl_device_tuple, METH_NOARGS,
     PyDoc_STR("__dlpack_device__($self, /)\n--\n\n"
               "(type, id): 10 device and managed, 11 pinned, 1 host memory.")},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(
    nd_buffer_doc,
    "NDBuffer(pyobj=None)\n--\n\n"
    "C-contiguous memory with shape and element type.\n\n"
    "Shape and type come from the CUDA array interface, the buffer protocol,\n"
    "DLPack or another NDBuffer; a bare address is bytes (see configure).\n"
    "Indexing gives sub-arrays that share and keep the memory; an index keeps\n"
    "its axis with extent 1.");

PyDoc_STRVAR(device_array_doc,
             "DeviceArray(pyobj=None)\n--\n\n"
             "Device memory with shape and element type, as hipMalloc returns it.\n\n"
             "It does not free the memory.  See NDBuffer.");

static PyType_Slot nd_buffer_slots[] = {
    {Py_tp_doc, (void *)nd_buffer_doc},
    {Py_tp_new, array_new},
    {Py_tp_init, array_init},
    {Py_tp_dealloc, ha_array_dealloc},
    {Py_tp_traverse, ha_array_traverse},
    {Py_tp_clear, ha_array_clear},
    {Py_tp_repr, ha_array_repr},
    {Py_nb_bool, array_bool},
    {Py_sq_length, array_length},
    {Py_sq_item, ha_array_item},
    {Py_mp_length, array_length},
    {Py_mp_subscript, ha_array_subscript},
    {Py_bf_getbuffer, ha_array_getbuffer},
    {Py_bf_releasebuffer, ha_array_releasebuffer},
    {Py_tp_methods, array_methods},
    {Py_tp_getset, ha_array_getset},
    {0, NULL},
};

static PyType_Slot device_array_slots[] = {
    {Py_tp_doc, (void *)device_array_doc}, {Py_tp_methods, ha_device_array_methods},
    {Py_tp_dealloc, ha_array_dealloc},     {Py_tp_traverse, ha_array_traverse},
    {Py_tp_clear, ha_array_clear},         {0, NULL},
};

static PyType_Spec nd_buffer_spec = {
    .name = "hipadapt.types.NDBuffer",
    .basicsize = sizeof(struct ha_device_array),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = nd_buffer_slots,
};

static PyType_Spec device_array_spec = {
    .name = "hipadapt.types.DeviceArray",
    .basicsize = sizeof(struct ha_device_array),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = device_array_slots,
};

int
ha_array_init(struct ha_types *types)
{
    if (ha_type_make(types, &nd_buffer_spec, types->pointer, true, &types->nd_buffer) <
            0 ||
        ha_type_make(types, &device_array_spec, types->nd_buffer, true,
                     &types->device_array) < 0) {
        return -1;
    }
    types->nd_buffer->tp_vectorcall = array_vectorcall;
    types->device_array->tp_vectorcall = array_vectorcall;
    if (ha_array_from_init(types) < 0 || ha_array_methods_init(types) < 0 ||
        ha_dl_init(types) < 0 || ha_dl_import_init(types) < 0) {
        return -1;
    }
    return ha_dl_exchange_init(types);
}
