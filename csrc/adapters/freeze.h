/* SPDX-License-Identifier: MIT */
/* What a record's pointers point to, kept apart from the record: its members may be set
 * to something else while C still uses what they were. */
#ifndef HA_ADAPTERS_FREEZE_H
#define HA_ADAPTERS_FREEZE_H

#include <Python.h>

#include "adapters/types.h"
#include "adapters/view.h"

/* As ha_view_hold.  Also keeps what pointers in records behind the view point to now,
 * whatever their members are set to later. */
PyObject *ha_view_freeze(struct ha_types *types, struct ha_view *view);

#endif
