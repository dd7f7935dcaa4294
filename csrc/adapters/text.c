/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/text.h"

#include "adapters/type.h"
#include "adapters/types.h"

static bool
is_bytes(PyObject *object)
{
    return PyBytes_Check(object) || PyByteArray_Check(object);
}

/* What is no text is taken as it is. */
static PyObject *
as_bytes(PyObject *object)
{
    return PyUnicode_Check(object)
               ? PyUnicode_AsEncodedString(object, "utf-8", "surrogateescape")
               : Py_NewRef(object);
}

static PyObject *
text_add(PyObject *left, PyObject *right)
{
    if (!is_bytes(left) && !is_bytes(right)) {
        Py_RETURN_NOTIMPLEMENTED; /* str's own rule comes next */
    }
    PyObject *first = as_bytes(left);
    PyObject *second = first == NULL ? NULL : as_bytes(right);
    PyObject *joined = second == NULL ? NULL : PySequence_Concat(first, second);
    Py_XDECREF(first);
    Py_XDECREF(second);
    return joined;
}

static PyObject *
text_decode(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    (void)args;
    if (count + (keywords == NULL ? 0 : PyTuple_GET_SIZE(keywords)) > 2) {
        return PyErr_Format(PyExc_TypeError, "decode() takes at most 2 arguments");
    }
    return PyUnicode_FromObject(self);
}

static PyMethodDef text_methods[] = {
    {"decode", (PyCFunction)(void (*)(void))text_decode, METH_FASTCALL | METH_KEYWORDS,
     PyDoc_STR("decode($self, /, encoding='utf-8', errors='strict')\n--\n\n"
               "The text as a plain str; for programs that expect bytes.")},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot text_slots[] = {
    {Py_tp_doc, (void *)"Text of a record's member: a str that also joins bytes."},
    {Py_nb_add, text_add},
    {Py_tp_methods, text_methods},
    {0, NULL},
};

static PyType_Spec text_spec = {
    .name = "hipadapt.types.Text",
    .flags =
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_UNICODE_SUBCLASS,
    .slots = text_slots,
};

int
ha_text_init(struct ha_types *types)
{
    return ha_type_make(types, &text_spec, &PyUnicode_Type, true, &types->text);
}

PyObject *
ha_text_new(struct ha_types *types, const char *bytes, Py_ssize_t size)
{
    PyObject *plain = PyUnicode_DecodeUTF8(bytes, size, "surrogateescape");
    PyObject *text = NULL;

    if (plain != NULL) {
        text = PyObject_CallOneArg((PyObject *)types->text, plain);
        Py_DECREF(plain);
    }
    return text;
}
