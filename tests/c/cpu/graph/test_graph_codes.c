/* SPDX-License-Identifier: MIT */
/* Graph nodes made of, or changed to, what no node can be. */
#include "cpu_support.h"

static hipModule_t module;
static hipFunction_t add_kernel;

static void
test_nodes_need_a_living_event(void)
{
    hipGraph_t graph;
    hipGraphExec_t exec;
    hipGraphNode_t record, wait, none;
    hipEvent_t event, gone;
    OK(hipGraphCreate(&graph, 0));
    OK(hipEventCreate(&event));
    OK(hipEventCreate(&gone));
    OK(hipEventDestroy(gone));
    CHECK_HIP(hipGraphAddEventRecordNode(&none, graph, NULL, 0, NULL),
              hipErrorInvalidValue);
    CHECK_HIP(hipGraphAddEventWaitNode(&none, graph, NULL, 0, gone),
              hipErrorInvalidValue);
    OK(hipGraphAddEventRecordNode(&record, graph, NULL, 0, event));
    OK(hipGraphAddEventWaitNode(&wait, graph, &record, 1, event));
    CHECK_HIP(hipGraphEventRecordNodeSetEvent(record, gone), hipErrorInvalidValue);
    CHECK_HIP(hipGraphEventWaitNodeSetEvent(wait, NULL), hipErrorInvalidValue);
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    CHECK_HIP(hipGraphExecEventRecordNodeSetEvent(exec, record, gone),
              hipErrorInvalidValue);
    CHECK_HIP(hipGraphExecEventWaitNodeSetEvent(exec, wait, gone),
              hipErrorInvalidValue);
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
    OK(hipEventDestroy(event));
}

static void
test_only_kernels_fills_and_copies_can_be_asked_whether_they_are_enabled(void)
{
    hipGraph_t graph;
    hipGraphExec_t exec;
    hipGraphNode_t empty, fill;
    unsigned enabled = 7;
    int *device;
    OK(hipMalloc((void **)&device, sizeof *device));
    const hipMemsetParams params = {
        .dst = device, .elementSize = sizeof *device, .width = 1, .height = 1};
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphAddEmptyNode(&empty, graph, NULL, 0));
    OK(hipGraphAddMemsetNode(&fill, graph, NULL, 0, &params));
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    CHECK_HIP(hipGraphNodeGetEnabled(exec, empty, &enabled), hipErrorInvalidValue);
    CHECK(enabled == 7);
    OK(hipGraphNodeGetEnabled(exec, fill, &enabled));
    CHECK(enabled == 1);
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
    OK(hipFree(device));
}

static void
test_attributes_of_kernel_nodes_are_checked(void)
{
    hipGraph_t graph;
    hipGraphNode_t node;
    int *device, value = 1;
    uint64_t count = 1;
    void *arguments[] = {&device, &value, &count};
    const hipKernelNodeParams params = {.func = add_kernel,
                                        .gridDim = {1, 1, 1},
                                        .blockDim = {1, 1, 1},
                                        .kernelParams = arguments};
    hipLaunchAttributeValue attribute;
    memset(&attribute, 0, sizeof attribute);
    OK(hipMalloc((void **)&device, sizeof *device));
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphAddKernelNode(&node, graph, NULL, 0, &params));
    CHECK_HIP(
        hipGraphKernelNodeSetAttribute(node, (hipLaunchAttributeID)1000, &attribute),
        hipErrorInvalidValue);
    const hipLaunchAttributeID window = hipLaunchAttributeAccessPolicyWindow;
    OK(hipGraphKernelNodeSetAttribute(node, window, &attribute));
    attribute.accessPolicyWindow.hitRatio = 1.5f;
    CHECK_HIP(hipGraphKernelNodeSetAttribute(node, window, &attribute),
              hipErrorInvalidValue);
    attribute.accessPolicyWindow.hitRatio = 0.5f;
    attribute.accessPolicyWindow.missProp = hipAccessPropertyPersisting;
    CHECK_HIP(hipGraphKernelNodeSetAttribute(node, window, &attribute),
              hipErrorInvalidValue);
    OK(hipGraphDestroy(graph));
    OK(hipFree(device));
}

static void
test_nodes_with_nothing_to_do_or_of_no_type_are_refused(void)
{
    hipGraph_t graph;
    hipGraphExec_t exec;
    hipGraphNode_t node, none;
    hipGraphNodeParams any;
    int *device, host = 0;
    OK(hipMalloc((void **)&device, sizeof *device));
    const hipMemsetParams no_rows = {
        .dst = device, .elementSize = sizeof *device, .width = 1, .height = 0};
    OK(hipGraphCreate(&graph, 0));
    CHECK_HIP(hipGraphAddMemsetNode(&none, graph, NULL, 0, &no_rows),
              hipErrorInvalidValue);
    OK(hipGraphAddMemcpyNode1D(&node, graph, NULL, 0, device, &host, sizeof host,
                               hipMemcpyHostToDevice));
    CHECK_HIP(
        hipGraphMemcpyNodeSetParams1D(node, device, &host, 0, hipMemcpyHostToDevice),
        hipErrorInvalidValue);
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    CHECK_HIP(hipGraphExecMemcpyNodeSetParams1D(exec, node, device, &host, 0,
                                                hipMemcpyHostToDevice),
              hipErrorInvalidValue);
    memset(&any, 0, sizeof any);
    any.type = (hipGraphNodeType)0x20;
    CHECK_HIP(hipGraphAddNode(&none, graph, NULL, 0, &any), hipErrorInvalidValue);
    /* Nodes that are no copies have no original to be found by. */
    CHECK_HIP(hipGraphNodeFindInClone(&none, NULL, graph), hipErrorInvalidValue);
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
    OK(hipFree(device));
}

int
main(void)
{
    add_kernel = image_function(&module, "add");
    RUN(test_nodes_need_a_living_event);
    RUN(test_only_kernels_fills_and_copies_can_be_asked_whether_they_are_enabled);
    RUN(test_attributes_of_kernel_nodes_are_checked);
    RUN(test_nodes_with_nothing_to_do_or_of_no_type_are_refused);
    return 0;
}
