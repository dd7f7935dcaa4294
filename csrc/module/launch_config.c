/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "module/launch_config.h"

#include <stddef.h>
#include <structmember.h>

#include "adapters/handle.h"
#include "adapters/launch.h"
#include "adapters/launch_data.h"
#include "adapters/message.h"
#include "adapters/python_version.h"
#include "adapters/record_from.h"
#include "adapters/view.h"
#include "api/call.h"
#include "api/generated/tables.h"
#include "api/pending.h"
#include "api/provider.h"
#include "module/kernel_arguments.h"
#include "module/thread_kept.h"
#include "module/verbose.h"

#define SMALL_BYTES 512

struct config {
    PyObject_HEAD
    vectorcallfunc call;
    struct ha_kernel *kernel; /* owned */
    PyObject *stream;         /* owned; NULL: the current one */
    unsigned grid[3], block[3], shared;
};

/* ---- launch ---- */

/* The stream object of a launch; borrowed, or NULL for the default stream. */
static int
current_stream(struct ha_kernel_state *state, PyObject **owned)
{
    PyObject *frame = NULL;
    *owned = NULL;
    if (state->current == NULL) { /* the module is on its way out */
        return 0;
    }
    if (PyContextVar_Get(state->current, NULL, &frame) < 0) {
        return -1;
    }
    if (frame != NULL && PyTuple_Check(frame) && PyTuple_GET_SIZE(frame) > 0) {
        *owned = Py_NewRef(PyTuple_GET_ITEM(frame, 0));
    }
    Py_XDECREF(frame);
    return 0;
}

static int
stream_address(struct ha_kernel *kernel, PyObject *stream, hipStream_t *address)
{
    struct ha_where where = {ha_kernel_name(kernel), "stream"};
    struct ha_view view;
    if ((PyObject *)Py_TYPE(stream) == HA_READ(kernel->state->stream_class)) {
        PyObject *handle = PyObject_GetAttr(stream, kernel->state->str_handle);
        if (handle == NULL) {
            return -1;
        }
        if (handle == Py_None) {
            Py_DECREF(handle);
            PyErr_Format(PyExc_ValueError, "%s: this stream is closed",
                         ha_kernel_name(kernel));
            return -1;
        }
        *address = PyLong_AsVoidPtr(handle);
        Py_DECREF(handle);
        return *address == NULL && PyErr_Occurred() ? -1 : 0;
    }
    if (ha_handle_from(&kernel->api->types, stream, &where, HA_HANDLE_ihipStream_t,
                       &view) < 0) {
        return -1;
    }
    *address = view.ptr;
    ha_view_release(&view);
    return 0;
}

/* HIP has refused the launch: the package raises what fits. */
static void
raise_failure(struct config *config, hipError_t status)
{
    PyObject *module = PyImport_ImportModule("hipadapt._objects.kernel");
    PyObject *result = NULL;
    if (module != NULL) {
        result = PyObject_CallMethod(module, "launch_failed", "Oi", (PyObject *)config,
                                     (int)status);
    }
    if (result != NULL) {
        PyErr_Format(PyExc_RuntimeError, "%s: the launch failed with status %d",
                     ha_kernel_name(config->kernel), (int)status);
    }
    Py_XDECREF(result);
    Py_XDECREF(module);
}

/* Launches with what `extra` says; keeps the owners of memory. */
static int
submit(struct config *config, PyObject *stream, void **extra,
       struct ha_launch_arguments *launch)
{
    struct ha_kernel *kernel = config->kernel;
    struct ha_api *api = kernel->api;
    hipFunction_t function = HA_READ(kernel->function);
    hipStream_t address = NULL;
    if (stream != NULL && stream_address(kernel, stream, &address) < 0) {
        return -1;
    }
    int ready = HA_READY(hipModuleLaunchKernel);
    if (ready < 0) {
        return -1;
    }
    if (ha_pending_any(&api->pending)) {
        ha_pending_reap(api, true);
        function = HA_READ(kernel->function);
    }
    if (function == NULL) {
        PyErr_Format(PyExc_ValueError, "%s: the module of this kernel is closed",
                     ha_kernel_name(kernel));
        return -1;
    }
    hipError_t status = hipErrorNotSupported;
    if (ready) {
        const unsigned *grid = config->grid, *block = config->block;
        PyThreadState *thread = PyEval_SaveThread();
        status = ha_calls.hipModuleLaunchKernel(function, grid[0], grid[1], grid[2],
                                                block[0], block[1], block[2],
                                                config->shared, address, NULL, extra);
        PyEval_RestoreThread(thread);
    }
    if (status != hipSuccess) {
        if (!PyErr_Occurred()) {
            raise_failure(config, status);
        }
        return -1;
    }
    if (launch->owners == NULL) {
        return 0;
    }
    PyObject *held = launch->owners;
    launch->owners = NULL;
    return ha_pending_add(api, address, held);
}

