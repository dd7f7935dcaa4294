/* SPDX-License-Identifier: MIT */
/* The call path's part of the module state: making, visiting and clearing it. */
#ifndef HA_API_STATE_H
#define HA_API_STATE_H

#include <Python.h>

#include "api/api.h"

/* From the module's exec, traverse, clear and free; like the functions of the adapters.
 */
int ha_api_init(PyObject *module);
int ha_api_traverse(struct ha_api *api, visitproc visit, void *arg);
void ha_api_clear(struct ha_api *api);

#endif
