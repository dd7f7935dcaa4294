/* SPDX-License-Identifier: MIT */
/* HIP entry points: graphs as a whole, their edges and nodes. */
#include <stdint.h>

#include "abi/hip.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/base/gone.h"
#include "cpu/base/thread.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/graph_node.h"
#include "cpu/graph/graph.h"

/* ---- graphs ---- */

HA_EXPORT hipError_t
hipGraphCreate(hipGraph_t *pGraph, unsigned int flags)
{
    hipError_t code = ha_graph_enter("hipGraphCreate");
    if (code != hipSuccess) {
        return code;
    }
    code = ha_need("pGraph", pGraph);
    if (code == hipSuccess) {
        code = ha_need_no_flags(flags);
    }
    if (code != hipSuccess) {
        return ha_graph_leave(code);
    }
    const struct ha_graph *graph = ha_graph_new();
    if (graph == NULL) {
        return ha_graph_leave(hipErrorOutOfMemory);
    }
    *pGraph = (hipGraph_t)(uintptr_t)graph->handle;
    return ha_graph_leave(hipSuccess);
}

HA_EXPORT hipError_t
hipGraphDestroy(hipGraph_t handle)
{
    hipError_t code = ha_graph_enter("hipGraphDestroy");
    if (code != hipSuccess) {
        return code;
    }
    struct ha_graph *graph = ha_graph_find(handle);
    if (graph == NULL) {
        return ha_graph_leave(hipErrorInvalidValue);
    }
    if (graph->parent != NULL || graph->capturing) {
        return ha_graph_leave(ha_cpu_fail(hipErrorInvalidValue,
                                          graph->capturing
                                              ? "a stream is captured into the graph"
                                              : "the graph belongs to a child graph "
                                                "node"));
    }
    ha_graph_free(graph);
    return ha_graph_leave(hipSuccess);
}

HA_EXPORT hipError_t
hipGraphClone(hipGraph_t *pGraphClone, hipGraph_t originalGraph)
{
    hipError_t code = ha_graph_enter("hipGraphClone");
    if (code != hipSuccess) {
        return code;
    }
    if (pGraphClone == NULL) {
        return ha_graph_leave(ha_cpu_fail_null("pGraphClone"));
    }
    const struct ha_graph *graph = ha_graph_find(originalGraph);
    const struct ha_graph *clone = graph != NULL ? ha_graph_clone(graph, false) : NULL;
    if (clone == NULL) {
        return ha_graph_leave(graph == NULL ? hipErrorInvalidValue
                                            : ha_thread_self()->last_error);
    }
    *pGraphClone = (hipGraph_t)(uintptr_t)clone->handle;
    return ha_graph_leave(hipSuccess);
}

HA_EXPORT hipError_t
hipGraphNodeFindInClone(hipGraphNode_t *pNode, hipGraphNode_t originalNode,
                        hipGraph_t clonedGraph)
{
    hipError_t code = ha_graph_enter("hipGraphNodeFindInClone");
    if (code != hipSuccess) {
        return code;
    }
    if (pNode == NULL) {
        return ha_graph_leave(ha_cpu_fail_null("pNode"));
    }
    const struct ha_graph *clone = ha_graph_find(clonedGraph);
    for (uint32_t i = 0; clone != NULL && i < clone->nodes.count; i++) {
        const struct ha_node *node = clone->nodes.items[i];
        if (originalNode != NULL &&
            node->original == (uint64_t)(uintptr_t)originalNode) {
            *pNode = ha_node_handle(node);
            return ha_graph_leave(hipSuccess);
        }
    }
    return ha_graph_leave(clone == NULL
                              ? hipErrorInvalidValue
                              : ha_cpu_fail(hipErrorInvalidValue,
                                            "the graph has no copy of node %p",
                                            (void *)originalNode));
}

