/* SPDX-License-Identifier: MIT */
/* from_dlpack: arrays of other packages that stay. */
#ifndef HA_ADAPTERS_DLPACK_IMPORT_H
#define HA_ADAPTERS_DLPACK_IMPORT_H

#include <Python.h>

#include "adapters/dlpack.h"
#include "adapters/message.h"
#include "adapters/types.h"

/* A DeviceArray that takes over the tensor, which is stolen. */
PyObject *ha_dl_import_managed(struct ha_types *types, const struct ha_where *where,
                               struct ha_dl_versioned *stolen);
/* Adds from_dlpack to the module; 0 or -1. */
int ha_dl_import_init(struct ha_types *types);

#endif
