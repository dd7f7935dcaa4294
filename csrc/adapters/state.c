/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/state.h"

#include <string.h>

#include "adapters/adapter.h"
#include "adapters/allocation.h"
#include "adapters/array_object.h"
#include "adapters/block.h"
#include "adapters/buffer_hold.h"
#include "adapters/cstr.h"
#include "adapters/description.h"
#include "adapters/function.h"
#include "adapters/handle.h"
#include "adapters/launch_extra.h"
#include "adapters/list.h"
#include "adapters/pointer_object.h"
#include "adapters/record_object.h"
#include "adapters/record_type.h"
#include "adapters/text.h"
#include "adapters/type_index.h"
#include "adapters/types.h"

struct interned {
    const char *text;
    size_t offset;
};

#define INTERNED(field, text) {text, offsetof(struct ha_types, field)}

static const struct interned interned_names[] = {
    INTERNED(str_cuda_array_interface, "__cuda_array_interface__"),
    INTERNED(str_cuda_stream, "__cuda_stream__"),
    INTERNED(str_as_c_void_p, "as_c_void_p"),
    INTERNED(str_dlpack, "__dlpack__"),
    INTERNED(str_dlpack_device, "__dlpack_device__"),
    INTERNED(str_shape, "shape"),
    INTERNED(str_typestr, "typestr"),
    INTERNED(str_data, "data"),
    INTERNED(str_strides, "strides"),
    INTERNED(str_version, "version"),
    INTERNED(str_mask, "mask"),
    INTERNED(str_stream, "stream"),
    INTERNED(str_itemsize, "itemsize"),
    INTERNED(str_read_only, "read_only"),
    INTERNED(str_force, "_force"),
    INTERNED(str_max_version, "max_version"),
    INTERNED(str_str, "str"),
    INTERNED(str_name, "name"),
    INTERNED(str_dtype, "dtype"),
    INTERNED(str_close, "close"),
    INTERNED(str_is_neg, "is_neg"),
    INTERNED(str_is_conj, "is_conj"),
    INTERNED(str_requires_grad, "requires_grad"),
    INTERNED(str_descr, "descr"),
    INTERNED(str_names, "names"),
    INTERNED(str_dl_device, "dl_device"),
    INTERNED(str_copy, "copy"),
    INTERNED(str_dlpack_exchange, "__dlpack_c_exchange_api__"),
};

#define INTERNED_COUNT (sizeof interned_names / sizeof interned_names[0])

/* Everything from `pointer` up to, not including, `module` is an owned PyObject *. */
#define OBJECT_COUNT (offsetof(struct ha_types, module) / sizeof(PyObject *))

static int
init_names(struct ha_types *types)
{
    for (size_t i = 0; i < INTERNED_COUNT; i++) {
        PyObject *name = PyUnicode_InternFromString(interned_names[i].text);
        if (name == NULL) {
            return -1;
        }
        *(PyObject **)((char *)types + interned_names[i].offset) = name;
    }
    types->dlpack_kwnames = PyTuple_Pack(1, types->str_max_version);
    types->dlpack_version = Py_BuildValue("(ii)", 1, 3);
    return types->dlpack_kwnames == NULL || types->dlpack_version == NULL ? -1 : 0;
}

static int
init_entries(struct ha_type_entry **entries, unsigned count)
{
    *entries = PyMem_Calloc(count == 0 ? 1 : count, sizeof **entries);
    if (*entries == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

int
ha_adapters_init(PyObject *module, struct ha_types *types,
                 const struct ha_tables *tables)
{
    static const struct ha_tables no_tables = {0};
    memset(types, 0, sizeof *types);
    types->module = module;
    types->tables = tables == NULL ? &no_tables : tables;
    if (init_names(types) < 0 ||
        init_entries(&types->records, types->tables->record_count) < 0 ||
        init_entries(&types->handles, types->tables->handle_count) < 0 ||
        init_entries(&types->functions, types->tables->function_count) < 0) {
        return -1;
    }
    if (ha_block_init(types) < 0 || ha_allocation_init(types) < 0 ||
        ha_buffer_hold_init(types) < 0 || ha_pointer_init(types) < 0 ||
        ha_array_init(types) < 0 || ha_cstr_init(types) < 0 ||
        ha_list_init(types) < 0 || ha_text_init(types) < 0 ||
        ha_record_init(types) < 0 || ha_accessor_init(types) < 0 ||
        ha_handle_init(types) < 0 || ha_function_init(types) < 0 ||
        ha_launch_extra_init(types) < 0) {
        return -1;
    }
    PyObject *rows = ha_adapter_rows();
    int status =
        rows == NULL ? -1 : PyModule_AddObjectRef(module, "adapter_order", rows);
    Py_XDECREF(rows);
    return status;
}

static int
visit_entries(struct ha_type_entry *entries, unsigned count, visitproc visit, void *arg)
{
    for (unsigned i = 0; entries != NULL && i < count; i++) {
        Py_VISIT(entries[i].type);
    }
    return 0;
}

int
ha_adapters_traverse(struct ha_types *types, visitproc visit, void *arg)
{
    if (types->tables == NULL) {
        return 0; /* init has not run */
    }
    PyObject **objects = (PyObject **)types;
    for (size_t i = 0; i < OBJECT_COUNT; i++) {
        Py_VISIT(objects[i]);
    }
    int status = visit_entries(types->records, types->tables->record_count, visit, arg);
    if (status == 0) {
        status = visit_entries(types->handles, types->tables->handle_count, visit, arg);
    }
    if (status == 0) {
        status =
            visit_entries(types->functions, types->tables->function_count, visit, arg);
    }
    return status;
}

static void
clear_entries(struct ha_type_entry *entries, unsigned count)
{
    for (unsigned i = 0; entries != NULL && i < count; i++) {
        Py_CLEAR(entries[i].type);
    }
}

int
ha_adapters_clear(struct ha_types *types)
{
    if (types->tables == NULL) {
        return 0;
    }
    ha_type_index_free(types); /* the types that it names are going */
    types->type_count = 0;
    clear_entries(types->records, types->tables->record_count);
    clear_entries(types->handles, types->tables->handle_count);
    clear_entries(types->functions, types->tables->function_count);
    PyObject **objects = (PyObject **)types;
    for (size_t i = 0; i < OBJECT_COUNT; i++) {
        Py_CLEAR(objects[i]);
    }
    return 0;
}

static void
free_entries(struct ha_type_entry **entries, unsigned count)
{
    for (unsigned i = 0; *entries != NULL && i < count; i++) {
        PyMem_Free((*entries)[i].memory);
    }
    PyMem_Free(*entries);
    *entries = NULL;
}

void
ha_adapters_free(struct ha_types *types)
{
    if (types->tables == NULL) {
        return;
    }
    ha_adapters_clear(types);
    /* All types are dead by now: each holds a reference to the module. */
    free_entries(&types->records, types->tables->record_count);
    free_entries(&types->handles, types->tables->handle_count);
    free_entries(&types->functions, types->tables->function_count);
    types->tables = NULL;
}
