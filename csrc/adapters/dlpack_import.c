/* SPDX-License-Identifier: MIT */
/* The capsule is consumed as the protocol has it, once everything has been checked;
 * after an error it is as it was.  A type with the exchange table (dlpack_exchange.c
 * has ours) needs no capsule. */
#include <Python.h>

#include "adapters/dlpack_import.h"

#include "adapters/array.h"
#include "adapters/array_arguments.h"
#include "adapters/array_memory.h"
#include "adapters/dlpack.h"
#include "adapters/memory.h"
#include "adapters/message.h"
#include "adapters/number.h"
#include "adapters/python_version.h"
#include "adapters/stream.h"
#include "adapters/take.h"
#include "adapters/together.h"
#include "adapters/types.h"
#include "adapters/view.h"

enum { OBJECT, DEVICE, COPY, STREAM, COUNT };

static const char function_name[] = "from_dlpack";

static const struct ha_where wheres[COUNT] = {
    [OBJECT] = {function_name, "obj"},
    [DEVICE] = {function_name, "device"},
    [COPY] = {function_name, "copy"},
    [STREAM] = {function_name, "stream"},
};

struct request {
    struct ha_types *types;
    PyObject *object;
    PyObject *device; /* owned tuple (type, id), or NULL = where it is */
    int wanted[2];    /* what it holds */
    PyObject *copy;   /* borrowed: None, True or False */
    bool has_stream;
    uintptr_t stream;        /* of the consumer; 0 = default */
    PyObject *stream_object; /* borrowed */
    int32_t source_type;     /* what __dlpack_device__ says */
    bool copied;             /* the producer has heard of copy=True */
};

/* device="cpu", a device number, or DLPack's tuple. */
static int
read_device(struct request *request, PyObject *value)
{
    if (value == Py_None) {
        return 0;
    }
    if (PyCapsule_CheckExact(request->object)) {
        return ha_raise(PyExc_ValueError, &wheres[DEVICE],
                        "must be None for a capsule, which is where it is");
    }
    request->wanted[0] = HA_DL_ROCM;
    request->wanted[1] = 0;
    if (PyTuple_Check(value) && PyTuple_GET_SIZE(value) == 2) {
        for (int i = 0; i < 2; i++) {
            if (ha_int_from(request->types, PyTuple_GET_ITEM(value, i), &wheres[DEVICE],
                            &request->wanted[i]) < 0) {
                return -1;
            }
        }
    } else if (PyUnicode_Check(value)) {
        if (PyUnicode_CompareWithASCIIString(value, "cpu") != 0) {
            return ha_raise(PyExc_ValueError, &wheres[DEVICE],
                            "must be 'cpu', a device number or a tuple (type, id), not "
                            "%R",
                            value);
        }
        request->wanted[0] = HA_DL_CPU;
    } else if (!PyLong_Check(value) || PyBool_Check(value)) {
        return ha_refuse(&wheres[DEVICE],
                         "'cpu', a device number or a tuple (type, id)", value);
    } else if (ha_int_from(request->types, value, &wheres[DEVICE],
                           &request->wanted[1]) < 0) {
        return -1;
    }
    request->device = Py_BuildValue("(ii)", request->wanted[0], request->wanted[1]);
    return request->device == NULL ? -1 : 0;
}

/* Old producers don't hear the wish for a device. */
static int
check_device(const struct request *request, const struct ha_dl_tensor *tensor)
{
    const int *wanted = request->wanted;
    if (wanted[0] != tensor->device.type || wanted[1] != tensor->device.id) {
        return ha_raise(PyExc_BufferError, &wheres[DEVICE],
                        "is %R, but the producer gives memory of (%d, %d)",
                        request->device, (int)tensor->device.type,
                        (int)tensor->device.id);
    }
    return 0;
}

