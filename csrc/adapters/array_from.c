/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/array_from.h"

#include <string.h>

#include "adapters/adapter.h"
#include "adapters/array.h"
#include "adapters/array_arguments.h"
#include "adapters/array_memory.h"
#include "adapters/array_parse.h"
#include "adapters/format.h"
#include "adapters/memory.h"
#include "adapters/message.h"
#include "adapters/number.h"
#include "adapters/stream.h"
#include "adapters/strides.h"
#include "adapters/take.h"
#include "adapters/types.h"
#include "adapters/view.h"

/* ---- array_from_memory ---- */

enum { ADDRESS, SHAPE, TYPESTR, OWNER, MEMORY, DEVICE, STREAM, READONLY, COUNT };

static const char function_name[] = "array_from_memory";

static const struct ha_where wheres[COUNT] = {
    [ADDRESS] = {function_name, "address"}, [SHAPE] = {function_name, "shape"},
    [TYPESTR] = {function_name, "typestr"}, [OWNER] = {function_name, "owner"},
    [MEMORY] = {function_name, "memory"},   [DEVICE] = {function_name, "device"},
    [STREAM] = {function_name, "stream"},   [READONLY] = {function_name, "readonly"},
};

/* One int is the extent of one axis. */
static int
read_extents(PyObject *value, const struct ha_where *where, int *ndim, Py_ssize_t *dims)
{
    if (!PyIndex_Check(value) || PyBool_Check(value)) {
        return ha_array_read_shape(value, where, ndim, dims);
    }
    PyObject *tuple = PyTuple_Pack(1, value);
    int status = tuple == NULL ? -1 : ha_array_read_shape(tuple, where, ndim, dims);
    Py_XDECREF(tuple);
    return status;
}

static int
read_place(PyObject *value, const struct ha_where *where, enum ha_memory_place *place)
{
    *place = HA_PLACE_UNKNOWN;
    if (value == Py_None) {
        return 0;
    }
    for (int i = HA_PLACE_DEVICE; PyUnicode_Check(value) && i < HA_PLACE_COUNT; i++) {
        if (PyUnicode_CompareWithASCIIString(
                value, ha_place_name((enum ha_memory_place)i)) == 0) {
            *place = (enum ha_memory_place)i;
            return 0;
        }
    }
    return ha_raise(PyUnicode_Check(value) ? PyExc_ValueError : PyExc_TypeError, where,
                    "must be 'device', 'pinned', 'managed', 'host' or None, not %R",
                    value);
}

static int
read_device(struct ha_types *types, PyObject *value, const struct ha_where *where,
            int *device)
{
    *device = -1;
    if (value == Py_None) {
        return 0;
    }
    if (ha_int_from(types, value, where, device) < 0) {
        return -1;
    }
    if (*device < 0) {
        return ha_raise(PyExc_ValueError, where, "must not be %d", *device);
    }
    return 0;
}

/* What the arguments say about the array, before there is one. */
struct made {
    struct ha_view view;
    int ndim, device;
    enum ha_memory_place place;
    bool readonly;
    uintptr_t stream_address;
    Py_ssize_t bytes;
    struct ha_format format;
    PyObject *typestr; /* owned, or NULL */
    Py_ssize_t dims[HA_MAX_DIMS];
};

static int
check_made(const struct made *made, PyObject *const *args)
{
    if (made->format.size == 0) {
        return ha_raise(PyExc_ValueError, &wheres[TYPESTR], "%R says no element size",
                        args[TYPESTR]);
    }
    if (made->view.ptr == NULL && made->bytes > 0) {
        return ha_raise(PyExc_ValueError, &wheres[ADDRESS],
                        "must not be NULL for %zd bytes", made->bytes);
    }
    if (!ha_view_fits(&made->view, (size_t)made->bytes)) {
        return ha_raise(PyExc_ValueError, &wheres[ADDRESS],
                        "has %zd bytes, but the shape takes %zd", made->view.size,
                        made->bytes);
    }
    return ha_check_span(&wheres[ADDRESS], made->view.ptr, made->bytes);
}

static int
read_arguments(struct ha_types *types, PyObject *const *args, struct made *made)
{
    if (read_extents(args[SHAPE], &wheres[SHAPE], &made->ndim, made->dims) < 0 ||
        ha_array_read_type(types, args[TYPESTR], &wheres[TYPESTR], &made->format,
                           &made->typestr) < 0 ||
        read_place(args[MEMORY], &wheres[MEMORY], &made->place) < 0 ||
        read_device(types, args[DEVICE], &wheres[DEVICE], &made->device) < 0 ||
        ha_stream_or_none_from(types, args[STREAM], &wheres[STREAM],
                               &made->stream_address) < 0) {
        return -1;
    }
    int readonly = PyObject_IsTrue(args[READONLY]);
    if (readonly < 0) {
        return -1;
    }
    made->readonly = readonly != 0;
    if (!ha_shape_bytes(made->ndim, made->dims, made->format.size, &made->bytes)) {
        return ha_raise(PyExc_OverflowError, &wheres[SHAPE],
                        "has more bytes than fit in memory");
    }
    if (ha_ptr_from(types, args[ADDRESS], &wheres[ADDRESS], 0, &made->view) < 0) {
        return -1;
    }
    return check_made(made, args);
}

