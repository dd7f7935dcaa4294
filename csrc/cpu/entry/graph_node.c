/* SPDX-License-Identifier: MIT */
/* HIP entry points: nodes of any type - adding them, and their parameters in graphs and
 * in executable graphs. */
#include "cpu/entry/graph_node.h"

#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/base/gone.h"
#include "cpu/base/thread.h"
#include "cpu/entry/runtime.h"
#include "cpu/graph/graph.h"
#include "cpu/graph/graph_exec.h"

hipError_t
ha_graph_enter(const char *function)
{
    struct ha_device *device;
    hipError_t code = ha_enter(function, &device);
    if (code == hipSuccess) {
        ha_graph_lock();
    }
    return code;
}

hipError_t
ha_graph_leave(hipError_t code)
{
    ha_graph_unlock();
    return code;
}

static hipError_t
add_locked(const struct ha_node_place *place, hipGraphNodeType type, ha_node_setter set,
           const void *params)
{
    if (place->node == NULL || params == NULL) {
        return ha_cpu_fail_null(place->node == NULL ? "pGraphNode" : "params");
    }
    struct ha_graph *graph = ha_graph_find(place->graph);
    if (graph == NULL) {
        return hipErrorInvalidValue;
    }
    hipError_t code = ha_gone_check("params", params, 1);
    if (code == hipSuccess && place->befores != NULL && place->count != 0) {
        code = ha_gone_check("pDependencies", place->befores,
                             place->count * sizeof place->befores[0]);
    }
    if (code != hipSuccess) {
        return code;
    }
    struct ha_node *node = ha_node_new(graph, type, place->befores, place->count);
    if (node == NULL) {
        return ha_thread_self()->last_error;
    }
    code = set(node, params);
    if (code != hipSuccess) {
        ha_node_free(node);
        return code;
    }
    *place->node = ha_node_handle(node);
    return hipSuccess;
}

hipError_t
ha_node_add(const char *function, const struct ha_node_place *place,
            hipGraphNodeType type, ha_node_setter set, const void *params)
{
    hipError_t code = ha_graph_enter(function);
    return code != hipSuccess ? code
                              : ha_graph_leave(add_locked(place, type, set, params));
}

hipError_t
ha_node_change(const char *function, hipGraphNode_t handle, hipGraphNodeType type,
               ha_node_setter set, const void *params)
{
    hipError_t code = ha_graph_enter(function);
    if (code != hipSuccess) {
        return code;
    }
    struct ha_node *node = ha_node_find_type(handle, type);
    code = node == NULL ? hipErrorInvalidValue : ha_gone_check("params", params, 1);
    if (code != hipSuccess) {
        return ha_graph_leave(code);
    }
    return ha_graph_leave(set(node, params));
}

static hipError_t
exec_locked(hipGraphExec_t exec_handle, hipGraphNode_t handle, hipGraphNodeType type,
            ha_node_setter set, const void *params)
{
    struct ha_graph_exec *exec = ha_graph_exec_find(exec_handle);
    struct ha_node *node = exec != NULL ? ha_graph_exec_node(exec, handle) : NULL;
    if (node == NULL || params == NULL) {
        return node == NULL ? hipErrorInvalidValue : ha_cpu_fail_null("params");
    }
    if (node->type != type) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "the node is of type %d, not of type %d", (int)node->type,
                           (int)type);
    }
    return set(node, params);
}

hipError_t
ha_node_change_exec(const char *function, hipGraphExec_t exec, hipGraphNode_t node,
                    hipGraphNodeType type, ha_node_setter set, const void *params)
{
    hipError_t code = ha_graph_enter(function);
    return code != hipSuccess
               ? code
               : ha_graph_leave(exec_locked(exec, node, type, set, params));
}

hipError_t
ha_node_get_begin(const char *function, hipGraphNode_t handle, hipGraphNodeType type,
                  const void *out, const struct ha_node **node)
{
    hipError_t code = ha_graph_enter(function);
    if (code != hipSuccess) {
        return code;
    }
    *node = ha_node_find_type(handle, type);
    code = *node == NULL ? hipErrorInvalidValue
                         : ha_gone_check("params", out, sizeof(void *));
    return code == hipSuccess ? code : ha_graph_leave(code);
}

