/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/buffer_hold.h"

#include "adapters/saved_error.h"
#include "adapters/type.h"
#include "adapters/types.h"

/* Some exporters (PyBuffer_FillInfo) point shape and strides into the struct itself. */
static void
move_buffer(Py_buffer *to, Py_buffer *from)
{
    *to = *from;
    if (from->shape == &from->len) {
        to->shape = &to->len;
    }
    if (from->strides == &from->itemsize) {
        to->strides = &to->itemsize;
    }
    from->obj = NULL;
}

PyObject *
ha_hold_new(struct ha_types *types, Py_buffer *stolen)
{
    struct ha_hold *hold = PyObject_GC_New(struct ha_hold, types->hold);
    if (hold == NULL) {
        return NULL;
    }
    move_buffer(&hold->buffer, stolen);
    PyObject_GC_Track((PyObject *)hold);
    return (PyObject *)hold;
}

static int
hold_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((struct ha_hold *)self)->buffer.obj);
    return 0;
}

static int
hold_clear(PyObject *self)
{
    struct ha_hold *hold = (struct ha_hold *)self;
    if (hold->buffer.obj != NULL) {
        struct ha_saved_error saved;
        ha_error_save(&saved);
        PyBuffer_Release(&hold->buffer);
        ha_error_restore(&saved);
    }
    return 0;
}

static void
hold_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    hold_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyType_Slot hold_slots[] = {
    {Py_tp_doc, (void *)"A buffer of another object, held."},
    {Py_tp_traverse, hold_traverse},
    {Py_tp_clear, hold_clear},
    {Py_tp_dealloc, hold_dealloc},
    {0, NULL},
};

static PyType_Spec hold_spec = {
    .name = "hipadapt.types._Hold",
    .basicsize = sizeof(struct ha_hold),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = hold_slots,
};

int
ha_buffer_hold_init(struct ha_types *types)
{
    return ha_type_make(types, &hold_spec, NULL, false, &types->hold);
}
