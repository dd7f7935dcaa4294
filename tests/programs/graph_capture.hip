// SPDX-License-Identifier: MIT
// A graph captured from a stream, and one made of nodes, with kernels of the program.
// expect: captured 4 nodes
// expect: their kernels: twice add add add
// expect: launched 0 3 times: 3 9 21
// expect: node 42
// expect: node of add is now twice, in a child graph too
#include "check.h"

__global__ void twice(int *x) { *x *= 2; }
__global__ void add(int *x, int a) { *x += a; }

static int value(int *d) {
    int x;
    CHECK(hipMemcpy(&x, d, sizeof x, hipMemcpyDeviceToHost));
    return x;
}

static const char *kernel_of(hipGraphNode_t node) {
    hipKernelNodeParams parameters;
    CHECK(hipGraphKernelNodeGetParams(node, &parameters));
    return parameters.func == (void *)twice ? "twice"
           : parameters.func == (void *)add ? "add"
                                            : "?";
}

int main() {
    int *d;
    hipStream_t stream;
    hipGraph_t graph;
    hipGraphExec_t exec;
    size_t nodes = 0;
    CHECK(hipMalloc(&d, sizeof *d));
    CHECK(hipMemset(d, 0, sizeof *d));
    CHECK(hipStreamCreate(&stream));
    CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    twice<<<1, 1, 0, stream>>>(d);
    add<<<1, 1, 0, stream>>>(d, 1);
    add<<<1, 1, 0, stream>>>(d, 1);
    add<<<1, 1, 0, stream>>>(d, 1);
    CHECK(hipStreamEndCapture(stream, &graph));
    CHECK(hipGraphGetNodes(graph, nullptr, &nodes));
    printf("captured %zu nodes\n", nodes);
    hipGraphNode_t list[4];
    CHECK(hipGraphGetNodes(graph, list, &nodes));
    printf("their kernels:");
    for (hipGraphNode_t each : list)
        printf(" %s", kernel_of(each));
    printf("\n");
    CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    printf("launched %d 3 times:", value(d));
    for (int i = 0; i < 3; i++) {
        CHECK(hipGraphLaunch(exec, stream));
        CHECK(hipStreamSynchronize(stream));
        printf(" %d", value(d));
    }
    printf("\n");
    CHECK(hipGraphExecDestroy(exec));
    CHECK(hipGraphDestroy(graph));

    int a = 21;
    void *arguments[] = {&d, &a};
    hipKernelNodeParams parameters = {};
    hipGraphNode_t node;
    parameters.func = (void *)add;
    parameters.gridDim = parameters.blockDim = dim3(1);
    parameters.kernelParams = arguments;
    CHECK(hipGraphCreate(&graph, 0));
    CHECK(hipGraphAddKernelNode(&node, graph, nullptr, 0, &parameters));
    CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    CHECK(hipGraphLaunch(exec, stream));
    CHECK(hipStreamSynchronize(stream));
    printf("node %d\n", value(d));
    printf("node of %s", kernel_of(node));
    CHECK(hipGraphKernelNodeGetParams(node, &parameters));
    parameters.func = (void *)twice;
    CHECK(hipGraphKernelNodeSetParams(node, &parameters));
    hipGraph_t parent, child;
    hipGraphNode_t within;
    CHECK(hipGraphCreate(&parent, 0));
    CHECK(hipGraphAddChildGraphNode(&within, parent, nullptr, 0, graph));
    CHECK(hipGraphChildGraphNodeGetGraph(within, &child));
    nodes = 1;
    CHECK(hipGraphGetNodes(child, list, &nodes));
    printf(" is now %s, in a child graph %s\n", kernel_of(node),
           kernel_of(list[0]) == kernel_of(node) ? "too" : "not");
    CHECK(hipGraphDestroy(parent));
    CHECK(hipGraphExecDestroy(exec));
    CHECK(hipGraphDestroy(graph));
    CHECK(hipStreamDestroy(stream));
    CHECK(hipFree(d));
}