/* Asks __dlpack_device__; producers from before it count as host memory. */
static int
ask_device(struct request *request)
{
    PyObject *method = NULL;
    int id; /* has to be one, and tells us nothing more */
    request->source_type = HA_DL_CPU;
    int status =
        ha_get_attribute(request->object, request->types->str_dlpack_device, &method);
    if (status <= 0) {
        return status;
    }
    PyObject *answer = PyObject_CallNoArgs(method);
    Py_DECREF(method);
    if (answer == NULL) {
        return -1;
    }
    status = -1;
    if (!PyTuple_Check(answer) || PyTuple_GET_SIZE(answer) != 2) {
        ha_raise(PyExc_TypeError, &wheres[OBJECT],
                 "has a __dlpack_device__() that answers '%.200s', not (type, id)",
                 Py_TYPE(answer)->tp_name);
    } else if (ha_int_from(request->types, PyTuple_GET_ITEM(answer, 0), &wheres[OBJECT],
                           &request->source_type) == 0) {
        status = ha_int_from(request->types, PyTuple_GET_ITEM(answer, 1),
                             &wheres[OBJECT], &id);
    }
    Py_DECREF(answer);
    return status;
}

/* What a producer on ROCm is told: the handle, or None for the default stream.  It
 * can't name the per-thread stream, which waits for the default stream by itself.
 */
static PyObject *
stream_argument(const struct request *request)
{
    if (!request->has_stream || request->stream <= 2) {
        return Py_NewRef(Py_None);
    }
    return PyLong_FromSize_t(request->stream);
}

/* __dlpack__ with all that is to say; what an old producer does not know is dropped. */
static PyObject *
ask_capsule(struct request *request)
{
    struct ha_types *types = request->types;
    PyObject *names[4], *values[4], *capsule = NULL, *kwnames = NULL, *method = NULL;
    PyObject *stream = NULL;
    Py_ssize_t count = 0;
    int status = ha_get_attribute(request->object, types->str_dlpack, &method);
    if (status <= 0 || PyType_Check(request->object)) {
        if (status >= 0) {
            ha_refuse(&wheres[OBJECT], "an object with __dlpack__", request->object);
        }
        goto done;
    }
    if (request->source_type == HA_DL_ROCM) {
        stream = stream_argument(request);
        if (stream == NULL) {
            goto done;
        }
        names[count] = types->str_stream;
        values[count++] = stream;
    }
    names[count] = types->str_max_version;
    values[count++] = types->dlpack_version;
    if (request->device != NULL) {
        names[count] = types->str_dl_device;
        values[count++] = request->device;
    }
    if (request->copy != Py_None) {
        names[count] = types->str_copy;
        values[count++] = request->copy;
    }
    if (count == 1) {
        capsule = PyObject_Vectorcall(method, values, 0, types->dlpack_kwnames);
    } else {
        kwnames = PyTuple_New(count);
        for (Py_ssize_t i = 0; kwnames != NULL && i < count; i++) {
            PyTuple_SET_ITEM(kwnames, i, Py_NewRef(names[i]));
        }
        capsule =
            kwnames == NULL ? NULL : PyObject_Vectorcall(method, values, 0, kwnames);
    }
    request->copied = request->copy == Py_True;
    if (capsule == NULL && stream != NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        request->copied = false;
        Py_XSETREF(kwnames, PyTuple_Pack(1, types->str_stream));
        capsule =
            kwnames == NULL ? NULL : PyObject_Vectorcall(method, &stream, 0, kwnames);
    }
    if (capsule == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        request->copied = false;
        capsule = PyObject_CallNoArgs(method);
    }
done:
    Py_XDECREF(method);
    Py_XDECREF(kwnames);
    Py_XDECREF(stream);
    return capsule;
}

/* A DeviceArray from what `take` has found; takes over its owner. */
static struct ha_device_array *
array_of(struct ha_types *types, struct ha_view *view, const struct ha_shape *shape)
{
    PyObject *owner = ha_view_take_owner(view);
    struct ha_device_array *array =
        ha_array_make(types->device_array, view->ptr, view->size, owner);
    if (array == NULL) {
        return NULL;
    }
    if (ha_array_set_shape(array, shape->ndim, shape->dims, &shape->format, NULL) < 0) {
        Py_DECREF(array);
        return NULL;
    }
    array->place = view->ptr == NULL ? HA_PLACE_UNKNOWN : shape->place;
    array->device = view->ptr == NULL ? -1 : shape->device;
    if (array->place == HA_PLACE_DEVICE && types->memory != NULL) {
        /* Managed memory travels as kDLROCM. */
        enum ha_memory_place found = HA_PLACE_UNKNOWN;
        int device;
        if (types->memory->find(view->ptr, &found, &device) > 0 &&
            found == HA_PLACE_MANAGED) {
            array->place = found;
        }
    }
    array->base.readonly = array->source_readonly = view->readonly;
    return array;
}

