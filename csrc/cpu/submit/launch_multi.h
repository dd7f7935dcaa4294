/* SPDX-License-Identifier: MIT */
/* Launches on several devices, one in a stream of each.
 *
 * Each grid is an operation in the stream that it names.  Those that are launched
 * *together* (cpu/exec/multi_grid.h) are put into all streams at once, so that two such
 * launches stand in the same order everywhere: a grid that runs waits for others whose
 * streams have nothing before them that waits for it.  None of them can be captured.
 * Those that are launched *apart* are ordinary launches, each through its own door.
 *
 * Locks: called with none held. */
#ifndef HA_CPU_SUBMIT_LAUNCH_MULTI_H
#define HA_CPU_SUBMIT_LAUNCH_MULTI_H

#include <stdint.h>

#include "abi/hip.h"
#include "cpu/base/config.h"
#include "cpu/work/launch.h"

struct ha_device;

struct ha_launch_list {
    uint32_t count; /* 1 to the number of devices */
    unsigned flags; /* hipCooperativeLaunchMultiDevice... */
    /* `address` and `stream` are the program's. */
    struct ha_launch_request requests[HA_DEVICE_MAX];
};

/* All grids or none.  `device` is the caller's; `unknown` is the code for an address
 * that is no kernel. */
hipError_t ha_submit_together(struct ha_device *device,
                              const struct ha_launch_list *list, hipError_t unknown);

/* Grids that know nothing of each other; flags say whether the streams wait for each
 * other before and after. */
hipError_t ha_submit_apart(struct ha_device *device, const struct ha_launch_list *list);

#endif
