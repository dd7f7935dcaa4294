/* SPDX-License-Identifier: MIT */
/* A row does not consume a capsule that has a destructor: it keeps its name and is held
 * as the owner, so that its own destructor calls the producer's deleter, once, when the
 * last view of the memory is gone.  Without a destructor nothing would, so the tensor
 * is taken over. */
#include <Python.h>

#include "adapters/dlpack.h"

#include "adapters/format.h"
#include "adapters/memory.h"
#include "adapters/message.h"
#include "adapters/python_version.h"
#include "adapters/saved_error.h"
#include "adapters/strides.h"
#include "adapters/take.h"
#include "adapters/type.h"
#include "adapters/types.h"

/* ---- managed tensors that are ours now ---- */

struct keeper {
    PyObject_HEAD
    struct ha_dl_legacy *legacy;       /* owned, or NULL */
    struct ha_dl_versioned *versioned; /* owned, or NULL */
};

static void
call_deleter(struct ha_dl_legacy *legacy, struct ha_dl_versioned *versioned)
{
    if (legacy != NULL && legacy->deleter != NULL) {
        legacy->deleter(legacy);
    }
    if (versioned != NULL && versioned->deleter != NULL) {
        versioned->deleter(versioned);
    }
}

static void
keeper_dealloc(PyObject *self)
{
    struct keeper *keeper = (struct keeper *)self;
    PyTypeObject *type = Py_TYPE(self);
    struct ha_saved_error saved;
    ha_error_save(&saved); /* deleters may run anything */
    call_deleter(keeper->legacy, keeper->versioned);
    ha_error_restore(&saved);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyType_Slot keeper_slots[] = {
    {Py_tp_doc, (void *)"A tensor of another package, held."},
    {Py_tp_dealloc, keeper_dealloc},
    {0, NULL},
};

static PyType_Spec keeper_spec = {
    .name = "hipadapt.types._Tensor",
    .basicsize = sizeof(struct keeper),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = keeper_slots,
};

PyObject *
ha_dl_keeper(struct ha_types *types, struct ha_dl_legacy *legacy,
             struct ha_dl_versioned *versioned)
{
    struct keeper *keeper = PyObject_New(struct keeper, types->tensor);
    if (keeper == NULL) {
        struct ha_saved_error saved;
        ha_error_save(&saved);
        call_deleter(legacy, versioned);
        ha_error_restore(&saved);
        return NULL;
    }
    keeper->legacy = legacy;
    keeper->versioned = versioned;
    return (PyObject *)keeper;
}

void
ha_dl_keep(PyObject *empty, struct ha_dl_legacy *legacy,
           struct ha_dl_versioned *versioned)
{
    ((struct keeper *)empty)->legacy = legacy;
    ((struct keeper *)empty)->versioned = versioned;
}

/* ---- a tensor ---- */

static bool
device_is_ours(int32_t device)
{
    return device == HA_DL_CPU || device == HA_DL_CUDA_HOST || device == HA_DL_ROCM ||
           device == HA_DL_ROCM_HOST || device == HA_DL_CUDA_MANAGED;
}

static enum ha_memory_place
place_of(int32_t device)
{
    switch (device) {
    case HA_DL_CPU:
        return HA_PLACE_HOST;
    case HA_DL_CUDA_HOST:
    case HA_DL_ROCM_HOST:
        return HA_PLACE_PINNED;
    case HA_DL_CUDA_MANAGED:
        return HA_PLACE_MANAGED;
    default:
        return HA_PLACE_DEVICE;
    }
}

static int
check_shape(struct ha_take *take, const struct ha_dl_tensor *tensor)
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
element_bytes(const struct ha_dl_tensor *tensor)
{
    return ((Py_ssize_t)tensor->bits * tensor->lanes + 7) / 8;
}

static int
check_layout(struct ha_take *take, const struct ha_dl_tensor *tensor, Py_ssize_t *bytes)
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
fill_shape(struct ha_take *take, const struct ha_dl_tensor *tensor)
{
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
    shape->place = place_of(tensor->device.type);
    shape->device = (int)tensor->device.id;
    return 0;
}

int
ha_dl_take_tensor(struct ha_take *take, const struct ha_dl_tensor *tensor,
                  bool readonly)
{
    Py_ssize_t bytes;
    if (!device_is_ours(tensor->device.type)) {
        return ha_raise(PyExc_BufferError, take->where,
                        "must be memory that HIP can reach, not DLPack device type %d",
                        (int)tensor->device.type);
    }
    if (check_shape(take, tensor) < 0 || check_layout(take, tensor, &bytes) < 0) {
        return -1;
    }
    if (tensor->data == NULL && bytes > 0) {
        return ha_raise(PyExc_ValueError, take->where,
                        "has a DLPack tensor with address 0 for %zd bytes", bytes);
    }
    uintptr_t address = 0;
    if (tensor->data != NULL &&
        !ha_address_add(tensor->data, tensor->byte_offset, &address)) {
        return ha_raise(PyExc_OverflowError, take->where,
                        "has a DLPack tensor whose byte_offset is beyond the last "
                        "address");
    }
    if (ha_check_span(take->where, (void *)address, bytes) < 0 ||
        (take->shape != NULL && fill_shape(take, tensor) < 0)) {
        return -1;
    }
    take->view->ptr = (void *)address;
    take->view->size = bytes;
    take->view->readonly = readonly;
    return 1;
}

/* ---- a capsule ---- */

int
ha_dl_check_version(const struct ha_where *where, const struct ha_dl_versioned *managed)
{
    if (managed->version.major != HA_DL_MAJOR) {
        return ha_raise(PyExc_BufferError, where,
                        "has a DLPack tensor of version %u.%u; 1.x is understood",
                        (unsigned)managed->version.major,
                        (unsigned)managed->version.minor);
    }
    return 0;
}

int
ha_dl_open_capsule(const struct ha_where *where, PyObject *capsule,
                   struct ha_dl_legacy **legacy, struct ha_dl_versioned **versioned)
{
    *legacy = NULL;
    *versioned = NULL;
    if (PyCapsule_IsValid(capsule, HA_DL_VERSIONED_NAME)) {
        *versioned = PyCapsule_GetPointer(capsule, HA_DL_VERSIONED_NAME);
        return ha_dl_check_version(where, *versioned);
    }
    if (PyCapsule_IsValid(capsule, HA_DL_LEGACY_NAME)) {
        *legacy = PyCapsule_GetPointer(capsule, HA_DL_LEGACY_NAME);
        return 0;
    }
    if (PyCapsule_IsValid(capsule, HA_DL_USED_VERSIONED_NAME) ||
        PyCapsule_IsValid(capsule, HA_DL_USED_LEGACY_NAME)) {
        return ha_raise(PyExc_BufferError, where,
                        "has a DLPack capsule that was used already");
    }
    return ha_raise(PyExc_BufferError, where,
                    "has a __dlpack__() that answers no unused DLPack capsule");
}

/* What keeps the tensor of a capsule that __dlpack__ has made for us, which is stolen:
 * the capsule, or a keeper where the capsule's end would not call the deleter. */
static PyObject *
capsule_owner(struct ha_types *types, PyObject *stolen, struct ha_dl_legacy *legacy,
              struct ha_dl_versioned *versioned)
{
    bool has_deleter = (legacy != NULL && legacy->deleter != NULL) ||
                       (versioned != NULL && versioned->deleter != NULL);
    if (!has_deleter || PyCapsule_GetDestructor(stolen) != NULL) {
        return stolen;
    }
    PyCapsule_SetName(stolen, legacy != NULL ? HA_DL_USED_LEGACY_NAME
                                             : HA_DL_USED_VERSIONED_NAME);
    PyObject *keeper = ha_dl_keeper(types, legacy, versioned);
    ha_release(stolen);
    return keeper;
}

void
ha_dl_drop_capsule(struct ha_types *types, PyObject *stolen)
{
    struct ha_dl_legacy *legacy = NULL;
    struct ha_dl_versioned *versioned = NULL;
    if (PyCapsule_IsValid(stolen, HA_DL_VERSIONED_NAME)) {
        versioned = PyCapsule_GetPointer(stolen, HA_DL_VERSIONED_NAME);
    } else if (PyCapsule_IsValid(stolen, HA_DL_LEGACY_NAME)) {
        legacy = PyCapsule_GetPointer(stolen, HA_DL_LEGACY_NAME);
    }
    ha_release(capsule_owner(types, stolen, legacy, versioned));
}

/* The capsule is stolen. */
static int
take_capsule(struct ha_take *take, PyObject *stolen)
{
    struct ha_dl_legacy *legacy;
    struct ha_dl_versioned *versioned;
    if (ha_dl_open_capsule(take->where, stolen, &legacy, &versioned) < 0) {
        ha_dl_drop_capsule(take->types, stolen);
        return -1;
    }
    PyObject *owner = capsule_owner(take->types, stolen, legacy, versioned);
    if (owner == NULL) {
        return -1;
    }
    /* Read-only memory can't be exported as a legacy tensor, so that is writable. */
    int status = legacy != NULL
                     ? ha_dl_take_tensor(take, &legacy->tensor, false)
                     : ha_dl_take_tensor(take, &versioned->tensor,
                                         (versioned->flags & HA_DL_READ_ONLY) != 0);
    if (status > 0) {
        take->view->owner = owner; /* keeps the tensor; the producer may not */
    } else {
        ha_release(owner);
    }
    return status;
}

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
    return capsule == NULL ? -1 : take_capsule(take, capsule);
}

