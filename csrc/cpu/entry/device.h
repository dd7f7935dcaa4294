/* SPDX-License-Identifier: MIT */
/* What the entry points of devices share; nobody else includes it. */
#ifndef HA_CPU_ENTRY_DEVICE_H
#define HA_CPU_ENTRY_DEVICE_H

#include "abi/hip.h"

struct ha_device;

/* Begins an entry point that asks about the device with this number. */
hipError_t ha_enter_for_device(const char *function, int id, struct ha_device **device);
/* Begins an entry point that asks about the current device. */
hipError_t ha_enter_for_current(const char *function, struct ha_device **device);

#endif