/* Device memory is ready for work that comes after it in this stream. */
static int
set_stream(struct request *request, struct ha_device_array *array)
{
    if (array->place != HA_PLACE_DEVICE && array->place != HA_PLACE_MANAGED) {
        return 0;
    }
    array->stream_address = request->stream == 0 ? 1 : request->stream;
    array->stream =
        request->has_stream ? Py_NewRef(request->stream_object) : PyLong_FromLong(1);
    return array->stream == NULL ? -1 : 0;
}

/* Lets the consumer's stream wait for `produced`. */
static int
order_consumer(struct request *request, int device, uintptr_t produced)
{
    if (ha_default_stream(produced) == ha_default_stream(request->stream) ||
        request->types->memory == NULL) {
        return 0;
    }
    return request->types->memory->order(device, ha_default_stream(produced),
                                         request->stream);
}

PyObject *
ha_dl_import_managed(struct ha_types *types, const struct ha_where *where,
                     struct ha_dl_versioned *stolen)
{
    struct ha_shape shape;
    struct ha_view view;
    struct ha_device_array *array = NULL;
    ha_shape_init(&shape);
    ha_view_init(&view);
    struct ha_take take = {
        .types = types, .where = where, .view = &view, .shape = &shape};
    view.owner = ha_dl_keeper(types, NULL, stolen);
    if (view.owner != NULL && ha_dl_check_version(where, stolen) == 0 &&
        ha_dl_take_tensor(&take, &stolen->tensor,
                          (stolen->flags & HA_DL_READ_ONLY) != 0) > 0) {
        array = array_of(types, &view, &shape);
    }
    ha_view_release(&view);
    return (PyObject *)array;
}

/* In a critical section of the capsule, which one thread gets alone. */
static struct ha_device_array *
consume_capsule(struct request *request, struct ha_take *take, PyObject *capsule)
{
    struct ha_dl_legacy *legacy;
    struct ha_dl_versioned *versioned;
    if (ha_dl_open_capsule(take->where, capsule, &legacy, &versioned) < 0) {
        return NULL;
    }
    bool readonly = versioned != NULL && (versioned->flags & HA_DL_READ_ONLY) != 0;
    const struct ha_dl_tensor *tensor =
        legacy != NULL ? &legacy->tensor : &versioned->tensor;
    if (ha_dl_take_tensor(take, tensor, readonly) < 0 ||
        (request->device != NULL && check_device(request, tensor) < 0)) {
        return NULL;
    }
    /* The keeper stays empty until nothing can fail any more. */
    PyObject *keeper = ha_dl_keeper(request->types, NULL, NULL);
    take->view->owner = keeper;
    struct ha_device_array *array =
        keeper == NULL ? NULL : array_of(request->types, take->view, take->shape);
    if (array == NULL || set_stream(request, array) < 0 ||
        PyCapsule_SetName(capsule, legacy != NULL ? HA_DL_USED_LEGACY_NAME
                                                  : HA_DL_USED_VERSIONED_NAME) < 0) {
        Py_XDECREF(array);
        return NULL;
    }
    ha_dl_keep(keeper, legacy, versioned);
    return array;
}

static struct ha_device_array *
import_capsule(struct request *request, struct ha_take *take, PyObject *capsule)
{
    struct ha_device_array *array;
    HA_BEGIN_SECTION(capsule);
    array = consume_capsule(request, take, capsule);
    HA_END_SECTION();
    return array;
}

static struct ha_device_array *
import_exchange(struct request *request, struct ha_take *take,
                const struct ha_dl_exchange *table)
{
    struct ha_dl_versioned *managed;
    take->view->owner = ha_dl_ask_exchange(request->types, table, take->where,
                                           request->object, &managed);
    if (take->view->owner == NULL ||
        ha_dl_take_tensor(take, &managed->tensor,
                          (managed->flags & HA_DL_READ_ONLY) != 0) < 0) {
        return NULL;
    }
    if (take->shape->place == HA_PLACE_DEVICE) {
        uintptr_t stream;
        int device = managed->tensor.device.id;
        if (ha_dl_work_stream(table, take->where, device, &stream) < 0 ||
            order_consumer(request, device, stream) < 0) {
            return NULL;
        }
    }
    struct ha_device_array *array = array_of(request->types, take->view, take->shape);
    if (array != NULL && set_stream(request, array) < 0) {
        Py_CLEAR(array);
    }
    return array;
}