/* With a signature. */
static int
launch_checked(struct config *config, PyObject *const *args, Py_ssize_t count,
               PyObject *stream)
{
    struct ha_kernel *kernel = config->kernel;
    _Alignas(16) unsigned char small[SMALL_BYTES];
    struct ha_packing pack;
    size_t bytes = kernel->bytes;
    int status = -1;
    pack.kernel = kernel;
    pack.data = small;
    pack.named = false;
    ha_launch_init(&pack.launch);
    if (bytes > sizeof small && (pack.data = PyMem_Malloc(bytes)) == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    if (ha_kernel_pack(&pack, args, count) == 0) {
        void *extra[HA_EXTRA_COUNT];
        ha_extra_fill(extra, pack.data, &bytes);
        status = submit(config, stream, count > 0 ? extra : NULL, &pack.launch);
    }
    if (pack.data != small) {
        PyMem_Free(pack.data);
    }
    ha_launch_release(&pack.launch);
    return status;
}

/* Without: each argument has to have a type of its own. */
static int
launch_unchecked(struct config *config, PyObject *const *args, Py_ssize_t count,
                 PyObject *stream)
{
    struct ha_where where = {ha_kernel_name(config->kernel), "args"};
    struct ha_launch_arguments launch;
    int status = -1;
    PyObject *items = PyTuple_New(count);
    if (items == NULL) {
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyTuple_SET_ITEM(items, i, Py_NewRef(args[i]));
    }
    if (ha_extra_from(&config->kernel->api->types, items, &where, &launch) == 0) {
        status = submit(config, stream, count > 0 ? launch.value : NULL, &launch);
        ha_launch_release(&launch);
    }
    Py_DECREF(items);
    return status;
}

static PyObject *
config_call(PyObject *self, PyObject *const *args, size_t flags, PyObject *names)
{
    struct config *config = (struct config *)self;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    PyObject *current = NULL;
    if (names != NULL && PyTuple_GET_SIZE(names) > 0) {
        return PyErr_Format(PyExc_TypeError, "%s: takes no keyword arguments",
                            ha_kernel_name(config->kernel));
    }
    PyObject *stream = config->stream;
    if (stream == NULL) {
        if (current_stream(config->kernel->state, &current) < 0) {
            return NULL;
        }
        stream = current;
    }
    bool told = ha_verbose_wants_arguments();
    if (told) {
        ha_verbose_note(&config->kernel->api->types, args, count);
    }
    int status = config->kernel->count >= 0
                     ? launch_checked(config, args, count, stream)
                     : launch_unchecked(config, args, count, stream);
    Py_XDECREF(current);
    if (told) {
        ha_verbose_noted();
    }
    if (status < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* ---- type ---- */

static int
read_extents(struct ha_api *api, PyObject *sequence, const struct ha_where *where,
             unsigned *extent)
{
    Py_ssize_t count = PySequence_Fast_GET_SIZE(sequence);
    if (count < 1 || count > 3) {
        PyErr_Format(PyExc_TypeError,
                     "%s: argument '%s' must have 1 to 3 extents, not %zd",
                     where->function, where->argument, count);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count && i < PySequence_Fast_GET_SIZE(sequence); i++) {
        PyObject *item = Py_NewRef(PySequence_Fast_GET_ITEM(sequence, i));
        int status = ha_arg_uint(&api->types, item, where, &extent[i]);
        Py_DECREF(item);
        if (status < 0) {
            return -1;
        }
    }
    return 0;
}

static int
read_extent(struct ha_api *api, PyObject *object, const struct ha_where *where,
            unsigned *extent)
{
    extent[1] = extent[2] = 1;
    if (PyLong_CheckExact(object)) {
        return ha_arg_uint(&api->types, object, where, &extent[0]);
    }
    if (PyTuple_Check(object) || PyList_Check(object)) {
        PyObject *held = ha_sequence_hold(object);
        int status = held == NULL ? -1 : read_extents(api, held, where, extent);
        Py_XDECREF(held);
        return status;
    }
    if (PyObject_TypeCheck(object, api->types.record)) {
        struct ha_view view;
        if (ha_record_from(&api->types, object, where, HA_RECORD_dim3, HA_NOT_NULL,
                           &view) < 0) {
            return -1;
        }
        const dim3 *dim = view.ptr;
        extent[0] = dim->x;
        extent[1] = dim->y;
        extent[2] = dim->z;
        ha_view_release(&view);
        return 0;
    }
    return ha_arg_uint(&api->types, object, where, &extent[0]);
}

/* ---- life ---- */

static void
config_free(PyObject *self)
{
    Py_CLEAR(((struct config *)self)->kernel);
    PyObject_GC_Del(self);
}

/* A configuration of this kernel, with nothing set, or NULL with an exception. */
static struct config *
config_make(PyTypeObject *type, struct ha_kernel *kernel)
{
#ifdef Py_GIL_DISABLED
    struct config *kept = (struct config *)ha_thread_keep(NULL, config_free);

    if (kept != NULL && kept->kernel == kernel) {
        kept->shared = 0;
        (void)PyObject_Init((PyObject *)kept, type);
        PyObject_GC_Track(kept);
        return kept;
    }
    if (kept != NULL) {
        config_free((PyObject *)kept);
    }
#endif
    struct config *config = (struct config *)type->tp_alloc(type, 0);

    if (config != NULL) {
        config->call = config_call;
        config->kernel = (struct ha_kernel *)Py_NewRef(kernel);
    }
    return config;
}

/* Threads that launch another one's kernel would take turns to count references to it,
 * at each kernel[...]: so each of them keeps the last of its configurations. */
static void
config_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    PyObject_GC_UnTrack(self);
    Py_CLEAR(((struct config *)self)->stream);
#ifdef Py_GIL_DISABLED
    if (!ha_is_own((PyObject *)((struct config *)self)->kernel)) {
        self = ha_thread_keep(self, config_free);
    }
#endif
    if (self != NULL) {
        config_free(self);
    }
    Py_DECREF(type);
}

PyObject *
ha_launch_config_new(PyObject *self, PyObject *key)
{
    struct ha_kernel *kernel = (struct ha_kernel *)self;
    const char *name = ha_kernel_name(kernel);
    struct ha_where grid = {name, "grid"}, block = {name, "block"};
    struct ha_where shared = {name, "shared"};
    Py_ssize_t count = PyTuple_Check(key) ? PyTuple_GET_SIZE(key) : 0;
    if (count < 2 || count > 4) {
        return PyErr_Format(PyExc_TypeError,
                            "%s: launch as kernel[grid, block, shared, stream](...); "
                            "shared and stream may be left out",
                            name);
    }
    PyTypeObject *type = kernel->state->config;
    if (type == NULL) {
        return PyErr_Format(PyExc_RuntimeError, "%s: the interpreter is ending", name);
    }
    struct config *config = config_make(type, kernel);
    if (config == NULL) {
        return NULL;
    }
    if (read_extent(kernel->api, PyTuple_GET_ITEM(key, 0), &grid, config->grid) < 0 ||
        read_extent(kernel->api, PyTuple_GET_ITEM(key, 1), &block, config->block) < 0 ||
        (count > 2 && ha_arg_uint(&kernel->api->types, PyTuple_GET_ITEM(key, 2),
                                  &shared, &config->shared) < 0)) {
        Py_DECREF(config);
        return NULL;
    }
    if (count > 3 && PyTuple_GET_ITEM(key, 3) != Py_None) {
        config->stream = Py_NewRef(PyTuple_GET_ITEM(key, 3));
    }
    return (PyObject *)config;
}

static int
config_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((struct config *)self)->kernel);
    Py_VISIT(((struct config *)self)->stream);
    return 0;
}

