/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/launch_extra.h"

#include <string.h>

#include "adapters/block.h"
#include "adapters/construct.h"
#include "adapters/launch.h"
#include "adapters/launch_data.h"
#include "adapters/message.h"
#include "adapters/pointer.h"
#include "adapters/type.h"
#include "adapters/types.h"

/* What one block holds: configuration, size, then the packed values. */
struct packed {
    void *config[HA_EXTRA_COUNT];
    size_t size;
    _Alignas(16) unsigned char data[];
};

static int
pack(struct ha_types *types, struct ha_pointer *self,
     struct ha_launch_arguments *launch)
{
    struct ha_block *block =
        ha_block_new(types, (Py_ssize_t)(sizeof(struct packed) + launch->size));
    if (block == NULL) {
        return -1;
    }
    struct packed *packed = (struct packed *)block->bytes;
    packed->size = launch->size;
    memcpy(packed->data, launch->data, launch->size);
    ha_extra_fill(packed->config, packed->data, &packed->size);
    if (ha_keep(&block->keep, 0, launch->owners, NULL) < 0) {
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
    struct ha_launch_arguments launch;
    if (ha_extra_pack(types, object, &where, &launch) < 0) {
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
