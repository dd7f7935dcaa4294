/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/adapter.h"

#include <string.h>

#include "adapters/as_c_void_p.h"
#include "adapters/buffer.h"
#include "adapters/ctypes_value.h"
#include "adapters/cuda_array.h"
#include "adapters/dlpack.h"
#include "adapters/message.h"
#include "adapters/number.h"
#include "adapters/pointer.h"
#include "adapters/take.h"
#include "adapters/type.h"
#include "adapters/types.h"
#include "adapters/view.h"

static int
take_none(struct ha_take *take, PyObject *object)
{
    (void)take;
    return object == Py_None;
}

/* All of it at one moment; false where the memory is gone. */
static inline bool
take_pointer_fields(const struct ha_types *types, PyObject *object,
                    struct ha_view *view)
{
    const struct ha_pointer *pointer = (struct ha_pointer *)object;
    bool here;
    HA_BEGIN_SECTION(object);
    PyObject *owner = pointer->owner;
    here = !ha_pointer_is_gone(types, pointer);
    if (here && owner != NULL && Py_TYPE(owner) == types->allocation) {
        here = ha_allocation_use(owner);
        view->used = here ? owner : NULL;
    }
    if (here) {
        view->ptr = pointer->ptr;
        view->size = pointer->size;
        view->readonly = pointer->readonly;
        /* The memory has its own object, so that a later __init__ can't free it. */
        view->owner = Py_XNewRef(owner);
    }
    HA_END_SECTION();
    return here;
}

/* The same with the exception. */
static inline int
take_here(struct ha_types *types, PyObject *object, const struct ha_where *where,
          struct ha_view *view)
{
    return take_pointer_fields(types, object, view)
               ? 1
               : ha_raise_gone(types, PyExc_ValueError, object, where->function,
                               where->argument);
}

static int
take_pointer(struct ha_take *take, PyObject *object)
{
    if (!ha_pointer_check(take->types, object)) {
        return 0;
    }
    struct ha_view *view = take->view;
    if (take_here(take->types, object, take->where, view) < 0) {
        return -1;
    }
    if (ha_is_native(Py_TYPE(object))) {
        return 1;
    }
    /* A subclass may free its memory when it dies: the instance itself is kept. */
    if (view->owner == NULL) {
        view->owner = Py_NewRef(object);
        return 1;
    }
    PyObject *both = PyTuple_Pack(2, object, view->owner);
    if (both == NULL) {
        return -1;
    }
    Py_SETREF(view->owner, both);
    return 1;
}

struct ha_adapter {
    const char *name;
    const char *accepts;
    int (*take)(struct ha_take *take, PyObject *object);
};

/* The adapter order.  Everything that turns an object into an address goes through
 * these rows from top to bottom; nothing else decides about order.  The specification's
 * six come first, in its order; what we add comes behind them. */
static const struct ha_adapter adapter_table[] = {
    {"None", "None: NULL", take_none},
    {"Pointer", "a Pointer or an instance of a subclass: its address", take_pointer},
    {"int",
     "int and numpy integer scalars: the address; bool, negative and too large ints "
     "and other numpy scalars are refused",
     ha_take_integer},
    {"ctypes.c_void_p",
     "c_void_p, c_char_p, c_wchar_p, POINTER(T) and CFUNCTYPE objects: the address "
     "they hold (other ctypes objects are buffers: the address of the object)",
     ha_take_ctypes},
    {"__cuda_array_interface__", "CUDA array interface, C or F order, without mask",
     ha_take_cuda_array},
    {"buffer",
     "buffer protocol, C or F order: numpy arrays, bytes, bytearray, "
     "memoryview, array.array, ctypes objects",
     ha_take_buffer},
    {"as_c_void_p", "objects with as_c_void_p() that answers c_void_p or int",
     ha_take_as_c_void_p},
    {"__dlpack_c_exchange_api__",
     "types with the C table of DLPack 1.3 (torch): C or F order", ha_take_exchange},
    {"__dlpack__", "DLPack on CPU, ROCm, or host memory of a GPU; C or F order",
     ha_take_dlpack},
    {"__index__", "remaining objects with __index__: the address", ha_take_index},
};

#define ADAPTER_ROWS (sizeof adapter_table / sizeof adapter_table[0])
#define ADDRESS_ROWS 4

static int
take_rows(struct ha_take *take, PyObject *object, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        int status = adapter_table[i].take(take, object);
        if (status != 0) {
            return status;
        }
    }
    return 0;
}

int
ha_take_address(struct ha_take *take, PyObject *object)
{
    return take_rows(take, object, 0, ADDRESS_ROWS);
}

int
ha_take_all(struct ha_take *take, PyObject *object)
{
    int status = take_rows(take, object, 0, ADAPTER_ROWS);
    if (status == 0) {
        status = ha_refuse(take->where,
                           "None, a Pointer, an int address, a ctypes.c_void_p, an "
                           "array or a buffer",
                           object);
    }
    return status;
}

PyObject *
ha_adapter_rows(void)
{
    PyObject *rows = PyTuple_New(ADAPTER_ROWS);
    for (size_t i = 0; rows != NULL && i < ADAPTER_ROWS; i++) {
        PyObject *row =
            Py_BuildValue("ss", adapter_table[i].name, adapter_table[i].accepts);
        if (row == NULL) {
            Py_CLEAR(rows);
        } else {
            PyTuple_SET_ITEM(rows, (Py_ssize_t)i, row);
        }
    }
    return rows;
}

static int
check_flags(const struct ha_where *where, unsigned flags, PyObject *object,
            struct ha_view *view)
{
    if ((flags & HA_WRITE) != 0 && view->readonly) {
        ha_view_release(view);
        return ha_raise(PyExc_BufferError, where,
                        "must be writable memory, not read-only '%.200s'",
                        Py_TYPE(object)->tp_name);
    }
    if ((flags & HA_NOT_NULL) != 0 && view->ptr == NULL) {
        ha_view_release(view);
        return ha_raise(PyExc_ValueError, where, "must not be NULL");
    }
    return 0;
}

/* Types known to have none of the protocols above the buffer row; not their subclasses.
 */
static inline bool
has_only_buffer(const PyTypeObject *type)
{
    return type == &PyBytes_Type || type == &PyByteArray_Type ||
           type == &PyMemoryView_Type ||
           (type->tp_name[0] == 'n' && strcmp(type->tp_name, "numpy.ndarray") == 0);
}

int
ha_ptr_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
            unsigned flags, struct ha_view *out)
{
    ha_view_init(out);
    if (object == Py_None && (flags & HA_NOT_NULL) == 0) {
        return 0;
    }
    PyTypeObject *type = Py_TYPE(object);
    struct ha_take take = {
        .types = types, .where = where, .view = out, .write = (flags & HA_WRITE) != 0};
    int status;
    if (type == types->device_array || type == types->pointer) {
        /* The same as row "Pointer", without the walk over the bases. */
        status = take_here(types, object, where, out);
    } else if (type == &PyLong_Type) {
        status = ha_take_integer(&take, object);
    } else if (has_only_buffer(type)) {
        status = ha_take_buffer(&take, object);
    } else if (type == types->c_void_p) {
        status = ha_take_ctypes(&take, object);
    } else {
        status = ha_take_all(&take, object);
    }
    if (status < 0) {
        ha_view_release(out);
        return -1;
    }
    return flags == 0 ? 0 : check_flags(where, flags, object, out);
}
