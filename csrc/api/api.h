/* SPDX-License-Identifier: MIT */
/* State of the call path: what wrappers find behind their module object.
 *
 * The module state begins with a struct ha_api, and that begins with the adapters'
 * state, so ha_types_of, ha_api_of and the module room each see their part of one
 * block. */
#ifndef HA_API_API_H
#define HA_API_API_H

#include <Python.h>

#include "adapters/description.h"
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

/* From the module's exec, traverse, clear and free; like the functions of the adapters.
 */
int ha_api_init(PyObject *module);
int ha_api_traverse(struct ha_api *api, visitproc visit, void *arg);
void ha_api_clear(struct ha_api *api);

/* What `hipadapt.<module>.<name>` is: function, enum, record, handle, function pointer,
 * constant or alias; owned.  AttributeError where there is no such thing. */
PyObject *ha_api_lookup(PyObject *self, const char *module, const char *name);

/* Owned list of all names of `hipadapt.<module>`. */
PyObject *ha_api_names(const char *module);

/* Descriptions for the adapters. */
extern const struct ha_tables ha_api_tables;

#endif
