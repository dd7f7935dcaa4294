/* SPDX-License-Identifier: MIT */
/* Pointer as Python sees it: construction, operators, attributes. */
#ifndef HA_ADAPTERS_POINTER_OBJECT_H
#define HA_ADAPTERS_POINTER_OBJECT_H

#include <Python.h>

#include "adapters/types.h"

/* The types, in the order in which they are made; each 0 or -1. */
/* Makes the type; 0 or -1. */
int ha_pointer_init(struct ha_types *types);

#endif
