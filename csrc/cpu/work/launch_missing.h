/* SPDX-License-Identifier: MIT */
/* Kernels of the program that the device cannot run.
 *
 * A program's fat binary may have no code for the CPU device, or code that is damaged.
 * Such a launch is the program's work, not a wrong argument, and `kernel<<<...>>>`
 * drops the code that the launch answers.  So the device gets a fault
 * (cpu/base/device.h): nothing that was to be computed can be read until
 * hipDeviceReset.
 *
 * Locks: none of its own. */
#ifndef HA_CPU_WORK_LAUNCH_MISSING_H
#define HA_CPU_WORK_LAUNCH_MISSING_H

#include "abi/hip.h"

struct ha_device;
struct ha_stream;

/* Gives the stream's device the fault `code`, behind the work that the stream has; at
 * once, if there is none, or the stream is being captured.  Pool lock held on entry;
 * given back. */
void ha_launch_missing(struct ha_stream *stream, hipError_t code, const char *text);

/* ha_function_resolve failed with `code` and the thread's text for a node of a graph:
 * if `address` is a kernel of the program, the device has the fault at once.  Returns
 * `code`. */
hipError_t ha_launch_missing_node(struct ha_device *device, const void *address,
                                  hipError_t code);

#endif
