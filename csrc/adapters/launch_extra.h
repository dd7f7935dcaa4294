/* SPDX-License-Identifier: MIT */
/* HipModuleLaunchKernel_extra: packed kernel arguments that can be passed many times.
 */
#ifndef HA_ADAPTERS_LAUNCH_EXTRA_H
#define HA_ADAPTERS_LAUNCH_EXTRA_H

#include <Python.h>

#include "adapters/types.h"

/* Makes the type; 0 or -1. */
int ha_launch_extra_init(struct ha_types *types);

#endif
