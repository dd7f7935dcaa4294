/* SPDX-License-Identifier: MIT */
/* Launches of executable graphs (cpu/graph/graph_exec.h): one runs, or becomes a node
 * of the graph that its stream is captured into.
 *
 * Locks: called with none held. */
#ifndef HA_CPU_SUBMIT_GRAPH_H
#define HA_CPU_SUBMIT_GRAPH_H

#include "abi/hip.h"

struct ha_device;

hipError_t ha_submit_graph(hipGraphExec_t exec, hipStream_t stream,
                           struct ha_device *device);

#endif
