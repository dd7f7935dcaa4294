/* SPDX-License-Identifier: MIT */
/* The table lives as long as the process, so its functions find the module's state by
 * the module's name, or by the type of the object they are given. */
#include <Python.h>

#include "adapters/dlpack_exchange.h"

#include "adapters/array.h"
#include "adapters/array_memory.h"
#include "adapters/dlpack.h"
#include "adapters/dlpack_export.h"
#include "adapters/dlpack_import.h"
#include "adapters/format.h"
#include "adapters/memory.h"
#include "adapters/message.h"
#include "adapters/saved_error.h"
#include "adapters/strides.h"
#include "adapters/take.h"
#include "adapters/type.h"
#include "adapters/types.h"

static const struct ha_where made_where = {"DLPack exchange", "tensor"};

/* Of this interpreter: borrowed, or NULL with an exception. */
static struct ha_types *
current_types(void)
{
    PyObject *module = PyImport_ImportModule("hipadapt._core");
    if (module == NULL) {
        return NULL;
    }
    struct ha_types *types = ha_types_of(module);
    Py_DECREF(module); /* sys.modules keeps it */
    return types;
}

/* The array that a consumer gave; borrowed, or NULL with an exception. */
static PyObject *
array_given(PyObject *object, struct ha_types **types)
{
    if (!ha_array_check(object)) {
        PyErr_Format(PyExc_TypeError,
                     "DLPack exchange: must be an array of hipadapt, not '%.200s'",
                     Py_TYPE(object)->tp_name);
        return NULL;
    }
    *types = ha_types_of_type(Py_TYPE(object));
    return object;
}

static int
managed_from(void *object, struct ha_dl_versioned **out)
{
    struct ha_types *types;
    PyObject *array = array_given(object, &types);
    return array == NULL ? -1 : ha_dl_export_plain(types, array, out);
}

static int
tensor_from(void *object, struct ha_dl_tensor *out)
{
    struct ha_types *types;
    PyObject *array = array_given(object, &types);
    return array == NULL ? -1 : ha_dl_view_plain(types, array, out);
}

static int
managed_to(struct ha_dl_versioned *stolen, void **out)
{
    struct ha_types *types = current_types();
    if (types == NULL) {
        if (stolen->deleter != NULL) {
            stolen->deleter(stolen);
        }
        return -1;
    }
    PyObject *array = ha_dl_import_managed(types, &made_where, stolen);
    if (array == NULL) {
        return -1;
    }
    *out = array;
    return 0;
}

/* Calls here name their streams; there is no current one but the default stream. */
static int
work_stream(int32_t device_type, int32_t device_id, void **out)
{
    (void)device_type;
    (void)device_id;
    *out = NULL;
    return 0;
}

static int
place_of_prototype(const struct ha_dl_tensor *prototype, enum ha_memory_place *place)
{
    switch (prototype->device.type) {
    case HA_DL_CPU:
        *place = HA_PLACE_HOST;
        return 0;
    case HA_DL_ROCM:
        *place = HA_PLACE_DEVICE;
        return 0;
    case HA_DL_ROCM_HOST:
        *place = HA_PLACE_PINNED;
        return 0;
    default:
        PyErr_Format(PyExc_BufferError, "DLPack exchange: no memory of device type %d",
                     (int)prototype->device.type);
        return -1;
    }
}

/* With the GIL. */
static int
allocate_array(const struct ha_dl_tensor *prototype, struct ha_dl_versioned **out)
{
    struct ha_types *types = current_types();
    struct ha_format format;
    enum ha_memory_place place;
    Py_ssize_t bytes;
    if (types == NULL || place_of_prototype(prototype, &place) < 0) {
        return -1;
    }
    int ndim = (int)prototype->ndim;
    const Py_ssize_t *dims = (const Py_ssize_t *)prototype->shape;
    bool good = ndim >= 0 && ndim <= HA_MAX_DIMS && (ndim == 0 || dims != NULL) &&
                ha_format_from_dlpack(prototype->code, prototype->bits,
                                      prototype->lanes, &format);
    for (int i = 0; good && i < ndim; i++) {
        good = dims[i] >= 0;
    }
    if (!good || !ha_shape_bytes(ndim, dims, format.size, &bytes)) {
        PyErr_SetString(PyExc_ValueError,
                        "DLPack exchange: no array has this shape and type");
        return -1;
    }
    struct ha_device_array *array =
        ha_array_allocate(types, place, prototype->device.id, ndim, dims, &format);
    if (array == NULL) {
        return -1;
    }
    int status = ha_dl_export_plain(types, (PyObject *)array, out);
    Py_DECREF(array);
    return status;
}

/* Consumers know Python's own exceptions by name. */
static const char *
kind_of(PyObject *error)
{
    PyObject *const known[] = {PyExc_MemoryError, PyExc_BufferError, PyExc_ValueError,
                               PyExc_TypeError};
    for (size_t i = 0; error != NULL && i < sizeof known / sizeof known[0]; i++) {
        if (PyErr_GivenExceptionMatches(error, known[i])) {
            return ((PyTypeObject *)known[i])->tp_name;
        }
    }
    return "RuntimeError";
}

/* Tells the consumer what the pending exception says, which is taken away. */
static void
report(void *context, void (*fail)(void *, const char *, const char *))
{
    struct ha_saved_error error;
    ha_error_save(&error);
#if PY_VERSION_HEX >= 0x030C0000
    PyObject *value = error.exception;
#else
    PyErr_NormalizeException(&error.type, &error.value, &error.traceback);
    PyObject *value = error.value;
#endif
    PyObject *text = value == NULL ? NULL : PyObject_Str(value);
    const char *utf8 = text == NULL ? NULL : PyUnicode_AsUTF8(text);
    PyErr_Clear();
    if (fail != NULL) {
        fail(context, kind_of(value), utf8 == NULL ? "no array could be made" : utf8);
    }
    Py_XDECREF(text);
    ha_error_drop(&error);
}

static int
allocate(struct ha_dl_tensor *prototype, struct ha_dl_versioned **out, void *context,
         void (*fail)(void *context, const char *kind, const char *text))
{
    PyGILState_STATE gil = PyGILState_Ensure(); /* callers may be without it */
    struct ha_saved_error saved;
    ha_error_save(&saved);
    int status = allocate_array(prototype, out);
    if (status < 0) {
        report(context, fail);
    }
    if (PyErr_Occurred() == NULL) {
        ha_error_restore(&saved); /* else `fail` has raised for its caller */
    } else {
        ha_error_drop(&saved);
    }
    PyGILState_Release(gil);
    return status;
}

static struct ha_dl_exchange table = {
    .version = {HA_DL_MAJOR, HA_DL_MINOR},
    .previous = NULL,
    .allocate = allocate,
    .managed_from = managed_from,
    .managed_to = managed_to,
    .tensor_from = tensor_from,
    .work_stream = work_stream,
};

int
ha_dl_exchange_init(struct ha_types *types)
{
    PyObject *capsule = PyCapsule_New(&table, HA_DL_EXCHANGE_NAME, NULL);
    if (capsule == NULL) {
        return -1;
    }
    /* The types are immutable for Python, not for us, before anybody has seen them. */
    int status =
        PyDict_SetItem(types->nd_buffer->tp_dict, types->str_dlpack_exchange, capsule);
    Py_DECREF(capsule);
    if (status == 0) {
        PyType_Modified(types->nd_buffer);
    }
    return status;
}
