/* SPDX-License-Identifier: MIT */
/* Kernels of the program that the device cannot run.
 *
 * A program's fat binary may have no code for the CPU device, or code that is damaged.
 * Such a launch is the program's work, not a wrong argument, and what `kernel<<<...>>>`
 * calls drops the code that the launch answers.  So the device gets a fault
 * (cpu/base/device.h): nothing that was to be computed can be read until
 * hipDeviceReset.
 *
 * Locks: none of its own. */
#ifndef HA_CPU_WORK_LAUNCH_MISSING_H
#define HA_CPU_WORK_LAUNCH_MISSING_H

#include "abi/hip.h"

struct ha_device;

/* A launch was to go into the stream, and ha_function_resolve failed with `code` and
 * the thread's text.  If `address` is a kernel of the program, the device gets the
 * fault behind the work that the stream has: at once, if there is none.  A capture of
 * the stream becomes invalid, and the device has the fault at once.  Returns `code`;
 * the thread's failure stays as it is. */
hipError_t ha_launch_missing(struct ha_device *device, hipStream_t stream,
                             const void *address, hipError_t code);

/* The same for a node of a graph: the device has the fault at once. */
hipError_t ha_launch_missing_node(struct ha_device *device, const void *address,
                                  hipError_t code);

#endif
