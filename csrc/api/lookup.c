/* SPDX-License-Identifier: MIT */
#include "api/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "adapters/function.h"
#include "adapters/handle.h"
#include "adapters/record_type.h"
#include "adapters/together.h"
#include "adapters/types.h"
#include "api/api.h"
#include "api/enums.h"
#include "api/generated/enums.h"
#include "api/generated/methods.h"
#include "api/generated/names.h"
#include "api/generated/tables.h"

static int
compare_method(const void *name, const void *entry)
{
    return strcmp(name, ha_method_name(entry));
}

static bool
is_in(const struct ha_method *method, const char *module)
{
    return method->rtc == (strcmp(module, "hiprtc") == 0);
}

/* Copies a docstring, with its phrases in full, to `out`, which may be NULL; returns
 * the number of characters. */
static size_t
expand(const char *text, char *out)
{
    size_t size = 0;

    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        const char *part = text;
        size_t length = 1;
        if (byte >= 0x80) {
            part = ha_phrase_text + ha_phrases[byte - 0x80];
            length = strlen(part);
        }
        if (out != NULL) {
            memcpy(out + size, part, length);
        }
        size += length;
    }
    return size;
}

/* The docstring of a function; it stays for as long as the process lives.  NULL without
 * memory. */
static const char *
doc_of(const struct ha_method *method)
{
    const char *text = ha_method_doc(method);
    size_t size = expand(text, NULL);
    char *doc = PyMem_RawMalloc(size + 1);

    if (doc == NULL) {
        return NULL;
    }
    expand(text, doc);
    doc[size] = '\0';
    return doc;
}

static PyObject *
make_function(PyObject *self, const char *module, const struct ha_method *found)
{
    /* Functions point to their definition for as long as the process lives. */
    static PyMethodDef definitions[HA_METHOD_COUNT]; /* guard */
    static struct ha_guard guard;
    PyMethodDef *definition = &definitions[found - ha_methods];
    PyObject *home = PyUnicode_FromFormat("hipadapt.%s", module);

    if (home == NULL) {
        return NULL;
    }
    ha_guard_take(&guard);
    if (definition->ml_doc == NULL) {
        definition->ml_name = ha_method_name(found);
        definition->ml_meth = found->call;
        definition->ml_flags =
            found->no_arguments ? METH_NOARGS : METH_FASTCALL | METH_KEYWORDS;
        definition->ml_doc = doc_of(found);
    }
    bool made = definition->ml_doc != NULL;
    ha_guard_give(&guard);
    if (!made) {
        Py_DECREF(home);
        return PyErr_NoMemory();
    }
    PyObject *function = PyCFunction_NewEx(definition, self, home);
    Py_DECREF(home);
    ha_called_by_all(function);
    return function;
}

/* Last part of "hipadapt.<module>.<name>" where the module fits, else NULL. */
static const char *
name_in(const char *dotted, const char *module)
{
    size_t length = strlen(module);
    const char *rest = dotted + sizeof "hipadapt." - 1;

    return strncmp(rest, module, length) == 0 && rest[length] == '.' ? rest + length + 1
                                                                     : NULL;
}

static bool
is_named(const char *dotted, const char *module, const char *name)
{
    const char *last = name_in(dotted, module);

    return last != NULL && strcmp(last, name) == 0;
}

/* A type made from a description; NULL without an exception where there is none. */
static PyObject *
find_type(struct ha_api *api, const char *module, const char *name)
{
    for (unsigned i = 0; i < HA_RECORD_COUNT; i++) {
        if (is_named(ha_record_infos[i].name, module, name)) {
            return (PyObject *)ha_record_type(&api->types, i);
        }
    }
    for (unsigned i = 0; i < HA_HANDLE_COUNT; i++) {
        if (is_named(ha_handle_infos[i].name, module, name)) {
            return (PyObject *)ha_handle_type(&api->types, i);
        }
    }
    for (unsigned i = 0; i < HA_FUNCTION_COUNT; i++) {
        if (is_named(ha_function_infos[i].name, module, name)) {
            return (PyObject *)ha_function_type(&api->types, i);
        }
    }
    return NULL;
}

static PyObject *
find_constant(const char *module, const char *name)
{
    for (const struct ha_constant *row = ha_constants; row->name != NULL; row++) {
        if (strcmp(row->name, name) == 0 && strcmp(row->module, module) == 0) {
            return row->text != NULL ? PyBytes_FromString(row->text)
                                     : PyLong_FromLongLong(row->value);
        }
    }
    return NULL;
}

