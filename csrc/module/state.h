/* SPDX-License-Identifier: MIT */
/* State of the module `_core`: one block that each room sees its part of. */
#ifndef HA_MODULE_STATE_H
#define HA_MODULE_STATE_H

#include <Python.h>

#include "api/api.h"
#include "module/kernel_object.h"
#include "module/profiler.h"

struct module_state {
    struct ha_api api; /* first, see api/api.h */
    struct ha_kernel_state kernel;
    struct ha_profiler_state profiler;
    PyTypeObject *provider_type; /* owned */
};

#endif