/* ---- the exchange table of a type ---- */

static bool
has_attribute(PyObject *object, PyObject *name)
{
    PyObject *found = ha_type_attribute(Py_TYPE(object), name);
    Py_XDECREF(found);
    return found != NULL;
}

/* 1 where the method of this name answers true, 0 where it does not or is absent. */
static int
is_flagged(PyObject *object, PyObject *name)
{
    if (!has_attribute(object, name)) {
        return 0;
    }
    PyObject *answer = PyObject_CallMethodNoArgs(object, name);
    int truth = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    return truth;
}

/* torch's table gives the memory of tensors whose values are not what is in memory
 * (conjugated and negated views), and of those that are recorded for gradients.  Its
 * __dlpack__ refuses them, and says how to go on. */
static int
is_lazy(struct ha_types *types, PyObject *object)
{
    PyObject *gradient = NULL;
    int status = is_flagged(object, types->str_is_neg);
    if (status == 0) {
        status = is_flagged(object, types->str_is_conj);
    }
    if (status == 0 && has_attribute(object, types->str_requires_grad)) {
        gradient = PyObject_GetAttr(object, types->str_requires_grad);
        status = gradient == NULL ? -1 : PyObject_IsTrue(gradient);
        Py_XDECREF(gradient);
    }
    if (status < 0) {
        PyErr_Clear(); /* __dlpack__ will say it */
    }
    return status != 0;
}

