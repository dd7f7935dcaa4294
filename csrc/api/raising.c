/* SPDX-License-Identifier: MIT */
#include "api/raising.h"

#include <stddef.h>
#include <structmember.h>

struct raising {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *function; /* owned */
    PyObject *fail;     /* owned */
};

/* What is left of a successful result without its status; owned. */
static PyObject *
outputs_of(PyObject *result)
{
    Py_ssize_t count = PyTuple_GET_SIZE(result);

    if (count == 2) {
        return Py_NewRef(PyTuple_GET_ITEM(result, 1));
    }
    return count == 1 ? Py_NewRef(Py_None) : PyTuple_GetSlice(result, 1, count);
}

/* Arguments as a tuple and a dict, for the exception. */
static int
unpack(PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject **tuple,
       PyObject **dict)
{
    *dict = PyDict_New();
    *tuple = PyTuple_New(count);
    if (*dict == NULL || *tuple == NULL) {
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyTuple_SET_ITEM(*tuple, i, Py_NewRef(args[i]));
    }
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE(names); i++) {
        if (PyDict_SetItem(*dict, PyTuple_GET_ITEM(names, i), args[count + i]) < 0) {
            return -1;
        }
    }
    return 0;
}

static void
fail(struct raising *self, PyObject *result, PyObject *const *args, Py_ssize_t count,
     PyObject *names)
{
    PyObject *tuple = NULL, *dict = NULL, *answer = NULL;

    if (unpack(args, count, names, &tuple, &dict) == 0) {
        answer = PyObject_CallFunctionObjArgs(self->fail, self->function, result, tuple,
                                              dict, NULL);
        if (answer != NULL) {
            PyErr_SetString(PyExc_SystemError, "the failure was not raised");
        }
    }
    Py_XDECREF(answer);
    Py_XDECREF(dict);
    Py_XDECREF(tuple);
}

static PyObject *
raising_call(PyObject *object, PyObject *const *args, size_t flags, PyObject *names)
{
    struct raising *self = (struct raising *)object;
    PyObject *result = PyObject_Vectorcall(self->function, args, flags, names);
    PyObject *outputs = NULL;

    if (result == NULL) {
        return NULL;
    }
    if (!PyTuple_Check(result) || PyTuple_GET_SIZE(result) == 0 ||
        !PyLong_Check(PyTuple_GET_ITEM(result, 0))) {
        Py_DECREF(result);
        return PyErr_Format(PyExc_TypeError,
                            "%R does not return a tuple that begins with a status",
                            self->function);
    }
    long status = PyLong_AsLong(PyTuple_GET_ITEM(result, 0));
    if (status == 0) {
        outputs = outputs_of(result);
    } else if (status != -1 || !PyErr_Occurred()) {
        fail(self, result, args, PyVectorcall_NARGS(flags), names);
    }
    Py_DECREF(result);
    return outputs;
}

static PyObject *
raising_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"function", "fail", NULL};
    PyObject *function = NULL, *failing = NULL;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:RaisingFunction", keywords,
                                     &function, &failing)) {
        return NULL;
    }
    if (!PyCallable_Check(function) || !PyCallable_Check(failing)) {
        return PyErr_Format(PyExc_TypeError,
                            "RaisingFunction: two callables, not '%.200s' and '%.200s'",
                            Py_TYPE(function)->tp_name, Py_TYPE(failing)->tp_name);
    }
    struct raising *self = (struct raising *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->call = raising_call;
        self->function = Py_NewRef(function);
        self->fail = Py_NewRef(failing);
    }
    return (PyObject *)self;
}

static int
raising_traverse(PyObject *object, visitproc visit, void *arg)
{
    struct raising *self = (struct raising *)object;

    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->function);
    Py_VISIT(self->fail);
    return 0;
}

static int
raising_clear(PyObject *object)
{
    struct raising *self = (struct raising *)object;

    Py_CLEAR(self->function);
    Py_CLEAR(self->fail);
    return 0;
}

static void
raising_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    PyObject_GC_UnTrack(object);
    (void)raising_clear(object);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *
raising_repr(PyObject *object)
{
    PyObject *name =
        PyObject_GetAttrString(((struct raising *)object)->function, "__name__");

    if (name == NULL) {
        return NULL;
    }
    PyObject *text = PyUnicode_FromFormat("<raising function %U>", name);
    Py_DECREF(name);
    return text;
}

/* Name, qualified name and text come from the function behind. */
static PyObject *
raising_attribute(PyObject *object, void *name)
{
    return PyObject_GetAttrString(((struct raising *)object)->function, name);
}

static PyGetSetDef getters[] = {
    {"__name__", raising_attribute, NULL, NULL, "__name__"},
    {"__qualname__", raising_attribute, NULL, NULL, "__qualname__"},
    {"__doc__", raising_attribute, NULL, NULL, "__doc__"},
    {"__text_signature__", raising_attribute, NULL, NULL, "__text_signature__"},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef members[] = {
    {"__wrapped__", T_OBJECT_EX, offsetof(struct raising, function), READONLY, NULL},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(struct raising, call), READONLY,
     NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, raising_new},
    {Py_tp_dealloc, raising_dealloc},
    {Py_tp_traverse, raising_traverse},
    {Py_tp_clear, raising_clear},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_repr, raising_repr},
    {Py_tp_getset, getters},
    {Py_tp_members, members},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "hipadapt._core.RaisingFunction",
    .basicsize = sizeof(struct raising),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

PyObject *
ha_raising_type_new(PyObject *module)
{
    return PyType_FromModuleAndSpec(module, &spec, NULL);
}