static PyObject *
find(PyObject *self, const char *module, const char *name)
{
    struct ha_api *api = ha_api_of(self);
    const struct ha_method *method = bsearch(name, ha_methods, HA_METHOD_COUNT,
                                             sizeof ha_methods[0], compare_method);
    int which = ha_enum_find(name);

    if (method != NULL && is_in(method, module)) {
        return make_function(self, module, method);
    }
    if (which >= 0 && strcmp(ha_enum_entries[which].module, module) == 0) {
        return Py_XNewRef(ha_enum_class(&api->enums, (enum ha_enum)which));
    }
    PyObject *type = find_type(api, module, name);
    if (type != NULL || PyErr_Occurred()) {
        return Py_XNewRef(type);
    }
    return find_constant(module, name);
}

/* Second names may stand for second names, hiprtc's for types of hip, and those of
 * plain addresses for the adapter type. */
static PyObject *
find_alias(PyObject *self, const char *module, const char *name)
{
    for (const struct ha_alias *row = ha_aliases; row->name != NULL; row++) {
        if (strcmp(row->name, name) != 0 || strcmp(row->module, module) != 0) {
            continue;
        }
        if (strcmp(row->target, "Pointer") == 0) {
            return Py_NewRef((PyObject *)ha_types_of(self)->pointer);
        }
        PyObject *found = find(self, module, row->target);
        if (found == NULL && !PyErr_Occurred()) {
            found = find(self, "hip", row->target);
        }
        if (found == NULL && !PyErr_Occurred()) {
            found = find_alias(self, module, row->target);
        }
        return found;
    }
    return NULL;
}

PyObject *
ha_api_lookup(PyObject *self, const char *module, const char *name)
{
    PyObject *found = find(self, module, name);

    if (found == NULL && !PyErr_Occurred()) {
        found = find_alias(self, module, name);
    }
    if (found == NULL && !PyErr_Occurred()) {
        PyErr_Format(PyExc_AttributeError, "module 'hipadapt.%s' has no attribute '%s'",
                     module, name);
    }
    return found;
}

static int
append(PyObject *list, const char *name)
{
    PyObject *text = PyUnicode_FromString(name);

    if (text == NULL) {
        return -1;
    }
    int result = PyList_Append(list, text);
    Py_DECREF(text);
    return result;
}

static int
append_types(PyObject *list, const char *module)
{
    int result = 0;

    for (unsigned i = 0; result == 0 && i < HA_RECORD_COUNT; i++) {
        const char *name = name_in(ha_record_infos[i].name, module);
        result = name != NULL ? append(list, name) : 0;
    }
    for (unsigned i = 0; result == 0 && i < HA_HANDLE_COUNT; i++) {
        const char *name = name_in(ha_handle_infos[i].name, module);
        result = name != NULL ? append(list, name) : 0;
    }
    for (unsigned i = 0; result == 0 && i < HA_FUNCTION_COUNT; i++) {
        const char *name = name_in(ha_function_infos[i].name, module);
        result = name != NULL ? append(list, name) : 0;
    }
    return result;
}

static int
append_names(PyObject *list, const char *module)
{
    int result = 0;

    for (int i = 0; result == 0 && i < HA_METHOD_COUNT; i++) {
        const char *name = ha_method_name(&ha_methods[i]);
        result = is_in(&ha_methods[i], module) ? append(list, name) : 0;
    }
    for (int i = 0; result == 0 && i < HA_ENUM_COUNT; i++) {
        bool here = strcmp(ha_enum_entries[i].module, module) == 0;
        result = here ? append(list, ha_enum_entries[i].name) : 0;
    }
    for (const struct ha_constant *row = ha_constants; result == 0 && row->name != NULL;
         row++) {
        bool here = strcmp(row->module, module) == 0;
        result = here ? append(list, row->name) : 0;
    }
    for (const struct ha_alias *row = ha_aliases; result == 0 && row->name != NULL;
         row++) {
        bool here = strcmp(row->module, module) == 0;
        result = here ? append(list, row->name) : 0;
    }
    return result;
}

PyObject *
ha_api_names(const char *module)
{
    PyObject *list = PyList_New(0);

    if (list != NULL &&
        (append_types(list, module) < 0 || append_names(list, module) < 0)) {
        Py_CLEAR(list);
    }
    return list;
}
