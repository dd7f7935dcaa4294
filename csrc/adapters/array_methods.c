/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/array_methods.h"

#include <string.h>

#include "adapters/adapter.h"
#include "adapters/array.h"
#include "adapters/array_memory.h"
#include "adapters/memory.h"
#include "adapters/message.h"
#include "adapters/pointer.h"
#include "adapters/python_version.h"
#include "adapters/saved_error.h"
#include "adapters/type.h"
#include "adapters/types.h"
#include "adapters/view.h"

/* ---- bytes from and to arrays ---- */

/* One array and memory of the host. */
struct transfer {
    struct ha_device_array array; /* as it was seen */
    struct ha_view used;          /* its memory, which stays meanwhile */
    struct ha_view view;          /* the other memory */
    enum ha_memory_place place;   /* of the array */
};

static void
transfer_end(struct transfer *transfer)
{
    ha_view_release(&transfer->view);
    ha_view_release(&transfer->used);
    ha_array_unsee(&transfer->array);
}

/* Views of both, whose lengths are the same, and no work in flight. */
static int
read_both(struct ha_types *types, const struct ha_where where[2], PyObject *const *args,
          unsigned flags, struct transfer *transfer)
{
    const struct ha_device_array *array = &transfer->array;
    struct ha_view *view = &transfer->view;
    int device;
    if (ha_pointer_is_gone(types, &array->base)) {
        return ha_raise_gone(types, PyExc_BufferError, args[0], where[0].function,
                             where[0].argument);
    }
    size_t bytes = (size_t)ha_array_bytes(array);
    if (ha_ptr_from(types, args[0], &where[0], 0, &transfer->used) < 0 ||
        ha_ptr_from(types, args[1], &where[1], flags, view) < 0) {
        return -1;
    }
    if (view->size < 0 || (size_t)view->size != bytes) {
        return ha_raise(PyExc_ValueError, &where[1],
                        "must have the %zu bytes of the array, not %zd", bytes,
                        view->size);
    }
    transfer->place = ha_array_locate(types, array, &device);
    if (bytes > 0 && transfer->place == HA_PLACE_UNKNOWN) {
        return ha_raise(PyExc_BufferError, &where[0], "has no memory that HIP knows");
    }
    if (transfer->used.ptr != array->base.ptr) {
        return ha_raise(PyExc_BufferError, &where[0], "changed while it was read");
    }
    return transfer->place == HA_PLACE_HOST || bytes == 0
               ? 0
               : ha_array_wait(types, array, device);
}

/* Arguments (array, memory); 0, or -1 with nothing to end. */
static int
read_transfer(struct ha_types *types, const struct ha_where where[2],
              PyObject *const *args, Py_ssize_t count, unsigned flags,
              struct transfer *transfer)
{
    ha_view_init(&transfer->used);
    ha_view_init(&transfer->view);
    if (count != 2) {
        PyErr_Format(PyExc_TypeError, "%s() takes 2 arguments (%zd given)",
                     where[0].function, count);
        return -1;
    }
    if (!PyObject_TypeCheck(args[0], types->nd_buffer)) {
        return ha_refuse(&where[0], "an NDBuffer or a DeviceArray", args[0]);
    }
    if (ha_array_see(args[0], &transfer->array) < 0) {
        return -1;
    }
    if (read_both(types, where, args, flags, transfer) < 0) {
        transfer_end(transfer);
        return -1;
    }
    return 0;
}

