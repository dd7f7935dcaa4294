/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/ctypes_value.h"

#include <string.h>

#include "adapters/python_version.h"
#include "adapters/take.h"
#include "adapters/types.h"

struct wanted_name {
    const char *name;
    size_t offset; /* of the slot in struct ha_types */
};

#define WANTED(field, text) {text, offsetof(struct ha_types, field)}

static const struct wanted_name wanted_names[] = {
    WANTED(c_void_p, "c_void_p"),     WANTED(c_simple, "_SimpleCData"),
    WANTED(c_pointer, "_Pointer"),    WANTED(c_function, "_CFuncPtr"),
    WANTED(c_structure, "Structure"), WANTED(c_union, "Union"),
    WANTED(c_array, "Array"),         WANTED(c_char_p, "c_char_p"),
    WANTED(c_wchar_p, "c_wchar_p"),   WANTED(c_alignment, "alignment"),
};

#define WANTED_COUNT (sizeof wanted_names / sizeof wanted_names[0])

/* Reads the names from the module; all or nothing. */
static int
load_names(struct ha_types *types, PyObject *module)
{
    PyObject *found[WANTED_COUNT] = {NULL};
    int status = -1;
    for (size_t i = 0; i < WANTED_COUNT; i++) {
        found[i] = PyObject_GetAttrString(module, wanted_names[i].name);
        if (found[i] == NULL) {
            goto done;
        }
        bool callable =
            wanted_names[i].offset == offsetof(struct ha_types, c_alignment);
        if (!callable && !PyType_Check(found[i])) {
            PyErr_Format(PyExc_TypeError, "ctypes.%s is not a type",
                         wanted_names[i].name);
            goto done;
        }
    }
    ha_guard_take(&types->guard);
    bool first = types->ctypes_module == NULL;
    for (size_t i = 0; first && i < WANTED_COUNT; i++) {
        *(PyObject **)((char *)types + wanted_names[i].offset) = found[i];
        found[i] = NULL;
    }
    if (first) {
        HA_PUBLISH(types->ctypes_module, Py_NewRef(module));
    }
    ha_guard_give(&types->guard);
    status = 0;
done:
    for (size_t i = 0; i < WANTED_COUNT; i++) {
        Py_XDECREF(found[i]);
    }
    return status;
}

int
ha_ctypes_load(struct ha_types *types)
{
    if (HA_READ(types->ctypes_module) != NULL) {
        return 0;
    }
    PyObject *module = PyImport_ImportModule("ctypes");
    if (module == NULL) {
        return -1;
    }
    int status = load_names(types, module);
    Py_DECREF(module);
    return status;
}

int
ha_ctypes_class(struct ha_types *types, PyObject *object, enum ha_ctypes_class *out)
{
    *out = HA_NOT_CTYPES;
    PyTypeObject *type = Py_TYPE(object);
    /* ctypes gives all its classes a metaclass; most objects have none. */
    if (Py_TYPE(type) == &PyType_Type || type->tp_as_buffer == NULL ||
        type->tp_as_buffer->bf_getbuffer == NULL) {
        return 0;
    }
    if (HA_READ(types->ctypes_module) == NULL) {
        PyObject *modules = PyImport_GetModuleDict(); /* borrowed */
        PyObject *module = NULL;
        int found = ha_dict_get_text(modules, "_ctypes", &module);
        Py_XDECREF(module);
        if (found <= 0) {
            return found;
        }
        if (ha_ctypes_load(types) < 0) {
            return -1;
        }
    }
    if (type == types->c_void_p) {
        *out = HA_CTYPES_ADDRESS;
    } else if (PyType_IsSubtype(type, types->c_simple)) {
        *out = PyType_IsSubtype(type, types->c_void_p) ||
                       PyType_IsSubtype(type, types->c_char_p) ||
                       PyType_IsSubtype(type, types->c_wchar_p)
                   ? HA_CTYPES_ADDRESS
                   : HA_CTYPES_SIMPLE;
    } else if (PyType_IsSubtype(type, types->c_pointer)) {
        *out = HA_CTYPES_ADDRESS;
    } else if (PyType_IsSubtype(type, types->c_function)) {
        *out = HA_CTYPES_FUNCTION;
    } else if (PyType_IsSubtype(type, types->c_structure) ||
               PyType_IsSubtype(type, types->c_union)) {
        *out = HA_CTYPES_AGGREGATE;
    } else if (PyType_IsSubtype(type, types->c_array)) {
        *out = HA_CTYPES_ARRAY;
    }
    return 0;
}

int
ha_ctypes_address(PyObject *object, void **out)
{
    Py_buffer buffer;
    if (PyObject_GetBuffer(object, &buffer, PyBUF_SIMPLE) < 0) {
        return -1;
    }
    int status = -1;
    if (buffer.len == (Py_ssize_t)sizeof(void *)) {
        memcpy(out, buffer.buf, sizeof(void *));
        status = 0;
    } else {
        PyErr_Format(PyExc_SystemError, "'%.200s' holds %zd bytes, not an address",
                     Py_TYPE(object)->tp_name, buffer.len);
    }
    PyBuffer_Release(&buffer);
    return status;
}

int
ha_take_ctypes(struct ha_take *take, PyObject *object)
{
    enum ha_ctypes_class class;
    if (Py_TYPE(Py_TYPE(object)) == &PyType_Type) {
        return 0;
    }
    if (ha_ctypes_class(take->types, object, &class) < 0) {
        return -1;
    }
    if (class != HA_CTYPES_ADDRESS && class != HA_CTYPES_FUNCTION) {
        return 0;
    }
    if (ha_ctypes_address(object, &take->view->ptr) < 0) {
        return -1;
    }
    /* Text, pointed-to object and trampoline live as long as the ctypes object. */
    take->view->owner = Py_NewRef(object);
    return 1;
}

PyObject *
ha_ctypes_void_p(struct ha_types *types, void *ptr)
{
    if (ha_ctypes_load(types) < 0) {
        return NULL;
    }
    PyObject *address = PyLong_FromVoidPtr(ptr);
    if (address == NULL) {
        return NULL;
    }
    PyObject *result = PyObject_CallOneArg((PyObject *)types->c_void_p, address);
    Py_DECREF(address);
    return result;
}
