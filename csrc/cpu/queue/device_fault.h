/* SPDX-License-Identifier: MIT */
/* The fault of a device (cpu/base/device.h): set by work that failed, answered by every
 * call on the device until hipDeviceReset. */
#ifndef HA_CPU_QUEUE_DEVICE_FAULT_H
#define HA_CPU_QUEUE_DEVICE_FAULT_H

#include "abi/hip.h"

struct ha_device;

/* Makes `code` the device's fault unless it has one. Needs the pool lock. */
void ha_device_set_fault(struct ha_device *device, hipError_t code, const char *text);

/* Records the device's fault as this thread's failure. Needs no lock held. */
hipError_t ha_device_fail(struct ha_device *device);

/* A device without a fault again.  Needs no lock held. */
void ha_device_clear_fault(struct ha_device *device);

#endif
