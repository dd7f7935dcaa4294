/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "module/kernel.h"

#include <math.h>
#include <stddef.h>
#include <string.h>
#include <structmember.h>

#include "adapters/launch.h"
#include "adapters/object.h"
#include "api/call.h"
#include "api/generated/tables.h"
#include "api/pending.h"
#include "api/provider.h"
#include "module/state.h"

/* Markers of the `extra` array, as the HIP headers define them. */
#define LAUNCH_BUFFER_POINTER ((void *)1)
#define LAUNCH_BUFFER_SIZE ((void *)2)
#define LAUNCH_END ((void *)3)

#define SMALL_BYTES 512
#define ARGUMENT_COUNT_MAX 4096
#define ARGUMENT_BYTES_MAX (1u << 20)
#define MESSAGE_BYTES 96

/* What an argument is; the letters are those of the constructor's signature. */
enum slot_kind {
    SLOT_ANY = '?', /* only the size is known */
    SLOT_POINTER = 'p',
    SLOT_RECORD = 'r',
    SLOT_INTEGER = 'n', /* signed or not */
    SLOT_SIGNED = 'i',
    SLOT_UNSIGNED = 'u',
    SLOT_FLOAT = 'f',
    SLOT_BOOL = 'b',
};

struct slot {
    uint32_t offset, size;
    enum slot_kind kind;
    /* Class of the last number that was of the right kind; borrowed, static classes
     * only. */
    const PyTypeObject *fits;
};

struct kernel {
    PyObject_HEAD
    hipFunction_t function;        /* NULL once its module is gone */
    struct ha_kernel_state *state; /* borrowed, as long as the type lives */
    struct ha_api *api;            /* borrowed likewise */
    PyObject *name;                /* owned str */
    PyObject *owner;               /* owned; keeps the function loaded */
    PyObject *weakrefs;
    struct slot *slots; /* owned (PyMem) */
    Py_ssize_t count;   /* of slots, -1 unknown */
    uint32_t bytes;     /* of packed arguments */
};

struct config {
    PyObject_HEAD
    vectorcallfunc call;
    struct kernel *kernel; /* owned */
    PyObject *stream;      /* owned; NULL: the current one */
    unsigned grid[3], block[3], shared;
};

static const char *
name_of(const struct kernel *kernel)
{
    const char *name = PyUnicode_AsUTF8(kernel->name); /* made by the constructor */
    return name != NULL ? name : "?";
}

/* ---- arguments
 * ------------------------------------------------------------------------ */

/* Where the arguments of one launch are gathered. */
struct packing {
    struct kernel *kernel;
    unsigned char *data;     /* packed by the signature */
    struct ha_launch launch; /* values that are converted generally; owners */
    bool named;
    struct ha_entry entry; /* for messages, once `named` */
};

static void
slot_text(const struct slot *slot, char *text, size_t size)
{
    const char *what = "a value";
    switch (slot->kind) {
    case SLOT_POINTER:
        what = "an address";
        break;
    case SLOT_RECORD:
        what = "a struct";
        break;
    case SLOT_INTEGER:
    case SLOT_SIGNED:
    case SLOT_UNSIGNED:
        what = "an integer";
        break;
    case SLOT_FLOAT:
        what = "a floating point number";
        break;
    case SLOT_BOOL:
        what = "a bool";
        break;
    case SLOT_ANY:
        break;
    }
    snprintf(text, size, "%s of %u byte%s", what, slot->size,
             slot->size == 1 ? "" : "s");
}

/* TypeError: what argument number `index` must be; answers -1. */
static int
refuse(const struct packing *pack, Py_ssize_t index, PyObject *object, size_t bytes)
{
    char wanted[MESSAGE_BYTES], got[MESSAGE_BYTES] = "";
    slot_text(&pack->kernel->slots[index], wanted, sizeof wanted);
    if (bytes > 0) {
        snprintf(got, sizeof got, " of %zu byte%s", bytes, bytes == 1 ? "" : "s");
    }
    PyErr_Format(PyExc_TypeError, "%s: argument args[%zd] must be %s, not '%.200s'%s",
                 name_of(pack->kernel), index, wanted, Py_TYPE(object)->tp_name, got);
    return -1;
}

