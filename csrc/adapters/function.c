/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/function.h"

#include <string.h>

#include "adapters/adapter.h"
#include "adapters/as_c_void_p.h"
#include "adapters/construct.h"
#include "adapters/ctypes_value.h"
#include "adapters/description.h"
#include "adapters/message.h"
#include "adapters/number.h"
#include "adapters/pointer.h"
#include "adapters/pointer_type.h"
#include "adapters/take.h"
#include "adapters/type.h"
#include "adapters/type_index.h"
#include "adapters/types.h"
#include "adapters/view.h"

struct letter {
    char letter;
    const char *name; /* in ctypes; NULL = None */
};

static const struct letter letters[] = {
    {'v', NULL},      {'P', "c_void_p"}, {'i', "c_int"},      {'I', "c_uint"},
    {'l', "c_long"},  {'L', "c_ulong"},  {'q', "c_longlong"}, {'Q', "c_ulonglong"},
    {'f', "c_float"}, {'d', "c_double"},
};

/* The ctypes type of a signature letter; owned. */
static PyObject *
ctypes_type(struct ha_types *types, char letter)
{
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++) {
        if (letters[i].letter == letter) {
            return letters[i].name == NULL
                       ? Py_NewRef(Py_None)
                       : PyObject_GetAttrString(types->ctypes_module, letters[i].name);
        }
    }
    return PyErr_Format(PyExc_SystemError, "signature letter '%c'", letter);
}

/* ctypes.CFUNCTYPE(result, *parameters); ctypes caches these. */
static PyObject *
function_prototype(struct ha_types *types, const char *signature)
{
    Py_ssize_t count = (Py_ssize_t)strlen(signature);
    PyObject *parts = PyTuple_New(count);
    PyObject *factory = NULL;
    PyObject *result = NULL;
    if (parts == NULL) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *part = ctypes_type(types, signature[i]);
        if (part == NULL) {
            goto done;
        }
        PyTuple_SET_ITEM(parts, i, part);
    }
    factory = PyObject_GetAttrString(types->ctypes_module, "CFUNCTYPE");
    if (factory != NULL) {
        result = PyObject_CallObject(factory, parts);
    }
done:
    Py_XDECREF(factory);
    Py_DECREF(parts);
    return result;
}

static int
make_by_ctypes(struct ha_types *types, unsigned index, PyObject *callable,
               void **function, PyObject **owner)
{
    if (ha_ctypes_load(types) < 0) {
        return -1;
    }
    PyObject *prototype =
        function_prototype(types, types->tables->functions[index].signature);
    PyObject *made =
        prototype == NULL ? NULL : PyObject_CallOneArg(prototype, callable);
    Py_XDECREF(prototype);
    if (made == NULL || ha_ctypes_address(made, function) < 0) {
        Py_XDECREF(made);
        return -1;
    }
    *owner = made;
    return 0;
}

/* Rows without memory: 1, 0, -1. */
static int
take_function_address(struct ha_take *take, PyObject *object)
{
    if (ha_pointer_check(take->types, object) &&
        HA_READ(((struct ha_pointer *)object)->size) >= 0) {
        return 0; /* a record, list or array: what has a length is no code */
    }
    int status = ha_take_address(take, object);
    if (status == 0) {
        status = ha_take_as_c_void_p(take, object);
    }
    if (status == 0 && !PyObject_CheckBuffer(object)) {
        status = ha_take_index(take, object); /* arrays of one element convert, too */
    }
    return status;
}

/* Memory of known length is data, and no code begins there. */
static int
refuse_function(struct ha_types *types, const struct ha_where *where, const char *more,
                PyObject *object)
{
    const char *wanted = "a ctypes function, an address or a Pointer to code";
    if (ha_pointer_check(types, object)) {
        return ha_raise(PyExc_TypeError, where,
                        "must be %s%s, not a %s to memory of %zd bytes", more, wanted,
                        ha_short_name(Py_TYPE(object)),
                        HA_READ(((struct ha_pointer *)object)->size));
    }
    return ha_raise(PyExc_TypeError, where, "must be %s%s, not '%.200s'", more, wanted,
                    Py_TYPE(object)->tp_name);
}

