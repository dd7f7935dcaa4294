/* SPDX-License-Identifier: MIT */
/* The floor: what the same calls cost when each is written by hand.
 *
 * A C extension with one METH_FASTCALL (or METH_O, METH_NOARGS) function for each measured
 * call, results prepared in advance, pointers converted on the C stack and the GIL
 * released.  It checks only what it can't do without, so a complete product can't be much
 * faster and is allowed to be up to 1.5 times slower.
 *
 * `setup(library, hipError_t)` must come first.  Objects: `Pointer` holds an address and,
 * if that came from a buffer, the view (owned); `Device` is a Pointer from hipMalloc. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { STATUS_MAX = 2048, PACK_MAX = 1024 };

static int (*hip_get_device)(int *);
static int (*hip_stream_query)(void *);
static int (*hip_malloc)(void **, size_t);
static int (*hip_memcpy)(void *, const void *, size_t, int);
static int (*hip_launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned,
                         unsigned, unsigned, void *, void **, void **);

static PyObject *statuses[STATUS_MAX]; /* owned members of hipError_t */
static PyObject *results[STATUS_MAX];  /* owned 1-tuples of them */
static PyObject *interface_name;       /* owned "__cuda_array_interface__" */
static PyTypeObject *void_pointer;     /* owned ctypes.c_void_p */

typedef struct {
    PyObject_HEAD
    void *address;
    Py_buffer view; /* owned while view.obj is set */
} Pointer;

/* An address with the view that keeps it valid; lives on the stack of one call. */
struct source {
    void *address;
    Py_buffer view;
};

static PyTypeObject pointer_type, device_type;

static void
source_release(struct source *source)
{
    if (source->view.obj != NULL) {
        PyBuffer_Release(&source->view);
    }
}

/* The address in a CUDA array interface (borrowed dictionary). */
static int
interface_address(PyObject *interface, void **address)
{
    PyObject *data = PyDict_GetItemString(interface, "data");
    if (data == NULL || !PyTuple_Check(data) || PyTuple_GET_SIZE(data) == 0) {
        PyErr_SetString(PyExc_TypeError, "__cuda_array_interface__ has no data");
        return -1;
    }
    *address = PyLong_AsVoidPtr(PyTuple_GET_ITEM(data, 0));
    return *address == NULL && PyErr_Occurred() ? -1 : 0;
}

/* 1 with the address where the object has an interface, 0 where not, -1 on error. */
static int
from_interface(PyObject *object, void **address)
{
    PyObject *interface = NULL;
#if PY_VERSION_HEX >= 0x030D0000
    int found = PyObject_GetOptionalAttr(object, interface_name, &interface);
#else
    int found = _PyObject_LookupAttr(object, interface_name, &interface);
#endif
    if (found <= 0) {
        return found;
    }
    if (!PyDict_Check(interface)) {
        PyErr_SetString(PyExc_TypeError, "__cuda_array_interface__ is no dict");
        found = -1;
    } else if (interface_address(interface, address) < 0) {
        found = -1;
    }
    Py_DECREF(interface);
    return found;
}

/* Fills `source`, which the caller releases; -1 with an exception, nothing to release. */
static int
source_from(PyObject *object, struct source *source)
{
    source->view.obj = NULL;
    source->address = NULL;
    if (object == Py_None) {
        return 0;
    }
    if (PyObject_TypeCheck(object, &pointer_type)) {
        source->address = ((Pointer *)object)->address;
        return 0;
    }
    if (PyLong_Check(object)) {
        source->address = PyLong_AsVoidPtr(object);
        return source->address == NULL && PyErr_Occurred() ? -1 : 0;
    }
    if (PyObject_TypeCheck(object, void_pointer)) {
        Py_buffer cell;
        if (PyObject_GetBuffer(object, &cell, PyBUF_SIMPLE) < 0) {
            return -1;
        }
        memcpy(&source->address, cell.buf, sizeof source->address);
        PyBuffer_Release(&cell);
        return 0;
    }
    int found = from_interface(object, &source->address);
    if (found != 0) {
        return found < 0 ? -1 : 0;
    }
    if (PyObject_GetBuffer(object, &source->view, PyBUF_ANY_CONTIGUOUS) < 0) {
        source->view.obj = NULL;
        return -1;
    }
    source->address = source->view.buf;
    return 0;
}