static PyObject *
array_read(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    static const struct ha_where where[2] = {{"array_read", "array"},
                                             {"array_read", "out"}};
    struct ha_types *types = ha_types_of(module);
    struct transfer transfer;
    if (read_transfer(types, where, args, count, HA_WRITE, &transfer) < 0) {
        return NULL;
    }
    int status =
        ha_array_move(types, transfer.view.ptr, HA_PLACE_HOST, transfer.array.base.ptr,
                      transfer.place, (size_t)transfer.view.size);
    transfer_end(&transfer);
    return status < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *
array_write(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    static const struct ha_where where[2] = {{"array_write", "array"},
                                             {"array_write", "data"}};
    struct ha_types *types = ha_types_of(module);
    struct transfer transfer;
    if (read_transfer(types, where, args, count, 0, &transfer) < 0) {
        return NULL;
    }
    int status = -1;
    if (transfer.array.base.readonly) {
        ha_raise(PyExc_BufferError, &where[0], "is read-only");
    } else {
        status =
            ha_array_move(types, transfer.array.base.ptr, transfer.place,
                          transfer.view.ptr, HA_PLACE_HOST, (size_t)transfer.view.size);
    }
    transfer_end(&transfer);
    return status < 0 ? NULL : Py_NewRef(Py_None);
}

/* ---- views for the host ---- */

static PyObject *
host_of(PyObject *object, const struct ha_device_array *self)
{
    struct ha_types *types = ha_types_of_type(Py_TYPE(object));
    int device;
    enum ha_memory_place place = ha_array_locate(types, self, &device);
    if (!ha_array_readable(types, place)) {
        PyErr_Format(PyExc_BufferError,
                     place == HA_PLACE_UNKNOWN
                         ? "%s.host(): the address is no memory that HIP knows"
                         : "%s.host(): the host does not see the memory of this "
                           "device; copy it with numpy() or hipMemcpy",
                     ha_short_name(Py_TYPE(object)));
        return NULL;
    }
    if (place != HA_PLACE_HOST && ha_array_wait(types, self, device) < 0) {
        return NULL;
    }
    PyObject *owner = ha_pointer_keeper(object, &self->base);
    if (owner == NULL) {
        return NULL;
    }
    struct ha_device_array *view =
        ha_array_make(types->nd_buffer, self->base.ptr, self->base.size, owner);
    if (view == NULL) {
        return NULL;
    }
    PyObject *typestr = Py_XNewRef(self->typestr);
    if (ha_array_set_shape(view, self->ndim, self->shape, &self->format, typestr) < 0) {
        Py_XDECREF(typestr);
        Py_DECREF(view);
        return NULL;
    }
    view->place = HA_PLACE_HOST;
    view->limit = self->limit;
    view->base.readonly = self->base.readonly;
    view->source_readonly = self->source_readonly;
    return (PyObject *)view;
}

PyObject *
ha_array_host(PyObject *object, PyObject *unused)
{
    struct ha_device_array seen;
    (void)unused;
    if (ha_array_see(object, &seen) < 0) {
        return NULL;
    }
    PyObject *view = host_of(object, &seen);
    ha_array_unsee(&seen);
    return view;
}

/* ---- methods that are Python ---- */

/* `function` is "array_" and the name of the method. */
static PyObject *
call_python(const char *module, const char *function, PyObject *self,
            PyObject *const *args, Py_ssize_t count, PyObject *kwnames)
{
    PyObject *result = NULL, *called = NULL, **values = NULL;
    Py_ssize_t keywords = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    PyObject *home = PyImport_ImportModule(module);
    if (home == NULL) {
        return NULL;
    }
    called = PyObject_GetAttrString(home, function);
    values = PyMem_New(PyObject *, (size_t)(1 + count + keywords));
    if (called == NULL || values == NULL) {
        if (values == NULL) {
            PyErr_NoMemory();
        }
        goto done;
    }
    values[0] = self;
    for (Py_ssize_t i = 0; i < count + keywords; i++) {
        values[1 + i] = args[i];
    }
    result = PyObject_Vectorcall(called, values, (size_t)(1 + count), kwnames);
done:
    PyMem_Free(values);
    Py_XDECREF(called);
    Py_DECREF(home);
    return result;
}

/* The exception of methods that need the memory, where it is gone. */
static int
check_memory(PyObject *self, PyObject *exception, const char *function)
{
    return ha_pointer_need(ha_types_of_type(Py_TYPE(self)), exception, self, function);
}

/* `exception`: where the memory is gone; NULL for methods that don't need it. */
#define PYTHON_METHOD(scope, name, module, function, exception)                        \
    scope PyObject *name(PyObject *self, PyObject *const *args, Py_ssize_t count,      \
                         PyObject *kwnames)                                            \
    {                                                                                  \
        PyObject *type = exception;                                                    \
        if (type != NULL &&                                                            \
            check_memory(self, type, (function) + strlen("array_")) < 0) {             \
            return NULL;                                                               \
        }                                                                              \
        return call_python(module, function, self, args, count, kwnames);              \
    }

PYTHON_METHOD(, ha_array_numpy, "hipadapt._objects.interop", "array_numpy",
              PyExc_BufferError)
PYTHON_METHOD(, ha_array_array, "hipadapt._objects.interop", "array_array",
              PyExc_BufferError)
PYTHON_METHOD(static, array_reduce, "hipadapt._objects.interop", "array_reduce",
              PyExc_ValueError)
PYTHON_METHOD(static, array_get, "hipadapt._objects.array_copy", "array_get",
              PyExc_ValueError)
PYTHON_METHOD(static, array_fill, "hipadapt._objects.array_copy", "array_fill",
              PyExc_ValueError)
PYTHON_METHOD(static, array_copy_from, "hipadapt._objects.array_copy",
              "array_copy_from", PyExc_ValueError)
PYTHON_METHOD(static, array_copy_to, "hipadapt._objects.array_copy", "array_copy_to",
              PyExc_ValueError)
PYTHON_METHOD(static, array_html, "hipadapt._objects.html", "array_html", NULL)

PyObject *
ha_array_dtype(PyObject *self, void *closure)
{
    (void)closure;
    return call_python("hipadapt._objects.interop", "array_dtype", self, NULL, 0, NULL);
}

static PyObject *
copy_of(PyObject *self, const struct ha_device_array *array)
{
    struct ha_types *types = ha_types_of_type(Py_TYPE(self));
    int device;
    enum ha_memory_place place = ha_array_locate(types, array, &device);
    if (place == HA_PLACE_UNKNOWN) {
        if (ha_array_bytes(array) > 0) {
            return PyErr_Format(PyExc_TypeError,
                                "cannot pickle or copy '%s': HIP does not know its "
                                "address",
                                ha_short_name(Py_TYPE(self)));
        }
        place = HA_PLACE_DEVICE;
    }
    return (PyObject *)ha_array_copy(types, array, place);
}

/* A copy in the same place, complete on return; read-only arrays have writable ones. */
static PyObject *
array_copy(PyObject *self, PyObject *unused)
{
    static const struct ha_where where = {"copy", "self"};
    struct ha_device_array seen;
    struct ha_view used;
    PyObject *copy = NULL;
    (void)unused;
    if (check_memory(self, PyExc_ValueError, "copy") < 0 ||
        ha_ptr_from(ha_types_of_type(Py_TYPE(self)), self, &where, 0, &used) < 0) {
        return NULL;
    }
    if (ha_array_see(self, &seen) == 0) {
        if (seen.base.ptr == used.ptr) {
            copy = copy_of(self, &seen);
        } else {
            (void)ha_raise(PyExc_RuntimeError, &where, "changed while it was read");
        }
        ha_array_unsee(&seen);
    }
    ha_view_release(&used);
    return copy;
}

/* ---- the end ---- */

static PyObject *
array_close(PyObject *self, PyObject *unused)
{
    struct ha_pointer *pointer = (struct ha_pointer *)self;
    PyObject *owner = NULL, *method = NULL, *result = NULL;
    (void)unused;
    HA_BEGIN_SECTION(self);
    if (pointer->owner != NULL) {
        owner = ha_pointer_take_gone(pointer, HA_CLOSED);
    } else if (pointer->ptr == NULL && pointer->gone == HA_HERE) {
        /* Without elements there is no memory. */
        HA_PUBLISH(pointer->gone, (uint8_t)HA_CLOSED);
    }
    HA_END_SECTION();
    if (owner == NULL) {
        Py_RETURN_NONE;
    }
    struct ha_types *types = ha_types_of_type(Py_TYPE(self));
    int status = 0;
    if (Py_TYPE(owner) != types->hold) {
        status = ha_get_attribute(owner, types->str_close, &method);
    }
    if (status > 0) {
        result = PyObject_CallNoArgs(method);
        Py_DECREF(method);
    } else if (status == 0) {
        result = Py_NewRef(Py_None);
    }
    ha_release(owner);
    if (result == NULL) {
        return NULL;
    }
    Py_DECREF(result);
    Py_RETURN_NONE;
}

static PyObject *
array_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (check_memory(self, PyExc_ValueError, "with") < 0) {
        return NULL;
    }
    return Py_NewRef(self);
}

