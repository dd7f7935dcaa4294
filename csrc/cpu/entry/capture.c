/* SPDX-License-Identifier: MIT */
/* HIP entry points: stream capture. */
#include "abi/hip.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"
#include "cpu/graph/capture.h"

static hipError_t
mode_check(hipStreamCaptureMode mode)
{
    int number = (int)mode;
    if (number < (int)hipStreamCaptureModeGlobal ||
        number > (int)hipStreamCaptureModeRelaxed) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'mode' is %d, which is not a hipStreamCaptureMode",
                           number);
    }
    return hipSuccess;
}

HA_EXPORT hipError_t
hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipStreamBeginCapture", &device);
    if (code == hipSuccess) {
        code = mode_check(mode);
    }
    return code != hipSuccess ? code
                              : ha_capture_begin(stream, device, mode, NULL, NULL, 0);
}

/* Edges have no data here: what is given must say "default". */
HA_EXPORT hipError_t
hipStreamBeginCaptureToGraph(hipStream_t stream, hipGraph_t graph,
                             const hipGraphNode_t *dependencies,
                             const hipGraphEdgeData *dependencyData,
                             size_t numDependencies, hipStreamCaptureMode mode)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipStreamBeginCaptureToGraph", &device);
    if (code == hipSuccess) {
        code = mode_check(mode);
    }
    if (code != hipSuccess) {
        return code;
    }
    if (graph == NULL) {
        return ha_cpu_fail_null("graph");
    }
    for (size_t i = 0; dependencyData != NULL && i < numDependencies; i++) {
        if (dependencyData[i].type != hipGraphDependencyTypeDefault ||
            dependencyData[i].from_port != 0 || dependencyData[i].to_port != 0) {
            return ha_cpu_fail(hipErrorNotSupported,
                               "dependency %zu asks for more than full order", i);
        }
    }
    return ha_capture_begin(stream, device, mode, graph, dependencies, numDependencies);
}

HA_EXPORT hipError_t
hipStreamEndCapture(hipStream_t stream, hipGraph_t *pGraph)
{
    struct ha_device *device;
    hipError_t code = ha_enter_out("hipStreamEndCapture", "pGraph", pGraph, &device);
    return code == hipSuccess ? ha_capture_end(stream, device, pGraph) : code;
}

HA_EXPORT hipError_t
hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus *pCaptureStatus)
{
    struct ha_device *device;
    struct ha_capture_info info;
    hipError_t code =
        ha_enter_out("hipStreamIsCapturing", "pCaptureStatus", pCaptureStatus, &device);
    if (code != hipSuccess) {
        return code;
    }
    code = ha_capture_info(stream, device, &info);
    if (code == hipSuccess) {
        *pCaptureStatus = info.status;
    }
    return code;
}

HA_EXPORT hipError_t
hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus *pCaptureStatus,
                        unsigned long long *pId)
{
    struct ha_device *device;
    struct ha_capture_info info;
    hipError_t code = ha_enter_out("hipStreamGetCaptureInfo", "pCaptureStatus",
                                   pCaptureStatus, &device);
    if (code != hipSuccess) {
        return code;
    }
    code = ha_capture_info(stream, device, &info);
    if (code != hipSuccess) {
        return code;
    }
    *pCaptureStatus = info.status;
    if (pId != NULL && info.status == hipStreamCaptureStatusActive) {
        *pId = info.id;
    }
    return hipSuccess;
}

HA_EXPORT hipError_t
hipStreamGetCaptureInfo_v2(hipStream_t stream,
                           hipStreamCaptureStatus *captureStatus_out,
                           unsigned long long *id_out, hipGraph_t *graph_out,
                           const hipGraphNode_t **dependencies_out,
                           size_t *numDependencies_out)
{
    struct ha_device *device;
    struct ha_capture_info info;
    hipError_t code = ha_enter_out("hipStreamGetCaptureInfo_v2", "captureStatus_out",
                                   captureStatus_out, &device);
    if (code != hipSuccess) {
        return code;
    }
    code = ha_capture_info(stream, device, &info);
    if (code != hipSuccess) {
        return code;
    }
    *captureStatus_out = info.status;
    if (info.status != hipStreamCaptureStatusActive) {
        return hipSuccess;
    }
    if (id_out != NULL) {
        *id_out = info.id;
    }
    if (graph_out != NULL) {
        *graph_out = info.graph;
    }
    if (dependencies_out != NULL) {
        *dependencies_out = info.befores;
    }
    if (numDependencies_out != NULL) {
        *numDependencies_out = info.before_count;
    }
    return hipSuccess;
}

HA_EXPORT hipError_t
hipStreamUpdateCaptureDependencies(hipStream_t stream, hipGraphNode_t *dependencies,
                                   size_t numDependencies, unsigned int flags)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipStreamUpdateCaptureDependencies", &device);
    if (code != hipSuccess) {
        return code;
    }
    if (flags > (unsigned)hipStreamSetCaptureDependencies) {
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'flags' is 0x%x", flags);
    }
    return ha_capture_set_befores(stream, device, dependencies, numDependencies,
                                  flags == (unsigned)hipStreamSetCaptureDependencies);
}

HA_EXPORT hipError_t
hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode)
{
    hipError_t code =
        ha_enter_query_out("hipThreadExchangeStreamCaptureMode", "mode", mode);
    if (code != hipSuccess) {
        return code;
    }
    code = mode_check(*mode);
    if (code == hipSuccess) {
        *mode = ha_capture_exchange_mode(*mode);
    }
    return code;
}
