/* SPDX-License-Identifier: MIT */
/* NDBuffer and DeviceArray as Python sees them: construction, methods, types. */
#ifndef HA_ADAPTERS_ARRAY_OBJECT_H
#define HA_ADAPTERS_ARRAY_OBJECT_H

#include <Python.h>

#include "adapters/types.h"

/* Makes both types, and what the module has about arrays; 0 or -1. */
int ha_array_init(struct ha_types *types);

#endif
