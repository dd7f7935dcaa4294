/* SPDX-License-Identifier: MIT */
/* Captures of streams seen from outside: what a question may ask without ending them,
 * which calls end them, and nodes that the program takes out of them. */
#include "cpu_support.h"

#include "cpu/queue/stream.h"

static void
test_questions_about_the_legacy_stream_leave_captures_alone(void)
{
    hipStream_t stream;
    hipGraph_t graph;
    hipStreamCaptureStatus status;
    unsigned long long id;
    unsigned int flags, mask;
    int priority;
    hipDevice_t device;
    hipLaunchAttributeValue value;
    OK(hipStreamCreate(&stream));
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    /* It can't be told whether the legacy stream captures, but nothing waits. */
    CHECK_HIP(hipStreamIsCapturing(NULL, &status), hipErrorStreamCaptureImplicit);
    CHECK_HIP(hipStreamIsCapturing(HA_STREAM_LEGACY, &status),
              hipErrorStreamCaptureImplicit);
    CHECK_HIP(hipStreamGetCaptureInfo(NULL, &status, &id),
              hipErrorStreamCaptureImplicit);
    CHECK_HIP(hipStreamGetCaptureInfo_v2(NULL, &status, &id, NULL, NULL, NULL),
              hipErrorStreamCaptureImplicit);
    /* What is fixed when a stream is made has nothing to do with its work. */
    OK(hipStreamGetFlags(NULL, &flags));
    OK(hipStreamGetPriority(NULL, &priority));
    OK(hipStreamGetDevice(NULL, &device));
    OK(hipStreamGetAttribute(NULL, hipLaunchAttributePriority, &value));
    OK(hipExtStreamGetCUMask(NULL, 1, &mask));
    CHECK(hipGetStreamDeviceId(NULL) == 0);
    OK(hipStreamIsCapturing(stream, &status));
    CHECK(status == hipStreamCaptureStatusActive);
    OK(hipStreamEndCapture(stream, &graph));
    OK(hipStreamIsCapturing(NULL, &status));
    CHECK(status == hipStreamCaptureStatusNone);
    OK(hipGraphDestroy(graph));
    OK(hipStreamDestroy(stream));
}

static void
test_synchronous_work_in_the_legacy_stream_would_wait_for_the_capture(void)
{
    hipStream_t stream;
    hipGraph_t graph;
    int *device, host = 3;
    OK(hipMalloc((void **)&device, sizeof *device));
    OK(hipStreamCreate(&stream));
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    CHECK_HIP(hipMemcpy(device, &host, sizeof host, hipMemcpyHostToDevice),
              hipErrorStreamCaptureImplicit);
    CHECK_HIP(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
    CHECK_HIP(hipMemset(device, 0, sizeof host), hipErrorStreamCaptureImplicit);
    CHECK_HIP(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
    OK(hipStreamDestroy(stream));
    /* The legacy stream does not wait for this one: what is left is the mode. */
    OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    CHECK_HIP(hipMemset(device, 0, sizeof host), hipErrorStreamCaptureUnsupported);
    CHECK_HIP(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    OK(hipMemcpy(device, &host, sizeof host, hipMemcpyHostToDevice));
    OK(hipStreamEndCapture(stream, &graph));
    OK(hipGraphDestroy(graph));
    OK(hipStreamDestroy(stream));
    OK(hipFree(device));
}

static void
test_no_mode_lets_the_device_wait_for_a_captured_stream(void)
{
    hipStream_t stream;
    hipGraph_t graph;
    OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    CHECK_HIP(hipDeviceSynchronize(), hipErrorStreamCaptureUnsupported);
    CHECK_HIP(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
    OK(hipDeviceSynchronize());
    OK(hipStreamDestroy(stream));
}

static void
nothing(void *argument)
{
    (void)argument;
}

static void
test_nodes_that_are_replaced_need_not_be_joined(void)
{
    hipStream_t main_stream, side;
    hipEvent_t event;
    hipGraph_t graph;
    hipGraphNode_t node;
    hipStreamCaptureStatus status;
    OK(hipStreamCreate(&main_stream));
    OK(hipStreamCreate(&side));
    OK(hipEventCreate(&event));
    OK(hipStreamBeginCapture(main_stream, hipStreamCaptureModeGlobal));
    OK(hipEventRecord(event, main_stream));
    OK(hipStreamWaitEvent(side, event, 0));
    OK(hipLaunchHostFunc(side, nothing, NULL));
    OK(hipEventRecord(event, side));
    OK(hipStreamWaitEvent(main_stream, event, 0));
    /* The work of the other stream is joined; then the program drops it. */
    OK(hipStreamGetCaptureInfo_v2(main_stream, &status, NULL, &graph, NULL, NULL));
    OK(hipGraphAddEmptyNode(&node, graph, NULL, 0));
    OK(hipStreamUpdateCaptureDependencies(main_stream, &node, 1,
                                          hipStreamSetCaptureDependencies));
    OK(hipLaunchHostFunc(main_stream, nothing, NULL));
    OK(hipStreamEndCapture(main_stream, &graph));
    OK(hipGraphDestroy(graph));
    OK(hipEventDestroy(event));
    OK(hipStreamDestroy(side));
    OK(hipStreamDestroy(main_stream));
}

int
main(void)
{
    RUN(test_synchronous_work_in_the_legacy_stream_would_wait_for_the_capture);
    RUN(test_no_mode_lets_the_device_wait_for_a_captured_stream);
    RUN(test_nodes_that_are_replaced_need_not_be_joined);
    RUN(test_questions_about_the_legacy_stream_leave_captures_alone);
    return 0;
}