/* The kernel stays until the end: a call may be running. */
static int
config_clear(PyObject *self)
{
    Py_CLEAR(((struct config *)self)->stream);
    return 0;
}

static PyObject *
extent_tuple(const unsigned *extent)
{
    return Py_BuildValue("(III)", extent[0], extent[1], extent[2]);
}

static PyObject *
config_grid(PyObject *self, void *Py_UNUSED(closure))
{
    return extent_tuple(((struct config *)self)->grid);
}

static PyObject *
config_block(PyObject *self, void *Py_UNUSED(closure))
{
    return extent_tuple(((struct config *)self)->block);
}

static PyObject *
config_repr(PyObject *self)
{
    struct config *config = (struct config *)self;
    const unsigned *grid = config->grid, *block = config->block;
    PyObject *stream = config->stream == NULL ? PyUnicode_FromString("current")
                                              : PyObject_Repr(config->stream);
    if (stream == NULL) {
        return NULL;
    }
    PyObject *text = PyUnicode_FromFormat(
        "<LaunchConfig of %R: grid (%u, %u, %u), block (%u, %u, %u), shared %u, "
        "stream %U>",
        config->kernel->name, grid[0], grid[1], grid[2], block[0], block[1], block[2],
        config->shared, stream);
    Py_DECREF(stream);
    return text;
}

static PyMemberDef config_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(struct config, call), READONLY, NULL},
    {"kernel", T_OBJECT_EX, offsetof(struct config, kernel), READONLY,
     PyDoc_STR("The kernel.")},
    {"shared", T_UINT, offsetof(struct config, shared), READONLY,
     PyDoc_STR("Bytes of dynamic shared memory a block.")},
    {"stream", T_OBJECT, offsetof(struct config, stream), READONLY,
     PyDoc_STR("The stream; None: the current one at the time of the call.")},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef config_getset[] = {
    {"grid", config_grid, NULL, PyDoc_STR("Blocks in x, y and z."), NULL},
    {"block", config_block, NULL, PyDoc_STR("Threads a block in x, y and z."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(config_doc,
             "What kernel[grid, block, shared, stream] gives: call it with the "
             "arguments.");

static PyType_Slot config_slots[] = {
    {Py_tp_doc, (void *)config_doc},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_dealloc, config_dealloc},
    {Py_tp_traverse, config_traverse},
    {Py_tp_clear, config_clear},
    {Py_tp_repr, config_repr},
    {Py_tp_members, config_members},
    {Py_tp_getset, config_getset},
    {0, NULL},
};

PyType_Spec ha_launch_config_spec = {
    .name = "hipadapt._core.LaunchConfig",
    .basicsize = sizeof(struct config),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
             Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = config_slots,
};
