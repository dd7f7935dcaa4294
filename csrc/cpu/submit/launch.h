/* SPDX-License-Identifier: MIT */
/* Kernel launches in streams (cpu/work/launch.h): each is checked, and then runs or
 * becomes a node.
 *
 * Locks: called with none held. */
#ifndef HA_CPU_SUBMIT_LAUNCH_H
#define HA_CPU_SUBMIT_LAUNCH_H

#include "abi/hip.h"
#include "cpu/work/launch.h"

struct ha_device;

/* The function is borrowed; what becomes of the launch takes its own reference. */
hipError_t ha_submit_launch(struct ha_device *device, struct ha_function *function,
                            const struct ha_launch_request *request);

/* The same for what `address` stands for (ha_function_resolve) on the device of the
 * stream; request->address is not looked at. */
hipError_t ha_submit_launch_address(struct ha_device *device, const void *address,
                                    hipError_t unknown,
                                    const struct ha_launch_request *request);

/* A launch was to go into the stream, and ha_function_resolve failed with `code` and
 * the thread's text.  If `address` is a kernel of the program, the stream's device gets
 * the fault (cpu/work/launch_missing.h), and a capture of the stream becomes invalid.
 * Returns `code`; the thread's failure stays as it is. */
hipError_t ha_submit_missing(struct ha_device *device, hipStream_t stream,
                             const void *address, hipError_t code);

#endif
