/* SPDX-License-Identifier: MIT */
/* State of the call path: what wrappers find behind their module object.
 *
 * The module state begins with a struct ha_api, and that begins with the adapters'
 * state, so ha_types_of, ha_api_of and the module room each see their part of one
 * block. */
#ifndef HA_API_API_H
#define HA_API_API_H

#include <Python.h>

#include "adapters/types.h"
#include "api/enums.h"
#include "api/pending.h"

struct ha_api {
    struct ha_types types; /* first, see adapters/adapter.h */
    struct ha_enums enums;
    struct ha_pending pending;
    PyObject *kept; /* owned dict: address -> list of objects; see api/keep.h */
};

static inline struct ha_api *
ha_api_of(PyObject *module)
{
    return (struct ha_api *)PyModule_GetState(module);
}

#endif
