/* SPDX-License-Identifier: MIT */
/* Copies and fills in streams (cpu/work/copy.h): each is checked, and then runs or
 * becomes a node.  Nothing to do is a success.
 *
 * With HA_RUN_ASYNC, memory that HIP does not know (pageable memory) has been read, or
 * written, on return all the same, as programs use it again at once; but not if the
 * copy is in_order, or where hipadaptKeepsMemory says that it is kept.
 *
 * Locks: called with none held. */
#ifndef HA_CPU_SUBMIT_COPY_H
#define HA_CPU_SUBMIT_COPY_H

#include "abi/hip.h"
#include "cpu/queue/stream.h"
#include "cpu/work/copy.h"

hipError_t ha_submit_copy(hipStream_t stream, struct ha_device *device,
                          const struct ha_copy *copy, enum ha_run how);
hipError_t ha_submit_fill(hipStream_t stream, struct ha_device *device,
                          const struct ha_fill *fill, enum ha_run how);

#endif
