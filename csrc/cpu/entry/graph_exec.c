/* SPDX-License-Identifier: MIT */
/* HIP entry points: executable graphs are made, launched and updated. */
#include <stdint.h>
#include <string.h>

#include "abi/hip.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/graph_node.h"
#include "cpu/entry/runtime.h"
#include "cpu/graph/graph.h"
#include "cpu/graph/graph_exec.h"
#include "cpu/submit/door.h"
#include "cpu/submit/graph.h"

static hipError_t
instantiate(const char *function, hipGraphExec_t *exec, hipGraph_t handle,
            unsigned long long flags, hipGraphNode_t *error_node)
{
    struct ha_graph *graph;
    *error_node = NULL;
    hipError_t code = ha_graph_begin(function, handle, "pGraphExec", exec, &graph);
    return code == hipSuccess
               ? ha_graph_leave(ha_graph_exec_create(graph, flags, exec, error_node))
               : code;
}

HA_EXPORT hipError_t
hipGraphInstantiate(hipGraphExec_t *pGraphExec, hipGraph_t graph,
                    hipGraphNode_t *pErrorNode, char *pLogBuffer, size_t bufferSize)
{
    hipGraphNode_t error_node;
    hipError_t code =
        instantiate("hipGraphInstantiate", pGraphExec, graph, 0, &error_node);
    if (pErrorNode != NULL) {
        *pErrorNode = error_node;
    }
    if (pLogBuffer != NULL && bufferSize > 0) {
        const char *text = code != hipSuccess ? hipadaptGetErrorText() : "";
        size_t length = strnlen(text, bufferSize - 1);
        memcpy(pLogBuffer, text, length);
        pLogBuffer[length] = '\0';
    }
    return code;
}

HA_EXPORT hipError_t
hipGraphInstantiateWithFlags(hipGraphExec_t *pGraphExec, hipGraph_t graph,
                             unsigned long long flags)
{
    hipGraphNode_t error_node;
    return instantiate("hipGraphInstantiateWithFlags", pGraphExec, graph, flags,
                       &error_node);
}

HA_EXPORT hipError_t
hipGraphInstantiateWithParams(hipGraphExec_t *pGraphExec, hipGraph_t graph,
                              hipGraphInstantiateParams *instantiateParams)
{
    hipError_t code = ha_enter_query_out("hipGraphInstantiateWithParams",
                                         "instantiateParams", instantiateParams);
    if (code != hipSuccess) {
        return code;
    }
    code = instantiate("hipGraphInstantiateWithParams", pGraphExec, graph,
                       instantiateParams->flags, &instantiateParams->errNode_out);
    instantiateParams->result_out = code == hipSuccess ? hipGraphInstantiateSuccess
                                    : instantiateParams->errNode_out != NULL
                                        ? hipGraphInstantiateInvalidStructure
                                        : hipGraphInstantiateError;
    return code;
}

HA_EXPORT hipError_t
hipGraphExecGetFlags(hipGraphExec_t graphExec, unsigned long long *flags)
{
    hipError_t code = ha_graph_enter("hipGraphExecGetFlags");
    if (code != hipSuccess) {
        return code;
    }
    const struct ha_graph_exec *exec = ha_graph_exec_find(graphExec);
    if (exec == NULL || flags == NULL) {
        return ha_graph_leave(exec == NULL ? hipErrorInvalidValue
                                           : ha_cpu_fail_null("flags"));
    }
    *flags = ha_graph_exec_flags(exec);
    return ha_graph_leave(hipSuccess);
}

HA_EXPORT hipError_t
hipGraphExecDestroy(hipGraphExec_t graphExec)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipGraphExecDestroy", &device);
    return code != hipSuccess ? code : ha_graph_exec_destroy(graphExec);
}

HA_EXPORT hipError_t
hipGraphLaunch(hipGraphExec_t graphExec, hipStream_t stream)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipGraphLaunch", &device);
    return code != hipSuccess ? code : ha_submit_graph(graphExec, stream, device);
}

/* Instantiation makes all that a launch needs, so an upload only checks its arguments.
 */
HA_EXPORT hipError_t
hipGraphUpload(hipGraphExec_t graphExec, hipStream_t stream_handle)
{
    struct ha_door door = {.handle = stream_handle};
    hipError_t code = ha_enter("hipGraphUpload", &door.device);
    if (code != hipSuccess) {
        return code;
    }
    ha_graph_lock();
    code = ha_graph_exec_find(graphExec) == NULL ? hipErrorInvalidValue
                                                 : ha_door_open(&door);
    if (code == hipSuccess) {
        ha_pool_unlock();
    }
    return ha_graph_leave(code);
}

HA_EXPORT hipError_t
hipGraphExecUpdate(hipGraphExec_t hGraphExec, hipGraph_t hGraph,
                   hipGraphNode_t *hErrorNode_out,
                   hipGraphExecUpdateResult *updateResult_out)
{
    hipError_t code = ha_graph_enter("hipGraphExecUpdate");
    if (code != hipSuccess) {
        return code;
    }
    if (hErrorNode_out != NULL) {
        *hErrorNode_out = NULL;
    }
    if (updateResult_out != NULL) {
        *updateResult_out = hipGraphExecUpdateError;
    }
    struct ha_graph_exec *exec = ha_graph_exec_find(hGraphExec);
    struct ha_graph *graph = exec != NULL ? ha_graph_find(hGraph) : NULL;
    if (graph == NULL || hErrorNode_out == NULL || updateResult_out == NULL) {
        return ha_graph_leave(graph == NULL
                                  ? hipErrorInvalidValue
                                  : ha_cpu_fail_null(hErrorNode_out == NULL
                                                         ? "hErrorNode_out"
                                                         : "updateResult_out"));
    }
    return ha_graph_leave(
        ha_graph_exec_update(exec, graph, updateResult_out, hErrorNode_out));
}

HA_EXPORT hipError_t
hipGraphNodeSetEnabled(hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
                       unsigned int isEnabled)
{
    hipError_t code = ha_graph_enter("hipGraphNodeSetEnabled");
    if (code != hipSuccess) {
        return code;
    }
    struct ha_graph_exec *exec = ha_graph_exec_find(hGraphExec);
    return ha_graph_leave(exec == NULL
                              ? hipErrorInvalidValue
                              : ha_graph_exec_set_enabled(exec, hNode, isEnabled != 0));
}

HA_EXPORT hipError_t
hipGraphNodeGetEnabled(hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
                       unsigned int *isEnabled)
{
    bool enabled = false;
    hipError_t code = ha_graph_enter("hipGraphNodeGetEnabled");
    if (code != hipSuccess) {
        return code;
    }
    struct ha_graph_exec *exec = ha_graph_exec_find(hGraphExec);
    if (exec == NULL || isEnabled == NULL) {
        return ha_graph_leave(exec == NULL ? hipErrorInvalidValue
                                           : ha_cpu_fail_null("isEnabled"));
    }
    code = ha_graph_exec_get_enabled(exec, hNode, &enabled);
    if (code == hipSuccess) {
        *isEnabled = enabled;
    }
    return ha_graph_leave(code);
}
