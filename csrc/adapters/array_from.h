/* SPDX-License-Identifier: MIT */
/* Functions of the module that make arrays: over memory of others, over any
 * array, and with memory of their own. */
#ifndef HA_ADAPTERS_ARRAY_FROM_H
#define HA_ADAPTERS_ARRAY_FROM_H

#include <Python.h>

#include "adapters/types.h"

/* Adds the functions; 0 or -1. */
int ha_array_from_init(struct ha_types *types);

#endif
