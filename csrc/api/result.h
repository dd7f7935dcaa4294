/* SPDX-License-Identifier: MIT */
/* Outputs of calls as Python objects: None where the call failed or gave NULL.
 *
 * Each returns an owned object, or NULL with an exception.  All need the GIL. */
#ifndef HA_API_RESULT_H
#define HA_API_RESULT_H

#include "api/api.h"

PyObject *ha_out_pointer(struct ha_api *api, bool good, void *address);
PyObject *ha_out_device_array(struct ha_api *api, bool good, void *address,
                              size_t bytes);
PyObject *ha_out_handle(struct ha_api *api, bool good, unsigned index, void *handle);
PyObject *ha_out_cstr(struct ha_api *api, bool good, const char *text);
PyObject *ha_out_enum(struct ha_api *api, bool good, enum ha_enum which, int value);

/* Steals `object`, which may be NULL. */
PyObject *ha_out_object(bool good, PyObject *object);

#endif