static PyObject *
result_of(int status)
{
    if (status >= 0 && status < STATUS_MAX && results[status] != NULL) {
        return Py_NewRef(results[status]);
    }
    return Py_BuildValue("(i)", status);
}

/* (status, value); steals `value`, which may be NULL with an exception set. */
static PyObject *
result_with(int status, PyObject *value)
{
    if (value == NULL) {
        return NULL;
    }
    PyObject *result = PyTuple_New(2);
    PyObject *code = status >= 0 && status < STATUS_MAX ? statuses[status] : NULL;
    code = code != NULL ? Py_NewRef(code) : PyLong_FromLong(status);
    if (result == NULL || code == NULL) {
        Py_XDECREF(result);
        Py_XDECREF(code);
        Py_DECREF(value);
        return NULL;
    }
    PyTuple_SET_ITEM(result, 0, code);
    PyTuple_SET_ITEM(result, 1, value);
    return result;
}

static PyObject *
pointer_make(PyObject *type, PyObject *const *args, size_t flags, PyObject *names)
{
    (void)names;
    struct source source = {0};
    if (PyVectorcall_NARGS(flags) > 0 && source_from(args[0], &source) < 0) {
        return NULL;
    }
    Pointer *self = PyObject_New(Pointer, (PyTypeObject *)type);
    if (self == NULL) {
        source_release(&source);
        return NULL;
    }
    self->address = source.address;
    self->view = source.view;
    return (PyObject *)self;
}

static void
pointer_dealloc(PyObject *object)
{
    Pointer *self = (Pointer *)object;
    if (self->view.obj != NULL) {
        PyBuffer_Release(&self->view);
    }
    Py_TYPE(object)->tp_free(object);
}

static PyTypeObject pointer_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "floor.Pointer",
    .tp_basicsize = sizeof(Pointer),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_new = PyType_GenericNew,
    .tp_dealloc = pointer_dealloc,
    .tp_vectorcall = pointer_make,
};
static PyTypeObject device_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "floor.Device",
    .tp_basicsize = sizeof(Pointer),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_base = &pointer_type,
    .tp_dealloc = pointer_dealloc,
};

static PyObject *
floor_get_device(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    int device = 0, status;
    Py_BEGIN_ALLOW_THREADS
    status = hip_get_device(&device);
    Py_END_ALLOW_THREADS
    return result_with(status, PyLong_FromLong(device));
}

static PyObject *
floor_stream_query(PyObject *module, PyObject *stream)
{
    (void)module;
    struct source source;
    if (source_from(stream, &source) < 0) {
        return NULL;
    }
    int status;
    Py_BEGIN_ALLOW_THREADS
    status = hip_stream_query(source.address);
    Py_END_ALLOW_THREADS
    source_release(&source);
    return result_of(status);
}

static PyObject *
floor_malloc(PyObject *module, PyObject *number)
{
    (void)module;
    size_t size = PyLong_AsSize_t(number);
    if (size == (size_t)-1 && PyErr_Occurred()) {
        return NULL;
    }
    void *address = NULL;
    int status;
    Py_BEGIN_ALLOW_THREADS
    status = hip_malloc(&address, size);
    Py_END_ALLOW_THREADS
    Pointer *memory = PyObject_New(Pointer, &device_type);
    if (memory != NULL) {
        memory->address = address;
        memory->view.obj = NULL;
    }
    return result_with(status, (PyObject *)memory);
}

