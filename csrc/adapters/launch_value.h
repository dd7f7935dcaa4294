/* SPDX-License-Identifier: MIT */
/* Kernel arguments by value: each where C's alignment puts it. */
#ifndef HA_ADAPTERS_LAUNCH_VALUE_H
#define HA_ADAPTERS_LAUNCH_VALUE_H

#include <Python.h>

#include "adapters/launch_data.h"
#include "adapters/message.h"
#include "adapters/types.h"

/* Appends what both forms copy: None, records, numpy scalars and ctypes values.  1 and
 * the place, 0 where the object is none of them, or -1. */
int ha_launch_put_value(struct ha_types *types, struct ha_launch_arguments *launch,
                        PyObject *object, const struct ha_where *where,
                        unsigned char **place);

#endif
