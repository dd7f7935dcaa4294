/* SPDX-License-Identifier: MIT */
/* HIP entry points: nodes of any type, which HIP's union of all records describes. */
#include <stdbool.h>
#include <stddef.h>

#include "abi/hip.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/graph_kind.h"
#include "cpu/entry/graph_node.h"
#include "cpu/entry/runtime.h"

static hipError_t
params_check(const hipGraphNodeParams *params, const struct ha_node_kind **kind,
             const void **argument)
{
    if (params == NULL) {
        return ha_cpu_fail_null("nodeParams");
    }
    if ((unsigned)params->type >= hipGraphNodeTypeCount) {
        return ha_cpu_fail(hipErrorInvalidValue, "there are no nodes of type %d",
                           (int)params->type);
    }
    *kind = ha_kind_of(params, argument);
    return *kind != NULL
               ? hipSuccess
               : ha_cpu_fail(hipErrorNotSupported, "nodes of type %d are not supported",
                             (int)params->type);
}

/* The memory of such a node belongs to it for its whole life and can't be set again. */
static bool
is_fixed(hipGraphNodeType type)
{
    return type == hipGraphNodeTypeMemAlloc || type == hipGraphNodeTypeMemFree;
}

HA_EXPORT hipError_t
hipGraphAddNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                const hipGraphNode_t *pDependencies, size_t numDependencies,
                hipGraphNodeParams *nodeParams)
{
    const struct ha_new_node at = {pGraphNode, graph, pDependencies, numDependencies};
    const void *argument;
    const struct ha_node_kind *kind;
    hipError_t code = ha_enter_query("hipGraphAddNode");
    if (code == hipSuccess) {
        code = params_check(nodeParams, &kind, &argument);
    }
    return code != hipSuccess ? code
                              : ha_node_add("hipGraphAddNode", &at, kind, argument);
}

HA_EXPORT hipError_t
hipGraphNodeSetParams(hipGraphNode_t node, hipGraphNodeParams *nodeParams)
{
    const void *argument;
    const struct ha_node_kind *kind;
    hipError_t code = ha_enter_query("hipGraphNodeSetParams");
    if (code == hipSuccess) {
        code = params_check(nodeParams, &kind, &argument);
    }
    if (code == hipSuccess && is_fixed(nodeParams->type)) {
        code = ha_cpu_fail(hipErrorInvalidValue,
                           "memory nodes can't be changed once they are there");
    }
    return code != hipSuccess
               ? code
               : ha_node_change("hipGraphNodeSetParams", node, kind, argument);
}

HA_EXPORT hipError_t
hipGraphExecNodeSetParams(hipGraphExec_t graphExec, hipGraphNode_t node,
                          hipGraphNodeParams *nodeParams)
{
    const void *argument;
    const struct ha_node_kind *kind;
    hipError_t code = ha_enter_query("hipGraphExecNodeSetParams");
    if (code == hipSuccess) {
        code = params_check(nodeParams, &kind, &argument);
    }
    if (code == hipSuccess &&
        (is_fixed(nodeParams->type) || nodeParams->type == hipGraphNodeTypeGraph)) {
        code = ha_cpu_fail(hipErrorInvalidValue,
                           "a node of type %d can't be changed this way",
                           (int)nodeParams->type);
    }
    return code != hipSuccess ? code
                              : ha_node_change_exec("hipGraphExecNodeSetParams",
                                                    graphExec, node, kind, argument);
}