static PyObject *
floor_memcpy(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    if (count != 4) {
        PyErr_SetString(PyExc_TypeError, "hipMemcpy needs 4 arguments");
        return NULL;
    }
    struct source target, source;
    if (source_from(args[0], &target) < 0) {
        return NULL;
    }
    if (source_from(args[1], &source) < 0) {
        source_release(&target);
        return NULL;
    }
    PyObject *result = NULL;
    size_t size = PyLong_AsSize_t(args[2]);
    long kind = PyLong_AsLong(args[3]);
    if (!PyErr_Occurred()) {
        int status;
        Py_BEGIN_ALLOW_THREADS
        status = hip_memcpy(target.address, source.address, size, (int)kind);
        Py_END_ALLOW_THREADS
        result = result_of(status);
    }
    source_release(&source);
    source_release(&target);
    return result;
}

/* Appends one kernel argument to `pack` with C alignment; -1 with an exception. */
static int
pack_one(PyObject *object, unsigned char *pack, size_t *used)
{
    Py_buffer cell = {.obj = NULL};
    void *address = NULL;
    const void *bytes = &address;
    size_t size = sizeof address;
    if (object == Py_None || PyLong_Check(object) ||
        PyObject_TypeCheck(object, &pointer_type)) {
        struct source source;
        if (source_from(object, &source) < 0) {
            return -1;
        }
        address = source.address; /* a Pointer keeps its own view */
    } else {
        if (PyObject_GetBuffer(object, &cell, PyBUF_SIMPLE) < 0) {
            return -1;
        }
        bytes = cell.buf;
        size = (size_t)cell.len;
    }
    size_t align = size < 8 ? size : 8;
    size_t offset = align > 0 ? (*used + align - 1) / align * align : *used;
    bool fits = size <= PACK_MAX && offset <= PACK_MAX - size;
    if (fits) {
        memcpy(pack + offset, bytes, size);
        *used = offset + size;
    } else {
        PyErr_SetString(PyExc_ValueError, "too many argument bytes");
    }
    if (cell.obj != NULL) {
        PyBuffer_Release(&cell);
    }
    return fits ? 0 : -1;
}

static PyObject *
floor_launch(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    if (count != 11 || (args[10] != Py_None && !PyTuple_Check(args[10]))) {
        PyErr_SetString(PyExc_TypeError, "needs 11 arguments, the last one a tuple");
        return NULL;
    }
    struct source function, stream;
    if (source_from(args[0], &function) < 0) {
        return NULL;
    }
    if (source_from(args[8], &stream) < 0) {
        source_release(&function);
        return NULL;
    }
    PyObject *result = NULL;
    unsigned sizes[7];
    for (int i = 0; i < 7; i++) {
        sizes[i] = (unsigned)PyLong_AsUnsignedLong(args[1 + i]);
    }
    if (PyErr_Occurred()) {
        goto done;
    }
    unsigned char pack[PACK_MAX];
    size_t used = 0;
    void *config[5] = {(void *)1, pack, (void *)2, &used, (void *)3};
    Py_ssize_t entries = args[10] != Py_None ? PyTuple_GET_SIZE(args[10]) : 0;
    for (Py_ssize_t i = 0; i < entries; i++) {
        if (pack_one(PyTuple_GET_ITEM(args[10], i), pack, &used) < 0) {
            goto done;
        }
    }
    int status;
    Py_BEGIN_ALLOW_THREADS
    status = hip_launch(function.address, sizes[0], sizes[1], sizes[2], sizes[3],
                        sizes[4], sizes[5], sizes[6], stream.address, NULL,
                        args[10] != Py_None ? config : NULL);
    Py_END_ALLOW_THREADS
    result = result_of(status);
done:
    source_release(&stream);
    source_release(&function);
    return result;
}

/* What ListOfInt has to do with a list: a C array of its numbers, in an object. */
static PyObject *
floor_list_of_int(PyObject *module, PyObject *list)
{
    (void)module;
    if (!PyList_Check(list)) {
        PyErr_SetString(PyExc_TypeError, "needs a list");
        return NULL;
    }
    Py_ssize_t count = PyList_GET_SIZE(list);
    PyObject *array = PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)sizeof(int));
    if (array == NULL) {
        return NULL;
    }
    int *numbers = (int *)PyBytes_AS_STRING(array);
    for (Py_ssize_t i = 0; i < count; i++) {
        long number = PyLong_AsLong(PyList_GET_ITEM(list, i));
        if (number != (int)number) {
            PyErr_SetString(PyExc_OverflowError, "does not fit in an int");
        }
        numbers[i] = (int)number;
    }
    if (PyErr_Occurred()) {
        Py_DECREF(array);
        return NULL;
    }
    return array;
}

