/* SPDX-License-Identifier: MIT */
/* Attributes that streams and kernel nodes have in common. */
#ifndef HA_CPU_ENTRY_STREAM_ATTRIBUTE_H
#define HA_CPU_ENTRY_STREAM_ATTRIBUTE_H

#include "abi/hip.h"

/* Ratio and properties of a window, as streams and kernel nodes take it. */
hipError_t ha_window_check(const hipAccessPolicyWindow *window);

#endif
