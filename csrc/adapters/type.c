/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/type.h"

#include <string.h>

#include "adapters/types.h"

int
ha_type_make(struct ha_types *types, PyType_Spec *spec, PyTypeObject *base,
             bool publish, PyTypeObject **out)
{
    PyObject *type = PyType_FromModuleAndSpec(types->module, spec, (PyObject *)base);
    if (type == NULL) {
        return -1;
    }
    *out = (PyTypeObject *)type;
    return publish ? PyModule_AddType(types->module, *out) : 0;
}

struct ha_types *
ha_types_of_type(PyTypeObject *type)
{
    /* Pointer is the one native type right above object, and the only one whose chain
     * ends there, because best_base picks the base with the layout. */
    while (type->tp_base != &PyBaseObject_Type) {
        type = type->tp_base;
    }
    return (struct ha_types *)PyType_GetModuleState(type);
}

const char *
ha_short_name(PyTypeObject *type)
{
    const char *dot = strrchr(type->tp_name, '.');
    return dot == NULL ? type->tp_name : dot + 1;
}
