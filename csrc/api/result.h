/* SPDX-License-Identifier: MIT */
/* Outputs of calls as Python objects: None where the call failed or gave NULL.
 *
 * Each returns an owned object, or NULL with an exception.  All need the GIL. */
#ifndef HA_API_RESULT_H
#define HA_API_RESULT_H

#include "api/api.h"
#include "api/generated/enums.h"

/* `bytes` is the length of the memory, -1 where it is not known. */
PyObject *ha_out_pointer(struct ha_api *api, bool good, void *address,
                         Py_ssize_t bytes);
/* A copy that the pointer owns, of memory that may end with another object. */
PyObject *ha_out_copy(struct ha_api *api, bool good, const void *address,
                      Py_ssize_t bytes);
PyObject *ha_out_device_array(struct ha_api *api, bool good, void *address,
                              size_t bytes);
PyObject *ha_out_handle(struct ha_api *api, bool good, unsigned index, void *handle);
/* The same for a node: its handle keeps its home, see api/keep.h. */
PyObject *ha_out_handle_of(struct ha_api *api, bool good, unsigned index, void *handle,
                           const void *home);
/* A record that looks at memory of HIP. */
PyObject *ha_out_record(struct ha_api *api, bool good, unsigned index, void *address);
/* A copy: what C gave ends with its program, module or library. */
PyObject *ha_out_cstr(struct ha_api *api, bool good, const char *text);
PyObject *ha_out_enum(struct ha_api *api, bool good, enum ha_enum which, int value);

/* Steals `object`, which may be NULL. */
PyObject *ha_out_object(bool good, PyObject *object);

#endif
