/* SPDX-License-Identifier: MIT */
/* Device and managed memory goes out as kDLROCM (DLPack has no code for managed memory
 * of ROCm), pinned memory as kDLROCMHost, memory of the process as kDLCPU.  A consumer
 * that asks for kDLCPU gets the same memory where the processor sees it, after a wait,
 * and a copy otherwise. */
#include <Python.h>

#include "adapters/dlpack_export.h"

#include "adapters/allocation.h"
#include "adapters/array.h"
#include "adapters/array_arguments.h"
#include "adapters/array_memory.h"
#include "adapters/dlpack.h"
#include "adapters/format.h"
#include "adapters/interpreter.h"
#include "adapters/memory.h"
#include "adapters/message.h"
#include "adapters/pointer.h"
#include "adapters/saved_error.h"
#include "adapters/take.h"
#include "adapters/type.h"
#include "adapters/types.h"

/* One tensor that is out.  Its deleter may run without the GIL, so it is freed under
 * the GIL or, where the interpreter has ended, never. */
struct export
{
    PyObject *owner; /* owned; keeps the memory */
    union {
        struct ha_dl_legacy legacy;
        struct ha_dl_versioned versioned;
    } managed;
    int64_t sizes[]; /* shape, then strides */
};

/* ---- the end of a tensor ---- */

/* With the GIL. */
static void
export_free(struct export *export)
{
    PyObject *owner = export->owner;
    PyMem_Free(export);
    ha_release(owner);
}

static void
export_free_anywhere(struct export *export)
{
    if (ha_interpreter_over()) {
        return; /* the memory goes with the process */
    }
    PyGILState_STATE gil = PyGILState_Ensure();
    export_free(export);
    PyGILState_Release(gil);
}

static void
delete_legacy(struct ha_dl_legacy *managed)
{
    export_free_anywhere(managed->manager);
}

static void
delete_versioned(struct ha_dl_versioned *managed)
{
    export_free_anywhere(managed->manager);
}

/* The end of a capsule that was not consumed; it dies under the GIL.  Consumers that
 * only look at the tensor, and hold the capsule meanwhile, come this way too. */
static void
capsule_end(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, HA_DL_VERSIONED_NAME)) {
        struct ha_dl_versioned *managed =
            PyCapsule_GetPointer(capsule, HA_DL_VERSIONED_NAME);
        export_free(managed->manager);
    } else if (PyCapsule_IsValid(capsule, HA_DL_LEGACY_NAME)) {
        struct ha_dl_legacy *managed = PyCapsule_GetPointer(capsule, HA_DL_LEGACY_NAME);
        export_free(managed->manager);
    }
}

/* ---- the tensor ---- */

/* The device of an array, as DLPack says it: 0, or BufferError and -1. */
static int
device_of(struct ha_types *types, PyObject *self, const struct ha_device_array *array,
          enum ha_memory_place *place, struct ha_dl_device *device)
{
    int id;
    if (ha_pointer_is_gone(types, &array->base)) {
        return ha_raise_gone(types, PyExc_BufferError, self, "__dlpack__", NULL);
    }
    *place = ha_array_locate(types, array, &id);
    if (*place == HA_PLACE_UNKNOWN && ha_array_bytes(array) == 0) {
        bool on_device = PyObject_TypeCheck(self, types->device_array) != 0;
        *place = on_device ? HA_PLACE_DEVICE : HA_PLACE_HOST;
    }
    switch (*place) {
    case HA_PLACE_DEVICE:
    case HA_PLACE_MANAGED:
        device->type = HA_DL_ROCM;
        device->id = id < 0 ? 0 : id;
        return 0;
    case HA_PLACE_PINNED:
        device->type = HA_DL_ROCM_HOST;
        device->id = 0;
        return 0;
    case HA_PLACE_HOST:
        device->type = HA_DL_CPU;
        device->id = 0;
        return 0;
    default:
        PyErr_Format(PyExc_BufferError,
                     "__dlpack__: %p is no memory that HIP knows; it may have been "
                     "freed",
                     array->base.ptr);
        return -1;
    }
}

