/* SPDX-License-Identifier: MIT */
/* Executable graphs: their life, their nodes, and what can be changed in them. */
#include "cpu/graph/graph_exec.h"

#include <stdlib.h>

#include "cpu/base/error.h"
#include "cpu/base/handle.h"
#include "cpu/graph/graph_exec_state.h"
#include "cpu/module/module.h"
#include "cpu/queue/order.h"

#define FLAGS_KNOWN                                                                    \
    ((unsigned long long)hipGraphInstantiateFlagAutoFreeOnLaunch |                     \
     (unsigned long long)hipGraphInstantiateFlagUpload |                               \
     (unsigned long long)hipGraphInstantiateFlagDeviceLaunch |                         \
     (unsigned long long)hipGraphInstantiateFlagUseNodePriority)

/* ---- life ---- */

static void
exec_free(struct ha_graph_exec *exec)
{
    ha_pool_lock();
    for (uint32_t i = 0; i < HA_TRACK_MAX; i++) {
        if (exec->tracks[i] != NULL) {
            ha_queue_release(&exec->tracks[i]->queue);
        }
    }
    ha_past_release(exec->past);
    if (exec->last != NULL) {
        ha_queue_release(exec->last);
    }
    ha_pool_unlock();
    if (exec->graph != NULL) {
        ha_graph_free(exec->graph);
    }
    ha_nodes_clear(&exec->memory_nodes);
    free(exec->names);
    free(exec->befores);
    free(exec->steps);
    free(exec);
}

static hipError_t
exec_fill(struct ha_graph_exec *exec, struct ha_graph *graph,
          hipGraphNode_t *error_node)
{
    struct ha_node *cycle;
    exec->graph = ha_graph_clone(graph, true);
    if (exec->graph == NULL) {
        return hipErrorOutOfMemory;
    }
    hipError_t code = ha_graph_exec_lay_out(exec, &cycle);
    if (cycle != NULL) {
        *error_node = (hipGraphNode_t)(uintptr_t)cycle->original;
    }
    return code;
}

hipError_t
ha_graph_exec_create(struct ha_graph *graph, unsigned long long flags,
                     hipGraphExec_t *handle, hipGraphNode_t *error_node)
{
    *error_node = NULL;
    if ((flags & ~FLAGS_KNOWN) != 0) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'flags' is 0x%llx, which is not a set of "
                           "hipGraphInstantiateFlags",
                           flags);
    }
    if ((flags & (unsigned long long)hipGraphInstantiateFlagDeviceLaunch) != 0) {
        return ha_cpu_fail(hipErrorNotSupported,
                           "graphs can't be launched by kernels here");
    }
    struct ha_graph_exec *exec = calloc(1, sizeof *exec);
    if (exec == NULL) {
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for an executable graph");
    }
    exec->flags = flags;
    hipError_t code = exec_fill(exec, graph, error_node);
    if (code == hipSuccess) {
        exec->handle = ha_handle_create(HA_HANDLE_EXEC, exec);
        if (exec->handle == 0) {
            code =
                ha_cpu_fail(hipErrorOutOfMemory, "no memory for an executable graph");
        }
    }
    if (code != hipSuccess) {
        exec_free(exec);
        return code;
    }
    *handle = (hipGraphExec_t)(uintptr_t)exec->handle;
    return hipSuccess;
}

struct ha_graph_exec *
ha_graph_exec_find(hipGraphExec_t handle)
{
    struct ha_graph_exec *exec =
        ha_handle_peek(HA_HANDLE_EXEC, (uint64_t)(uintptr_t)handle);
    if (exec == NULL) {
        ha_cpu_fail(hipErrorInvalidValue,
                    "argument 'graphExec' (%p) is not a living executable graph",
                    (void *)handle);
    }
    return exec;
}

hipError_t
ha_graph_exec_destroy(hipGraphExec_t handle)
{
    hipError_t code = hipSuccess;
    ha_graph_lock();
    struct ha_graph_exec *exec = ha_graph_exec_find(handle);
    if (exec != NULL) {
        ha_handle_retire(HA_HANDLE_EXEC, exec->handle);
        ha_handle_release(exec->handle);
    }
    ha_graph_unlock();
    if (exec == NULL) {
        return hipErrorInvalidValue;
    }
    /* Its memory goes with it, so the launch that uses it has to be over. */
    if (exec->allocates && exec->last != NULL) {
        ha_pool_lock();
        code = ha_queue_wait(exec->last, exec->last_number, 0);
        ha_pool_unlock();
    }
    if (code != hipSuccess) {
        /* Interrupted: what still runs must find its memory, which is lost then. */
        return ha_cpu_fail(code, "interrupted while a launch of the graph ends");
    }
    ha_graph_lock();
    exec_free(exec);
    ha_graph_unlock();
    return hipSuccess;
}

const struct ha_graph *
ha_graph_exec_graph(const struct ha_graph_exec *exec)
{
    return exec->graph;
}

unsigned long long
ha_graph_exec_flags(const struct ha_graph_exec *exec)
{
    return exec->flags;
}

/* ---- changes ---- */