/* Fills the tables of members and of results from the enum's members. */
static int
fill_statuses(PyObject *members)
{
    PyObject *iterator = PyObject_GetIter(members);
    if (iterator == NULL) {
        return -1;
    }
    PyObject *member;
    while ((member = PyIter_Next(iterator)) != NULL) {
        long value = PyLong_AsLong(member);
        if (value < 0 || value >= STATUS_MAX || statuses[value] != NULL) {
            Py_DECREF(member);
            continue;
        }
        statuses[value] = member;
        results[value] = PyTuple_Pack(1, member);
        if (results[value] == NULL) {
            break;
        }
    }
    Py_DECREF(iterator);
    return PyErr_Occurred() ? -1 : 0;
}

static int
load_symbol(void *library, const char *name, void *slot)
{
    void *symbol = dlsym(library, name);
    if (symbol == NULL) {
        PyErr_Format(PyExc_OSError, "the library has no %s", name);
        return -1;
    }
    memcpy(slot, &symbol, sizeof symbol);
    return 0;
}

static PyObject *
floor_setup(PyObject *module, PyObject *args)
{
    (void)module;
    const char *path;
    PyObject *members;
    if (!PyArg_ParseTuple(args, "sO", &path, &members)) {
        return NULL;
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        PyErr_SetString(PyExc_OSError, dlerror());
        return NULL;
    }
    PyObject *ctypes = PyImport_ImportModule("ctypes");
    PyObject *type = ctypes ? PyObject_GetAttrString(ctypes, "c_void_p") : NULL;
    Py_XDECREF(ctypes);
    if (type == NULL) {
        return NULL;
    }
    Py_XSETREF(void_pointer, (PyTypeObject *)type);
    if (load_symbol(library, "hipGetDevice", &hip_get_device) < 0 ||
        load_symbol(library, "hipStreamQuery", &hip_stream_query) < 0 ||
        load_symbol(library, "hipMalloc", &hip_malloc) < 0 ||
        load_symbol(library, "hipMemcpy", &hip_memcpy) < 0 ||
        load_symbol(library, "hipModuleLaunchKernel", &hip_launch) < 0 ||
        fill_statuses(members) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

#include "floor_calls.h"

/* setup_calls(library): the library of the sample, in which setup has to be called first. */
static PyObject *
floor_setup_calls(PyObject *module, PyObject *path)
{
    (void)module;
    const char *name;
    if (text_from(path, &name) < 0) {
        return NULL;
    }
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        PyErr_SetString(PyExc_OSError, dlerror());
        return NULL;
    }
    SAMPLE(LOAD)
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"setup_calls", floor_setup_calls, METH_O, NULL},
    SAMPLE(METHOD)
    {"setup", floor_setup, METH_VARARGS, NULL},
    {"hipGetDevice", floor_get_device, METH_NOARGS, NULL},
    {"hipStreamQuery", floor_stream_query, METH_O, NULL},
    {"hipMalloc", floor_malloc, METH_O, NULL},
    {"hipMemcpy", (PyCFunction)(void (*)(void))floor_memcpy, METH_FASTCALL, NULL},
    {"hipModuleLaunchKernel", (PyCFunction)(void (*)(void))floor_launch, METH_FASTCALL,
     NULL},
    {"ListOfInt", floor_list_of_int, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "floor", .m_size = -1, .m_methods = methods};

PyMODINIT_FUNC
PyInit_floor(void)
{
    interface_name = PyUnicode_InternFromString("__cuda_array_interface__");
    if (interface_name == NULL || PyType_Ready(&pointer_type) < 0 ||
        PyType_Ready(&device_type) < 0) {
        return NULL;
    }
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL ||
        PyModule_AddObjectRef(module, "Pointer", (PyObject *)&pointer_type) < 0) {
        Py_XDECREF(module);
        return NULL;
    }
    return module;
}