/* ---- any type ---- */

/* The ha_node_setter and its argument for a node of the type in `params`. */
static ha_node_setter
setter_of(hipGraphNodeParams *params, const void **argument)
{
    switch (params->type) {
    case hipGraphNodeTypeKernel:
        *argument = &params->kernel;
        return ha_entry_set_kernel;
    case hipGraphNodeTypeMemcpy:
        *argument = &params->memcpy.copyParams;
        return ha_entry_set_copy;
    case hipGraphNodeTypeMemset:
        *argument = &params->memset;
        return ha_entry_set_fill;
    case hipGraphNodeTypeHost:
        *argument = &params->host;
        return ha_entry_set_host;
    case hipGraphNodeTypeGraph:
        *argument = &params->graph.graph;
        return ha_entry_set_child;
    case hipGraphNodeTypeEmpty:
        *argument = params;
        return ha_entry_set_nothing;
    case hipGraphNodeTypeWaitEvent:
        *argument = &params->eventWait.event;
        return ha_entry_set_event;
    case hipGraphNodeTypeEventRecord:
        *argument = &params->eventRecord.event;
        return ha_entry_set_event;
    case hipGraphNodeTypeMemAlloc:
        *argument = &params->alloc;
        return ha_entry_set_alloc;
    case hipGraphNodeTypeMemFree:
        *argument = &params->free.dptr;
        return ha_entry_set_free;
    default:
        return NULL;
    }
}

static hipError_t
params_check(hipGraphNodeParams *params, ha_node_setter *set, const void **argument)
{
    if (params == NULL) {
        return ha_cpu_fail_null("nodeParams");
    }
    if ((unsigned)params->type >= hipGraphNodeTypeCount) {
        return ha_cpu_fail(hipErrorInvalidValue, "there are no nodes of type %d",
                           (int)params->type);
    }
    *set = setter_of(params, argument);
    return *set != NULL
               ? hipSuccess
               : ha_cpu_fail(hipErrorNotSupported, "nodes of type %d are not done",
                             (int)params->type);
}

/* What belongs to a node for its whole life can't be set again. */
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
    const struct ha_node_place place = {pGraphNode, graph, pDependencies,
                                        numDependencies};
    const void *argument;
    ha_node_setter set;
    hipError_t code = ha_enter_query("hipGraphAddNode");
    if (code == hipSuccess) {
        code = params_check(nodeParams, &set, &argument);
    }
    return code != hipSuccess ? code
                              : ha_node_add("hipGraphAddNode", &place, nodeParams->type,
                                            set, argument);
}

HA_EXPORT hipError_t
hipGraphNodeSetParams(hipGraphNode_t node, hipGraphNodeParams *nodeParams)
{
    const void *argument;
    ha_node_setter set;
    hipError_t code = ha_enter_query("hipGraphNodeSetParams");
    if (code == hipSuccess) {
        code = params_check(nodeParams, &set, &argument);
    }
    if (code == hipSuccess && is_fixed(nodeParams->type)) {
        code = ha_cpu_fail(hipErrorInvalidValue,
                           "memory nodes can't be changed once they are there");
    }
    return code != hipSuccess ? code
                              : ha_node_change("hipGraphNodeSetParams", node,
                                               nodeParams->type, set, argument);
}

HA_EXPORT hipError_t
hipGraphExecNodeSetParams(hipGraphExec_t graphExec, hipGraphNode_t node,
                          hipGraphNodeParams *nodeParams)
{
    const void *argument;
    ha_node_setter set;
    hipError_t code = ha_enter_query("hipGraphExecNodeSetParams");
    if (code == hipSuccess) {
        code = params_check(nodeParams, &set, &argument);
    }
    if (code == hipSuccess &&
        (is_fixed(nodeParams->type) || nodeParams->type == hipGraphNodeTypeGraph)) {
        code = ha_cpu_fail(hipErrorInvalidValue,
                           "a node of type %d can't be changed this way",
                           (int)nodeParams->type);
    }
    return code != hipSuccess
               ? code
               : ha_node_change_exec("hipGraphExecNodeSetParams", graphExec, node,
                                     nodeParams->type, set, argument);
}
