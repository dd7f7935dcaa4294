/* SPDX-License-Identifier: MIT */
/* Kernel arguments.
 *
 *     extra         every entry by value, packed with C's alignment; what is memory to
 * us (arrays, buffers, Pointers) is passed as its address kernelParams  one address a
 * value: ctypes objects, numpy scalars, records, device arrays and handles are copied,
 * and the copy's address is given; host memory (numpy arrays, ListOf*, Pointer, int) is
 * taken to hold the value itself */
#include <Python.h>

#include "adapters/launch.h"

#include <string.h>

#include "adapters/object.h"

/* Markers of the `extra` array, as the HIP headers define them. */
#define LAUNCH_BUFFER_POINTER ((void *)1)
#define LAUNCH_BUFFER_SIZE ((void *)2)
#define LAUNCH_END ((void *)3)

#define MAX_ALIGNMENT 16

void
ha_launch_init(struct ha_launch *launch)
{
    launch->value = NULL;
    launch->data = launch->small;
    launch->size = 0;
    launch->capacity = sizeof launch->small;
    launch->count = -1;
    launch->slot_count = 0;
    launch->slots = launch->small_slots;
    launch->owners = NULL;
    ha_view_init(&launch->view);
}

void
ha_launch_release(struct ha_launch *launch)
{
    if (launch->data != launch->small) {
        PyMem_Free(launch->data);
        launch->data = launch->small;
    }
    if (launch->slots != launch->small_slots) {
        PyMem_Free(launch->slots);
        launch->slots = launch->small_slots;
    }
    launch->value = NULL;
    launch->size = 0;
    Py_CLEAR(launch->owners);
    ha_view_release(&launch->view);
}

PyObject *
ha_launch_hold(struct ha_types *types, struct ha_launch *launch)
{
    if (launch->count < 0) {
        return ha_view_hold(types, &launch->view);
    }
    PyObject *owners = launch->owners == NULL ? Py_NewRef(Py_None) : launch->owners;
    launch->owners = NULL;
    return owners;
}

/* ---- memory
 * ------------------------------------------------------------------------------ */