struct ha_node *
ha_graph_exec_node(struct ha_graph_exec *exec, hipGraphNode_t handle)
{
    const struct ha_named key = {.original = (uint64_t)(uintptr_t)handle};
    const struct ha_named *found = exec->name_count > 0
                                       ? bsearch(&key, exec->names, exec->name_count,
                                                 sizeof *exec->names, ha_named_compare)
                                       : NULL;
    if (found == NULL) {
        ha_cpu_fail(hipErrorInvalidValue,
                    "%p is not a node of the graph that was instantiated",
                    (void *)handle);
        return NULL;
    }
    return found->node;
}

static bool
can_be_disabled(const struct ha_node *node)
{
    return node->type == hipGraphNodeTypeKernel ||
           node->type == hipGraphNodeTypeMemset || node->type == hipGraphNodeTypeMemcpy;
}

hipError_t
ha_graph_exec_set_enabled(struct ha_graph_exec *exec, hipGraphNode_t handle,
                          bool enabled)
{
    struct ha_node *node = ha_graph_exec_node(exec, handle);
    if (node == NULL) {
        return hipErrorInvalidValue;
    }
    if (!can_be_disabled(node)) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "only kernel, memset and memcpy nodes can be disabled");
    }
    node->disabled = !enabled;
    return hipSuccess;
}

hipError_t
ha_graph_exec_get_enabled(struct ha_graph_exec *exec, hipGraphNode_t handle,
                          bool *enabled)
{
    const struct ha_node *node = ha_graph_exec_node(exec, handle);
    if (node == NULL) {
        return hipErrorInvalidValue;
    }
    if (!can_be_disabled(node)) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "only kernel, memset and memcpy nodes can be disabled");
    }
    *enabled = !node->disabled;
    return hipSuccess;
}

/* Whether `graph` can take the place of `clone`: the same nodes with the same edges. */
static hipGraphExecUpdateResult
update_check(const struct ha_graph *clone, const struct ha_graph *graph,
             const struct ha_node **culprit)
{
    if (clone->nodes.count != graph->nodes.count) {
        return hipGraphExecUpdateErrorTopologyChanged;
    }
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const struct ha_node *old = clone->nodes.items[i];
        const struct ha_node *new = graph->nodes.items[i];
        *culprit = new;
        if (old->type != new->type) {
            return hipGraphExecUpdateErrorNodeTypeChanged;
        }
        if (old->befores.count != new->befores.count) {
            return hipGraphExecUpdateErrorTopologyChanged;
        }
        for (uint32_t k = 0; k < new->befores.count; k++) {
            if (!ha_nodes_have(&old->befores,
                               clone->nodes.items[new->befores.items[k]->index])) {
                return hipGraphExecUpdateErrorTopologyChanged;
            }
        }
        if (new->type == hipGraphNodeTypeKernel &&new->kernel.function->device !=
            old->kernel.function->device) {
            return hipGraphExecUpdateErrorUnsupportedFunctionChange;
        }
        if ((new->type == hipGraphNodeTypeMemAlloc &&new->alloc.memory !=
             old->alloc.memory) ||
            (new->type == hipGraphNodeTypeMemFree &&new->freed != old->freed)) {
            return hipGraphExecUpdateErrorParametersChanged;
        }
        if (new->type == hipGraphNodeTypeGraph) {
            hipGraphExecUpdateResult inner =
                update_check(old->child, new->child, culprit);
            if (inner != hipGraphExecUpdateSuccess) {
                return inner;
            }
        }
    }
    return hipGraphExecUpdateSuccess;
}

static hipError_t
update_take(struct ha_graph *clone, const struct ha_graph *graph)
{
    hipError_t code = hipSuccess;
    for (uint32_t i = 0; i < graph->nodes.count && code == hipSuccess; i++) {
        struct ha_node *old = clone->nodes.items[i];
        const struct ha_node *new = graph->nodes.items[i];
        if (new->type == hipGraphNodeTypeGraph) {
            code = update_take(old->child, new->child);
        } else if (new->type != hipGraphNodeTypeMemAlloc) {
            code = ha_node_set_like(old, new, true);
        }
    }
    return code;
}

hipError_t
ha_graph_exec_update(struct ha_graph_exec *exec, struct ha_graph *graph,
                     hipGraphExecUpdateResult *result, hipGraphNode_t *error_node)
{
    const struct ha_node *culprit = NULL;
    *error_node = NULL;
    *result = update_check(exec->graph, graph, &culprit);
    if (*result != hipGraphExecUpdateSuccess) {
        *error_node = culprit != NULL ? ha_node_handle(culprit) : NULL;
        return ha_cpu_fail(hipErrorGraphExecUpdateFailure,
                           "the graph differs in more than parameters (result %d)",
                           (int)*result);
    }
    hipError_t code = update_take(exec->graph, graph);
    if (code != hipSuccess) {
        *result = hipGraphExecUpdateError;
    }
    return code;
}

hipError_t
ha_graph_exec_set_child(struct ha_graph_exec *exec, hipGraphNode_t handle,
                        const struct ha_graph *child)
{
    const struct ha_node *culprit = NULL;
    const struct ha_node *node = ha_graph_exec_node(exec, handle);
    if (node == NULL) {
        return hipErrorInvalidValue;
    }
    if (node->type != hipGraphNodeTypeGraph ||
        update_check(node->child, child, &culprit) != hipGraphExecUpdateSuccess) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "the node has no child graph with the same nodes and edges");
    }
    return update_take(node->child, child);
}
