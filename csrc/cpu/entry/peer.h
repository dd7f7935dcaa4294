/* SPDX-License-Identifier: MIT */
/* Access of one device to another one's memory.  All devices work in one address space,
 * so only HIP's rules are left: which device has enabled access to which. */
#ifndef HA_CPU_ENTRY_PEER_H
#define HA_CPU_ENTRY_PEER_H

#include "abi/hip.h"

struct ha_device;

/* Enables access of `device` to the device with the number `peer`. */
hipError_t ha_peer_enable(struct ha_device *device, int peer, unsigned flags);
hipError_t ha_peer_disable(struct ha_device *device, int peer);

#endif
