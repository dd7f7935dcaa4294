/* SPDX-License-Identifier: MIT */
/* HIP entry points: nodes that copy and fill. */
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/graph_kind.h"
#include "cpu/entry/graph_node.h"
#include "cpu/graph/graph.h"
#include "cpu/module/symbol.h"
#include "cpu/work/copy_shape.h"

/* ---- copies ---- */

struct bytes {
    void *dst;
    const void *src;
    size_t count;
    hipMemcpyKind kind;
};

static hipError_t
set_bytes(struct ha_node *node, const void *params)
{
    const struct bytes *bytes = params;
    return ha_node_set_copy_1d(node, bytes->dst, bytes->src, bytes->count, bytes->kind);
}

/* A node may be made with nothing to copy, but not be changed to that. */
static hipError_t
change_bytes(struct ha_node *node, const void *params)
{
    const struct bytes *bytes = params;
    return bytes->count != 0
               ? set_bytes(node, params)
               : ha_cpu_fail(hipErrorInvalidValue, "argument 'count' is 0");
}

static hipError_t
set_driver_copy(struct ha_node *node, const void *params)
{
    hipMemcpy3DParms same;
    hipError_t code = ha_copy_shape_from_driver(params, &same);
    return code == hipSuccess ? ha_node_set_copy(node, &same) : code;
}

static const struct ha_node_kind bytes_kind = {hipGraphNodeTypeMemcpy, set_bytes};
static const struct ha_node_kind bytes_change = {hipGraphNodeTypeMemcpy, change_bytes};
static const struct ha_node_kind driver_kind = {hipGraphNodeTypeMemcpy,
                                                set_driver_copy};

HA_EXPORT hipError_t
hipGraphAddMemcpyNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                      const hipGraphNode_t *pDependencies, size_t numDependencies,
                      const hipMemcpy3DParms *pCopyParams)
{
    const struct ha_new_node at = {pGraphNode, graph, pDependencies, numDependencies};
    return ha_node_add("hipGraphAddMemcpyNode", &at, &ha_kind_copy, pCopyParams);
}

HA_EXPORT hipError_t
hipGraphAddMemcpyNode1D(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                        const hipGraphNode_t *pDependencies, size_t numDependencies,
                        void *dst, const void *src, size_t count, hipMemcpyKind kind)
{
    const struct ha_new_node at = {pGraphNode, graph, pDependencies, numDependencies};
    const struct bytes bytes = {dst, src, count, kind};
    return ha_node_add("hipGraphAddMemcpyNode1D", &at, &bytes_kind, &bytes);
}

HA_EXPORT hipError_t
hipDrvGraphAddMemcpyNode(hipGraphNode_t *phGraphNode, hipGraph_t hGraph,
                         const hipGraphNode_t *dependencies, size_t numDependencies,
                         const HIP_MEMCPY3D *copyParams, hipCtx_t ctx)
{
    const struct ha_new_node at = {phGraphNode, hGraph, dependencies, numDependencies};
    (void)ctx; /* one context a device: memory says which it is */
    return ha_node_add("hipDrvGraphAddMemcpyNode", &at, &driver_kind, copyParams);
}

HA_EXPORT hipError_t
hipGraphMemcpyNodeGetParams(hipGraphNode_t handle, hipMemcpy3DParms *pNodeParams)
{
    const struct ha_node *node;
    hipError_t code = ha_node_get_begin("hipGraphMemcpyNodeGetParams", handle,
                                        hipGraphNodeTypeMemcpy, pNodeParams, &node);
    if (code != hipSuccess) {
        return code;
    }
    *pNodeParams = node->copy.params;
    return ha_graph_leave(hipSuccess);
}

HA_EXPORT hipError_t
hipDrvGraphMemcpyNodeGetParams(hipGraphNode_t hNode, HIP_MEMCPY3D *nodeParams)
{
    const struct ha_node *node;
    hipError_t code = ha_node_get_begin("hipDrvGraphMemcpyNodeGetParams", hNode,
                                        hipGraphNodeTypeMemcpy, nodeParams, &node);
    if (code != hipSuccess) {
        return code;
    }
    *nodeParams = ha_copy_shape_to_driver(&node->copy.params);
    return ha_graph_leave(hipSuccess);
}

HA_EXPORT hipError_t
hipGraphMemcpyNodeSetParams(hipGraphNode_t node, const hipMemcpy3DParms *pNodeParams)
{
    return ha_node_change("hipGraphMemcpyNodeSetParams", node, &ha_kind_copy,
                          pNodeParams);
}