static int
grow(struct ha_launch *launch, size_t wanted)
{
    size_t capacity = launch->capacity * 2 > wanted ? launch->capacity * 2 : wanted;
    unsigned char *data = PyMem_Malloc(capacity); /* 16-byte aligned */
    if (data == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    unsigned char *old = launch->data;
    memcpy(data, old, launch->size);
    for (Py_ssize_t i = 0; i < launch->slot_count; i++) {
        unsigned char *slot = launch->slots[i];
        if (slot >= old && slot < old + launch->size) {
            launch->slots[i] = data + (slot - old);
        }
    }
    if (old != launch->small) {
        PyMem_Free(old);
    }
    launch->data = data;
    launch->capacity = capacity;
    return 0;
}

/* Appends a value at its alignment; gaps are zero.  NULL or its place. */
static unsigned char *
put(struct ha_launch *launch, const void *value, size_t size, size_t alignment)
{
    size_t offset = (launch->size + alignment - 1) & ~(alignment - 1);
    if (size > SIZE_MAX / 4 || offset > SIZE_MAX / 4) {
        PyErr_NoMemory();
        return NULL;
    }
    if (offset + size > launch->capacity && grow(launch, offset + size) < 0) {
        return NULL;
    }
    memset(launch->data + launch->size, 0, offset - launch->size);
    memcpy(launch->data + offset, value, size);
    launch->size = offset + size;
    return launch->data + offset;
}

static unsigned char *
put_address(struct ha_launch *launch, void *address)
{
    return put(launch, &address, sizeof address, sizeof address);
}

/* Moves what keeps the view's memory into the owners. */
static int
keep_view(struct ha_types *types, struct ha_launch *launch, struct ha_view *view)
{
    if (!view->has_buffer && view->owner == NULL) {
        return 0;
    }
    if (launch->owners == NULL && (launch->owners = PyList_New(0)) == NULL) {
        return -1;
    }
    PyObject *owner = ha_view_hold(types, view);
    if (owner == NULL) {
        return -1;
    }
    int status = PyList_Append(launch->owners, owner);
    Py_DECREF(owner);
    return status;
}

/* ---- alignment
 * --------------------------------------------------------------------------- */

static size_t
alignment_of_size(size_t size)
{
    size_t alignment = 1;
    while (alignment < size && alignment < MAX_ALIGNMENT) {
        alignment *= 2;
    }
    return alignment;
}

/* A power of two from an int attribute or call; -1 with an exception. */
static Py_ssize_t
alignment_from(PyObject *number)
{
    Py_ssize_t alignment = number == NULL ? -1 : PyLong_AsSsize_t(number);
    Py_XDECREF(number);
    if (alignment <= 0 || (alignment & (alignment - 1)) != 0 || alignment > 4096) {
        if (!PyErr_Occurred()) {
            PyErr_Format(PyExc_ValueError, "%zd is no alignment", alignment);
        }
        return -1;
    }
    return alignment;
}

static Py_ssize_t dtype_alignment(PyObject *dtype, int depth);

/* Alignment that C gives a struct with these members; 1 where their places are not
 * those of C (a packed struct). */
static Py_ssize_t
fields_alignment(PyObject *fields, Py_ssize_t size, int depth)
{
    Py_ssize_t alignment = 1;
    Py_ssize_t packed = 0;
    PyObject *values = PyMapping_Values(fields);
    if (values == NULL) {
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(values); i++) {
        PyObject *field = PyList_GET_ITEM(values, i);
        if (!PyTuple_Check(field) || PyTuple_GET_SIZE(field) < 2) {
            PyErr_SetString(PyExc_TypeError, "dtype.fields holds no tuples");
            alignment = -1;
            break;
        }
        Py_ssize_t member = dtype_alignment(PyTuple_GET_ITEM(field, 0), depth + 1);
        Py_ssize_t offset = PyLong_AsSsize_t(PyTuple_GET_ITEM(field, 1));
        if (member < 0 || (offset < 0 && PyErr_Occurred())) {
            alignment = -1;
            break;
        }
        packed |= offset % member;
        alignment = member > alignment ? member : alignment;
    }
    Py_DECREF(values);
    return alignment > 0 && (packed != 0 || size % alignment != 0) ? 1 : alignment;
}

/* numpy keeps a struct's C alignment only with align=True; so it is worked out here. */
static Py_ssize_t
dtype_alignment(PyObject *dtype, int depth)
{
    PyObject *fields = NULL;
    PyObject *base = NULL;
    PyObject *number = NULL;
    Py_ssize_t alignment = -1;
    if (depth > 32) {
        PyErr_SetString(PyExc_RecursionError, "dtype is nested too deeply");
        return -1;
    }
    fields = PyObject_GetAttrString(dtype, "fields");
    base = PyObject_GetAttrString(dtype, "base");
    if (fields == NULL || base == NULL) {
        goto done;
    }
    if (fields != Py_None) {
        number = PyObject_GetAttrString(dtype, "itemsize");
        Py_ssize_t size = number == NULL ? -1 : PyLong_AsSsize_t(number);
        alignment = size < 0 ? -1 : fields_alignment(fields, size, depth);
    } else if (base != dtype) {
        alignment = dtype_alignment(base, depth + 1); /* an array member */
    } else {
        alignment = alignment_from(PyObject_GetAttrString(dtype, "alignment"));
    }
done:
    Py_XDECREF(number);
    Py_XDECREF(fields);
    Py_XDECREF(base);
    return alignment;
}

/* ---- values
 * ------------------------------------------------------------------------------ */

/* Copies the object's bytes; alignment 0 = that of a number of this size. */
static unsigned char *
put_buffer(struct ha_launch *launch, PyObject *object, Py_ssize_t alignment)
{
    Py_buffer buffer;
    if (PyObject_GetBuffer(object, &buffer, PyBUF_SIMPLE) < 0) {
        return NULL;
    }
    unsigned char *place =
        put(launch, buffer.buf, (size_t)buffer.len,
            alignment == 0 ? alignment_of_size((size_t)buffer.len) : (size_t)alignment);
    PyBuffer_Release(&buffer);
    return place;
}

/* The usual numpy scalars, which convert faster as numbers than as buffers. */
static const struct {
    const char *name; /* after "numpy." */
    enum ha_kind kind;
} numpy_kinds[] = {
    {"float32", HA_F32}, {"float64", HA_F64}, {"int32", HA_I32}, {"int64", HA_I64},
    {"uint32", HA_U32},  {"uint64", HA_U64},  {"int16", HA_I16}, {"uint16", HA_U16},
    {"int8", HA_I8},     {"uint8", HA_U8},
};

/* 1 placed, 0 not one of them, -1. */
static int
put_numpy_number(struct ha_types *types, struct ha_launch *launch, PyObject *object,
                 const struct ha_where *where, unsigned char **place)
{
    const char *name = Py_TYPE(object)->tp_name; /* "numpy.x": the class was checked */
    uint64_t number;
    for (size_t i = 0; i < sizeof numpy_kinds / sizeof numpy_kinds[0]; i++) {
        if (strncmp(name, "numpy.", 6) != 0 ||
            strcmp(name + 6, numpy_kinds[i].name) != 0) {
            continue;
        }
        enum ha_kind kind = numpy_kinds[i].kind;
        if (ha_number_from(types, object, where, kind, &number) < 0) {
            return -1;
        }
        *place = put(launch, &number, ha_kind_size(kind), ha_kind_size(kind));
        return *place == NULL ? -1 : 1;
    }
    return 0;
}

static unsigned char *
put_numpy_scalar(struct ha_launch *launch, PyObject *object, enum ha_numpy_class class)
{
    if (class != HA_NUMPY_VOID) {
        return put_buffer(launch, object, 0);
    }
    PyObject *dtype = PyObject_GetAttrString(object, "dtype");
    PyObject *fields = dtype == NULL ? NULL : PyObject_GetAttrString(dtype, "fields");
    Py_ssize_t alignment = -1;
    if (fields != NULL) {
        alignment = fields == Py_None ? 0 : dtype_alignment(dtype, 0);
    }
    Py_XDECREF(fields);
    Py_XDECREF(dtype);
    return alignment < 0 ? NULL : put_buffer(launch, object, alignment);
}

/* A ctypes object by value: 1 placed, 0 not for here (arrays), -1. */
static int
put_ctypes(struct ha_types *types, struct ha_launch *launch, PyObject *object,
           unsigned char **place)
{
    enum ha_ctypes_class class;
    Py_ssize_t alignment = 0;
    if (Py_TYPE(Py_TYPE(object)) == &PyType_Type) {
        return 0;
    }
    if (ha_ctypes_class(types, object, &class) < 0) {
        return -1;
    }
    if (class == HA_NOT_CTYPES || class == HA_CTYPES_ARRAY) {
        return 0;
    }
    if (class == HA_CTYPES_AGGREGATE) {
        alignment = alignment_from(PyObject_CallOneArg(types->c_alignment, object));
        if (alignment < 0) {
            return -1;
        }
    }
    if (class == HA_CTYPES_ADDRESS || class == HA_CTYPES_FUNCTION) {
        /* What is pointed to has to outlive an asynchronous launch. */
        struct ha_view view;
        ha_view_init(&view);
        view.owner = Py_NewRef(object);
        int status = keep_view(types, launch, &view);
        ha_view_release(&view);
        if (status < 0) {
            return -1;
        }
    }
    *place = put_buffer(launch, object, alignment);
    return *place == NULL ? -1 : 1;
}

static unsigned char *
put_record(struct ha_launch *launch, const struct ha_record *record,
           const struct ha_where *where)
{
    if (record->base.ptr == NULL || record->count > 1) {
        ha_raise(
            PyExc_ValueError, where,
            record->base.ptr == NULL
                ? "must not be a NULL record"
                : "must be one record, not an array (Pointer(x) passes its address)");
        return NULL;
    }
    return put(launch, record->base.ptr, record->info->size,
               record->info->align == 0 ? 1 : record->info->align);
}

static int
refuse_number(const struct ha_where *where, PyObject *object)
{
    if (PyBool_Check(object)) {
        return ha_raise(PyExc_TypeError, where,
                        "is 'bool', which has no C type: use ctypes.c_bool or "
                        "numpy.bool_");
    }
    return ha_raise(PyExc_TypeError, where,
                    "is '%.200s', which has no C type: use ctypes.c_float, "
                    "ctypes.c_double, numpy.float32 or numpy.float64",
                    Py_TYPE(object)->tp_name);
}

/* Values that both forms copy: 1 placed, 0 not one of them, -1. */
static int
put_value(struct ha_types *types, struct ha_launch *launch, PyObject *object,
          const struct ha_where *where, unsigned char **place)
{
    if (object == Py_None) {
        *place = put_address(launch, NULL);
        return *place == NULL ? -1 : 1;
    }
    if (PyBool_Check(object) || PyFloat_CheckExact(object) ||
        PyComplex_CheckExact(object)) {
        return refuse_number(where, object);
    }
    if (PyObject_TypeCheck(object, types->record)) {
        *place = put_record(launch, (struct ha_record *)object, where);
        return *place == NULL ? -1 : 1;
    }
    enum ha_numpy_class numpy = ha_numpy_scalar_class(object);
    if (numpy != HA_NOT_NUMPY && !PyBytes_Check(object)) {
        int status = put_numpy_number(types, launch, object, where, place);
        if (status != 0) {
            return status;
        }
        *place = put_numpy_scalar(launch, object, numpy);
        return *place == NULL ? -1 : 1;
    }
    return put_ctypes(types, launch, object, place);
}

/* ---- entries
 * ----------------------------------------------------------------------------- */

/* Address of an entry by the adapter order; its owner goes to the launch.  *storage:
 * the address is that of host memory that was given as an object. */
static int
entry_address(struct ha_types *types, struct ha_launch *launch, PyObject *object,
              const struct ha_where *where, void **address, bool *storage)
{
    struct ha_view view;
    if (ha_ptr_from(types, object, where, 0, &view) < 0) {
        if (PyLong_Check(object) && PyErr_ExceptionMatches(PyExc_OverflowError)) {
            PyErr_Clear();
            ha_raise_range(where,
                           "an address (0 .. 2**64-1; numbers need a C type, such as "
                           "ctypes.c_int or numpy.int32)",
                           object);
        }
        return -1;
    }
    *address = view.ptr;
    *storage = view.has_buffer || PyBytes_Check(object);
    int status = keep_view(types, launch, &view);
    ha_view_release(&view);
    return status;
}

static int
extra_entry(struct ha_types *types, struct ha_launch *launch, PyObject *object,
            const struct ha_where *where)
{
    unsigned char *place = NULL;
    void *address;
    bool storage;
    int status = 0;
    PyTypeObject *type = Py_TYPE(object);
    if (type != types->device_array && type != types->pointer) {
        status = put_value(types, launch, object, where, &place);
    }
    if (status != 0) {
        return status < 0 ? -1 : 0;
    }
    if (entry_address(types, launch, object, where, &address, &storage) < 0) {
        return -1;
    }
    return put_address(launch, address) == NULL ? -1 : 0;
}

int
ha_launch_add(struct ha_types *types, struct ha_launch *launch, PyObject *object,
              const struct ha_where *where, struct ha_launch_value *out)
{
    unsigned char *place = NULL;
    void *address;
    bool storage;
    int status = put_value(types, launch, object, where, &place);
    if (status < 0) {
        return -1;
    }
    out->address = status == 0 || object == Py_None;
    if (status == 0) {
        if (entry_address(types, launch, object, where, &address, &storage) < 0) {
            return -1;
        }
        place = put_address(launch, address);
        if (place == NULL) {
            return -1;
        }
    }
    out->place = place;
    out->size = (size_t)(launch->data + launch->size - place);
    return 0;
}

int
ha_launch_keep(struct ha_launch *launch, PyObject *owner)
{
    if (launch->owners == NULL && (launch->owners = PyList_New(0)) == NULL) {
        return -1;
    }
    return PyList_Append(launch->owners, owner);
}

/* Pointers that are values of their own, not places where values lie. */
static bool
is_pointer_value(struct ha_types *types, PyObject *object)
{
    return PyObject_TypeCheck(object, types->nd_buffer) ||
           PyObject_TypeCheck(object, types->handle) ||
           PyObject_TypeCheck(object, types->function);
}

static int
params_entry(struct ha_types *types, struct ha_launch *launch, PyObject *object,
             const struct ha_where *where, void **slot)
{
    unsigned char *place = NULL;
    void *address;
    bool storage;
    int status = put_value(types, launch, object, where, &place);
    if (status < 0) {
        return -1;
    }
    if (status == 0) {
        if (entry_address(types, launch, object, where, &address, &storage) < 0) {
            return -1;
        }
        bool holds_value =
            storage || PyLong_Check(object) ||
            (ha_pointer_check(types, object) && !is_pointer_value(types, object));
        place = holds_value ? address : put_address(launch, address);
        if (place == NULL && !holds_value) {
            return -1;
        }
    }
    *slot = place;
    return 0;
}

/* Puts all entries; with `params` their places go into the slots. */
static int
put_entries(struct ha_types *types, struct ha_launch *launch, PyObject *items,
            const struct ha_where *where, bool params)
{
    struct ha_entry entry;
    Py_ssize_t count = PyTuple_GET_SIZE(items);
    ha_entry_init(&entry, where);
    if (params && count >= HA_LAUNCH_SMALL_COUNT) {
        launch->slots = PyMem_New(void *, count + 1);
        if (launch->slots == NULL) {
            launch->slots = launch->small_slots;
            PyErr_NoMemory();
            return -1;
        }
    }
    launch->count = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *object = PyTuple_GET_ITEM(items, i);
        void *slot = NULL;
        ha_entry_set(&entry, i);
        int status = params ? params_entry(types, launch, object, &entry.where, &slot)
                            : extra_entry(types, launch, object, &entry.where);
        if (status < 0) {
            return -1;
        }
        if (params) {
            launch->slots[i] = slot;
            launch->slot_count = i + 1;
        }
        launch->count = i + 1;
    }
    if (params) {
        launch->slots[count] = NULL; /* C does not know where they end */
    }
    return 0;
}

