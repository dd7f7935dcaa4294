/* SPDX-License-Identifier: MIT */
/* What the entry points of devices and contexts share. */
#ifndef HA_CPU_ENTRY_DEVICE_H
#define HA_CPU_ENTRY_DEVICE_H

#include "abi/hip.h"

struct ha_device;

/* Settings, with HIP's checks. */
hipError_t ha_device_set_flags(struct ha_device *device, unsigned flags);
hipError_t ha_device_set_cache_config(struct ha_device *device, hipFuncCache_t config);
hipError_t ha_check_shared_config(hipSharedMemConfig config);

/* Returns when all work submitted to the device so far is done; no lock held. */
hipError_t ha_device_synchronize(struct ha_device *device);

/* hipDeviceReset of any device; fails in a host function.  No lock held. */
hipError_t ha_device_reset(struct ha_device *device);

#endif