static struct ha_device_array *
import_object(struct request *request)
{
    struct ha_shape shape;
    struct ha_view view;
    struct ha_device_array *array = NULL;
    ha_shape_init(&shape);
    ha_view_init(&view);
    struct ha_take take = {.types = request->types,
                           .where = &wheres[OBJECT],
                           .view = &view,
                           .shape = &shape};
    if (PyCapsule_CheckExact(request->object)) {
        array = import_capsule(request, &take, request->object);
    } else {
        const struct ha_dl_exchange *table = NULL;
        if (request->device == NULL && request->copy != Py_True) {
            table = ha_dl_exchange_of(request->types, request->object);
        }
        if (table != NULL) {
            array = import_exchange(request, &take, table);
        } else if (ask_device(request) == 0) {
            PyObject *capsule = ask_capsule(request);
            if (capsule != NULL) {
                array = import_capsule(request, &take, capsule);
                ha_dl_drop_capsule(request->types, capsule);
            }
        }
    }
    ha_view_release(&view);
    return array;
}

static PyObject *
from_dlpack(PyObject *module, PyObject *const *args, Py_ssize_t count,
            PyObject *kwnames)
{
    PyObject *bound[COUNT] = {NULL, Py_None, Py_None, Py_None};
    struct request request = {.types = ha_types_of(module)};
    struct ha_device_array *array = NULL;
    if (ha_array_arguments(wheres, COUNT, DEVICE, args, count, kwnames, bound) < 0) {
        return NULL;
    }
    if (bound[OBJECT] == NULL) {
        PyErr_SetString(PyExc_TypeError, "from_dlpack() lacks the argument 'obj'");
        return NULL;
    }
    request.object = bound[OBJECT];
    request.copy = bound[COPY];
    request.stream_object = bound[STREAM];
    request.has_stream = bound[STREAM] != Py_None;
    if (request.copy != Py_None && !PyBool_Check(request.copy)) {
        ha_refuse(&wheres[COPY], "True, False or None", request.copy);
        return NULL;
    }
    if (request.has_stream &&
        ha_stream_or_none_from(request.types, bound[STREAM], &wheres[STREAM],
                               &request.stream) < 0) {
        return NULL;
    }
    request.stream = ha_default_stream(request.stream);
    if (read_device(&request, bound[DEVICE]) == 0) {
        array = import_object(&request);
    }
    Py_XDECREF(request.device);
    if (array != NULL && request.copy == Py_True && !request.copied) {
        Py_SETREF(array, ha_array_copy(request.types, array, array->place));
    }
    return (PyObject *)array;
}

PyDoc_STRVAR(
    from_dlpack_doc,
    "from_dlpack($module, obj, /, *, device=None, copy=None, stream=None)\n--\n\n"
    "A DeviceArray over the memory of another package's array.\n\n"
    "Parameters\n----------\n"
    "obj : object\n    With __dlpack__, or an unused DLPack capsule.  C order.\n"
    "device : str, int, tuple or None\n"
    "    'cpu', the number of a HIP device or DLPack's (type, id), which the producer\n"
    "    is asked for; None = where the array is.\n"
    "copy : bool or None\n"
    "    True = always, False = never, None = where the producer has to.\n"
    "stream : stream or None\n"
    "    Work that comes later in this stream finds the array complete; None = the\n"
    "    default stream.\n\n"
    "Returns\n-------\n"
    "DeviceArray\n    Keeps the producer's memory; read-only where that is.\n\n"
    "Raises\n------\n"
    "BufferError\n"
    "    For memory that HIP can't reach, arrays with gaps, a capsule that was used\n"
    "    already or has another major version; the capsule is not consumed then.\n");

static PyMethodDef functions[] = {
    {"from_dlpack", (PyCFunction)(void (*)(void))from_dlpack,
     METH_FASTCALL | METH_KEYWORDS, from_dlpack_doc},
    {NULL, NULL, 0, NULL},
};

int
ha_dl_import_init(struct ha_types *types)
{
    return PyModule_AddFunctions(types->module, functions);
}