HA_EXPORT hipError_t
hipDrvGraphMemcpyNodeSetParams(hipGraphNode_t hNode, const HIP_MEMCPY3D *nodeParams)
{
    return ha_node_change("hipDrvGraphMemcpyNodeSetParams", hNode, &driver_kind,
                          nodeParams);
}

HA_EXPORT hipError_t
hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void *dst, const void *src,
                              size_t count, hipMemcpyKind kind)
{
    const struct bytes bytes = {dst, src, count, kind};
    return ha_node_change("hipGraphMemcpyNodeSetParams1D", node, &bytes_change, &bytes);
}

HA_EXPORT hipError_t
hipGraphExecMemcpyNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node,
                                hipMemcpy3DParms *pNodeParams)
{
    return ha_node_change_exec("hipGraphExecMemcpyNodeSetParams", hGraphExec, node,
                               &ha_kind_copy, pNodeParams);
}

HA_EXPORT hipError_t
hipDrvGraphExecMemcpyNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
                                   const HIP_MEMCPY3D *copyParams, hipCtx_t ctx)
{
    (void)ctx;
    return ha_node_change_exec("hipDrvGraphExecMemcpyNodeSetParams", hGraphExec, hNode,
                               &driver_kind, copyParams);
}

HA_EXPORT hipError_t
hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t hGraphExec, hipGraphNode_t node,
                                  void *dst, const void *src, size_t count,
                                  hipMemcpyKind kind)
{
    const struct bytes bytes = {dst, src, count, kind};
    return ha_node_change_exec("hipGraphExecMemcpyNodeSetParams1D", hGraphExec, node,
                               &bytes_change, &bytes);
}

/* ---- copies to and from variables ---- */

struct variable {
    void *other; /* the side that is no variable */
    const void *symbol;
    size_t count;
    size_t offset;
    hipMemcpyKind kind;
};

static hipError_t
set_to_variable(struct ha_node *node, const void *params)
{
    const struct variable *variable = params;
    void *address;
    if (variable->kind == hipMemcpyDeviceToHost ||
        variable->kind == hipMemcpyHostToHost) {
        return ha_cpu_fail(hipErrorInvalidMemcpyDirection,
                           "argument 'kind' is %d, but a variable is on the device",
                           (int)variable->kind);
    }
    hipError_t code =
        ha_symbol_range(variable->symbol, variable->count, variable->offset, &address);
    return code != hipSuccess ? code
                              : ha_node_set_copy_1d(node, address, variable->other,
                                                    variable->count, variable->kind);
}

static hipError_t
set_from_variable(struct ha_node *node, const void *params)
{
    const struct variable *variable = params;
    void *address;
    if (variable->kind == hipMemcpyHostToDevice ||
        variable->kind == hipMemcpyHostToHost) {
        return ha_cpu_fail(hipErrorInvalidMemcpyDirection,
                           "argument 'kind' is %d, but a variable is on the device",
                           (int)variable->kind);
    }
    hipError_t code =
        ha_symbol_range(variable->symbol, variable->count, variable->offset, &address);
    return code != hipSuccess ? code
                              : ha_node_set_copy_1d(node, variable->other, address,
                                                    variable->count, variable->kind);
}

static const struct ha_node_kind to_variable = {hipGraphNodeTypeMemcpy,
                                                set_to_variable};
static const struct ha_node_kind from_variable = {hipGraphNodeTypeMemcpy,
                                                  set_from_variable};

HA_EXPORT hipError_t
hipGraphAddMemcpyNodeToSymbol(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                              const hipGraphNode_t *pDependencies,
                              size_t numDependencies, const void *symbol,
                              const void *src, size_t count, size_t offset,
                              hipMemcpyKind kind)
{
    const struct ha_new_node at = {pGraphNode, graph, pDependencies, numDependencies};
    const struct variable variable = {(void *)(uintptr_t)src, symbol, count, offset,
                                      kind};
    return ha_node_add("hipGraphAddMemcpyNodeToSymbol", &at, &to_variable, &variable);
}

HA_EXPORT hipError_t
hipGraphAddMemcpyNodeFromSymbol(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                const hipGraphNode_t *pDependencies,
                                size_t numDependencies, void *dst, const void *symbol,
                                size_t count, size_t offset, hipMemcpyKind kind)
{
    const struct ha_new_node at = {pGraphNode, graph, pDependencies, numDependencies};
    const struct variable variable = {dst, symbol, count, offset, kind};
    return ha_node_add("hipGraphAddMemcpyNodeFromSymbol", &at, &from_variable,
                       &variable);
}

