/* SPDX-License-Identifier: MIT */
/* What the adapters ask of HIP: see adapters/memory.h. */
#ifndef HA_API_MEMORY_HOOKS_H
#define HA_API_MEMORY_HOOKS_H

#include "adapters/memory.h"

extern const struct ha_memory_hooks ha_hip_memory;

#endif
