/* SPDX-License-Identifier: MIT */
/* DLPack, as a reader of addresses.
 *
 * The capsule is never consumed: it keeps its name and is held as the owner, so that
 * its own destructor calls the producer's deleter, once, when the last view of the
 * memory is gone. Layout of the structs: DLPack 1.x; only fields that every 1.x keeps
 * are read. */
#include <Python.h>

#include "adapters/object.h"

enum {
    DEVICE_CPU = 1,
    DEVICE_CUDA_HOST = 3,
    DEVICE_ROCM = 10,
    DEVICE_ROCM_HOST = 11,
    DEVICE_CUDA_MANAGED = 13,
};

#define FLAG_READ_ONLY 1u
#define MAJOR_VERSION 1u

struct dl_tensor {
    void *data;
    int32_t device_type;
    int32_t device_id;
    int32_t ndim;
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
    int64_t *shape;
    int64_t *strides; /* in elements, or NULL = C order */
    uint64_t byte_offset;
};

struct dl_managed {
    struct dl_tensor tensor;
    void *manager;
    void (*deleter)(struct dl_managed *);
};

struct dl_managed_versioned {
    uint32_t major;
    uint32_t minor;
    void *manager;
    void (*deleter)(struct dl_managed_versioned *);
    uint64_t flags;
    struct dl_tensor tensor;
};

_Static_assert(sizeof(int64_t) == sizeof(Py_ssize_t), "64-bit only");

/* Calls __dlpack__; producers from before 1.0 don't know the keyword. */
static PyObject *
get_capsule(struct ha_types *types, PyObject *method)
{
    PyObject *capsule =
        PyObject_Vectorcall(method, &types->dlpack_version, 0, types->dlpack_kwnames);
    if (capsule == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        capsule = PyObject_CallNoArgs(method);
    }
    return capsule;
}

static bool
device_is_ours(int32_t device)
{
    return device == DEVICE_CPU || device == DEVICE_CUDA_HOST ||
           device == DEVICE_ROCM || device == DEVICE_ROCM_HOST ||
           device == DEVICE_CUDA_MANAGED;
}

static int
check_shape(struct ha_take *take, const struct dl_tensor *tensor)
{
    if (tensor->ndim < 0 || tensor->ndim > HA_MAX_DIMS ||
        (tensor->ndim > 0 && tensor->shape == NULL)) {
        return ha_raise(PyExc_ValueError, take->where,
                        "has a DLPack tensor of %d dimensions without a shape",
                        (int)tensor->ndim);
    }
    for (int32_t i = 0; i < tensor->ndim; i++) {
        if (tensor->shape[i] < 0) {
            return ha_raise(PyExc_ValueError, take->where,
                            "has a DLPack tensor with a negative extent");
        }
    }
    return 0;
}

/* Bytes of an element: a sub-byte type is counted per element rounded up. */
static Py_ssize_t
element_bytes(const struct dl_tensor *tensor)
{
    return ((Py_ssize_t)tensor->bits * tensor->lanes + 7) / 8;
}

static int
check_layout(struct ha_take *take, const struct dl_tensor *tensor, Py_ssize_t *bytes)
{
    Py_ssize_t strides[HA_MAX_DIMS];
    Py_ssize_t itemsize = element_bytes(tensor);
    const Py_ssize_t *shape = (const Py_ssize_t *)tensor->shape;
    char order = take->shape != NULL && !take->shape->any_order ? 'C' : 'A';
    if (!ha_shape_bytes(tensor->ndim, shape, itemsize, bytes)) {
        return ha_raise(PyExc_ValueError, take->where,
                        "has a DLPack tensor whose shape is too large");
    }
    if (tensor->strides == NULL ||
        ha_is_contiguous(tensor->ndim, shape, (const Py_ssize_t *)tensor->strides, 1,
                         order)) {
        return 0;
    }
    for (int32_t i = 0; i < tensor->ndim; i++) {
        if (__builtin_mul_overflow(tensor->strides[i], itemsize, &strides[i])) {
            strides[i] = PY_SSIZE_T_MAX;
        }
    }
    return ha_raise_strides(take->where, order == 'C' ? "C-contiguous" : "contiguous",
                            tensor->ndim, shape, strides);
}

static int
take_tensor(struct ha_take *take, const struct dl_tensor *tensor, bool readonly)
{
    Py_ssize_t bytes;
    if (!device_is_ours(tensor->device_type)) {
        return ha_raise(PyExc_BufferError, take->where,
                        "must be memory that HIP can reach, not DLPack device type %d",
                        (int)tensor->device_type);
    }
    if (check_shape(take, tensor) < 0 || check_layout(take, tensor, &bytes) < 0) {
        return -1;
    }
    if (take->shape != NULL) {
        struct ha_shape *shape = take->shape;
        if (!ha_format_from_dlpack(tensor->code, tensor->bits, tensor->lanes,
                                   &shape->format)) {
            return ha_raise(PyExc_BufferError, take->where,
                            "has DLPack elements of %d bits", (int)tensor->bits);
        }
        shape->ndim = tensor->ndim;
        for (int32_t i = 0; i < tensor->ndim; i++) {
            shape->dims[i] = tensor->shape[i];
        }
        shape->host = tensor->device_type != DEVICE_ROCM;
    }
    take->view->ptr =
        (char *)tensor->data + (tensor->data == NULL ? 0 : tensor->byte_offset);
    take->view->size = bytes;
    take->view->readonly = readonly;
    return 1;
}

static int
take_capsule(struct ha_take *take, PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        const struct dl_managed_versioned *managed =
            PyCapsule_GetPointer(capsule, "dltensor_versioned");
        if (managed->major != MAJOR_VERSION) {
            return ha_raise(PyExc_BufferError, take->where,
                            "has a DLPack capsule of version %u.%u; 1.x is understood",
                            (unsigned)managed->major, (unsigned)managed->minor);
        }
        return take_tensor(take, &managed->tensor,
                           (managed->flags & FLAG_READ_ONLY) != 0);
    }
    if (PyCapsule_IsValid(capsule, "dltensor")) {
        const struct dl_managed *managed = PyCapsule_GetPointer(capsule, "dltensor");
        /* Read-only memory can't be exported this way, so it is writable. */
        return take_tensor(take, &managed->tensor, false);
    }
    return ha_raise(PyExc_BufferError, take->where,
                    "has a __dlpack__() that answers no unused DLPack capsule");
}

int
ha_take_dlpack(struct ha_take *take, PyObject *object)
{
    PyObject *method = NULL;
    int status = ha_get_attribute(object, take->types->str_dlpack, &method);
    if (status <= 0) {
        return status;
    }
    if (PyType_Check(object)) {
        Py_DECREF(method);
        return 0;
    }
    PyObject *capsule = get_capsule(take->types, method);
    Py_DECREF(method);
    if (capsule == NULL) {
        return -1;
    }
    status = take_capsule(take, capsule);
    if (status > 0) {
        take->view->owner = capsule; /* keeps the tensor; the producer may not */
    } else {
        ha_release(capsule);
    }
    return status;
}
