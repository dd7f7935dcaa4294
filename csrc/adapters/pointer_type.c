/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/pointer_type.h"

#include "adapters/pointer.h"
#include "adapters/type.h"
#include "adapters/type_index.h"
#include "adapters/types.h"

PyTypeObject *
ha_pointer_type_make(struct ha_types *types, struct ha_type_entry *entry,
                     unsigned index, PyTypeObject *base,
                     const struct ha_pointer_spec *spec)
{
    PyTypeObject *type = HA_READ(entry->type);
    if (type != NULL) {
        return type;
    }
    if (base == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "hipadapt is shutting down");
        return NULL;
    }
    PyType_Slot slots[] = {
        {Py_tp_doc, (void *)(spec->doc == NULL ? "" : spec->doc)},
        {Py_tp_dealloc, ha_pointer_dealloc},
        {Py_tp_traverse, ha_pointer_traverse},
        {Py_tp_clear, ha_pointer_clear},
        {spec->methods == NULL ? 0 : Py_tp_methods, spec->methods},
        {0, NULL},
    };
    PyType_Spec type_spec = {
        .name = spec->name,
        .basicsize = sizeof(struct ha_pointer),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
                 Py_TPFLAGS_IMMUTABLETYPE,
        .slots = slots,
    };
    if (ha_type_make(types, &type_spec, base, false, &type) < 0) {
        return NULL;
    }
    type->tp_vectorcall = spec->vectorcall;
    return ha_type_index_publish(types, entry, type, index);
}
