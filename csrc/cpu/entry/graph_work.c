/* SPDX-License-Identifier: MIT */
/* HIP entry points: nodes of host functions, child graphs, events, memory and stream
 * memory operations. */
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/graph_kind.h"
#include "cpu/entry/graph_node.h"
#include "cpu/graph/graph.h"
#include "cpu/graph/graph_exec.h"
#include "cpu/queue/event.h"

/* ---- host functions ---- */

HA_EXPORT hipError_t
hipGraphAddHostNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                    const hipGraphNode_t *pDependencies, size_t numDependencies,
                    const hipHostNodeParams *pNodeParams)
{
    const struct ha_new_node at = {pGraphNode, graph, pDependencies, numDependencies};
    return ha_node_add("hipGraphAddHostNode", &at, &ha_kind_host, pNodeParams);
}

HA_EXPORT hipError_t
hipGraphHostNodeGetParams(hipGraphNode_t handle, hipHostNodeParams *pNodeParams)
{
    const struct ha_node *node;
    hipError_t code = ha_node_get_begin("hipGraphHostNodeGetParams", handle,
                                        hipGraphNodeTypeHost, pNodeParams, &node);
    if (code != hipSuccess) {
        return code;
    }
    *pNodeParams = node->host;
    return ha_graph_leave(hipSuccess);
}

HA_EXPORT hipError_t
hipGraphHostNodeSetParams(hipGraphNode_t node, const hipHostNodeParams *pNodeParams)
{
    return ha_node_change("hipGraphHostNodeSetParams", node, &ha_kind_host,
                          pNodeParams);
}

HA_EXPORT hipError_t
hipGraphExecHostNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node,
                              const hipHostNodeParams *pNodeParams)
{
    return ha_node_change_exec("hipGraphExecHostNodeSetParams", hGraphExec, node,
                               &ha_kind_host, pNodeParams);
}

/* ---- child graphs ---- */

HA_EXPORT hipError_t
hipGraphAddChildGraphNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                          const hipGraphNode_t *pDependencies, size_t numDependencies,
                          hipGraph_t childGraph)
{
    const struct ha_new_node at = {pGraphNode, graph, pDependencies, numDependencies};
    return ha_node_add("hipGraphAddChildGraphNode", &at, &ha_kind_child, &childGraph);
}

HA_EXPORT hipError_t
hipGraphChildGraphNodeGetGraph(hipGraphNode_t handle, hipGraph_t *pGraph)
{
    const struct ha_node *node;
    hipError_t code = ha_node_get_begin("hipGraphChildGraphNodeGetGraph", handle,
                                        hipGraphNodeTypeGraph, pGraph, &node);
    if (code != hipSuccess) {
        return code;
    }
    *pGraph = (hipGraph_t)(uintptr_t)node->child->handle;
    return ha_graph_leave(hipSuccess);
}

HA_EXPORT hipError_t
hipGraphExecChildGraphNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node,
                                    hipGraph_t childGraph)
{
    hipError_t code = ha_graph_enter("hipGraphExecChildGraphNodeSetParams");
    if (code != hipSuccess) {
        return code;
    }
    struct ha_graph_exec *exec = ha_graph_exec_find(hGraphExec);
    const struct ha_graph *child = exec != NULL ? ha_graph_find(childGraph) : NULL;
    if (child == NULL) {
        return ha_graph_leave(hipErrorInvalidValue);
    }
    return ha_graph_leave(ha_graph_exec_set_child(exec, node, child));
}

/* ---- empty nodes and events ---- */

HA_EXPORT hipError_t
hipGraphAddEmptyNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                     const hipGraphNode_t *pDependencies, size_t numDependencies)
{
    const struct ha_new_node at = {pGraphNode, graph, pDependencies, numDependencies};
    return ha_node_add("hipGraphAddEmptyNode", &at, &ha_kind_empty, &at);
}

static hipError_t
event_get(const char *function, hipGraphNode_t handle, hipGraphNodeType type,
          hipEvent_t *event)
{
    const struct ha_node *node;
    hipError_t code = ha_node_get_begin(function, handle, type, event, &node);
    if (code != hipSuccess) {
        return code;
    }
    *event = ha_event_handle(node->event);
    return ha_graph_leave(hipSuccess);
}

HA_EXPORT hipError_t
hipGraphAddEventRecordNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                           const hipGraphNode_t *pDependencies, size_t numDependencies,
                           hipEvent_t event)
{
    const struct ha_new_node at = {pGraphNode, graph, pDependencies, numDependencies};
    return ha_node_add("hipGraphAddEventRecordNode", &at, &ha_kind_record, &event);
}

HA_EXPORT hipError_t
hipGraphEventRecordNodeGetEvent(hipGraphNode_t node, hipEvent_t *event_out)
{
    return event_get("hipGraphEventRecordNodeGetEvent", node,
                     hipGraphNodeTypeEventRecord, event_out);
}

HA_EXPORT hipError_t
hipGraphEventRecordNodeSetEvent(hipGraphNode_t node, hipEvent_t event)
{
    return ha_node_change("hipGraphEventRecordNodeSetEvent", node, &ha_kind_record,
                          &event);
}

HA_EXPORT hipError_t
hipGraphExecEventRecordNodeSetEvent(hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
                                    hipEvent_t event)
{
    return ha_node_change_exec("hipGraphExecEventRecordNodeSetEvent", hGraphExec, hNode,
                               &ha_kind_record, &event);
}

