/* SPDX-License-Identifier: MIT */
/* HIP entry points: kernel nodes and their attributes. */
#include <string.h>

#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/graph_kind.h"
#include "cpu/entry/graph_node.h"
#include "cpu/entry/stream_attribute.h"
#include "cpu/graph/graph.h"
#include "cpu/queue/stream.h"

HA_EXPORT hipError_t
hipGraphAddKernelNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                      const hipGraphNode_t *pDependencies, size_t numDependencies,
                      const hipKernelNodeParams *pNodeParams)
{
    const struct ha_new_node at = {pGraphNode, graph, pDependencies, numDependencies};
    return ha_node_add("hipGraphAddKernelNode", &at, &ha_kind_kernel, pNodeParams);
}

HA_EXPORT hipError_t
hipGraphKernelNodeGetParams(hipGraphNode_t handle, hipKernelNodeParams *pNodeParams)
{
    const struct ha_node *node;
    hipError_t code = ha_node_get_begin("hipGraphKernelNodeGetParams", handle,
                                        hipGraphNodeTypeKernel, pNodeParams, &node);
    if (code != hipSuccess) {
        return code;
    }
    ha_node_get_kernel(node, pNodeParams);
    return ha_graph_leave(hipSuccess);
}

HA_EXPORT hipError_t
hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams *pNodeParams)
{
    return ha_node_change("hipGraphKernelNodeSetParams", node, &ha_kind_kernel,
                          pNodeParams);
}

HA_EXPORT hipError_t
hipGraphExecKernelNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node,
                                const hipKernelNodeParams *pNodeParams)
{
    return ha_node_change_exec("hipGraphExecKernelNodeSetParams", hGraphExec, node,
                               &ha_kind_kernel, pNodeParams);
}

/* Index of an attribute in a kernel node; HA_ATTRIBUTE_COUNT for one that nodes lack.
 */
static enum ha_node_attribute
attribute_of(hipLaunchAttributeID id)
{
    switch ((int)id) {
    case hipLaunchAttributeAccessPolicyWindow:
        return HA_ATTRIBUTE_WINDOW;
    case hipLaunchAttributeCooperative:
        return HA_ATTRIBUTE_COOPERATIVE;
    case hipLaunchAttributePriority:
        return HA_ATTRIBUTE_PRIORITY;
    default:
        return HA_ATTRIBUTE_COUNT;
    }
}

HA_EXPORT hipError_t
hipGraphKernelNodeSetAttribute(hipGraphNode_t hNode, hipLaunchAttributeID attr,
                               const hipLaunchAttributeValue *value)
{
    hipError_t code = ha_graph_enter("hipGraphKernelNodeSetAttribute");
    if (code != hipSuccess) {
        return code;
    }
    enum ha_node_attribute which = attribute_of(attr);
    struct ha_node *node = ha_node_find_type(hNode, hipGraphNodeTypeKernel);
    if (node == NULL || value == NULL) {
        return ha_graph_leave(node == NULL ? hipErrorInvalidValue
                                           : ha_cpu_fail_null("value"));
    }
    if (which == HA_ATTRIBUTE_COUNT) {
        return ha_graph_leave(ha_cpu_fail(
            hipErrorInvalidValue, "argument 'attr': kernel nodes have no attribute %d",
            (int)attr));
    }
    if (which == HA_ATTRIBUTE_WINDOW) {
        code = ha_window_check(&value->accessPolicyWindow);
    }
    if (which == HA_ATTRIBUTE_COOPERATIVE) {
        code = ha_node_set_cooperative(node, value->cooperative != 0);
    }
    if (code == hipSuccess) {
        node->kernel.set[which] = true;
        node->kernel.values[which] = *value;
    }
    return ha_graph_leave(code);
}

HA_EXPORT hipError_t
hipGraphKernelNodeGetAttribute(hipGraphNode_t hNode, hipLaunchAttributeID attr,
                               hipLaunchAttributeValue *value)
{
    const struct ha_node *node;
    enum ha_node_attribute which = attribute_of(attr);
    hipError_t code = ha_node_get_begin("hipGraphKernelNodeGetAttribute", hNode,
                                        hipGraphNodeTypeKernel, value, &node);
    if (code != hipSuccess) {
        return code;
    }
    if (which == HA_ATTRIBUTE_COUNT) {
        return ha_graph_leave(
            ha_cpu_fail(hipErrorInvalidValue, "argument 'attr' is %d", (int)attr));
    }
    *value = node->kernel.values[which];
    return ha_graph_leave(hipSuccess);
}

HA_EXPORT hipError_t
hipGraphKernelNodeCopyAttributes(hipGraphNode_t hSrc, hipGraphNode_t hDst)
{
    hipError_t code = ha_graph_enter("hipGraphKernelNodeCopyAttributes");
    if (code != hipSuccess) {
        return code;
    }
    const struct ha_node *from = ha_node_find_type(hSrc, hipGraphNodeTypeKernel);
    struct ha_node *to =
        from != NULL ? ha_node_find_type(hDst, hipGraphNodeTypeKernel) : NULL;
    if (to == NULL) {
        return ha_graph_leave(hipErrorInvalidValue);
    }
    code = ha_node_set_cooperative(to, from->kernel.request.cooperative);
    if (code == hipSuccess) {
        memcpy(to->kernel.set, from->kernel.set, sizeof to->kernel.set);
        memcpy(to->kernel.values, from->kernel.values, sizeof to->kernel.values);
    }
    return ha_graph_leave(code);
}