HA_EXPORT hipError_t
hipGraphDebugDotPrint(hipGraph_t handle, const char *path, unsigned int flags)
{
    struct ha_graph *graph;
    hipError_t code =
        ha_graph_begin("hipGraphDebugDotPrint", handle, "path", path, &graph);
    return code == hipSuccess ? ha_graph_leave(ha_graph_print(graph, path, flags))
                              : code;
}

/* ---- edges ---- */

/* Both ends of all edges are checked before the first one changes. */
static hipError_t
edges_change(const char *function, hipGraph_t handle, const hipGraphNode_t *from,
             const hipGraphNode_t *to, size_t count, bool add)
{
    hipError_t code = ha_graph_enter(function);
    if (code != hipSuccess) {
        return code;
    }
    const struct ha_graph *graph = ha_graph_find(handle);
    if (graph == NULL || count == 0) {
        return ha_graph_leave(graph == NULL ? hipErrorInvalidValue : hipSuccess);
    }
    code = ha_gone_check("from", from, count * sizeof *from);
    if (code == hipSuccess) {
        code = ha_gone_check("to", to, count * sizeof *to);
    }
    if (code != hipSuccess) {
        return ha_graph_leave(code);
    }
    for (size_t i = 0; i < count; i++) {
        const struct ha_node *before = ha_node_find(from[i]);
        const struct ha_node *after = before != NULL ? ha_node_find(to[i]) : NULL;
        if (after == NULL || before->graph != graph || after->graph != graph) {
            return ha_graph_leave(ha_cpu_fail(
                hipErrorInvalidValue, "edge %zu is not between nodes of the graph", i));
        }
        if (before == after || ha_nodes_have(&after->befores, before) == add) {
            return ha_graph_leave(
                ha_cpu_fail(hipErrorInvalidValue,
                            add ? "edge %zu is there already, or leads from a "
                                  "node to itself"
                                : "edge %zu is not there",
                            i));
        }
    }
    for (size_t i = 0; i < count && code == hipSuccess; i++) {
        struct ha_node *before = ha_node_find(from[i]);
        struct ha_node *after = ha_node_find(to[i]);
        if (!add) {
            ha_node_disconnect(before, after);
            continue;
        }
        code = ha_node_connect(before, after);
        while (code != hipSuccess && i-- > 0) {
            ha_node_disconnect(ha_node_find(from[i]), ha_node_find(to[i]));
        }
    }
    return ha_graph_leave(code);
}

HA_EXPORT hipError_t
hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t *from,
                        const hipGraphNode_t *to, size_t numDependencies)
{
    return edges_change("hipGraphAddDependencies", graph, from, to, numDependencies,
                        true);
}

HA_EXPORT hipError_t
hipGraphRemoveDependencies(hipGraph_t graph, const hipGraphNode_t *from,
                           const hipGraphNode_t *to, size_t numDependencies)
{
    return edges_change("hipGraphRemoveDependencies", graph, from, to, numDependencies,
                        false);
}

/* Fills an array of *count handles; those past the last node become NULL. Without an
 * array, *count becomes the number of nodes. */
static hipError_t
nodes_give(const struct ha_nodes *nodes, bool (*wanted)(const struct ha_node *),
           hipGraphNode_t *array, size_t *count)
{
    size_t found = 0;
    for (uint32_t i = 0; i < nodes->count; i++) {
        if (wanted != NULL && !wanted(nodes->items[i])) {
            continue;
        }
        if (array != NULL && found < *count) {
            array[found] = ha_node_handle(nodes->items[i]);
        }
        found++;
    }
    for (size_t i = found; array != NULL && i < *count; i++) {
        array[i] = NULL;
    }
    if (array == NULL || *count > found) {
        *count = found;
    }
    return hipSuccess;
}

HA_EXPORT hipError_t
hipGraphGetNodes(hipGraph_t handle, hipGraphNode_t *nodes, size_t *numNodes)
{
    struct ha_graph *graph;
    hipError_t code =
        ha_graph_begin("hipGraphGetNodes", handle, "numNodes", numNodes, &graph);
    return code == hipSuccess
               ? ha_graph_leave(nodes_give(&graph->nodes, NULL, nodes, numNodes))
               : code;
}

