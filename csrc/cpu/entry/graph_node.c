/* SPDX-License-Identifier: MIT */
#include "cpu/entry/graph_node.h"

#include <stddef.h>

#include "cpu/base/error.h"
#include "cpu/base/gone.h"
#include "cpu/base/thread.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/graph_kind.h"
#include "cpu/entry/runtime.h"
#include "cpu/graph/graph.h"
#include "cpu/graph/graph_exec.h"
#include "cpu/memory/check_memory.h"

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

hipError_t
ha_graph_begin(const char *function, hipGraph_t handle, const char *argument,
               const void *pointer, struct ha_graph **graph)
{
    hipError_t code = ha_graph_enter(function);
    if (code != hipSuccess) {
        return code;
    }
    *graph = ha_graph_find(handle);
    code = *graph != NULL ? ha_need(argument, pointer) : hipErrorInvalidValue;
    return code == hipSuccess ? code : ha_graph_leave(code);
}

hipError_t
ha_node_begin(const char *function, hipGraphNode_t handle, const char *argument,
              const void *pointer, const struct ha_node **node)
{
    hipError_t code = ha_graph_enter(function);
    if (code != hipSuccess) {
        return code;
    }
    *node = ha_node_find(handle);
    code = *node != NULL ? ha_need(argument, pointer) : hipErrorInvalidValue;
    return code == hipSuccess ? code : ha_graph_leave(code);
}

static hipError_t
add_locked(const struct ha_new_node *where, const struct ha_node_kind *kind,
           const void *params)
{
    if (where->node == NULL || params == NULL) {
        return ha_cpu_fail_null(where->node == NULL ? "pGraphNode" : "params");
    }
    struct ha_graph *graph = ha_graph_find(where->graph);
    if (graph == NULL) {
        return hipErrorInvalidValue;
    }
    hipError_t code = ha_gone_check("params", params, 1);
    if (code == hipSuccess && where->befores != NULL && where->count != 0) {
        code = ha_gone_check("pDependencies", where->befores,
                             where->count * sizeof where->befores[0]);
    }
    if (code != hipSuccess) {
        return code;
    }
    struct ha_node *node = ha_node_new(graph, kind->type, where->befores, where->count);
    if (node == NULL) {
        return ha_thread_self()->last_error;
    }
    code = kind->set(node, params);
    if (code != hipSuccess) {
        ha_node_free(node);
        return code;
    }
    *where->node = ha_node_handle(node);
    return hipSuccess;
}

hipError_t
ha_node_add(const char *function, const struct ha_new_node *where,
            const struct ha_node_kind *kind, const void *params)
{
    if (kind->type == hipGraphNodeTypeMemAlloc) {
        ha_thread_self()->function = function;
        ha_checked_call(); /* before the lock */
    }
    hipError_t code = ha_graph_enter(function);
    return code != hipSuccess ? code : ha_graph_leave(add_locked(where, kind, params));
}

hipError_t
ha_node_change(const char *function, hipGraphNode_t handle,
               const struct ha_node_kind *kind, const void *params)
{
    hipError_t code = ha_graph_enter(function);
    if (code != hipSuccess) {
        return code;
    }
    struct ha_node *node = ha_node_find_type(handle, kind->type);
    code = node == NULL ? hipErrorInvalidValue : ha_gone_check("params", params, 1);
    if (code != hipSuccess) {
        return ha_graph_leave(code);
    }
    return ha_graph_leave(kind->set(node, params));
}

static hipError_t
exec_locked(hipGraphExec_t exec_handle, hipGraphNode_t handle,
            const struct ha_node_kind *kind, const void *params)
{
    struct ha_graph_exec *exec = ha_graph_exec_find(exec_handle);
    struct ha_node *node = exec != NULL ? ha_graph_exec_node(exec, handle) : NULL;
    if (node == NULL || params == NULL) {
        return node == NULL ? hipErrorInvalidValue : ha_cpu_fail_null("params");
    }
    if (node->type != kind->type) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "the node is of type %d, not of type %d", (int)node->type,
                           (int)kind->type);
    }
    return kind->set(node, params);
}

hipError_t
ha_node_change_exec(const char *function, hipGraphExec_t exec, hipGraphNode_t node,
                    const struct ha_node_kind *kind, const void *params)
{
    hipError_t code = ha_graph_enter(function);
    return code != hipSuccess ? code
                              : ha_graph_leave(exec_locked(exec, node, kind, params));
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
