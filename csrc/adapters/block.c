/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/block.h"

#include "adapters/python_version.h"
#include "adapters/saved_error.h"
#include "adapters/type.h"
#include "adapters/types.h"

struct ha_block *
ha_block_new(struct ha_types *types, Py_ssize_t bytes)
{
    if (bytes < 0 || bytes > PY_SSIZE_T_MAX - 4096) {
        PyErr_NoMemory();
        return NULL;
    }
    struct ha_block *block =
        (struct ha_block *)types->block->tp_alloc(types->block, bytes);
    /* tp_alloc has zeroed it. */
    return block;
}

int
ha_keep(PyObject **keep, uintptr_t key, PyObject *owner, PyObject **old)
{
    if ((owner == NULL || owner == Py_None) && *keep == NULL) {
        return 0;
    }
    if (*keep == NULL) {
        *keep = PyDict_New();
        if (*keep == NULL) {
            return -1;
        }
    }
    PyObject *name = PyLong_FromSize_t(key);
    int status = name == NULL ? -1 : 0;
    if (status == 0 && old != NULL) {
        status = ha_dict_get(*keep, name, old);
    }
    if (status < 0) {
        Py_XDECREF(name);
        return -1;
    }
    if (owner == NULL || owner == Py_None) {
        status = PyDict_Contains(*keep, name);
        if (status > 0) {
            status = PyDict_DelItem(*keep, name);
        }
    } else {
        status = PyDict_SetItem(*keep, name, owner);
    }
    Py_DECREF(name);
    return status;
}

static int
block_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((struct ha_block *)self)->keep);
    return 0;
}

static int
block_clear(PyObject *self)
{
    PyObject *keep = ((struct ha_block *)self)->keep;
    ((struct ha_block *)self)->keep = NULL;
    ha_release(keep);
    return 0;
}

static void
block_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    block_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyType_Slot block_slots[] = {
    {Py_tp_doc, (void *)"Memory that adapter objects share."},
    {Py_tp_traverse, block_traverse},
    {Py_tp_clear, block_clear},
    {Py_tp_dealloc, block_dealloc},
    {0, NULL},
};

static PyType_Spec block_spec = {
    .name = "hipadapt.types._Block",
    .basicsize = sizeof(struct ha_block),
    .itemsize = 1,
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = block_slots,
};

int
ha_block_init(struct ha_types *types)
{
    return ha_type_make(types, &block_spec, NULL, false, &types->block);
}
