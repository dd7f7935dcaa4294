/* SPDX-License-Identifier: MIT */
#include "api/result.h"

PyObject *
ha_out_pointer(struct ha_api *api, bool good, void *address)
{
    if (!good || address == NULL) {
        Py_RETURN_NONE;
    }
    return ha_pointer_new(&api->types, address);
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
ha_out_cstr(struct ha_api *api, bool good, const char *text)
{
    if (!good || text == NULL) {
        Py_RETURN_NONE;
    }
    return ha_cstr_new(&api->types, text, NULL);
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
    if (!good) {
        Py_XDECREF(object);
        Py_RETURN_NONE;
    }
    return object;
}
