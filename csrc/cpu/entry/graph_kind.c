/* SPDX-License-Identifier: MIT */
#include "cpu/entry/graph_kind.h"

#include <stddef.h>
#include <stdint.h>

#include "cpu/base/error.h"
#include "cpu/graph/graph.h"

static hipError_t
set_kernel(struct ha_node *node, const void *params)
{
    return ha_node_set_kernel(node, params);
}

static hipError_t
set_copy(struct ha_node *node, const void *params)
{
    return ha_node_set_copy(node, params);
}

static hipError_t
set_fill(struct ha_node *node, const void *params)
{
    return ha_node_set_fill(node, params);
}

static hipError_t
set_host(struct ha_node *node, const void *params)
{
    return ha_node_set_host(node, params);
}

static hipError_t
set_child(struct ha_node *node, const void *params)
{
    const struct ha_graph *child = ha_graph_find(*(const hipGraph_t *)params);
    return child == NULL ? hipErrorInvalidValue : ha_node_set_child(node, child);
}

static hipError_t
set_nothing(struct ha_node *node, const void *params)
{
    (void)node;
    (void)params;
    return hipSuccess;
}

static hipError_t
set_event(struct ha_node *node, const void *params)
{
    hipEvent_t event = *(const hipEvent_t *)params;
    hipError_t code = ha_node_set_event(node, event);
    /* HIP's documentation has one failure for all arguments of nodes. */
    return code != hipErrorInvalidHandle
               ? code
               : ha_cpu_fail(
                     hipErrorInvalidValue,
                     "argument 'event' (%p) is not a living event of this process",
                     (void *)event);
}

static hipError_t
set_alloc(struct ha_node *node, const void *params)
{
    /* The address is an output in the caller's record. */
    return ha_node_set_alloc(node, (hipMemAllocNodeParams *)(uintptr_t)params);
}

static hipError_t
set_free(struct ha_node *node, const void *params)
{
    return ha_node_set_free(node, *(void *const *)params);
}

static hipError_t
set_batch(struct ha_node *node, const void *params)
{
    return ha_node_set_batch(node, params);
}

const struct ha_node_kind ha_kind_kernel = {hipGraphNodeTypeKernel, set_kernel};
const struct ha_node_kind ha_kind_copy = {hipGraphNodeTypeMemcpy, set_copy};
const struct ha_node_kind ha_kind_fill = {hipGraphNodeTypeMemset, set_fill};
const struct ha_node_kind ha_kind_host = {hipGraphNodeTypeHost, set_host};
const struct ha_node_kind ha_kind_alloc = {hipGraphNodeTypeMemAlloc, set_alloc};
const struct ha_node_kind ha_kind_batch = {hipGraphNodeTypeBatchMemOp, set_batch};
const struct ha_node_kind ha_kind_child = {hipGraphNodeTypeGraph, set_child};
const struct ha_node_kind ha_kind_record = {hipGraphNodeTypeEventRecord, set_event};
const struct ha_node_kind ha_kind_wait = {hipGraphNodeTypeWaitEvent, set_event};
const struct ha_node_kind ha_kind_free = {hipGraphNodeTypeMemFree, set_free};
const struct ha_node_kind ha_kind_empty = {hipGraphNodeTypeEmpty, set_nothing};

const struct ha_node_kind *
ha_kind_of(const hipGraphNodeParams *params, const void **argument)
{
    switch ((int)params->type) {
    case hipGraphNodeTypeKernel:
        *argument = &params->kernel;
        return &ha_kind_kernel;
    case hipGraphNodeTypeMemcpy:
        *argument = &params->memcpy.copyParams;
        return &ha_kind_copy;
    case hipGraphNodeTypeMemset:
        *argument = &params->memset;
        return &ha_kind_fill;
    case hipGraphNodeTypeHost:
        *argument = &params->host;
        return &ha_kind_host;
    case hipGraphNodeTypeGraph:
        *argument = &params->graph.graph;
        return &ha_kind_child;
    case hipGraphNodeTypeEmpty:
        *argument = params;
        return &ha_kind_empty;
    case hipGraphNodeTypeWaitEvent:
        *argument = &params->eventWait.event;
        return &ha_kind_wait;
    case hipGraphNodeTypeEventRecord:
        *argument = &params->eventRecord.event;
        return &ha_kind_record;
    case hipGraphNodeTypeMemAlloc:
        *argument = &params->alloc;
        return &ha_kind_alloc;
    case hipGraphNodeTypeMemFree:
        *argument = &params->free.dptr;
        return &ha_kind_free;
    default:
        return NULL;
    }
}
