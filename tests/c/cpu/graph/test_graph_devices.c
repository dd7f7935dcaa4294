/* SPDX-License-Identifier: MIT */
/* Graphs whose nodes belong to several devices. */
#include "cpu_support.h"

#include "cpu/queue/stream.h"

enum { DEVICES = 3, ELEMENTS = 256, ROUNDS = 20 };

static hipFunction_t add_kernel[DEVICES], mul_kernel[DEVICES];
static int *data[DEVICES];

static hipGraphNode_t
kernel_node(hipGraph_t graph, hipFunction_t function, int *target, int value,
            const hipGraphNode_t *befores, size_t count)
{
    hipGraphNode_t node;
    uint64_t n = ELEMENTS;
    void *args[] = {&target, &value, &n};
    const hipKernelNodeParams params = {.func = function,
                                        .gridDim = {ELEMENTS / 64, 1, 1},
                                        .blockDim = {64, 1, 1},
                                        .kernelParams = args};
    OK(hipGraphAddKernelNode(&node, graph, befores, count, &params));
    return node;
}

/* Each device works on its own data, and gives them to the next one. */
static void
test_nodes_run_on_their_own_devices(void)
{
    hipGraph_t graph;
    hipGraphExec_t exec;
    hipGraphNode_t last = NULL;
    static int got[ELEMENTS];
    int want = 1;
    OK(hipGraphCreate(&graph, 0));
    for (int i = 0; i < DEVICES; i++) {
        hipGraphNode_t kernel =
            kernel_node(graph, add_kernel[i], data[i], i + 1, &last, i > 0);
        kernel = kernel_node(graph, mul_kernel[i], data[i], i, &kernel, 1);
        OK(hipGraphAddMemcpyNode1D(&last, graph, &kernel, 1, data[(i + 1) % DEVICES],
                                   data[i], sizeof got, hipMemcpyDeviceToDevice));
    }
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    OK(hipMemset(data[0], 0, sizeof got));
    OK(hipMemsetD32(data[0], 1, ELEMENTS));
    for (int round = 0; round < ROUNDS; round++) {
        /* Into streams of all devices, one after the other. */
        OK(hipSetDevice(round % DEVICES));
        OK(hipGraphLaunch(exec, HA_STREAM_PER_THREAD));
        for (int i = 0; i < DEVICES; i++) {
            want = (int)((unsigned)(want + i + 1) * 31u + (unsigned)i);
        }
    }
    OK(hipStreamSynchronize(HA_STREAM_PER_THREAD));
    OK(hipMemcpy(got, data[0], sizeof got, hipMemcpyDeviceToHost));
    for (int i = 0; i < ELEMENTS; i++) {
        CHECK(got[i] == want);
    }
    OK(hipSetDevice(0));
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
}

/* Many branches of all devices: more than there are queues. */
static void
test_many_branches_of_all_devices(void)
{
    enum { BRANCHES = 90, LENGTH = 5 };
    hipGraph_t graph;
    hipGraphExec_t exec;
    static int got[ELEMENTS];
    int *own[BRANCHES];
    OK(hipGraphCreate(&graph, 0));
    for (int b = 0; b < BRANCHES; b++) {
        hipGraphNode_t node = NULL;
        int device = b < 40 ? 0 : b % DEVICES;
        OK(hipMalloc((void **)&own[b], sizeof got));
        OK(hipMemset(own[b], 0, sizeof got));
        for (int i = 0; i < LENGTH; i++) {
            node = kernel_node(graph, i % 2 ? mul_kernel[device] : add_kernel[device],
                               own[b], b + i, &node, i > 0);
        }
    }
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    OK(hipSetDevice(1));
    OK(hipGraphLaunch(exec, HA_STREAM_PER_THREAD));
    OK(hipStreamSynchronize(HA_STREAM_PER_THREAD));
    for (int b = 0; b < BRANCHES; b++) {
        unsigned want = 0;
        for (int i = 0; i < LENGTH; i++) {
            want = i % 2 ? want * 31u + (unsigned)(b + i) : want + (unsigned)(b + i);
        }
        OK(hipMemcpy(got, own[b], sizeof got, hipMemcpyDeviceToHost));
        CHECK(got[0] == (int)want && got[ELEMENTS - 1] == (int)want);
        OK(hipFree(own[b]));
    }
    OK(hipSetDevice(0));
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
}

static void
test_a_node_stays_on_its_device(void)
{
    hipGraph_t graph;
    hipGraph_t other;
    hipGraphExec_t exec;
    hipGraphNode_t failed;
    hipGraphExecUpdateResult result;
    uint64_t n = ELEMENTS;
    int value = 1;
    void *args[] = {&data[1], &value, &n};
    const hipKernelNodeParams params = {.func = add_kernel[1],
                                        .gridDim = {1, 1, 1},
                                        .blockDim = {64, 1, 1},
                                        .kernelParams = args};
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphCreate(&other, 0));
    hipGraphNode_t node = kernel_node(graph, add_kernel[0], data[0], 1, NULL, 0);
    kernel_node(other, add_kernel[1], data[1], 1, NULL, 0);
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    CHECK_HIP(hipGraphExecKernelNodeSetParams(exec, node, &params),
              hipErrorInvalidValue);
    CHECK_HIP(hipGraphExecUpdate(exec, other, &failed, &result),
              hipErrorGraphExecUpdateFailure);
    CHECK(result == hipGraphExecUpdateErrorUnsupportedFunctionChange);
    OK(hipGraphKernelNodeSetParams(node, &params));
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
    OK(hipGraphDestroy(other));
}

/* Last: the device stays broken until it is reset. */
static void
test_a_fault_is_of_the_device_of_the_node(void)
{
    hipModule_t module;
    hipGraph_t graph;
    hipGraphExec_t exec;
    hipGraphNode_t node;
    OK(hipSetDevice(2));
    hipKernelNodeParams params = {.func = image_function(&module, "crash"),
                                  .gridDim = {1, 1, 1},
                                  .blockDim = {1, 1, 1}};
    OK(hipSetDevice(0));
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphAddKernelNode(&node, graph, NULL, 0, &params));
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    OK(hipGraphLaunch(exec, HA_STREAM_PER_THREAD));
    OK(hipStreamSynchronize(HA_STREAM_PER_THREAD));
    OK(hipDeviceSynchronize());
    OK(hipSetDevice(2));
    CHECK_HIP(hipDeviceSynchronize(), hipErrorIllegalAddress);
    OK(hipDeviceReset());
    OK(hipSetDevice(0));
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
}

int
main(void)
{
    CHECK(setenv("HIPADAPT_CPU_DEVICES", "3", 1) == 0);
    for (int i = DEVICES - 1; i >= 0; i--) {
        hipModule_t module;
        OK(hipSetDevice(i));
        add_kernel[i] = image_function(&module, "add");
        OK(hipModuleGetFunction(&mul_kernel[i], module, "mul"));
        OK(hipMalloc((void **)&data[i], ELEMENTS * sizeof(int)));
    }
    RUN(test_nodes_run_on_their_own_devices);
    RUN(test_many_branches_of_all_devices);
    RUN(test_a_node_stays_on_its_device);
    RUN(test_a_fault_is_of_the_device_of_the_node);
    return 0;
}