/* What keeps the memory: what was named, what the address brought along, or both. */
static int
made_owner(struct ha_types *types, struct made *made, PyObject *named, PyObject **owner)
{
    *owner = NULL;
    if (ha_view_settle(types, &made->view) < 0) {
        return -1;
    }
    if (named == Py_None) {
        *owner = ha_view_take_owner(&made->view);
    } else if (made->view.owner == NULL || made->view.owner == named) {
        *owner = Py_NewRef(named);
    } else if ((*owner = PyTuple_Pack(2, named, made->view.owner)) == NULL) {
        return -1;
    }
    return 0;
}

static PyObject *
array_from_memory(PyObject *module, PyObject *const *args, Py_ssize_t count,
                  PyObject *kwnames)
{
    struct ha_types *types = ha_types_of(module);
    PyObject *bound[COUNT] = {NULL,    NULL,    NULL,    Py_None,
                              Py_None, Py_None, Py_None, Py_False};
    struct made made; /* large: only what is read is set */
    struct ha_device_array *self = NULL;
    PyObject *owner;
    made.typestr = NULL;
    ha_view_init(&made.view);
    if (ha_array_arguments(wheres, COUNT, OWNER, args, count, kwnames, bound) < 0) {
        return NULL;
    }
    for (int i = 0; i < OWNER; i++) {
        if (bound[i] == NULL) {
            return PyErr_Format(PyExc_TypeError, "%s() lacks the argument '%s'",
                                function_name, wheres[i].argument);
        }
    }
    if (read_arguments(types, bound, &made) < 0 ||
        made_owner(types, &made, bound[OWNER], &owner) < 0) {
        goto done;
    }
    self = ha_array_make(types->device_array, made.view.ptr, made.bytes, owner);
    if (self == NULL) {
        goto done;
    }
    if (ha_array_set_shape(self, made.ndim, made.dims, &made.format, made.typestr) <
        0) {
        Py_CLEAR(self);
        goto done;
    }
    made.typestr = NULL;
    self->place = made.place;
    self->device = made.device;
    self->base.readonly = self->source_readonly = made.readonly;
    if (made.stream_address != 0) {
        self->stream_address = made.stream_address;
        self->stream = Py_NewRef(bound[STREAM]);
        if (!PyObject_GC_IsTracked((PyObject *)self)) {
            PyObject_GC_Track((PyObject *)self);
        }
    }
done:
    Py_XDECREF(made.typestr);
    ha_view_release(&made.view);
    return (PyObject *)self;
}

PyDoc_STRVAR(
    array_from_memory_doc,
    "array_from_memory($module, address, shape, typestr, *, owner=None,\n"
    "                  memory=None, device=None, stream=None, readonly=False)\n--\n\n"
    "A DeviceArray over memory that `owner` keeps.\n\n"
    "Parameters\n----------\n"
    "address : int or Pointer\n    Where the memory begins.\n"
    "shape : int or tuple of int\n    Extents.\n"
    "typestr : str or dtype\n    '<f4', 'float32', 'bfloat16' and so on.\n"
    "owner : object\n    Kept as long as the array or a view of it lives.\n"
    "memory : str or None\n"
    "    'device', 'pinned', 'managed' or 'host'; None = HIP is asked when it "
    "matters.\n"
    "device : int or None\n    Number of the device; None = HIP is asked.\n"
    "stream : stream or None\n    What consumers have to wait for.\n"
    "readonly : bool\n    Calls that write refuse the array.\n\n"
    "Raises\n------\n"
    "TypeError, ValueError, OverflowError\n    For arguments that make no array.\n");

/* ---- array_of ---- */

enum { OF_OBJECT, OF_STREAM, OF_COUNT };

static const struct ha_where of_wheres[OF_COUNT] = {
    [OF_OBJECT] = {"array_of", "obj"},
    [OF_STREAM] = {"array_of", "stream"},
};

/* What the producer has in flight comes before later work of the consumer's stream, and
 * the array names that stream from then on. */
static int
order_after_producer(struct ha_types *types, struct ha_device_array *self,
                     PyObject *stream, uintptr_t consumer)
{
    int device;
    enum ha_memory_place place = ha_array_locate(types, self, &device);
    if (self->stream == NULL || place == HA_PLACE_HOST || types->memory == NULL) {
        return 0;
    }
    uintptr_t producer = ha_default_stream(self->stream_address);
    consumer = ha_default_stream(consumer);
    if (producer == consumer) {
        return 0;
    }
    if (types->memory->order(device, producer, consumer) < 0) {
        return -1;
    }
    PyObject *named = consumer == 0 ? PyLong_FromLong(1) : Py_NewRef(stream);
    if (named == NULL) {
        return -1;
    }
    self->stream_address = consumer == 0 ? 1 : consumer;
    Py_SETREF(self->stream, named);
    return 0;
}