static int
refuse_range(const struct packing *pack, Py_ssize_t index, PyObject *object)
{
    char wanted[MESSAGE_BYTES];
    slot_text(&pack->kernel->slots[index], wanted, sizeof wanted);
    PyErr_Format(PyExc_OverflowError,
                 "%s: argument args[%zd] is %.200R, which does not fit %s",
                 name_of(pack->kernel), index, object, wanted);
    return -1;
}

static inline void
store(struct packing *pack, const struct slot *slot, const void *value)
{
    memcpy(pack->data + slot->offset, value, slot->size);
}

static int
put_double(struct packing *pack, Py_ssize_t index, PyObject *object, double value)
{
    const struct slot *slot = &pack->kernel->slots[index];
    if (slot->size == 8) {
        store(pack, slot, &value);
        return 0;
    }
    if (slot->size == 4) {
        float narrow = (float)value;
        if (isinf(narrow) && !isinf(value)) {
            return refuse_range(pack, index, object);
        }
        store(pack, slot, &narrow);
        return 0;
    }
    if (slot->size == 2 && slot->kind == SLOT_FLOAT) {
        if (PyFloat_Pack2(value, (char *)pack->data + slot->offset, 1) < 0) {
            PyErr_Clear();
            return refuse_range(pack, index, object);
        }
        return 0;
    }
    return refuse(pack, index, object, 0);
}

/* An int that is no machine word fits nowhere but in 8 bytes without sign. */
static int
put_large(struct packing *pack, Py_ssize_t index, PyObject *object)
{
    const struct slot *slot = &pack->kernel->slots[index];
    unsigned long long number = PyLong_AsUnsignedLongLong(object);
    if (number == (unsigned long long)-1 && PyErr_Occurred()) {
        PyErr_Clear();
        return refuse_range(pack, index, object);
    }
    if (slot->size != 8 || slot->kind == SLOT_SIGNED) {
        return refuse_range(pack, index, object);
    }
    store(pack, slot, &number);
    return 0;
}

static int
put_integer(struct packing *pack, Py_ssize_t index, PyObject *object)
{
    const struct slot *slot = &pack->kernel->slots[index];
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
    unsigned bits = slot->size * 8;
    if (number == -1 && overflow == 0 && PyErr_Occurred()) {
        return -1;
    }
    if (slot->kind == SLOT_FLOAT) {
        double value = PyLong_AsDouble(object);
        if (value == -1.0 && PyErr_Occurred()) {
            PyErr_Clear();
            return refuse_range(pack, index, object);
        }
        return put_double(pack, index, object, value);
    }
    if (slot->kind == SLOT_RECORD ||
        (slot->size != 4 && slot->size != 8 && slot->size != 2 && slot->size != 1)) {
        return refuse(pack, index, object, 0);
    }
    if (overflow != 0) {
        return put_large(pack, index, object);
    }
    long long least = slot->kind == SLOT_UNSIGNED || slot->kind == SLOT_POINTER ||
                              slot->kind == SLOT_BOOL
                          ? 0
                          : (bits == 64 ? LLONG_MIN : -(1LL << (bits - 1)));
    long long most = bits == 64 ? LLONG_MAX : (1LL << bits) - 1;
    if (slot->kind == SLOT_SIGNED && bits < 64) {
        most = (1LL << (bits - 1)) - 1;
    } else if (slot->kind == SLOT_BOOL) {
        most = 1;
    }
    if (number < least || number > most) {
        return refuse_range(pack, index, object);
    }
    store(pack, slot, &number); /* little-endian */
    return 0;
}

static inline bool
takes_address(const struct slot *slot)
{
    return slot->size == 8 && (slot->kind == SLOT_POINTER || slot->kind == SLOT_ANY);
}