/* The common part of both forms: 1 = entries are placed, 0 = done otherwise, -1. */
static int
launch_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
            bool params, struct ha_launch *out)
{
    ha_launch_init(out);
    if (object == Py_None) {
        return 0;
    }
    if (!PyTuple_Check(object) && !PyList_Check(object)) {
        if (ha_ptr_from(types, object, where, 0, &out->view) < 0) {
            return -1;
        }
        out->value = out->view.ptr;
        return 0;
    }
    /* A snapshot: entries may run code that changes the list. */
    PyObject *items =
        PyTuple_CheckExact(object) ? Py_NewRef(object) : PySequence_Tuple(object);
    if (items == NULL) {
        return -1;
    }
    int status = put_entries(types, out, items, where, params);
    Py_DECREF(items);
    if (status < 0) {
        ha_launch_release(out);
        return -1;
    }
    return 1;
}

/* ---- the two forms
 * ------------------------------------------------------------------------ */

static void
fill_config(void **config, void *data, size_t *size)
{
    config[0] = LAUNCH_BUFFER_POINTER;
    config[1] = data;
    config[2] = LAUNCH_BUFFER_SIZE;
    config[3] = size;
    config[4] = LAUNCH_END;
}

/* Whether C may read the memory that was given, and it is read here. */
static bool
is_readable(struct ha_types *types, PyObject *object, const struct ha_launch *launch)
{
    return launch->view.size >= 0 && !PyObject_TypeCheck(object, types->device_array) &&
           (PyObject_CheckBuffer(object) ||
            PyObject_TypeCheck(object, types->list_pointer));
}

