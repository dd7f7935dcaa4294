/* SPDX-License-Identifier: MIT */
/* Times of graph launches; of making graphs and executable graphs, a node, which are
 * not to grow with the number of nodes.  Prints one line each. */
#include "cpu_support.h"

enum { NODES = 100, LAUNCHES = 5000, ROUNDS = 5 };

static hipFunction_t empty, add;
static void *data[NODES];

static double
time_of(hipGraph_t graph, hipStream_t stream, bool wait)
{
    hipGraphExec_t exec;
    double best_us = 1e9;
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t begin_ns = ha_clock_ns();
        for (int i = 0; i < LAUNCHES; i++) {
            OK(hipGraphLaunch(exec, stream));
            if (wait) {
                OK(hipStreamSynchronize(stream));
            }
        }
        OK(hipStreamSynchronize(stream));
        double us = (double)(ha_clock_ns() - begin_ns) / 1000.0 / LAUNCHES;
        best_us = us < best_us ? us : best_us;
    }
    OK(hipGraphExecDestroy(exec));
    return best_us;
}

static void
node_add(hipGraph_t graph, const char *kind, hipGraphNode_t *node,
         const hipGraphNode_t *before, size_t count, int i)
{
    int value = 1;
    uint64_t n = 64;
    void *args[] = {&data[i], &value, &n};
    const hipKernelNodeParams kernel = {.func = kind[0] == 'a' ? add : empty,
                                        .gridDim = {1, 1, 1},
                                        .blockDim = {64, 1, 1},
                                        .kernelParams = args};
    if (kind[0] == 'c') {
        OK(hipGraphAddMemcpyNode1D(node, graph, before, count, data[i],
                                   data[(i + 1) % NODES], 256,
                                   hipMemcpyDeviceToDevice));
    } else if (kind[0] == 'n') {
        OK(hipGraphAddEmptyNode(node, graph, before, count));
    } else {
        OK(hipGraphAddKernelNode(node, graph, before, count, &kernel));
    }
}

/* A graph of NODES nodes in chains of the length. */
static void
measure(const char *kind, int length, hipStream_t stream)
{
    hipGraph_t graph;
    hipGraphNode_t nodes[NODES];
    OK(hipGraphCreate(&graph, 0));
    for (int i = 0; i < NODES; i++) {
        bool first = i % length == 0;
        node_add(graph, kind, &nodes[i], first ? NULL : &nodes[i - 1], !first, i);
    }
    printf("%d nodes (%s), chains of %-3d %9.2f us, %9.2f us with wait\n", NODES, kind,
           length, time_of(graph, stream, false), time_of(graph, stream, true));
    fflush(stdout);
    OK(hipGraphDestroy(graph));
}

enum shape { CHAIN, APART, JOINED };

/* Graphs of kernels: each behind the one before, all on their own, or the same with a
 * last node behind all of them. */
static void
measure_making(enum shape shape, int count)
{
    static const char *const names[] = {"in a chain", "apart", "before one node"};
    hipGraph_t graph;
    hipGraphExec_t exec;
    hipGraphNode_t *nodes = malloc((size_t)(count + 1) * sizeof(hipGraphNode_t));
    CHECK(nodes != NULL);
    OK(hipGraphCreate(&graph, 0));
    uint64_t begin_ns = ha_clock_ns();
    for (int i = 0; i < count; i++) {
        bool behind = shape == CHAIN && i > 0;
        node_add(graph, "empty", &nodes[i], behind ? &nodes[i - 1] : NULL, behind, 0);
    }
    if (shape == JOINED) {
        node_add(graph, "empty", &nodes[count], nodes, (size_t)count, 0);
    }
    uint64_t added_ns = ha_clock_ns();
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    uint64_t made_ns = ha_clock_ns();
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
    uint64_t freed_ns = ha_clock_ns();
    printf(
        "%6d nodes %-15s add %6.0f ns, instantiate %6.0f ns, destroy %6.0f ns each\n",
        count, names[shape], (double)(added_ns - begin_ns) / count,
        (double)(made_ns - added_ns) / count, (double)(freed_ns - made_ns) / count);
    fflush(stdout);
    free(nodes);
}

int
main(void)
{
    hipModule_t module;
    hipStream_t stream;
    empty = image_function(&module, "empty");
    OK(hipModuleGetFunction(&add, module, "add"));
    OK(hipStreamCreate(&stream));
    for (int i = 0; i < NODES; i++) {
        OK(hipMalloc(&data[i], 256));
    }
    for (int warm = 0; warm < 1000; warm++) {
        OK(hipModuleLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
        OK(hipStreamSynchronize(stream));
    }
    for (enum shape shape = CHAIN; shape <= JOINED; shape++) {
        measure_making(shape, 10000);
        measure_making(shape, 50000);
        measure_making(shape, 200000);
    }
    static const char *const kinds[] = {"nothing", "empty kernel", "add kernel",
                                        "copy"};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        measure(kinds[k], NODES, stream);
        measure(kinds[k], 10, stream);
        measure(kinds[k], 1, stream);
    }
    return 0;
}
