/* SPDX-License-Identifier: MIT */
/* Kernel arguments: what launch.c, launch_value.c and launch_extra.c share.
 *
 * The *place* of a value is where it lies in the launch's data; the next value may move
 * all of them.  All functions need the GIL. */
#ifndef HA_ADAPTERS_LAUNCH_VALUE_H
#define HA_ADAPTERS_LAUNCH_VALUE_H

#include <Python.h>

#include "adapters/launch.h"
#include "adapters/message.h"
#include "adapters/types.h"
#include "adapters/view.h"

/* Appends an address; its place, or NULL with an exception. */
unsigned char *ha_launch_put_address(struct ha_launch_arguments *launch, void *address);

/* Appends what both forms copy: None, records, numpy scalars and ctypes values.  1 and
 * the place, 0 where the object is none of them, or -1. */
int ha_launch_put_value(struct ha_types *types, struct ha_launch_arguments *launch,
                        PyObject *object, const struct ha_where *where,
                        unsigned char **place);

/* Moves what keeps the view's memory into the owners; 0 or -1. */
int ha_launch_keep_view(struct ha_types *types, struct ha_launch_arguments *launch,
                        struct ha_view *view);

/* As ha_extra_from, but memory that was given is not read: 1 where values were packed,
 * 0 where there is nothing or an address, or -1. */
int ha_extra_pack(struct ha_types *types, PyObject *object,
                  const struct ha_where *where, struct ha_launch_arguments *out);

#endif