/* Pairs of a marker and an address, up to the marker that ends them: C reads until it.
 */
static int
check_extra_memory(const struct ha_where *where, struct ha_launch *launch)
{
    Py_ssize_t size = launch->view.size, at = 0;
    void *marker = NULL;

    do {
        if (size - at < (Py_ssize_t)sizeof marker) {
            ha_launch_release(launch);
            return ha_raise(PyExc_BufferError, where,
                            "has %zd bytes and no HIP_LAUNCH_PARAM_END", size);
        }
        memcpy(&marker, (const char *)launch->view.ptr + at, sizeof marker);
        at += 2 * (Py_ssize_t)sizeof marker;
    } while (marker != LAUNCH_END);
    return 0;
}

static int
extra_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
           struct ha_launch *out)
{
    int status = launch_from(types, object, where, false, out);
    if (status > 0) {
        fill_config(out->config, out->data, &out->size);
        out->value = out->config;
    }
    return status;
}

int
ha_extra_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
              struct ha_launch *out)
{
    int status = extra_from(types, object, where, out);
    if (status == 0 && is_readable(types, object, out)) {
        status = check_extra_memory(where, out);
    }
    return status < 0 ? -1 : 0;
}

/* Memory of known length that holds addresses is copied, with NULL behind the last one:
 * C does not know how many there are, and a provider that looks refuses NULL. */