static int
put_array(struct packing *pack, Py_ssize_t index, PyObject *object)
{
    const struct slot *slot = &pack->kernel->slots[index];
    struct ha_pointer *array = (struct ha_pointer *)object;
    if (!takes_address(slot)) {
        return refuse(pack, index, object, sizeof array->ptr);
    }
    store(pack, slot, &array->ptr);
    if (array->owner == NULL ||
        ha_allocation_waits(&pack->kernel->api->types, array->owner)) {
        return 0;
    }
    return ha_launch_keep(&pack->launch, array->owner);
}

/* Letter of the number that a ctypes or numpy scalar is: 'f', 'i', 'b', or 0 for none.
 */
static char
number_class(struct ha_types *types, PyObject *object)
{
    enum ha_ctypes_class class;
    if (ha_numpy_scalar_class(object) != HA_NOT_NUMPY) {
        const char *name = strrchr(Py_TYPE(object)->tp_name, '.');
        name = name == NULL ? Py_TYPE(object)->tp_name : name + 1;
        switch (name[0]) {
        case 'f':
        case 'l': /* longdouble */
            return name[0] == 'f' || strncmp(name, "longd", 5) == 0 ? 'f' : 'i';
        case 'i':
        case 'u':
        case 's': /* short, str_ */
            return strncmp(name, "str", 3) == 0 ? 0 : 'i';
        case 'b':
            return strncmp(name, "bool", 4) == 0 ? 'b' : 0;
        default:
            return 0;
        }
    }
    if (ha_ctypes_class(types, object, &class) < 0) {
        PyErr_Clear();
        return 0;
    }
    if (class != HA_CTYPES_SIMPLE) {
        return 0;
    }
    PyObject *code = PyObject_GetAttrString(object, "_type_");
    const char *letter =
        code != NULL && PyUnicode_Check(code) ? PyUnicode_AsUTF8(code) : NULL;
    char found = letter != NULL ? letter[0] : '\0';
    Py_XDECREF(code);
    PyErr_Clear();
    if (found == 'f' || found == 'd' || found == 'g') {
        return 'f';
    }
    return found == '?' ? 'b' : 'i';
}

/* Whether a number of that class has the right bits for the slot. */
static bool
class_fits(const struct slot *slot, char class)
{
    switch (slot->kind) {
    case SLOT_POINTER:
        return class != 'f' && class != 'b';
    case SLOT_INTEGER:
    case SLOT_SIGNED:
    case SLOT_UNSIGNED:
        return class != 'f';
    case SLOT_FLOAT:
        return class != 'i' && class != 'b';
    case SLOT_BOOL:
        return class != 'f';
    case SLOT_RECORD:
    case SLOT_ANY:
        break;
    }
    return true;
}