static PyObject *
array_exit(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)args;
    (void)count;
    return array_close(self, NULL);
}

#define FAST(function) (PyCFunction)(void (*)(void))(function)

PyMethodDef ha_device_array_methods[] = {
    {"close", array_close, METH_NOARGS,
     PyDoc_STR(
         "close($self, /)\n--\n\n"
         "Frees the memory now where the array's owner can; the array has none\n"
         "from then on.  Arrays that share the memory must not be used any more.")},
    {"__enter__", array_enter, METH_NOARGS, NULL},
    {"__exit__", FAST(array_exit), METH_FASTCALL, NULL},
    {"copy", array_copy, METH_NOARGS,
     PyDoc_STR(
         "copy($self, /)\n--\n\n"
         "A DeviceArray with the same elements in memory of its own, of the same\n"
         "kind and device; complete on return.")},
    {"__copy__", array_copy, METH_NOARGS, NULL},
    {"__deepcopy__", array_copy, METH_O, NULL},
    {"__reduce__", FAST(array_reduce), METH_FASTCALL | METH_KEYWORDS,
     PyDoc_STR("__reduce__($self, /)\n--\n\nPickles a copy of the elements.")},
    {"get", FAST(array_get), METH_FASTCALL | METH_KEYWORDS,
     PyDoc_STR("get($self, /, out=None, *, stream=None)\n--\n\n"
               "A copy of the elements in memory of the host.\n"
               "\n"
               "Parameters\n"
               "----------\n"
               "out : numpy.ndarray, optional\n"
               "    Where it goes; a new array where it is left out.\n"
               "stream : Stream, handle or object with ``__cuda_stream__``, optional\n"
               "    Copies in the order of this stream and does not wait; the\n"
               "    result is there after ``stream.synchronize()``.\n"
               "\n"
               "Returns\n"
               "-------\n"
               "numpy.ndarray\n"
               "    `out`, or the new array.\n"
               "\n"
               "Raises\n"
               "------\n"
               "ImportError\n"
               "    numpy is not installed and no `out` is given.\n"
               "\n"
               "Examples\n"
               "--------\n"
               ">>> import hipadapt\n"
               ">>> hipadapt.arange(3).get().tolist()\n"
               "[0, 1, 2]")},
    {"fill", FAST(array_fill), METH_FASTCALL | METH_KEYWORDS,
     PyDoc_STR("fill($self, /, value, *, stream=None)\n--\n\n"
               "Sets all elements to one value.\n"
               "\n"
               "Parameters\n"
               "----------\n"
               "value : number\n"
               "    An int or float for real types; numpy scalars for all others.\n"
               "    What does not fit the element type is refused.\n"
               "stream : Stream, handle or object with ``__cuda_stream__``, optional\n"
               "    Where the work goes; the array's or the current stream where it\n"
               "    is left out.  The call does not wait for it.\n"
               "\n"
               "Returns\n"
               "-------\n"
               "DeviceArray\n"
               "    Itself.\n"
               "\n"
               "Examples\n"
               "--------\n"
               ">>> import hipadapt\n"
               ">>> hipadapt.empty(3, 'int32').fill(7).get().tolist()\n"
               "[7, 7, 7]")},
    {"copy_from", FAST(array_copy_from), METH_FASTCALL | METH_KEYWORDS,
     PyDoc_STR("copy_from($self, /, source, *, stream=None)\n--\n\n"
               "Replaces the elements by those of another array.\n"
               "\n"
               "Parameters\n"
               "----------\n"
               "source : array\n"
               "    As many elements of the same type, in any shape; numpy arrays,\n"
               "    buffers, arrays of GPU packages, `DeviceArray`.  Plain bytes and\n"
               "    buffers of bytes have no type.\n"
               "stream : Stream, handle or object with ``__cuda_stream__``, optional\n"
               "    Copies in the order of this stream and does not wait; the\n"
               "    source is kept and must not be changed until then.\n"
               "\n"
               "Returns\n"
               "-------\n"
               "DeviceArray\n"
               "    Itself.")},
    {"copy_to", FAST(array_copy_to), METH_FASTCALL | METH_KEYWORDS,
     PyDoc_STR(
         "copy_to($self, /, target, *, stream=None)\n--\n\n"
         "Writes the elements into another array.\n"
         "\n"
         "Parameters\n"
         "----------\n"
         "target : array\n"
         "    Writable, with as many elements of the same type; see `copy_from`.\n"
         "stream : Stream, handle or object with ``__cuda_stream__``, optional\n"
         "    Copies in the order of this stream and does not wait.\n"
         "\n"
         "Returns\n"
         "-------\n"
         "array\n"
         "    The target.")},
    {"_repr_html_", FAST(array_html), METH_FASTCALL | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef functions[] = {
    {"array_read", FAST(array_read), METH_FASTCALL,
     PyDoc_STR("array_read($module, array, out, /)\n--\n\n"
               "Copies the bytes of an array to memory of the host, once complete.")},
    {"array_write", FAST(array_write), METH_FASTCALL,
     PyDoc_STR("array_write($module, array, data, /)\n--\n\n"
               "Copies memory of the host to an array; complete on return.")},
    {NULL, NULL, 0, NULL},
};

int
ha_array_methods_init(struct ha_types *types)
{
    return PyModule_AddFunctions(types->module, functions);
}
