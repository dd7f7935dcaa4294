/* SPDX-License-Identifier: MIT */
/* State of the module `_core`: one block that each room sees its part of. */
#ifndef HA_MODULE_STATE_H
#define HA_MODULE_STATE_H

#include <Python.h>

#include "api/api.h"
#include "module/kernel_object.h"
#include "module/profiler_state.h"

struct module_state {
    struct ha_api api; /* first, see api/api.h */
    struct ha_kernel_state kernel;
    struct ha_profiler_state profiler;
    PyTypeObject *provider_type; /* owned */
};

static inline struct ha_profiler_state *
ha_profiler_state(PyObject *module)
{
    struct module_state *state = PyModule_GetState(module);

    return &state->profiler;
}

#endif