HA_EXPORT hipError_t
hipGraphMemcpyNodeSetParamsToSymbol(hipGraphNode_t node, const void *symbol,
                                    const void *src, size_t count, size_t offset,
                                    hipMemcpyKind kind)
{
    const struct variable variable = {(void *)(uintptr_t)src, symbol, count, offset,
                                      kind};
    return ha_node_change("hipGraphMemcpyNodeSetParamsToSymbol", node, &to_variable,
                          &variable);
}

HA_EXPORT hipError_t
hipGraphMemcpyNodeSetParamsFromSymbol(hipGraphNode_t node, void *dst,
                                      const void *symbol, size_t count, size_t offset,
                                      hipMemcpyKind kind)
{
    const struct variable variable = {dst, symbol, count, offset, kind};
    return ha_node_change("hipGraphMemcpyNodeSetParamsFromSymbol", node, &from_variable,
                          &variable);
}

HA_EXPORT hipError_t
hipGraphExecMemcpyNodeSetParamsToSymbol(hipGraphExec_t hGraphExec, hipGraphNode_t node,
                                        const void *symbol, const void *src,
                                        size_t count, size_t offset, hipMemcpyKind kind)
{
    const struct variable variable = {(void *)(uintptr_t)src, symbol, count, offset,
                                      kind};
    return ha_node_change_exec("hipGraphExecMemcpyNodeSetParamsToSymbol", hGraphExec,
                               node, &to_variable, &variable);
}

HA_EXPORT hipError_t
hipGraphExecMemcpyNodeSetParamsFromSymbol(hipGraphExec_t hGraphExec,
                                          hipGraphNode_t node, void *dst,
                                          const void *symbol, size_t count,
                                          size_t offset, hipMemcpyKind kind)
{
    const struct variable variable = {dst, symbol, count, offset, kind};
    return ha_node_change_exec("hipGraphExecMemcpyNodeSetParamsFromSymbol", hGraphExec,
                               node, &from_variable, &variable);
}

/* ---- fills ---- */

HA_EXPORT hipError_t
hipGraphAddMemsetNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                      const hipGraphNode_t *pDependencies, size_t numDependencies,
                      const hipMemsetParams *pMemsetParams)
{
    const struct ha_new_node at = {pGraphNode, graph, pDependencies, numDependencies};
    return ha_node_add("hipGraphAddMemsetNode", &at, &ha_kind_fill, pMemsetParams);
}

HA_EXPORT hipError_t
hipDrvGraphAddMemsetNode(hipGraphNode_t *phGraphNode, hipGraph_t hGraph,
                         const hipGraphNode_t *dependencies, size_t numDependencies,
                         const hipMemsetParams *memsetParams, hipCtx_t ctx)
{
    const struct ha_new_node at = {phGraphNode, hGraph, dependencies, numDependencies};
    (void)ctx;
    return ha_node_add("hipDrvGraphAddMemsetNode", &at, &ha_kind_fill, memsetParams);
}

HA_EXPORT hipError_t
hipGraphMemsetNodeGetParams(hipGraphNode_t handle, hipMemsetParams *pNodeParams)
{
    const struct ha_node *node;
    hipError_t code = ha_node_get_begin("hipGraphMemsetNodeGetParams", handle,
                                        hipGraphNodeTypeMemset, pNodeParams, &node);
    if (code != hipSuccess) {
        return code;
    }
    *pNodeParams = node->fill.params;
    return ha_graph_leave(hipSuccess);
}

HA_EXPORT hipError_t
hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams *pNodeParams)
{
    return ha_node_change("hipGraphMemsetNodeSetParams", node, &ha_kind_fill,
                          pNodeParams);
}

HA_EXPORT hipError_t
hipGraphExecMemsetNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node,
                                const hipMemsetParams *pNodeParams)
{
    return ha_node_change_exec("hipGraphExecMemsetNodeSetParams", hGraphExec, node,
                               &ha_kind_fill, pNodeParams);
}

HA_EXPORT hipError_t
hipDrvGraphExecMemsetNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
                                   const hipMemsetParams *memsetParams, hipCtx_t ctx)
{
    (void)ctx;
    return ha_node_change_exec("hipDrvGraphExecMemsetNodeSetParams", hGraphExec, hNode,
                               &ha_kind_fill, memsetParams);
}