static int
params_from_memory(const struct ha_where *where, struct ha_launch *out)
{
    Py_ssize_t count = out->view.size / (Py_ssize_t)sizeof(void *);
    if (out->view.size % (Py_ssize_t)sizeof(void *) != 0) {
        Py_ssize_t size = out->view.size;
        ha_launch_release(out);
        return ha_raise(PyExc_BufferError, where,
                        "must be whole addresses of %zu bytes, not %zd bytes",
                        sizeof(void *), size);
    }
    if (count >= HA_LAUNCH_SMALL_COUNT) {
        void **slots = PyMem_New(void *, count + 1);
        if (slots == NULL) {
            ha_launch_release(out);
            PyErr_NoMemory();
            return -1;
        }
        out->slots = slots;
    }
    if (count > 0) {
        memcpy(out->slots, out->view.ptr, (size_t)out->view.size);
    }
    out->slots[count] = NULL;
    return 1;
}

int
ha_params_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
               struct ha_launch *out)
{
    int status = launch_from(types, object, where, true, out);
    if (status == 0 && is_readable(types, object, out)) {
        status = params_from_memory(where, out);
    }
    if (status > 0) {
        out->value = out->slots;
    }
    return status < 0 ? -1 : 0;
}

/* ---- HipModuleLaunchKernel_extra
 * ----------------------------------------------------------- */