const struct ha_dl_exchange *
ha_dl_table_of(struct ha_types *types, PyObject *object)
{
    /* The type's own method cache makes this the look-up per type that the protocol
     * has in mind. */
    PyObject *capsule = ha_type_attribute(Py_TYPE(object), types->str_dlpack_exchange);
    const struct ha_dl_exchange *table = NULL;
    if (capsule != NULL && PyCapsule_IsValid(capsule, HA_DL_EXCHANGE_NAME)) {
        table = PyCapsule_GetPointer(capsule, HA_DL_EXCHANGE_NAME);
    }
    Py_XDECREF(capsule); /* what it points to stays */
    while (table != NULL && table->version.major > HA_DL_MAJOR) {
        table = table->previous;
    }
    if (table == NULL || table->version.major != HA_DL_MAJOR ||
        table->managed_from == NULL || table->work_stream == NULL) {
        return NULL;
    }
    return table;
}

const struct ha_dl_exchange *
ha_dl_exchange_of(struct ha_types *types, PyObject *object)
{
    const struct ha_dl_exchange *table = ha_dl_table_of(types, object);
    return table == NULL || is_lazy(types, object) ? NULL : table;
}

PyObject *
ha_dl_ask_exchange(struct ha_types *types, const struct ha_dl_exchange *exchange,
                   const struct ha_where *where, PyObject *object,
                   struct ha_dl_versioned **managed)
{
    *managed = NULL;
    int status = exchange->managed_from(object, managed);
    if (status != 0 || *managed == NULL) {
        if (PyErr_Occurred() == NULL) {
            ha_raise(PyExc_BufferError, where, "is refused by the DLPack table of '%s'",
                     Py_TYPE(object)->tp_name);
        }
        return NULL;
    }
    PyObject *keeper = ha_dl_keeper(types, NULL, *managed);
    if (keeper != NULL && ha_dl_check_version(where, *managed) < 0) {
        ha_release(keeper);
        keeper = NULL;
    }
    return keeper;
}

int
ha_dl_work_stream(const struct ha_dl_exchange *exchange, const struct ha_where *where,
                  int device, uintptr_t *out)
{
    void *stream = NULL;
    if (exchange->work_stream(HA_DL_ROCM, device, &stream) != 0) {
        if (PyErr_Occurred() == NULL) {
            ha_raise(PyExc_BufferError, where,
                     "has a DLPack table that does not say its current stream");
        }
        return -1;
    }
    *out = (uintptr_t)stream;
    return 0;
}

int
ha_take_exchange(struct ha_take *take, PyObject *object)
{
    const struct ha_dl_exchange *table = ha_dl_exchange_of(take->types, object);
    if (table == NULL) {
        return 0;
    }
    struct ha_dl_versioned *managed;
    PyObject *keeper =
        ha_dl_ask_exchange(take->types, table, take->where, object, &managed);
    if (keeper == NULL) {
        return -1;
    }
    int status = ha_dl_take_tensor(take, &managed->tensor,
                                   (managed->flags & HA_DL_READ_ONLY) != 0);
    uintptr_t stream;
    if (status > 0 && take->shape != NULL &&
        managed->tensor.device.type == HA_DL_ROCM) {
        /* What the producer has in flight is in its current stream. */
        status = ha_dl_work_stream(table, take->where, managed->tensor.device.id,
                                   &stream) < 0
                     ? -1
                     : 1;
        if (status > 0) {
            take->shape->stream = PyLong_FromSize_t(stream == 0 ? 1 : stream);
            status = take->shape->stream == NULL ? -1 : 1;
        }
    }
    if (status > 0) {
        take->view->owner = keeper;
    } else {
        ha_release(keeper);
    }
    return status;
}

int
ha_dl_init(struct ha_types *types)
{
    return ha_type_make(types, &keeper_spec, NULL, false, &types->tensor);
}
