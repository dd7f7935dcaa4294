/* SPDX-License-Identifier: MIT */
/* Records as Python objects: class methods, sequence of members, comparison, buffer. */
#ifndef HA_ADAPTERS_RECORD_OBJECT_H
#define HA_ADAPTERS_RECORD_OBJECT_H

#include <Python.h>

#include "adapters/types.h"

/* Makes the base type; 0 or -1. */
int ha_record_init(struct ha_types *types);

#endif
