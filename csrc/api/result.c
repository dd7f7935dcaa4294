/* SPDX-License-Identifier: MIT */
#include "api/result.h"

#include "adapters/array.h"
#include "adapters/cstr.h"
#include "adapters/handle.h"
#include "adapters/pointer.h"
#include "adapters/record_from.h"
#include "api/api.h"
#include "api/enums.h"
#include "api/generated/enums.h"

PyObject *
ha_out_pointer(struct ha_api *api, bool good, void *address, Py_ssize_t bytes)
{
    if (!good || address == NULL) {
        Py_RETURN_NONE;
    }
    PyObject *pointer = ha_pointer_new(&api->types, address);
    if (pointer != NULL) {
        ((struct ha_pointer *)pointer)->size = bytes;
    }
    return pointer;
}

PyObject *
ha_out_copy(struct ha_api *api, bool good, const void *address, Py_ssize_t bytes)
{
    if (!good || address == NULL) {
        Py_RETURN_NONE;
    }
    PyObject *copy = PyBytes_FromStringAndSize(address, bytes);
    PyObject *pointer =
        copy == NULL ? NULL : ha_out_pointer(api, true, PyBytes_AS_STRING(copy), bytes);
    if (pointer == NULL) {
        Py_XDECREF(copy);
        return NULL;
    }
    ((struct ha_pointer *)pointer)->owner = copy;
    ((struct ha_pointer *)pointer)->readonly = true;
    return pointer;
}

PyObject *
ha_out_device_array(struct ha_api *api, bool good, void *address, size_t bytes)
{
    if (!good || address == NULL) {
        Py_RETURN_NONE;
    }
    return ha_device_array_new(&api->types, address, bytes);
}

PyObject *
ha_out_handle(struct ha_api *api, bool good, unsigned index, void *handle)
{
    if (!good || handle == NULL) {
        Py_RETURN_NONE;
    }
    return ha_handle_new(&api->types, index, handle, NULL);
}

PyObject *
ha_out_handle_of(struct ha_api *api, bool good, unsigned index, void *handle,
                 const void *home)
{
    if (!good || handle == NULL) {
        Py_RETURN_NONE;
    }
    PyObject *owner = PyLong_FromVoidPtr((void *)home);
    if (owner == NULL) {
        return NULL;
    }
    PyObject *object = ha_handle_new(&api->types, index, handle, owner);
    Py_DECREF(owner);
    return object;
}

PyObject *
ha_out_record(struct ha_api *api, bool good, unsigned index, void *address)
{
    if (!good || address == NULL) {
        Py_RETURN_NONE;
    }
    return ha_record_view(&api->types, index, address, NULL);
}

PyObject *
ha_out_cstr(struct ha_api *api, bool good, const char *text)
{
    if (!good || text == NULL) {
        Py_RETURN_NONE;
    }
    return ha_cstr_copy(&api->types, text);
}

PyObject *
ha_out_enum(struct ha_api *api, bool good, enum ha_enum which, int value)
{
    if (!good) {
        Py_RETURN_NONE;
    }
    return ha_enum_value(&api->enums, which, value);
}

PyObject *
ha_out_object(bool good, PyObject *object)
{
    if (good || (object == NULL && PyErr_Occurred())) {
        return object;
    }
    Py_XDECREF(object);
    Py_RETURN_NONE;
}
