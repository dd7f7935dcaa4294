/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "module/kernel.h"

#include <stddef.h>
#include <string.h>
#include <structmember.h>

#include "adapters/handle.h"
#include "adapters/message.h"
#include "adapters/together.h"
#include "adapters/type.h"
#include "adapters/types.h"
#include "adapters/view.h"
#include "api/generated/tables.h"
#include "api/provider.h"
#include "module/launch_config.h"
#include "module/state.h"

#define ARGUMENT_COUNT_MAX 4096
#define ARGUMENT_BYTES_MAX (1u << 20)

/* ---- kernels ---- */

/* (offset, size, letter) of one argument. */
static int
read_slot(PyObject *item, struct ha_kernel_slot *slot)
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
    slot->kind = (enum ha_slot_kind)letter;
    slot->fits = NULL;
    if ((slot->kind == HA_SLOT_POINTER && slot->size != 8) ||
        (slot->kind == HA_SLOT_BOOL && slot->size != 1)) {
        slot->kind = HA_SLOT_ANY;
    }
    return 0;
}

static int
read_signature(struct ha_kernel *kernel, PyObject *signature)
{
    Py_ssize_t count = PyTuple_GET_SIZE(signature);
    if (count > ARGUMENT_COUNT_MAX) {
        PyErr_SetString(PyExc_ValueError, "Kernel: too many arguments");
        return -1;
    }
    kernel->slots = PyMem_New(struct ha_kernel_slot, count > 0 ? (size_t)count : 1);
    if (kernel->slots == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        struct ha_kernel_slot *slot = &kernel->slots[i];
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
    struct ha_kernel *self = (struct ha_kernel *)type->tp_alloc(type, 0);
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
    Py_VISIT(((struct ha_kernel *)self)->owner);
    return 0;
}

static int
kernel_clear(PyObject *self)
{
    /* What is not kept any more must not be launched. */
    HA_PUBLISH(((struct ha_kernel *)self)->function, NULL);
    Py_CLEAR(((struct ha_kernel *)self)->owner);
    return 0;
}

static void
kernel_dealloc(PyObject *self)
{
    struct ha_kernel *kernel = (struct ha_kernel *)self;
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
    HA_PUBLISH(((struct ha_kernel *)self)->function, NULL);
    Py_RETURN_NONE;
}

static PyObject *
kernel_function(PyObject *self, void *Py_UNUSED(closure))
{
    struct ha_kernel *kernel = (struct ha_kernel *)self;
    hipFunction_t function = HA_READ(kernel->function);
    if (function == NULL) {
        return PyErr_Format(PyExc_ValueError, "%s: the module of this kernel is closed",
                            ha_kernel_name(kernel));
    }
    return ha_handle_new(&kernel->api->types, HA_HANDLE_ihipModuleSymbol_t, function,
                         self);
}

static PyMethodDef kernel_methods[] = {
    {"_retire", kernel_retire, METH_NOARGS,
     PyDoc_STR("_retire($self, /)\n--\n\nThe function is gone: calls are refused.")},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef kernel_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(struct ha_kernel, weakrefs), READONLY,
     NULL},
    {"name", T_OBJECT_EX, offsetof(struct ha_kernel, name), READONLY,
     PyDoc_STR("Name of the kernel in its module.")},
    {"module", T_OBJECT, offsetof(struct ha_kernel, owner), READONLY,
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
    {Py_tp_doc, (void *)kernel_doc},
    {Py_tp_new, kernel_new},
    {Py_tp_dealloc, kernel_dealloc},
    {Py_tp_traverse, kernel_traverse},
    {Py_tp_clear, kernel_clear},
    {Py_tp_methods, kernel_methods},
    {Py_tp_members, kernel_members},
    {Py_tp_getset, kernel_getset},
    {Py_mp_subscript, ha_launch_config_new},
    {0, NULL},
};

static PyType_Spec kernel_spec = {
    .name = "hipadapt._core.Kernel",
    .basicsize = sizeof(struct ha_kernel),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = kernel_slots,
};

/* ---- what the provider knows ---- */

/* hipadaptKernelParam of the CPU device (cpu/entry/runtime.h); others don't have it. */
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

/* hipadaptKernelReport of the CPU device (cpu/entry/runtime.h). */
typedef hipError_t (*report_call)(hipFunction_t, char *, size_t *);

/* A new reference; NULL with or without an exception where there is none. */
static PyObject *
read_report(report_call ask, hipFunction_t function)
{
    size_t bytes = 0;
    char *text = NULL;
    PyObject *result = NULL;

    if (ask(function, NULL, &bytes) != hipSuccess) {
        return NULL;
    }
    text = PyMem_Malloc(bytes);
    if (text == NULL) {
        return PyErr_NoMemory();
    }
    if (ask(function, text, &bytes) == hipSuccess) {
        result = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    }
    PyMem_Free(text);
    return result;
}

PyObject *
ha_kernel_report(PyObject *module, PyObject *function)
{
    struct ha_where where = {"kernel_report", "function"};
    struct ha_view view;
    if (ha_provider_get() == NULL ||
        ha_handle_from(ha_types_of(module), function, &where,
                       HA_HANDLE_ihipModuleSymbol_t, &view) < 0) {
        return NULL;
    }
    report_call ask = (report_call)ha_provider_symbol("hipadaptKernelReport");
    PyObject *result = ask != NULL ? read_report(ask, view.ptr) : NULL;
    ha_view_release(&view);
    return result != NULL || PyErr_Occurred() ? result : Py_NewRef(Py_None);
}

/* ---- module ---- */

int
ha_kernel_init(PyObject *module, struct ha_kernel_state *state)
{
    state->str_handle = PyUnicode_InternFromString("_handle");
    state->current = PyContextVar_New("hipadapt_current_stream", Py_None);
    state->config =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &ha_launch_config_spec, NULL);
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