/* Writes the tensor of `array`; `sizes` has room for shape and strides. */
static int
fill_tensor(const struct ha_device_array *array, struct ha_dl_device device,
            int64_t *sizes, struct ha_dl_tensor *tensor)
{
    unsigned code, bits;
    if (!ha_format_to_dlpack(&array->format, &code, &bits)) {
        char text[HA_FORMAT_TEXT_CHARS];
        ha_format_typestr(&array->format, text);
        PyErr_Format(PyExc_BufferError, "__dlpack__: DLPack has no elements '%s'",
                     text);
        return -1;
    }
    tensor->data = ha_array_bytes(array) == 0 ? NULL : array->base.ptr;
    tensor->device = device;
    tensor->ndim = array->ndim;
    tensor->code = (uint8_t)code;
    tensor->bits = (uint8_t)bits;
    tensor->lanes = 1;
    tensor->byte_offset = 0;
    tensor->shape = sizes;
    tensor->strides = sizes + array->ndim;
    for (int i = 0; i < 2 * array->ndim; i++) {
        sizes[i] = array->shape[i];
    }
    return 0;
}

static struct export *
export_new(PyObject *self, const struct ha_device_array *array,
           struct ha_dl_device device, bool versioned, unsigned flags)
{
    size_t sizes = 2 * (size_t)array->ndim * sizeof(int64_t);
    struct export *export = PyMem_Malloc(sizeof *export + sizes);
    if (export == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    struct ha_dl_tensor *tensor =
        versioned ? &export->managed.versioned.tensor : &export->managed.legacy.tensor;
    if (fill_tensor(array, device, export->sizes, tensor) < 0 ||
        (export->owner = ha_pointer_keeper(self, &array->base)) == NULL) {
        PyMem_Free(export);
        return NULL;
    }
    if (versioned) {
        struct ha_dl_versioned *managed = &export->managed.versioned;
        managed->version.major = HA_DL_MAJOR;
        managed->version.minor = HA_DL_MINOR;
        managed->manager = export;
        managed->deleter = delete_versioned;
        managed->flags = flags | (array->base.readonly ? HA_DL_READ_ONLY : 0);
    } else {
        export->managed.legacy.manager = export;
        export->managed.legacy.deleter = delete_legacy;
    }
    return export;
}

int
ha_dl_export_plain(struct ha_types *types, PyObject *self, struct ha_dl_versioned **out)
{
    enum ha_memory_place place;
    struct ha_dl_device device;
    struct ha_device_array seen;
    struct export *export = NULL;
    if (ha_array_see(self, &seen) < 0) {
        return -1;
    }
    if (device_of(types, self, &seen, &place, &device) == 0) {
        export = export_new(self, &seen, device, true, 0);
    }
    ha_array_unsee(&seen);
    if (export == NULL) {
        return -1;
    }
    *out = &export->managed.versioned;
    return 0;
}

int
ha_dl_view_plain(struct ha_types *types, PyObject *self, struct ha_dl_tensor *out)
{
    enum ha_memory_place place;
    struct ha_dl_device device;
    struct ha_device_array seen;
    int64_t sizes[2 * HA_MAX_DIMS];
    int status = -1;
    if (ha_array_see(self, &seen) < 0) {
        return -1;
    }
    if (device_of(types, self, &seen, &place, &device) == 0) {
        status = fill_tensor(&seen, device, sizes, out);
    }
    ha_array_unsee(&seen);
    if (status == 0) {
        /* Nobody calls us when the consumer is through: sizes are those of the array.
         */
        out->shape = HA_READ(((struct ha_device_array *)self)->shape);
        out->strides = out->shape + out->ndim;
    }
    return status;
}

/* ---- __dlpack__ ---- */

enum { STREAM, MAX_VERSION, DL_DEVICE, COPY, COUNT };

static const char function_name[] = "__dlpack__";

static const struct ha_where wheres[COUNT] = {
    [STREAM] = {function_name, "stream"},
    [MAX_VERSION] = {function_name, "max_version"},
    [DL_DEVICE] = {function_name, "dl_device"},
    [COPY] = {function_name, "copy"},
};

/* A stream number as DLPack has it for ROCm: 1 and `out` filled, 0 for -1 (no order),
 * or -1 with an exception. */
static int
read_stream(PyObject *value, const struct ha_where *where, uintptr_t *out)
{
    *out = 0;
    if (value == Py_None) {
        return 1;
    }
    if (PyBool_Check(value) || !PyIndex_Check(value)) {
        return ha_refuse(where, "a stream number or None", value);
    }
    Py_ssize_t number = PyNumber_AsSsize_t(value, PyExc_OverflowError);
    if (number == -1) {
        return PyErr_Occurred() ? -1 : 0;
    }
    if (number < 0 || number == 1 || number == 2) {
        return ha_raise(PyExc_ValueError, where,
                        "must be None or 0 (default stream), -1 (no order) or a stream "
                        "handle; on ROCm %zd is none of them",
                        number);
    }
    *out = (uintptr_t)number;
    return 1;
}

/* Two ints from a tuple. */
static int
read_pair(PyObject *value, const struct ha_where *where, long pair[2])
{
    if (!PyTuple_Check(value) || PyTuple_GET_SIZE(value) != 2) {
        return ha_refuse(where, "a tuple of two ints or None", value);
    }
    for (int i = 0; i < 2; i++) {
        PyObject *item = PyTuple_GET_ITEM(value, i);
        if (!PyIndex_Check(item)) {
            return ha_refuse(where, "a tuple of two ints or None", item);
        }
        Py_ssize_t number = PyNumber_AsSsize_t(item, PyExc_OverflowError);
        if (number == -1 && PyErr_Occurred()) {
            return -1;
        }
        pair[i] = number;
    }
    return 0;
}

/* How one call of __dlpack__ is answered. */
struct answer {
    enum ha_memory_place place;
    struct ha_dl_device from, to;
    bool copy; /* a copy is made, in the place of `to` */
    bool versioned;
};

static int
plan_device(struct ha_types *types, PyObject *wanted, struct answer *answer)
{
    long pair[2];
    answer->to = answer->from;
    if (wanted == Py_None) {
        return 0;
    }
    if (read_pair(wanted, &wheres[DL_DEVICE], pair) < 0) {
        return -1;
    }
    if (pair[0] == answer->from.type && pair[1] == answer->from.id) {
        return 0;
    }
    bool pinned_as_device =
        pair[0] == HA_DL_ROCM && answer->place == HA_PLACE_PINNED && pair[1] >= 0;
    bool to_host = pair[0] == HA_DL_CPU && pair[1] == 0;
    if (!pinned_as_device && !to_host) {
        return ha_raise(PyExc_BufferError, &wheres[DL_DEVICE],
                        "is (%ld, %ld); memory of device (%d, %d) is given as that or "
                        "as (1, 0)",
                        pair[0], pair[1], (int)answer->from.type, (int)answer->from.id);
    }
    answer->to.type = (int32_t)pair[0];
    answer->to.id = (int32_t)pair[1];
    if (to_host && !ha_array_readable(types, answer->place)) {
        answer->copy = true;
    }
    return 0;
}

static int
plan_copy(PyObject *copy, struct answer *answer)
{
    if (copy == Py_None) {
        return 0;
    }
    int truth = PyObject_IsTrue(copy);
    if (truth < 0) {
        return -1;
    }
    if (!truth && answer->copy) {
        return ha_raise(PyExc_BufferError, &wheres[COPY],
                        "is False, but the processor sees this memory as a copy only");
    }
    answer->copy = truth != 0;
    return 0;
}

static int
plan_version(PyObject *version, const struct ha_device_array *array,
             struct answer *answer)
{
    long pair[2] = {0, 0};
    if (version != Py_None && read_pair(version, &wheres[MAX_VERSION], pair) < 0) {
        return -1;
    }
    answer->versioned = pair[0] >= 1;
    if (!answer->versioned && array->base.readonly && !answer->copy) {
        PyErr_SetString(PyExc_BufferError,
                        "__dlpack__: the memory is read-only, which only consumers of "
                        "DLPack 1.0 understand (max_version)");
        return -1;
    }
    return 0;
}

/* Waits, or lets the consumer's stream wait, for what fills the array. */
static int
put_in_order(struct ha_types *types, const struct ha_device_array *array,
             struct answer *answer, PyObject *stream)
{
    uintptr_t consumer = 0;
    if (answer->to.type == HA_DL_CPU) {
        if (stream != Py_None) {
            /* There are no streams on the host but -1, which asks for nothing. */
            int status = read_stream(stream, &wheres[STREAM], &consumer);
            if (status > 0) {
                status = ha_raise(PyExc_ValueError, &wheres[STREAM],
                                  "must be None for memory of the host");
            }
            return status;
        }
        return answer->place == HA_PLACE_HOST
                   ? 0
                   : ha_array_wait(types, array, answer->from.id);
    }
    int status = read_stream(stream, &wheres[STREAM], &consumer);
    if (status <= 0 || array->stream == NULL || types->memory == NULL) {
        return status < 0 ? -1 : 0;
    }
    if (answer->to.type == HA_DL_ROCM_HOST && stream == Py_None) {
        /* Readers of pinned memory that name no stream may be on the host. */
        return ha_array_wait(types, array, array->device);
    }
    if (ha_default_stream(array->stream_address) == consumer) {
        return 0;
    }
    return types->memory->order(answer->from.type == HA_DL_ROCM ? answer->from.id : -1,
                                ha_default_stream(array->stream_address), consumer);
}

static PyObject *
capsule_of(PyObject *self, const struct ha_device_array *array,
           const struct answer *answer, unsigned flags)
{
    struct export *export =
        export_new(self, array, answer->to, answer->versioned, flags);
    if (export == NULL) {
        return NULL;
    }
    PyObject *capsule =
        answer->versioned
            ? PyCapsule_New(&export->managed.versioned, HA_DL_VERSIONED_NAME,
                            capsule_end)
            : PyCapsule_New(&export->managed.legacy, HA_DL_LEGACY_NAME, capsule_end);
    if (capsule == NULL) {
        export_free(export);
    }
    return capsule;
}

static PyObject *
capsule_of_copy(struct ha_types *types, const struct ha_device_array *array,
                const struct answer *answer)
{
    enum ha_memory_place place =
        answer->to.type == HA_DL_CPU ? HA_PLACE_HOST : answer->place;
    struct ha_device_array *copy = ha_array_copy(types, array, place);
    if (copy == NULL) {
        return NULL;
    }
    PyObject *capsule = capsule_of((PyObject *)copy, copy, answer, HA_DL_COPIED);
    Py_DECREF(copy);
    return capsule;
}

static PyObject *
export_seen(PyObject *self, const struct ha_device_array *array, PyObject *const *bound)
{
    struct ha_types *types = ha_types_of_type(Py_TYPE(self));
    struct answer answer = {.copy = false};
    if (device_of(types, self, array, &answer.place, &answer.from) < 0 ||
        plan_device(types, bound[DL_DEVICE], &answer) < 0 ||
        plan_copy(bound[COPY], &answer) < 0 ||
        plan_version(bound[MAX_VERSION], array, &answer) < 0 ||
        put_in_order(types, array, &answer, bound[STREAM]) < 0) {
        return NULL;
    }
    return answer.copy ? capsule_of_copy(types, array, &answer)
                       : capsule_of(self, array, &answer, 0);
}

PyObject *
ha_dl_export(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *kwnames)
{
    PyObject *bound[COUNT] = {Py_None, Py_None, Py_None, Py_None};
    struct ha_device_array seen;
    if (ha_array_arguments(wheres, COUNT, STREAM, args, count, kwnames, bound) < 0 ||
        ha_array_see(self, &seen) < 0) {
        return NULL;
    }
    PyObject *used = seen.base.owner;
    struct ha_types *types = ha_types_of_type(Py_TYPE(self));
    bool uses =
        used != NULL && Py_TYPE(used) == types->allocation && ha_allocation_use(used);
    PyObject *capsule = export_seen(self, &seen, bound);
    if (uses) {
        ha_allocation_leave(used);
    }
    ha_array_unsee(&seen);
    return capsule;
}

PyObject *
ha_dl_device_tuple(PyObject *self, PyObject *unused)
{
    enum ha_memory_place place;
    struct ha_dl_device device;
    struct ha_device_array seen;
    (void)unused;
    if (ha_array_see(self, &seen) < 0) {
        return NULL;
    }
    int status =
        device_of(ha_types_of_type(Py_TYPE(self)), self, &seen, &place, &device);
    ha_array_unsee(&seen);
    if (status < 0) {
        return NULL;
    }
    return Py_BuildValue("(ii)", (int)device.type, (int)device.id);
}
