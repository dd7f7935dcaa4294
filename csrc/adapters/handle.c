/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/handle.h"

#include <string.h>

#include "adapters/adapter.h"
#include "adapters/construct.h"
#include "adapters/description.h"
#include "adapters/message.h"
#include "adapters/pointer.h"
#include "adapters/pointer_type.h"
#include "adapters/stream.h"
#include "adapters/take.h"
#include "adapters/type.h"
#include "adapters/type_index.h"
#include "adapters/types.h"
#include "adapters/view.h"

/* Of two handle types neither of which is the other one is a mistake. */
static int
check_handle_type(struct ha_types *types, PyObject *object,
                  const struct ha_where *where, unsigned index)
{
    unsigned given;
    if (PyObject_TypeCheck(object, types->handle) &&
        ha_type_index_find(types, Py_TYPE(object), &given) && given != index) {
        const char *name = types->tables->handles[index].name;
        const char *dot = strrchr(name, '.');
        return ha_refuse(where, dot == NULL ? name : dot + 1, object);
    }
    return 0;
}

int
ha_handle_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
               unsigned index, struct ha_view *out)
{
    struct ha_take take = {.types = types, .where = where, .view = out};
    ha_view_init(out);
    if (object == Py_None) {
        return 0;
    }
    if (Py_TYPE(object) == HA_READ(types->handles[index].type)) {
        if (ha_pointer_glance((struct ha_pointer *)object, &out->ptr)) {
            return 0;
        }
        HA_BEGIN_SECTION(object);
        out->ptr = ((struct ha_pointer *)object)->ptr;
        out->owner = Py_XNewRef(((struct ha_pointer *)object)->owner);
        HA_END_SECTION();
        return 0;
    }
    if (check_handle_type(types, object, where, index) < 0) {
        return -1;
    }
    int status = ha_take_address(&take, object);
    if (status == 0 && (types->tables->handles[index].flags & HA_HANDLE_STREAM) != 0) {
        status = ha_take_cuda_stream(&take, object);
    }
    if (status == 0) {
        status = ha_take_all(&take, object);
    }
    out->size = -1; /* what is behind a handle is not ours to measure */
    if (status < 0) {
        ha_view_release(out);
        return -1;
    }
    return 0;
}

PyObject *
ha_handle_new(struct ha_types *types, unsigned index, void *ptr, PyObject *owner)
{
    PyTypeObject *type = ha_handle_type(types, index);
    PyObject *self = type == NULL ? NULL : ha_pointer_alloc(type);
    if (self != NULL) {
        ha_pointer_assign((struct ha_pointer *)self, ptr, -1, false, Py_XNewRef(owner));
    }
    return self;
}

/* ---- types ---- */

static int
handle_fill(struct ha_types *types, PyObject *self, PyObject *object)
{
    struct ha_where where = {ha_short_name(Py_TYPE(self)), "pyobj"};
    struct ha_view view;
    unsigned index;
    int status;
    if (ha_type_index_find(types, Py_TYPE(self), &index)) {
        status = ha_handle_from(types, object, &where, index, &view);
    } else {
        status = ha_ptr_from(types, object, &where, 0, &view);
    }
    if (status == 0) {
        status = ha_pointer_set(types, (struct ha_pointer *)self, &view);
    }
    ha_view_release(&view);
    return status;
}

static int
handle_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    return ha_init_one(self, args, kwargs, handle_fill);
}

static PyObject *
handle_vectorcall(PyObject *type, PyObject *const *args, size_t nargsf,
                  PyObject *kwnames)
{
    return ha_construct_one((PyTypeObject *)type, args, nargsf, kwnames, handle_fill);
}

static PyObject *
stream_cuda_stream(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_BuildValue("(iK)", 0, (unsigned long long)(uintptr_t)ha_pointer_of(self));
}

static PyMethodDef stream_methods[] = {
    {"__cuda_stream__", stream_cuda_stream, METH_NOARGS,
     PyDoc_STR("__cuda_stream__($self, /)\n--\n\n"
               "(0, address): the stream protocol of other libraries.")},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(handle_doc,
             "Handle(pyobj=None)\n--\n\nBase of all opaque handles of HIP.");

static PyType_Slot handle_slots[] = {
    {Py_tp_doc, (void *)handle_doc},     {Py_tp_init, handle_init},
    {Py_tp_dealloc, ha_pointer_dealloc}, {Py_tp_traverse, ha_pointer_traverse},
    {Py_tp_clear, ha_pointer_clear},     {0, NULL},
};

static PyType_Spec handle_spec = {
    .name = "hipadapt.types.Handle",
    .basicsize = sizeof(struct ha_pointer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = handle_slots,
};

int
ha_handle_init(struct ha_types *types)
{
    if (ha_type_make(types, &handle_spec, types->pointer, true, &types->handle) < 0) {
        return -1;
    }
    types->handle->tp_vectorcall = handle_vectorcall;
    return 0;
}

PyTypeObject *
ha_handle_type(struct ha_types *types, unsigned index)
{
    const struct ha_handle_info *info = &types->tables->handles[index];
    struct ha_pointer_spec spec = {
        .name = info->name,
        .doc = info->doc,
        .methods = (info->flags & HA_HANDLE_STREAM) != 0 ? stream_methods : NULL,
        .vectorcall = handle_vectorcall,
    };
    return ha_pointer_type_make(types, &types->handles[index], index, types->handle,
                                &spec);
}