static PyObject *
array_of(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *kwnames)
{
    struct ha_types *types = ha_types_of(module);
    PyObject *bound[OF_COUNT] = {NULL, Py_None};
    uintptr_t consumer = 0;
    if (ha_array_arguments(of_wheres, OF_COUNT, OF_STREAM, args, count, kwnames,
                           bound) < 0) {
        return NULL;
    }
    if (bound[OF_OBJECT] == NULL) {
        PyErr_SetString(PyExc_TypeError, "array_of() lacks the argument 'obj'");
        return NULL;
    }
    if (ha_stream_or_none_from(types, bound[OF_STREAM], &of_wheres[OF_STREAM],
                               &consumer) < 0) {
        return NULL;
    }
    PyObject *self =
        PyObject_CallOneArg((PyObject *)types->device_array, bound[OF_OBJECT]);
    if (self != NULL && order_after_producer(types, (struct ha_device_array *)self,
                                             bound[OF_STREAM], consumer) < 0) {
        Py_CLEAR(self);
    }
    return self;
}

/* ---- array_allocate ---- */

enum { NEW_SHAPE, NEW_TYPESTR, NEW_MEMORY, NEW_DEVICE, NEW_COUNT };

static const struct ha_where new_wheres[NEW_COUNT] = {
    [NEW_SHAPE] = {"array_allocate", "shape"},
    [NEW_TYPESTR] = {"array_allocate", "typestr"},
    [NEW_MEMORY] = {"array_allocate", "memory"},
    [NEW_DEVICE] = {"array_allocate", "device"},
};

static PyObject *
array_allocate(PyObject *module, PyObject *const *args, Py_ssize_t count,
               PyObject *kwnames)
{
    struct ha_types *types = ha_types_of(module);
    PyObject *bound[NEW_COUNT] = {NULL, NULL, Py_None, Py_None};
    PyObject *text = NULL;
    struct ha_format format;
    enum ha_memory_place place = HA_PLACE_UNKNOWN;
    Py_ssize_t dims[HA_MAX_DIMS];
    int ndim, device;
    if (ha_array_arguments(new_wheres, NEW_COUNT, NEW_MEMORY, args, count, kwnames,
                           bound) < 0) {
        return NULL;
    }
    if (bound[NEW_SHAPE] == NULL || bound[NEW_TYPESTR] == NULL) {
        PyErr_SetString(PyExc_TypeError,
                        "array_allocate() takes a shape and a typestr");
        return NULL;
    }
    if (read_extents(bound[NEW_SHAPE], &new_wheres[NEW_SHAPE], &ndim, dims) < 0 ||
        read_place(bound[NEW_MEMORY], &new_wheres[NEW_MEMORY], &place) < 0 ||
        read_device(types, bound[NEW_DEVICE], &new_wheres[NEW_DEVICE], &device) < 0 ||
        ha_array_read_type(types, bound[NEW_TYPESTR], &new_wheres[NEW_TYPESTR], &format,
                           &text) < 0) {
        return NULL;
    }
    struct ha_device_array *self = NULL;
    if (format.size == 0) {
        ha_raise(PyExc_ValueError, &new_wheres[NEW_TYPESTR], "%R says no element size",
                 bound[NEW_TYPESTR]);
    } else {
        self = ha_array_allocate(types,
                                 place == HA_PLACE_UNKNOWN ? HA_PLACE_DEVICE : place,
                                 device, ndim, dims, &format);
    }
    if (self != NULL) {
        Py_XSETREF(self->typestr, text);
        text = NULL;
    }
    Py_XDECREF(text);
    return (PyObject *)self;
}

static PyMethodDef functions[] = {
    {"array_of", (PyCFunction)(void (*)(void))array_of, METH_FASTCALL | METH_KEYWORDS,
     PyDoc_STR(
         "array_of($module, obj, /, *, stream=None)\n--\n\n"
         "A DeviceArray over the memory of any array, by the adapter order.\n\n"
         "Later work in `stream` (None = the default stream) comes after what the\n"
         "producer says is in flight.")},
    {"array_allocate", (PyCFunction)(void (*)(void))array_allocate,
     METH_FASTCALL | METH_KEYWORDS,
     PyDoc_STR("array_allocate($module, shape, typestr, *, memory='device', "
               "device=None)\n--\n\n"
               "A DeviceArray with memory of its own, freed with the last array that\n"
               "shares it.")},
    {"array_from_memory", (PyCFunction)(void (*)(void))array_from_memory,
     METH_FASTCALL | METH_KEYWORDS, array_from_memory_doc},
    {NULL, NULL, 0, NULL},
};

int
ha_array_from_init(struct ha_types *types)
{
    return PyModule_AddFunctions(types->module, functions);
}