static bool
is_root(const struct ha_node *node)
{
    return node->befores.count == 0;
}

HA_EXPORT hipError_t
hipGraphGetRootNodes(hipGraph_t handle, hipGraphNode_t *pRootNodes,
                     size_t *pNumRootNodes)
{
    struct ha_graph *graph;
    hipError_t code = ha_graph_begin("hipGraphGetRootNodes", handle, "pNumRootNodes",
                                     pNumRootNodes, &graph);
    return code == hipSuccess ? ha_graph_leave(nodes_give(&graph->nodes, is_root,
                                                          pRootNodes, pNumRootNodes))
                              : code;
}

HA_EXPORT hipError_t
hipGraphGetEdges(hipGraph_t handle, hipGraphNode_t *from, hipGraphNode_t *to,
                 size_t *numEdges)
{
    struct ha_graph *graph;
    hipError_t code =
        ha_graph_begin("hipGraphGetEdges", handle, "numEdges", numEdges, &graph);
    if (code != hipSuccess) {
        return code;
    }
    if ((from == NULL) != (to == NULL)) {
        return ha_graph_leave(ha_cpu_fail_null(from == NULL ? "from" : "to"));
    }
    size_t found = 0;
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const struct ha_node *node = graph->nodes.items[i];
        for (uint32_t k = 0; k < node->afters.count; k++, found++) {
            if (from != NULL && found < *numEdges) {
                from[found] = ha_node_handle(node);
                to[found] = ha_node_handle(node->afters.items[k]);
            }
        }
    }
    for (size_t i = found; from != NULL && i < *numEdges; i++) {
        from[i] = NULL;
        to[i] = NULL;
    }
    if (from == NULL || *numEdges > found) {
        *numEdges = found;
    }
    return ha_graph_leave(hipSuccess);
}

static hipError_t
neighbours(const char *function, hipGraphNode_t handle, bool before,
           hipGraphNode_t *array, size_t *count, const char *count_name)
{
    const struct ha_node *node;
    hipError_t code = ha_node_begin(function, handle, count_name, count, &node);
    return code == hipSuccess
               ? ha_graph_leave(nodes_give(before ? &node->befores : &node->afters,
                                           NULL, array, count))
               : code;
}

HA_EXPORT hipError_t
hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t *pDependencies,
                            size_t *pNumDependencies)
{
    return neighbours("hipGraphNodeGetDependencies", node, true, pDependencies,
                      pNumDependencies, "pNumDependencies");
}

HA_EXPORT hipError_t
hipGraphNodeGetDependentNodes(hipGraphNode_t node, hipGraphNode_t *pDependentNodes,
                              size_t *pNumDependentNodes)
{
    return neighbours("hipGraphNodeGetDependentNodes", node, false, pDependentNodes,
                      pNumDependentNodes, "pNumDependentNodes");
}

HA_EXPORT hipError_t
hipGraphNodeGetType(hipGraphNode_t handle, hipGraphNodeType *pType)
{
    const struct ha_node *node;
    hipError_t code =
        ha_node_begin("hipGraphNodeGetType", handle, "pType", pType, &node);
    if (code != hipSuccess) {
        return code;
    }
    *pType = node->type;
    return ha_graph_leave(hipSuccess);
}

HA_EXPORT hipError_t
hipGraphDestroyNode(hipGraphNode_t handle)
{
    hipError_t code = ha_graph_enter("hipGraphDestroyNode");
    if (code != hipSuccess) {
        return code;
    }
    struct ha_node *node = ha_node_find(handle);
    if (node == NULL) {
        return ha_graph_leave(hipErrorInvalidValue);
    }
    if (node->graph->capturing) {
        return ha_graph_leave(ha_cpu_fail(
            hipErrorInvalidValue, "a stream is captured into the node's graph"));
    }
    ha_node_free(node);
    return ha_graph_leave(hipSuccess);
}