HA_EXPORT hipError_t
hipGraphAddEventWaitNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                         const hipGraphNode_t *pDependencies, size_t numDependencies,
                         hipEvent_t event)
{
    const struct ha_new_node at = {pGraphNode, graph, pDependencies, numDependencies};
    return ha_node_add("hipGraphAddEventWaitNode", &at, &ha_kind_wait, &event);
}

HA_EXPORT hipError_t
hipGraphEventWaitNodeGetEvent(hipGraphNode_t node, hipEvent_t *event_out)
{
    return event_get("hipGraphEventWaitNodeGetEvent", node, hipGraphNodeTypeWaitEvent,
                     event_out);
}

HA_EXPORT hipError_t
hipGraphEventWaitNodeSetEvent(hipGraphNode_t node, hipEvent_t event)
{
    return ha_node_change("hipGraphEventWaitNodeSetEvent", node, &ha_kind_wait, &event);
}

HA_EXPORT hipError_t
hipGraphExecEventWaitNodeSetEvent(hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
                                  hipEvent_t event)
{
    return ha_node_change_exec("hipGraphExecEventWaitNodeSetEvent", hGraphExec, hNode,
                               &ha_kind_wait, &event);
}

/* ---- memory ---- */

HA_EXPORT hipError_t
hipGraphAddMemAllocNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                        const hipGraphNode_t *pDependencies, size_t numDependencies,
                        hipMemAllocNodeParams *pNodeParams)
{
    const struct ha_new_node at = {pGraphNode, graph, pDependencies, numDependencies};
    return ha_node_add("hipGraphAddMemAllocNode", &at, &ha_kind_alloc, pNodeParams);
}

HA_EXPORT hipError_t
hipGraphMemAllocNodeGetParams(hipGraphNode_t handle, hipMemAllocNodeParams *pNodeParams)
{
    const struct ha_node *node;
    hipError_t code = ha_node_get_begin("hipGraphMemAllocNodeGetParams", handle,
                                        hipGraphNodeTypeMemAlloc, pNodeParams, &node);
    if (code != hipSuccess) {
        return code;
    }
    *pNodeParams = node->alloc.params;
    return ha_graph_leave(hipSuccess);
}

HA_EXPORT hipError_t
hipGraphAddMemFreeNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                       const hipGraphNode_t *pDependencies, size_t numDependencies,
                       void *dev_ptr)
{
    const struct ha_new_node at = {pGraphNode, graph, pDependencies, numDependencies};
    return ha_node_add("hipGraphAddMemFreeNode", &at, &ha_kind_free, &dev_ptr);
}

HA_EXPORT hipError_t
hipDrvGraphAddMemFreeNode(hipGraphNode_t *phGraphNode, hipGraph_t hGraph,
                          const hipGraphNode_t *dependencies, size_t numDependencies,
                          hipDeviceptr_t dptr)
{
    const struct ha_new_node at = {phGraphNode, hGraph, dependencies, numDependencies};
    return ha_node_add("hipDrvGraphAddMemFreeNode", &at, &ha_kind_free, &dptr);
}

HA_EXPORT hipError_t
hipGraphMemFreeNodeGetParams(hipGraphNode_t handle, void *dev_ptr)
{
    const struct ha_node *node;
    hipError_t code = ha_node_get_begin("hipGraphMemFreeNodeGetParams", handle,
                                        hipGraphNodeTypeMemFree, dev_ptr, &node);
    if (code != hipSuccess) {
        return code;
    }
    *(void **)dev_ptr = node->freed;
    return ha_graph_leave(hipSuccess);
}

/* ---- stream memory operations ---- */

HA_EXPORT hipError_t
hipGraphAddBatchMemOpNode(hipGraphNode_t *phGraphNode, hipGraph_t hGraph,
                          const hipGraphNode_t *dependencies, size_t numDependencies,
                          const hipBatchMemOpNodeParams *nodeParams)
{
    const struct ha_new_node at = {phGraphNode, hGraph, dependencies, numDependencies};
    return ha_node_add("hipGraphAddBatchMemOpNode", &at, &ha_kind_batch, nodeParams);
}

/* The operations belong to the node and are there as long as its parameters. */
HA_EXPORT hipError_t
hipGraphBatchMemOpNodeGetParams(hipGraphNode_t hNode,
                                hipBatchMemOpNodeParams *nodeParams_out)
{
    const struct ha_node *node;
    hipError_t code =
        ha_node_get_begin("hipGraphBatchMemOpNodeGetParams", hNode,
                          hipGraphNodeTypeBatchMemOp, nodeParams_out, &node);
    if (code != hipSuccess) {
        return code;
    }
    *nodeParams_out = node->batch.params;
    return ha_graph_leave(hipSuccess);
}

HA_EXPORT hipError_t
hipGraphBatchMemOpNodeSetParams(hipGraphNode_t hNode,
                                hipBatchMemOpNodeParams *nodeParams)
{
    return ha_node_change("hipGraphBatchMemOpNodeSetParams", hNode, &ha_kind_batch,
                          nodeParams);
}

HA_EXPORT hipError_t
hipGraphExecBatchMemOpNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
                                    const hipBatchMemOpNodeParams *nodeParams)
{
    return ha_node_change_exec("hipGraphExecBatchMemOpNodeSetParams", hGraphExec, hNode,
                               &ha_kind_batch, nodeParams);
}