/* All other objects, by the rules of `extra`: what comes out has to fit. */
static int
put_object(struct packing *pack, Py_ssize_t index, PyObject *object)
{
    struct slot *slot = &pack->kernel->slots[index];
    struct ha_types *types = &pack->kernel->api->types;
    struct ha_where where = {name_of(pack->kernel), "args"};
    struct ha_launch_value value;
    if (!pack->named) {
        ha_entry_init(&pack->entry, &where);
        pack->named = true;
    }
    ha_entry_set(&pack->entry, index);
    pack->launch.size = 0;
    if (ha_launch_add(types, &pack->launch, object, &pack->entry.where, &value) < 0) {
        return -1;
    }
    if (value.size != slot->size || (value.address && !takes_address(slot))) {
        return refuse(pack, index, object, value.size);
    }
    if (!value.address && slot->fits != Py_TYPE(object) && slot->kind != SLOT_ANY &&
        slot->kind != SLOT_RECORD) {
        char class = number_class(types, object);
        if (class != 0 && !class_fits(slot, class)) {
            return refuse(pack, index, object, value.size);
        }
        if ((Py_TYPE(object)->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0) {
            slot->fits = Py_TYPE(object);
        }
    }
    memcpy(pack->data + slot->offset, value.place, slot->size);
    return 0;
}

static int
put_bool(struct packing *pack, Py_ssize_t index, PyObject *object)
{
    const struct slot *slot = &pack->kernel->slots[index];
    if (slot->kind == SLOT_POINTER || slot->kind == SLOT_FLOAT) {
        return refuse(pack, index, object, 0);
    }
    return put_integer(pack, index, object);
}

static int
put_float(struct packing *pack, Py_ssize_t index, PyObject *object)
{
    const struct slot *slot = &pack->kernel->slots[index];
    if (slot->kind != SLOT_FLOAT && slot->kind != SLOT_ANY) {
        return refuse(pack, index, object, 0);
    }
    return put_double(pack, index, object, PyFloat_AS_DOUBLE(object));
}

static int
pack_argument(struct packing *pack, Py_ssize_t index, PyObject *object)
{
    const struct ha_types *types = &pack->kernel->api->types;
    if (Py_TYPE(object) == types->device_array) {
        return put_array(pack, index, object);
    }
    if (PyLong_CheckExact(object)) {
        return put_integer(pack, index, object);
    }
    if (PyFloat_CheckExact(object)) {
        return put_float(pack, index, object);
    }
    if (PyBool_Check(object)) {
        return put_bool(pack, index, object);
    }
    return put_object(pack, index, object);
}

static int
pack_arguments(struct packing *pack, PyObject *const *args, Py_ssize_t count)
{
    const struct kernel *kernel = pack->kernel;
    if (count != kernel->count) {
        PyErr_Format(PyExc_TypeError, "%s: takes %zd argument%s (%u bytes), not %zd",
                     name_of(kernel), kernel->count, kernel->count == 1 ? "" : "s",
                     kernel->bytes, count);
        return -1;
    }
    memset(pack->data, 0, kernel->bytes);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (pack_argument(pack, i, args[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- launch
 * --------------------------------------------------------------------------- */

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
stream_address(struct kernel *kernel, PyObject *stream, hipStream_t *address)
{
    struct ha_where where = {name_of(kernel), "stream"};
    struct ha_view view;
    if ((PyObject *)Py_TYPE(stream) == kernel->state->stream_class) {
        PyObject *handle = PyObject_GetAttr(stream, kernel->state->str_handle);
        if (handle == NULL) {
            return -1;
        }
        if (handle == Py_None) {
            Py_DECREF(handle);
            PyErr_Format(PyExc_ValueError, "%s: this stream is closed",
                         name_of(kernel));
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
    PyObject *module = PyImport_ImportModule("hipadapt._kernel");
    PyObject *result = NULL;
    if (module != NULL) {
        result = PyObject_CallMethod(module, "launch_failed", "Oi", (PyObject *)config,
                                     (int)status);
    }
    if (result != NULL) {
        PyErr_Format(PyExc_RuntimeError, "%s: the launch failed with status %d",
                     name_of(config->kernel), (int)status);
    }
    Py_XDECREF(result);
    Py_XDECREF(module);
}

/* Launches with what `extra` says; keeps the owners of memory. */
static int
submit(struct config *config, PyObject *stream, void **extra, struct ha_launch *launch)
{
    struct kernel *kernel = config->kernel;
    struct ha_api *api = kernel->api;
    hipFunction_t function = kernel->function;
    hipStream_t address = NULL;
    if (stream != NULL && stream_address(kernel, stream, &address) < 0) {
        return -1;
    }
    int ready = HA_READY(hipModuleLaunchKernel);
    if (ready < 0) {
        return -1;
    }
    if (api->pending.count > 0) {
        ha_pending_reap(api, true);
        function = kernel->function;
    }
    if (function == NULL) {
        PyErr_Format(PyExc_ValueError, "%s: the module of this kernel is closed",
                     name_of(kernel));
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
    struct kernel *kernel = config->kernel;
    _Alignas(16) unsigned char small[SMALL_BYTES];
    struct packing pack;
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
    if (pack_arguments(&pack, args, count) == 0) {
        void *extra[] = {LAUNCH_BUFFER_POINTER, pack.data, LAUNCH_BUFFER_SIZE, &bytes,
                         LAUNCH_END};
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
    struct ha_where where = {name_of(config->kernel), "args"};
    struct ha_launch launch;
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
                            name_of(config->kernel));
    }
    PyObject *stream = config->stream;
    if (stream == NULL) {
        if (current_stream(config->kernel->state, &current) < 0) {
            return NULL;
        }
        stream = current;
    }
    int status = config->kernel->count >= 0
                     ? launch_checked(config, args, count, stream)
                     : launch_unchecked(config, args, count, stream);
    Py_XDECREF(current);
    if (status < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* ---- launch configurations
 * ------------------------------------------------------------ */

static int
read_extent(struct ha_api *api, PyObject *object, const struct ha_where *where,
            unsigned *extent)
{
    extent[1] = extent[2] = 1;
    if (PyLong_CheckExact(object)) {
        return ha_arg_uint(&api->types, object, where, &extent[0]);
    }
    if (PyTuple_Check(object) || PyList_Check(object)) {
        Py_ssize_t count = PySequence_Fast_GET_SIZE(object);
        if (count < 1 || count > 3) {
            PyErr_Format(PyExc_TypeError,
                         "%s: argument '%s' must have 1 to 3 extents, not %zd",
                         where->function, where->argument, count);
            return -1;
        }
        for (Py_ssize_t i = 0; i < count && i < PySequence_Fast_GET_SIZE(object); i++) {
            PyObject *item = Py_NewRef(PySequence_Fast_GET_ITEM(object, i));
            int status = ha_arg_uint(&api->types, item, where, &extent[i]);
            Py_DECREF(item);
            if (status < 0) {
                return -1;
            }
        }
        return 0;
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

static PyObject *
kernel_subscript(PyObject *self, PyObject *key)
{
    struct kernel *kernel = (struct kernel *)self;
    const char *name = name_of(kernel);
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
    struct config *config = (struct config *)type->tp_alloc(type, 0);
    if (config == NULL) {
        return NULL;
    }
    config->call = config_call;
    config->kernel = (struct kernel *)Py_NewRef(self);
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

static void
config_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_CLEAR(((struct config *)self)->stream);
    Py_CLEAR(((struct config *)self)->kernel);
    type->tp_free(self);
    Py_DECREF(type);
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

static PyType_Spec config_spec = {
    .name = "hipadapt._core.LaunchConfig",
    .basicsize = sizeof(struct config),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
             Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = config_slots,
};

/* ---- kernels
 * -------------------------------------------------------------------------- */

/* (offset, size, letter) of one argument. */
static int
read_slot(PyObject *item, struct slot *slot)
{
    int letter;
    if (!PyTuple_Check(item)) {
        PyErr_Format(PyExc_TypeError, "Kernel: a tuple, not '%.200s'",
                     Py_TYPE(item)->tp_name);
        return -1;
    }
    if (!PyArg_ParseTuple(item, "IIC:Kernel", &slot->offset, &slot->size, &letter)) {
        return -1;
    }
    if (letter > 127 || strchr("?prniufb", letter) == NULL || letter == 0 ||
        slot->size == 0 || slot->offset > ARGUMENT_BYTES_MAX ||
        slot->size > ARGUMENT_BYTES_MAX) {
        PyErr_SetString(PyExc_ValueError, "Kernel: that is no argument of a kernel");
        return -1;
    }
    slot->kind = (enum slot_kind)letter;
    slot->fits = NULL;
    if ((slot->kind == SLOT_POINTER && slot->size != 8) ||
        (slot->kind == SLOT_BOOL && slot->size != 1)) {
        slot->kind = SLOT_ANY;
    }
    return 0;
}

static int
read_signature(struct kernel *kernel, PyObject *signature)
{
    Py_ssize_t count = PyTuple_GET_SIZE(signature);
    if (count > ARGUMENT_COUNT_MAX) {
        PyErr_SetString(PyExc_ValueError, "Kernel: too many arguments");
        return -1;
    }
    kernel->slots = PyMem_New(struct slot, count > 0 ? count : 1);
    if (kernel->slots == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        struct slot *slot = &kernel->slots[i];
        if (read_slot(PyTuple_GET_ITEM(signature, i), slot) < 0) {
            return -1;
        }
        if (slot->offset + slot->size > kernel->bytes) {
            kernel->bytes = slot->offset + slot->size;
        }
    }
    kernel->count = count;
    return 0;
}

static PyObject *
kernel_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"function", "name", "signature", "owner", NULL};
    PyObject *function, *name, *signature, *owner = Py_None;
    struct ha_types *types = ha_types_of_type(type);
    struct ha_where where = {"Kernel", "function"};
    struct ha_view view;
    if (types == NULL ||
        !PyArg_ParseTupleAndKeywords(args, keywords, "OUO|O:Kernel", names, &function,
                                     &name, &signature, &owner)) {
        return NULL;
    }
    if (signature != Py_None && !PyTuple_Check(signature)) {
        return PyErr_Format(PyExc_TypeError,
                            "Kernel: argument 'signature' must be a tuple or None, not "
                            "'%.200s'",
                            Py_TYPE(signature)->tp_name);
    }
    if (PyUnicode_AsUTF8(name) == NULL ||
        ha_handle_from(types, function, &where, HA_HANDLE_ihipModuleSymbol_t, &view) <
            0) {
        return NULL;
    }
    struct module_state *state = (struct module_state *)(void *)types;
    struct kernel *self = (struct kernel *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->state = &state->kernel;
        self->api = &state->api;
        self->function = view.ptr;
        self->name = Py_NewRef(name);
        self->owner = Py_NewRef(owner);
        self->count = -1;
        if (signature != Py_None && read_signature(self, signature) < 0) {
            Py_CLEAR(self);
        }
    }
    ha_view_release(&view);
    return (PyObject *)self;
}

static int
kernel_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((struct kernel *)self)->owner);
    return 0;
}

static int
kernel_clear(PyObject *self)
{
    /* What is not kept any more must not be launched. */
    ((struct kernel *)self)->function = NULL;
    Py_CLEAR(((struct kernel *)self)->owner);
    return 0;
}

static void
kernel_dealloc(PyObject *self)
{
    struct kernel *kernel = (struct kernel *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (kernel->weakrefs != NULL) {
        PyObject_ClearWeakRefs(self);
    }
    PyMem_Free(kernel->slots);
    Py_CLEAR(kernel->owner);
    Py_CLEAR(kernel->name);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *
kernel_retire(PyObject *self, PyObject *Py_UNUSED(none))
{
    ((struct kernel *)self)->function = NULL;
    Py_RETURN_NONE;
}

static PyObject *
kernel_function(PyObject *self, void *Py_UNUSED(closure))
{
    struct kernel *kernel = (struct kernel *)self;
    if (kernel->function == NULL) {
        return PyErr_Format(PyExc_ValueError, "%s: the module of this kernel is closed",
                            name_of(kernel));
    }
    return ha_handle_new(&kernel->api->types, HA_HANDLE_ihipModuleSymbol_t,
                         kernel->function, self);
}

static PyMethodDef kernel_methods[] = {
    {"_retire", kernel_retire, METH_NOARGS,
     PyDoc_STR("_retire($self, /)\n--\n\nThe function is gone: calls are refused.")},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef kernel_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(struct kernel, weakrefs), READONLY,
     NULL},
    {"name", T_OBJECT_EX, offsetof(struct kernel, name), READONLY,
     PyDoc_STR("Name of the kernel in its module.")},
    {"module", T_OBJECT, offsetof(struct kernel, owner), READONLY,
     PyDoc_STR("The module that the kernel is in.")},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef kernel_getset[] = {
    {"function", kernel_function, NULL,
     PyDoc_STR("The kernel as a hipFunction_t, for hipadapt.hip; it keeps the kernel."),
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(kernel_doc,
             "Kernel(function, name, signature, owner=None)\n--\n\n"
             "A function of a loaded module.  signature: (offset, bytes, letter) of "
             "each\nargument, or None where it is not known.");

static PyType_Slot kernel_slots[] = {
    {Py_tp_doc, (void *)kernel_doc},     {Py_tp_new, kernel_new},
    {Py_tp_dealloc, kernel_dealloc},     {Py_tp_traverse, kernel_traverse},
    {Py_tp_clear, kernel_clear},         {Py_tp_methods, kernel_methods},
    {Py_tp_members, kernel_members},     {Py_tp_getset, kernel_getset},
    {Py_mp_subscript, kernel_subscript}, {0, NULL},
};

static PyType_Spec kernel_spec = {
    .name = "hipadapt._core.Kernel",
    .basicsize = sizeof(struct kernel),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = kernel_slots,
};

/* ---- what the provider knows
 * ---------------------------------------------------------- */

/* hipadaptKernelParam of the CPU device (cpu/runtime.h); others don't have it. */
typedef hipError_t (*param_call)(hipFunction_t, unsigned, size_t *, size_t *, int *);

PyObject *
ha_kernel_parameters(PyObject *module, PyObject *function)
{
    struct ha_where where = {"kernel_parameters", "function"};
    struct ha_view view;
    PyObject *list = NULL, *result = NULL;
    hipError_t status = hipSuccess;
    if (ha_provider_get() == NULL ||
        ha_handle_from(ha_types_of(module), function, &where,
                       HA_HANDLE_ihipModuleSymbol_t, &view) < 0) {
        return NULL;
    }
    param_call ask = (param_call)ha_provider_symbol("hipadaptKernelParam");
    if (ask == NULL || (list = PyList_New(0)) == NULL) {
        ha_view_release(&view);
        return list == NULL && PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    }
    for (unsigned index = 0; index < ARGUMENT_COUNT_MAX; index++) {
        size_t offset, size;
        int kind;
        status = ask(view.ptr, index, &offset, &size, &kind);
        if (status != hipSuccess) {
            break;
        }
        PyObject *item =
            Py_BuildValue("(nni)", (Py_ssize_t)offset, (Py_ssize_t)size, kind);
        if (item == NULL || PyList_Append(list, item) < 0) {
            Py_XDECREF(item);
            goto done;
        }
        Py_DECREF(item);
    }
    result = status == hipErrorInvalidValue ? PyList_AsTuple(list) : Py_NewRef(Py_None);
done:
    Py_DECREF(list);
    ha_view_release(&view);
    return result;
}

/* ---- module
 * --------------------------------------------------------------------------- */

int
ha_kernel_init(PyObject *module, struct ha_kernel_state *state)
{
    state->str_handle = PyUnicode_InternFromString("_handle");
    state->current = PyContextVar_New("hipadapt_current_stream", Py_None);
    state->config =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &config_spec, NULL);
    state->kernel =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &kernel_spec, NULL);
    if (state->str_handle == NULL || state->current == NULL || state->config == NULL ||
        state->kernel == NULL ||
        PyModule_AddObjectRef(module, "current_stream_frame", state->current) < 0 ||
        PyModule_AddObjectRef(module, "LaunchConfig", (PyObject *)state->config) < 0) {
        return -1;
    }
    return PyModule_AddObjectRef(module, "Kernel", (PyObject *)state->kernel);
}

int
ha_kernel_state_traverse(struct ha_kernel_state *state, visitproc visit, void *arg)
{
    Py_VISIT(state->kernel);
    Py_VISIT(state->config);
    Py_VISIT(state->current);
    Py_VISIT(state->stream_class);
    return 0;
}

void
ha_kernel_state_clear(struct ha_kernel_state *state)
{
    Py_CLEAR(state->kernel);
    Py_CLEAR(state->config);
    Py_CLEAR(state->current);
    Py_CLEAR(state->stream_class);
    Py_CLEAR(state->str_handle);
}