int
ha_callback_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
                 unsigned index, ha_trampoline_maker maker, void *context,
                 struct ha_view *out)
{
    struct ha_take take = {.types = types, .where = where, .view = out};
    ha_view_init(out);
    int status = take_function_address(&take, object);
    if (status == 0 && PyCallable_Check(object)) {
        void *function = NULL;
        PyObject *owner = NULL;
        status = maker != NULL
                     ? maker(context, object, &function, &owner)
                     : make_by_ctypes(types, index, object, &function, &owner);
        if (status == 0) {
            out->ptr = function;
            out->owner = owner;
            return 0;
        }
    } else if (status == 0) {
        status = refuse_function(types, where, "None, a callable, ", object);
    }
    out->size = -1;
    if (status < 0) {
        ha_view_release(out);
        return -1;
    }
    return 0;
}

PyObject *
ha_function_new(struct ha_types *types, unsigned index, void *function)
{
    PyTypeObject *type = ha_function_type(types, index);
    PyObject *self = type == NULL ? NULL : ha_pointer_alloc(type);
    if (self != NULL) {
        ((struct ha_pointer *)self)->ptr = function;
    }
    return self;
}

/* ---- types ---- */

static int
function_fill(struct ha_types *types, PyObject *self, PyObject *object)
{
    struct ha_where where = {ha_short_name(Py_TYPE(self)), "pyobj"};
    struct ha_view view;
    unsigned index;
    if (!ha_type_index_find(types, Py_TYPE(self), &index)) {
        /* The base class knows no signature, so it takes no callables. */
        struct ha_take take = {.types = types, .where = &where, .view = &view};
        ha_view_init(&view);
        int taken = take_function_address(&take, object);
        if (taken == 0) {
            taken = refuse_function(types, &where, "None, ", object);
        }
        if (taken < 0) {
            ha_view_release(&view);
            return -1;
        }
    } else if (ha_callback_from(types, object, &where, index, NULL, NULL, &view) < 0) {
        return -1;
    }
    view.size = -1;
    int status = ha_pointer_set(types, (struct ha_pointer *)self, &view);
    ha_view_release(&view);
    return status;
}

static int
function_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    return ha_init_one(self, args, kwargs, function_fill);
}

static PyObject *
function_vectorcall(PyObject *type, PyObject *const *args, size_t nargsf,
                    PyObject *kwnames)
{
    return ha_construct_one((PyTypeObject *)type, args, nargsf, kwnames, function_fill);
}

PyDoc_STRVAR(function_doc,
             "FunctionPointer(pyobj=None)\n--\n\n"
             "Base of all function pointer types.\n\n"
             "Takes ctypes functions, addresses and, where the type has a signature,\n"
             "Python callables; keeps what it was made from.  Never takes a buffer.");

static PyType_Slot function_slots[] = {
    {Py_tp_doc, (void *)function_doc},   {Py_tp_init, function_init},
    {Py_tp_dealloc, ha_pointer_dealloc}, {Py_tp_traverse, ha_pointer_traverse},
    {Py_tp_clear, ha_pointer_clear},     {0, NULL},
};

static PyType_Spec function_spec = {
    .name = "hipadapt.types.FunctionPointer",
    .basicsize = sizeof(struct ha_pointer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = function_slots,
};

int
ha_function_init(struct ha_types *types)
{
    if (ha_type_make(types, &function_spec, types->pointer, true, &types->function) <
        0) {
        return -1;
    }
    types->function->tp_vectorcall = function_vectorcall;
    return 0;
}

PyTypeObject *
ha_function_type(struct ha_types *types, unsigned index)
{
    const struct ha_function_info *info = &types->tables->functions[index];
    struct ha_pointer_spec spec = {
        .name = info->name,
        .doc = info->doc,
        .vectorcall = function_vectorcall,
    };
    return ha_pointer_type_make(types, &types->functions[index], index, types->function,
                                &spec);
}