/* What one block holds: configuration, size, then the packed values. */
struct packed {
    void *config[5];
    size_t size;
    _Alignas(16) unsigned char data[];
};

static int
pack(struct ha_types *types, struct ha_pointer *self, struct ha_launch *launch)
{
    struct ha_block *block =
        ha_block_new(types, (Py_ssize_t)(sizeof(struct packed) + launch->size));
    if (block == NULL) {
        return -1;
    }
    struct packed *packed = (struct packed *)block->bytes;
    packed->size = launch->size;
    memcpy(packed->data, launch->data, launch->size);
    fill_config(packed->config, packed->data, &packed->size);
    if (ha_keep(&block->keep, 0, launch->owners) < 0) {
        Py_DECREF(block);
        return -1;
    }
    ha_pointer_assign(self, packed, sizeof packed->config, false, (PyObject *)block);
    return 0;
}

static int
extra_fill(struct ha_types *types, PyObject *self, PyObject *object)
{
    struct ha_where where = {ha_short_name(Py_TYPE(self)), "pyobj"};
    struct ha_launch launch;
    if (extra_from(types, object, &where, &launch) < 0) {
        return -1;
    }
    int status = launch.count >= 0
                     ? pack(types, (struct ha_pointer *)self, &launch)
                     : ha_pointer_set(types, (struct ha_pointer *)self, &launch.view);
    ha_launch_release(&launch);
    return status;
}

static int
extra_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    return ha_init_one(self, args, kwargs, extra_fill);
}

static PyObject *
extra_vectorcall(PyObject *type, PyObject *const *args, size_t nargsf,
                 PyObject *kwnames)
{
    return ha_construct_one((PyTypeObject *)type, args, nargsf, kwnames, extra_fill);
}

PyDoc_STRVAR(
    extra_doc,
    "HipModuleLaunchKernel_extra(pyobj=None)\n--\n\n"
    "Kernel arguments packed for the parameter extra of hipModuleLaunchKernel.\n\n"
    "Entries of the list or tuple: ctypes values, numpy scalars and records by\n"
    "value, at C's alignment; Pointers, arrays, ints and None as 8-byte addresses.\n"
    "Floats and bools are refused: they have no C type.  Keeps the memory of every\n"
    "entry.");

static PyType_Slot extra_slots[] = {
    {Py_tp_doc, (void *)extra_doc},      {Py_tp_init, extra_init},
    {Py_tp_dealloc, ha_pointer_dealloc}, {Py_tp_traverse, ha_pointer_traverse},
    {Py_tp_clear, ha_pointer_clear},     {0, NULL},
};

static PyType_Spec extra_spec = {
    .name = "hipadapt.types.HipModuleLaunchKernel_extra",
    .basicsize = sizeof(struct ha_pointer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = extra_slots,
};

int
ha_launch_extra_init(struct ha_types *types)
{
    if (ha_type_make(types, &extra_spec, types->pointer, true, &types->launch_extra) <
        0) {
        return -1;
    }
    types->launch_extra->tp_vectorcall = extra_vectorcall;
    return 0;
}
