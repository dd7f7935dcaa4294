/* SPDX-License-Identifier: MIT */
/* Places of memory: a device, or the host with its NUMA nodes, which are all one. */
#ifndef HA_CPU_BASE_LOCATION_H
#define HA_CPU_BASE_LOCATION_H

#include "abi/hip.h"

struct ha_device;

#define HA_HOST_ID (-1)    /* hipCpuDeviceId */
#define HA_NOWHERE_ID (-2) /* hipInvalidDeviceId */

/* The number of a device or HA_HOST_ID in `*id`.  Fails with `absent` for a device that
 * does not exist, with hipErrorInvalidValue for a record that is no place. */
hipError_t ha_location_id(const char *argument, const hipMemLocation *location,
                          hipError_t absent, int *id);

/* The device of such a place; fails for the host too. */
hipError_t ha_location_device(const char *argument, const hipMemLocation *location,
                              hipError_t absent, struct ha_device **device);

#endif
