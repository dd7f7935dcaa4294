/* SPDX-License-Identifier: MIT */
/* The HIP C ABI: every type and function of the API description, declared under HIP's
 * own names so that the CPU device defines them and the bindings call them by pointer.
 *
 * Handles are pointers to structs that only their provider completes.  hipDeviceProp_t
 * has the layout of HIP 6 and later (symbols ...R0600).  Records of a HIP newer than
 * the loaded runtime's may be longer than what that runtime fills in. */
#ifndef HA_ABI_HIP_H
#define HA_ABI_HIP_H

#include "abi/generated/hip.h"

#endif
