/* SPDX-License-Identifier: MIT */
/* Graphs and stream capture: random graphs against a serial model, then the rules of
 * nodes, edges, executable graphs, captures, user objects and graph memory. */
#include "cpu_support.h"

#include "cpu/module/fatbin.h"

enum { ELEMENTS = 512, BUFFERS = 8, NODES = 40, BYTES = ELEMENTS * 4 };

static hipModule_t module;
static hipFunction_t add_kernel, mul_kernel;

/* ---- random graphs ---- */

struct model {
    int *data[BUFFERS]; /* on the device */
    int want[BUFFERS][ELEMENTS];
    hipGraphNode_t last[BUFFERS]; /* node that touched the buffer last, or NULL */
};

static void
host_twice(void *argument)
{
    int *data = argument;
    for (int i = 0; i < ELEMENTS; i++) {
        data[i] *= 2;
    }
}

/* Dependencies of a node that touches one or two buffers. */
static size_t
befores_of(struct model *model, int a, int b, hipGraphNode_t *befores)
{
    size_t count = 0;
    if (model->last[a] != NULL) {
        befores[count++] = model->last[a];
    }
    if (b != a && model->last[b] != NULL && model->last[b] != model->last[a]) {
        befores[count++] = model->last[b];
    }
    return count;
}

static hipKernelNodeParams
kernel_params(hipFunction_t function, void **args)
{
    return (hipKernelNodeParams){.func = function,
                                 .gridDim = {ELEMENTS / 64, 1, 1},
                                 .blockDim = {64, 1, 1},
                                 .kernelParams = args};
}

static void
node_add(hipGraph_t graph, struct model *model, uint64_t *random)
{
    int a = (int)(random_next(random) % BUFFERS);
    int b = (int)(random_next(random) % BUFFERS);
    int value = (int)(random_next(random) % 100);
    uint64_t n = ELEMENTS;
    hipGraphNode_t befores[2];
    hipGraphNode_t node;
    size_t count = befores_of(model, a, a, befores);
    void *args[] = {&model->data[a], &value, &n};
    hipKernelNodeParams kernel;
    switch (random_next(random) % 6) {
    case 0: {
        const hipMemsetParams fill = {.dst = model->data[a],
                                      .elementSize = 4,
                                      .height = 1,
                                      .value = (unsigned)value,
                                      .width = ELEMENTS};
        OK(hipGraphAddMemsetNode(&node, graph, befores, count, &fill));
        for (int i = 0; i < ELEMENTS; i++) {
            model->want[a][i] = value;
        }
        break;
    }
    case 1:
        if (a == b) {
            return;
        }
        count = befores_of(model, a, b, befores);
        OK(hipGraphAddMemcpyNode1D(&node, graph, befores, count, model->data[a],
                                   model->data[b], BYTES, hipMemcpyDeviceToDevice));
        memcpy(model->want[a], model->want[b], BYTES);
        model->last[b] = node;
        break;
    case 2: {
        const hipHostNodeParams host = {.fn = host_twice, .userData = model->data[a]};
        OK(hipGraphAddHostNode(&node, graph, befores, count, &host));
        for (int i = 0; i < ELEMENTS; i++) {
            model->want[a][i] *= 2;
        }
        break;
    }
    case 3:
        OK(hipGraphAddEmptyNode(&node, graph, befores, count));
        break;
    case 4:
        kernel = kernel_params(add_kernel, args);
        OK(hipGraphAddKernelNode(&node, graph, befores, count, &kernel));
        for (int i = 0; i < ELEMENTS; i++) {
            model->want[a][i] += value;
        }
        break;
    default:
        kernel = kernel_params(mul_kernel, args);
        OK(hipGraphAddKernelNode(&node, graph, befores, count, &kernel));
        for (int i = 0; i < ELEMENTS; i++) {
            model->want[a][i] =
                (int)((unsigned)model->want[a][i] * 31u + (unsigned)value);
        }
        break;
    }
    model->last[a] = node;
}

static void
model_check(const struct model *model)
{
    static int got[ELEMENTS];
    for (int b = 0; b < BUFFERS; b++) {
        OK(hipMemcpy(got, model->data[b], BYTES, hipMemcpyDeviceToHost));
        CHECK(memcmp(got, model->want[b], BYTES) == 0);
    }
}

static void
test_random_graphs_agree_with_a_serial_model(void)
{
    static struct model model;
    uint64_t random = 7;
    hipStream_t stream;
    OK(hipStreamCreate(&stream));
    for (int b = 0; b < BUFFERS; b++) {
        OK(hipMalloc((void **)&model.data[b], BYTES));
        OK(hipMemset(model.data[b], 0, BYTES));
    }
    for (int round = 0; round < 60; round++) {
        hipGraph_t graph;
        hipGraphExec_t exec;
        OK(hipGraphCreate(&graph, 0));
        memset(model.last, 0, sizeof model.last);
        int nodes = 1 + (int)(random_next(&random) % NODES);
        for (int i = 0; i < nodes; i++) {
            node_add(graph, &model, &random);
        }
        OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
        /* A clone does the same; the original may go before the launch. */
        if (round % 3 == 0) {
            hipGraph_t clone;
            OK(hipGraphClone(&clone, graph));
            OK(hipGraphExecDestroy(exec));
            OK(hipGraphInstantiateWithFlags(&exec, clone, 0));
            OK(hipGraphDestroy(clone));
        }
        OK(hipGraphDestroy(graph));
        OK(hipGraphLaunch(exec, round % 2 == 0 ? stream : NULL));
        OK(hipGraphExecDestroy(exec));
        if (round % 4 == 0) {
            OK(hipDeviceSynchronize());
            model_check(&model);
        }
    }
    OK(hipDeviceSynchronize());
    model_check(&model);
    for (int b = 0; b < BUFFERS; b++) {
        OK(hipFree(model.data[b]));
    }
    OK(hipStreamDestroy(stream));
}

static void
test_launches_of_one_graph_follow_each_other(void)
{
    int *data;
    int value = 3;
    uint64_t n = ELEMENTS;
    int got[ELEMENTS];
    hipGraph_t graph;
    hipGraphExec_t exec;
    hipGraphNode_t first, second;
    hipStream_t streams[4];
    OK(hipMalloc((void **)&data, BYTES));
    OK(hipMemset(data, 0, BYTES));
    void *args[] = {&data, &value, &n};
    hipKernelNodeParams add = kernel_params(add_kernel, args);
    hipKernelNodeParams mul = kernel_params(mul_kernel, args);
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphAddKernelNode(&first, graph, NULL, 0, &add));
    OK(hipGraphAddKernelNode(&second, graph, &first, 1, &mul));
    OK(hipGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 4; i++) {
        OK(hipStreamCreateWithFlags(&streams[i], hipStreamNonBlocking));
    }
    unsigned want = 0;
    for (int i = 0; i < 200; i++) {
        OK(hipGraphLaunch(exec, streams[i % 4]));
        want = (want + 3u) * 31u + 3u;
    }
    /* The parameters of one node change for later launches only. */
    value = 5;
    OK(hipGraphExecKernelNodeSetParams(exec, first, &add));
    OK(hipGraphLaunch(exec, streams[1]));
    want = (want + 5u) * 31u + 3u;
    OK(hipGraphNodeSetEnabled(exec, second, 0));
    OK(hipGraphLaunch(exec, streams[2]));
    want += 5u;
    OK(hipDeviceSynchronize());
    OK(hipMemcpy(got, data, BYTES, hipMemcpyDeviceToHost));
    for (int i = 0; i < ELEMENTS; i++) {
        CHECK((unsigned)got[i] == want);
    }
    unsigned enabled = 7;
    OK(hipGraphNodeGetEnabled(exec, second, &enabled));
    CHECK(enabled == 0);
    for (int i = 0; i < 4; i++) {
        OK(hipStreamDestroy(streams[i]));
    }
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
    OK(hipFree(data));
}

static void
test_nodes_and_edges_can_be_asked_for(void)
{
    hipGraph_t graph, clone;
    hipGraphNode_t a, b, c, found[5], from[4], to[4];
    hipGraphNodeType type;
    size_t count;
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphAddEmptyNode(&a, graph, NULL, 0));
    OK(hipGraphAddEmptyNode(&b, graph, &a, 1));
    OK(hipGraphAddEmptyNode(&c, graph, NULL, 0));
    OK(hipGraphAddDependencies(graph, &b, &c, 1));
    CHECK_HIP(hipGraphAddDependencies(graph, &b, &c, 1), hipErrorInvalidValue);
    CHECK_HIP(hipGraphAddDependencies(graph, &c, &c, 1), hipErrorInvalidValue);
    OK(hipGraphGetNodes(graph, NULL, &count));
    CHECK(count == 3);
    count = 5;
    OK(hipGraphGetNodes(graph, found, &count));
    CHECK(count == 3 && found[0] == a && found[2] == c && found[3] == NULL);
    count = 5;
    OK(hipGraphGetRootNodes(graph, found, &count));
    CHECK(count == 1 && found[0] == a);
    count = 4;
    OK(hipGraphGetEdges(graph, from, to, &count));
    CHECK(count == 2 && from[0] == a && to[0] == b && from[1] == b && to[1] == c);
    count = 1;
    OK(hipGraphNodeGetDependencies(c, found, &count));
    CHECK(count == 1 && found[0] == b);
    OK(hipGraphNodeGetDependentNodes(a, found, &count));
    CHECK(count == 1 && found[0] == b);
    OK(hipGraphNodeGetType(a, &type));
    CHECK(type == hipGraphNodeTypeEmpty);
    OK(hipGraphClone(&clone, graph));
    OK(hipGraphNodeFindInClone(&found[0], b, clone));
    CHECK(found[0] != b);
    CHECK_HIP(hipGraphNodeFindInClone(&found[0], found[0], clone),
              hipErrorInvalidValue);
    OK(hipGraphDestroyNode(b));
    CHECK_HIP(hipGraphNodeGetType(b, &type), hipErrorInvalidValue);
    OK(hipGraphGetEdges(graph, NULL, NULL, &count));
    CHECK(count == 0);
    OK(hipGraphDestroy(graph));
    OK(hipGraphDestroy(clone));
    CHECK_HIP(hipGraphDestroy(graph), hipErrorInvalidValue);
    CHECK_HIP(hipGraphNodeGetType(a, &type), hipErrorInvalidValue);
}

static void
test_a_cycle_is_refused_with_its_node(void)
{
    hipGraph_t graph;
    hipGraphExec_t exec;
    hipGraphNode_t a, b, culprit;
    char log[64];
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphAddEmptyNode(&a, graph, NULL, 0));
    OK(hipGraphAddEmptyNode(&b, graph, &a, 1));
    OK(hipGraphAddDependencies(graph, &b, &a, 1));
    CHECK_HIP(hipGraphInstantiate(&exec, graph, &culprit, log, sizeof log),
              hipErrorInvalidValue);
    CHECK((culprit == a || culprit == b) && strstr(log, "cycle") != NULL);
    hipGraphInstantiateParams params = {.flags = 0};
    CHECK_HIP(hipGraphInstantiateWithParams(&exec, graph, &params),
              hipErrorInvalidValue);
    CHECK(params.result_out == hipGraphInstantiateInvalidStructure);
    OK(hipGraphDestroy(graph));
}

static void
test_child_graphs_run_in_their_place(void)
{
    int *data;
    int value = 2;
    uint64_t n = ELEMENTS;
    int got[ELEMENTS];
    hipGraph_t graph, child, inner;
    hipGraphExec_t exec;
    hipGraphNode_t node, before, middle, after, innermost;
    OK(hipMalloc((void **)&data, BYTES));
    void *args[] = {&data, &value, &n};
    hipKernelNodeParams add = kernel_params(add_kernel, args);
    hipKernelNodeParams mul = kernel_params(mul_kernel, args);
    const hipMemsetParams zero = {
        .dst = data, .elementSize = 4, .height = 1, .width = ELEMENTS};
    OK(hipGraphCreate(&child, 0));
    OK(hipGraphAddKernelNode(&node, child, NULL, 0, &add));
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphAddMemsetNode(&before, graph, NULL, 0, &zero));
    OK(hipGraphAddChildGraphNode(&middle, graph, &before, 1, child));
    OK(hipGraphAddKernelNode(&after, graph, &middle, 1, &mul));
    OK(hipGraphDestroy(child));
    OK(hipGraphInstantiateWithFlags(&exec, graph, 0));
    OK(hipGraphLaunch(exec, NULL));
    OK(hipMemcpy(got, data, BYTES, hipMemcpyDeviceToHost));
    CHECK(got[0] == 64 && got[ELEMENTS - 1] == 64);
    /* Nodes of the child are named by the graph that the node has. */
    size_t count = 1;
    OK(hipGraphChildGraphNodeGetGraph(middle, &inner));
    OK(hipGraphGetNodes(inner, &innermost, &count));
    value = 4;
    OK(hipGraphExecKernelNodeSetParams(exec, innermost, &add));
    OK(hipGraphLaunch(exec, NULL));
    OK(hipMemcpy(got, data, BYTES, hipMemcpyDeviceToHost));
    CHECK(got[0] == 4 * 31 + 2);
    CHECK_HIP(hipGraphDestroy(inner), hipErrorInvalidValue);
    OK(hipGraphDestroy(graph));
    OK(hipGraphExecDestroy(exec));
    OK(hipFree(data));
}

static void
test_update_takes_parameters_but_no_new_shape(void)
{
    int *data;
    int value = 1;
    uint64_t n = ELEMENTS;
    int got[1];
    hipGraph_t graph, same, other;
    hipGraphExec_t exec;
    hipGraphNode_t node, culprit;
    hipGraphExecUpdateResult result;
    OK(hipMalloc((void **)&data, BYTES));
    OK(hipMemset(data, 0, BYTES));
    void *args[] = {&data, &value, &n};
    hipKernelNodeParams add = kernel_params(add_kernel, args);
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphAddKernelNode(&node, graph, NULL, 0, &add));
    OK(hipGraphInstantiateWithFlags(&exec, graph, 0));
    value = 10;
    OK(hipGraphCreate(&same, 0));
    OK(hipGraphAddKernelNode(&node, same, NULL, 0, &add));
    OK(hipGraphExecUpdate(exec, same, &culprit, &result));
    CHECK(result == hipGraphExecUpdateSuccess);
    OK(hipGraphLaunch(exec, NULL));
    OK(hipMemcpy(got, data, 4, hipMemcpyDeviceToHost));
    CHECK(got[0] == 10);
    OK(hipGraphCreate(&other, 0));
    OK(hipGraphAddEmptyNode(&node, other, NULL, 0));
    CHECK_HIP(hipGraphExecUpdate(exec, other, &culprit, &result),
              hipErrorGraphExecUpdateFailure);
    CHECK(result == hipGraphExecUpdateErrorNodeTypeChanged && culprit == node);
    OK(hipGraphDestroy(graph));
    OK(hipGraphDestroy(same));
    OK(hipGraphDestroy(other));
    OK(hipGraphExecDestroy(exec));
    OK(hipFree(data));
}

static void
test_events_in_graphs(void)
{
    hipGraph_t graph;
    hipGraphExec_t exec;
    hipGraphNode_t record, wait;
    hipEvent_t event, got;
    hipStream_t stream;
    OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    OK(hipEventCreate(&event));
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphAddEventRecordNode(&record, graph, NULL, 0, event));
    OK(hipGraphAddEventWaitNode(&wait, graph, &record, 1, event));
    OK(hipGraphEventRecordNodeGetEvent(record, &got));
    CHECK(got == event);
    OK(hipGraphInstantiateWithFlags(&exec, graph, 0));
    OK(hipGraphLaunch(exec, stream));
    OK(hipStreamSynchronize(stream));
    OK(hipEventQuery(event));
    /* The event may go while graphs have it. */
    OK(hipEventDestroy(event));
    OK(hipGraphLaunch(exec, stream));
    OK(hipStreamSynchronize(stream));
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
    OK(hipStreamDestroy(stream));
}

/* ---- capture ---- */

static void
test_captured_streams_give_the_graph_of_their_work(void)
{
    int *data[2];
    int value = 3;
    uint64_t n = ELEMENTS;
    int got[ELEMENTS];
    hipStream_t main, side;
    hipEvent_t fork, join;
    hipGraph_t graph;
    hipGraphExec_t exec;
    hipStreamCaptureStatus status;
    unsigned long long id;
    size_t count;
    for (int i = 0; i < 2; i++) {
        OK(hipMalloc((void **)&data[i], BYTES));
    }
    OK(hipStreamCreateWithFlags(&main, hipStreamNonBlocking));
    OK(hipStreamCreateWithFlags(&side, hipStreamNonBlocking));
    OK(hipEventCreateWithFlags(&fork, hipEventDisableTiming));
    OK(hipEventCreateWithFlags(&join, hipEventDisableTiming));
    void *args0[] = {&data[0], &value, &n};
    void *args1[] = {&data[1], &value, &n};
    OK(hipStreamBeginCapture(main, hipStreamCaptureModeThreadLocal));
    OK(hipMemsetAsync(data[0], 0, BYTES, main));
    OK(hipEventRecord(fork, main));
    OK(hipStreamWaitEvent(side, fork, 0));
    OK(hipMemsetD32Async(data[1], 5, ELEMENTS, side));
    OK(hipModuleLaunchKernel(add_kernel, ELEMENTS / 64, 1, 1, 64, 1, 1, 0, side, args1,
                             NULL));
    OK(hipModuleLaunchKernel(add_kernel, ELEMENTS / 64, 1, 1, 64, 1, 1, 0, main, args0,
                             NULL));
    OK(hipStreamGetCaptureInfo(side, &status, &id));
    CHECK(status == hipStreamCaptureStatusActive && id != 0);
    OK(hipEventRecord(join, side));
    CHECK_HIP(hipEventQuery(join), hipErrorCapturedEvent);
    OK(hipStreamWaitEvent(main, join, 0));
    OK(hipMemcpyAsync(data[0], data[1], BYTES / 2, hipMemcpyDeviceToDevice, main));
    OK(hipLaunchHostFunc(main, host_twice, data[0]));
    OK(hipStreamEndCapture(main, &graph));
    OK(hipStreamIsCapturing(side, &status));
    CHECK(status == hipStreamCaptureStatusNone);
    OK(hipGraphGetNodes(graph, NULL, &count));
    CHECK(count == 6);
    OK(hipGraphGetEdges(graph, NULL, NULL, &count));
    CHECK(count == 6);
    OK(hipGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 3; i++) {
        OK(hipGraphLaunch(exec, main));
    }
    OK(hipStreamSynchronize(main));
    OK(hipMemcpy(got, data[0], BYTES, hipMemcpyDeviceToHost));
    CHECK(got[0] == 16 && got[ELEMENTS - 1] == 6);
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
    OK(hipEventDestroy(fork));
    OK(hipEventDestroy(join));
    OK(hipStreamDestroy(main));
    OK(hipStreamDestroy(side));
    OK(hipFree(data[0]));
    OK(hipFree(data[1]));
}

static void *
end_elsewhere(void *argument)
{
    hipGraph_t graph;
    CHECK_HIP(hipStreamEndCapture(argument, &graph), hipErrorStreamCaptureWrongThread);
    return NULL;
}

static void
test_what_captures_forbid(void)
{
    hipStream_t main, side, legacy_like;
    hipEvent_t event;
    hipGraph_t graph;
    pthread_t thread;
    void *ptr;
    hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;
    OK(hipStreamCreateWithFlags(&main, hipStreamNonBlocking));
    OK(hipStreamCreateWithFlags(&side, hipStreamNonBlocking));
    OK(hipStreamCreate(&legacy_like));
    OK(hipEventCreate(&event));
    /* The legacy stream, a second begin, an end without a begin. */
    CHECK_HIP(hipStreamBeginCapture(NULL, mode), hipErrorStreamCaptureUnsupported);
    CHECK_HIP(hipStreamEndCapture(main, &graph), hipErrorIllegalState);
    OK(hipStreamBeginCapture(main, mode));
    CHECK_HIP(hipStreamBeginCapture(main, mode), hipErrorIllegalState);
    /* Waiting for a captured stream spoils the capture. */
    CHECK_HIP(hipStreamSynchronize(main), hipErrorStreamCaptureUnsupported);
    CHECK_HIP(hipMemsetAsync(NULL, 0, 0, main), hipSuccess);
    CHECK_HIP(hipStreamEndCapture(main, &graph), hipErrorStreamCaptureInvalidated);
    CHECK(graph == NULL);
    /* An event from outside. */
    OK(hipEventRecord(event, side));
    OK(hipStreamBeginCapture(main, mode));
    CHECK_HIP(hipStreamWaitEvent(main, event, 0), hipErrorStreamCaptureIsolation);
    CHECK_HIP(hipStreamEndCapture(main, &graph), hipErrorStreamCaptureInvalidated);
    /* A branch that does not come back. */
    OK(hipStreamBeginCapture(main, mode));
    OK(hipEventRecord(event, main));
    OK(hipStreamWaitEvent(side, event, 0));
    OK(hipLaunchHostFunc(side, host_twice, NULL));
    CHECK_HIP(hipStreamEndCapture(side, &graph), hipErrorStreamCaptureUnmatched);
    CHECK_HIP(hipStreamEndCapture(main, &graph), hipErrorStreamCaptureUnjoined);
    CHECK_HIP(hipStreamWaitEvent(side, event, 0), hipErrorCapturedEvent);
    /* The legacy stream beside a blocking stream. */
    OK(hipStreamBeginCapture(legacy_like, mode));
    CHECK_HIP(hipMemsetAsync(NULL, 0, 0, NULL), hipSuccess);
    CHECK_HIP(hipStreamQuery(NULL), hipErrorStreamCaptureImplicit);
    CHECK_HIP(hipStreamEndCapture(legacy_like, &graph),
              hipErrorStreamCaptureInvalidated);
    /* Unsafe calls, by mode. */
    OK(hipStreamBeginCapture(main, hipStreamCaptureModeThreadLocal));
    CHECK_HIP(hipMalloc(&ptr, 16), hipErrorStreamCaptureUnsupported);
    CHECK(pthread_create(&thread, NULL, end_elsewhere, main) == 0);
    pthread_join(thread, NULL);
    CHECK_HIP(hipStreamEndCapture(main, &graph), hipErrorStreamCaptureInvalidated);
    OK(hipStreamBeginCapture(main, hipStreamCaptureModeGlobal));
    OK(hipThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == hipStreamCaptureModeGlobal);
    OK(hipMalloc(&ptr, 16));
    OK(hipFree(ptr));
    OK(hipThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == hipStreamCaptureModeRelaxed);
    OK(hipStreamEndCapture(main, &graph));
    OK(hipGraphDestroy(graph));
    /* A stream that goes takes its capture along. */
    OK(hipStreamBeginCapture(main, hipStreamCaptureModeGlobal));
    OK(hipStreamDestroy(main));
    OK(hipMalloc(&ptr, 16));
    OK(hipFree(ptr));
    OK(hipStreamDestroy(side));
    OK(hipStreamDestroy(legacy_like));
    OK(hipEventDestroy(event));
}

static void
test_capture_into_a_graph_of_ones_own(void)
{
    hipStream_t stream;
    hipGraph_t graph, same;
    hipGraphNode_t root, nodes[3];
    const hipGraphNode_t *fronts;
    hipStreamCaptureStatus status;
    size_t count = 3;
    OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphAddEmptyNode(&root, graph, NULL, 0));
    OK(hipStreamBeginCaptureToGraph(stream, graph, &root, NULL, 1,
                                    hipStreamCaptureModeRelaxed));
    CHECK_HIP(hipGraphDestroy(graph), hipErrorInvalidValue);
    OK(hipLaunchHostFunc(stream, host_twice, NULL));
    OK(hipStreamGetCaptureInfo_v2(stream, &status, NULL, &same, &fronts, &count));
    CHECK(same == graph && count == 1 && fronts[0] != root);
    OK(hipStreamUpdateCaptureDependencies(stream, &root, 1,
                                          hipStreamSetCaptureDependencies));
    OK(hipLaunchHostFunc(stream, host_twice, NULL));
    OK(hipStreamEndCapture(stream, &same));
    CHECK(same == graph);
    count = 3;
    OK(hipGraphNodeGetDependentNodes(root, nodes, &count));
    CHECK(count == 2);
    OK(hipGraphDestroy(graph));
    OK(hipStreamDestroy(stream));
}

/* ---- variables ---- */

static char host_counter;

static void
test_variables_are_copied_to_and_from(void)
{
    struct ha_fatbin_wrapper wrapper = {HA_FATBIN_WRAPPER_MAGIC,
                                        HA_FATBIN_WRAPPER_VERSION, image_bytes, NULL};
    hipGraph_t graph;
    hipGraphExec_t exec;
    hipGraphNode_t to, from;
    hipGraphNodeType type;
    int numbers[4] = {40, 41, 42, 43};
    int got[4] = {0};
    const size_t bytes = sizeof(int);
    void **handle = __hipRegisterFatBinary(&wrapper);
    CHECK(handle != NULL);
    __hipRegisterVar(handle, &host_counter, NULL, "counter", 0, sizeof numbers, 0, 0);
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphAddMemcpyNodeToSymbol(&to, graph, NULL, 0, &host_counter, numbers,
                                     2 * bytes, bytes, hipMemcpyHostToDevice));
    OK(hipGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, got, &host_counter,
                                       sizeof got, 0, hipMemcpyDeviceToHost));
    OK(hipGraphNodeGetType(to, &type));
    CHECK(type == hipGraphNodeTypeMemcpy);
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    OK(hipGraphLaunch(exec, NULL));
    OK(hipStreamSynchronize(NULL));
    CHECK(got[0] == 7 && got[1] == 40 && got[2] == 41 && got[3] == 10);
    OK(hipGraphExecMemcpyNodeSetParamsToSymbol(exec, to, &host_counter, numbers + 3,
                                               bytes, 0, hipMemcpyHostToDevice));
    OK(hipGraphExecMemcpyNodeSetParamsFromSymbol(exec, from, got + 3, &host_counter,
                                                 bytes, 0, hipMemcpyDeviceToHost));
    OK(hipGraphLaunch(exec, NULL));
    OK(hipStreamSynchronize(NULL));
    CHECK(got[0] == 7 && got[3] == 43);
    OK(hipGraphMemcpyNodeSetParamsToSymbol(to, &host_counter, numbers, bytes, 12,
                                           hipMemcpyDefault));
    CHECK_HIP(hipGraphMemcpyNodeSetParamsToSymbol(to, &host_counter, numbers, bytes, 13,
                                                  hipMemcpyHostToDevice),
              hipErrorInvalidValue);
    CHECK_HIP(hipGraphMemcpyNodeSetParamsFromSymbol(from, got, &host_counter, bytes, 0,
                                                    hipMemcpyHostToDevice),
              hipErrorInvalidMemcpyDirection);
    CHECK_HIP(hipGraphMemcpyNodeSetParamsFromSymbol(from, got, numbers, bytes, 0,
                                                    hipMemcpyDeviceToHost),
              hipErrorInvalidSymbol);
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
    __hipUnregisterFatBinary(handle);
}

/* ---- memory and user objects ---- */

static void
test_graph_memory_has_one_address(void)
{
    hipGraph_t graph;
    hipGraphExec_t exec;
    hipGraphNode_t alloc, fill, release;
    uint64_t used = 1;
    int got = 0;
    hipMemAllocNodeParams params = {
        .poolProps = {.allocType = hipMemAllocationTypePinned,
                      .location = {.type = hipMemLocationTypeDevice, .id = 0}},
        .bytesize = 1 << 20};
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params));
    CHECK(params.dptr != NULL);
    const hipMemsetParams seven = {.dst = params.dptr,
                                   .elementSize = 4,
                                   .height = 1,
                                   .value = 7,
                                   .width = (1 << 20) / 4};
    OK(hipGraphAddMemsetNode(&fill, graph, &alloc, 1, &seven));
    OK(hipGraphInstantiateWithFlags(&exec, graph, 0));
    OK(hipGraphLaunch(exec, NULL));
    OK(hipMemcpy(&got, params.dptr, 4, hipMemcpyDeviceToHost));
    CHECK(got == 7);
    OK(hipDeviceGetGraphMemAttribute(0, hipGraphMemAttrUsedMemCurrent, &used));
    CHECK(used == 1 << 20);
    /* Not freed: it can't be allocated again. */
    CHECK_HIP(hipGraphLaunch(exec, NULL), hipErrorInvalidValue);
    OK(hipFree(params.dptr));
    CHECK_HIP(hipFree(params.dptr), hipErrorInvalidValue);
    OK(hipDeviceGraphMemTrim(0));
    OK(hipGraphLaunch(exec, NULL));
    OK(hipFreeAsync(params.dptr, NULL));
    OK(hipGraphExecDestroy(exec));
    /* With a free node it can be launched as often as one likes. */
    OK(hipGraphAddMemFreeNode(&release, graph, &fill, 1, params.dptr));
    OK(hipGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 10; i++) {
        OK(hipGraphLaunch(exec, NULL));
    }
    hipGraph_t clone;
    CHECK_HIP(hipGraphClone(&clone, graph), hipErrorNotSupported);
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
    OK(hipDeviceGetGraphMemAttribute(0, hipGraphMemAttrReservedMemCurrent, &used));
    CHECK(used == 0);
    OK(hipDeviceGetGraphMemAttribute(0, hipGraphMemAttrUsedMemHigh, &used));
    CHECK(used == 1 << 20);
}

static int destroyed;

static void
count_destroyed(void *argument)
{
    destroyed += *(int *)argument;
}

static void
test_user_objects_live_as_long_as_somebody_has_them(void)
{
    int one = 1;
    hipUserObject_t object;
    hipGraph_t graph;
    hipGraphExec_t exec;
    OK(hipUserObjectCreate(&object, &one, count_destroyed, 1,
                           hipUserObjectNoDestructorSync));
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphRetainUserObject(graph, object, 2, 0));
    OK(hipUserObjectRelease(object, 1));
    CHECK(destroyed == 0);
    OK(hipGraphInstantiateWithFlags(&exec, graph, 0));
    OK(hipGraphReleaseUserObject(graph, object, 1));
    CHECK_HIP(hipGraphReleaseUserObject(graph, object, 2), hipErrorInvalidValue);
    OK(hipGraphDestroy(graph));
    CHECK(destroyed == 0);
    OK(hipGraphExecDestroy(exec));
    CHECK(destroyed == 1);
    CHECK_HIP(hipUserObjectRetain(object, 1), hipErrorInvalidValue);
}

static void
test_references_of_a_graph_are_not_the_programs_to_give(void)
{
    int one = 1;
    hipUserObject_t object;
    hipGraph_t graph;
    destroyed = 0;
    OK(hipUserObjectCreate(&object, &one, count_destroyed, 1,
                           hipUserObjectNoDestructorSync));
    OK(hipGraphCreate(&graph, 0));
    CHECK_HIP(hipGraphRetainUserObject(graph, object, 2, hipGraphUserObjectMove),
              hipErrorInvalidValue);
    OK(hipGraphRetainUserObject(graph, object, 1, hipGraphUserObjectMove));
    CHECK_HIP(hipUserObjectRelease(object, 1), hipErrorInvalidValue);
    CHECK_HIP(hipGraphRetainUserObject(graph, object, 1, hipGraphUserObjectMove),
              hipErrorInvalidValue);
    CHECK(destroyed == 0);
    OK(hipGraphDestroy(graph));
    CHECK(destroyed == 1);
}

static void
test_debug_print_writes_a_file(void)
{
    char path[] = "/tmp/hipadapt-graph-XXXXXX";
    char text[4096] = "";
    hipGraph_t graph;
    hipGraphNode_t node, next;
    int value = 1;
    uint64_t n = 1;
    int *data = NULL;
    void *args[] = {&data, &value, &n};
    hipKernelNodeParams add = kernel_params(add_kernel, args);
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphAddKernelNode(&node, graph, NULL, 0, &add));
    OK(hipGraphAddEmptyNode(&next, graph, &node, 1));
    OK(hipGraphDebugDotPrint(graph, path, hipGraphDebugDotFlagsVerbose));
    FILE *file = fopen(path, "r");
    CHECK(file != NULL && fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    unlink(path);
    CHECK(strstr(text, "digraph") != NULL && strstr(text, "add") != NULL &&
          strstr(text, "->") != NULL);
    CHECK_HIP(hipGraphDebugDotPrint(graph, "/nowhere/at/all", 0),
              hipErrorOperatingSystem);
    /* Devices and links are written to, and not replaced. */
    CHECK(symlink("/dev/full", path) == 0);
    CHECK_HIP(hipGraphDebugDotPrint(graph, path, 0), hipErrorOperatingSystem);
    CHECK(unlink(path) == 0);
    OK(hipGraphDestroy(graph));
}

static void
test_made_up_handles_answer_codes(void)
{
    uint64_t random = 3;
    hipGraphNodeType type;
    size_t count;
    for (int i = 0; i < 100000; i++) {
        void *handle = (void *)(uintptr_t)random_next(&random);
        CHECK_HIP(hipGraphNodeGetType(handle, &type), hipErrorInvalidValue);
        CHECK_HIP(hipGraphGetNodes(handle, NULL, &count), hipErrorInvalidValue);
        CHECK_HIP(hipGraphLaunch(handle, NULL), hipErrorInvalidValue);
        CHECK_HIP(hipUserObjectRetain(handle, 1), hipErrorInvalidValue);
    }
}

int
main(void)
{
    add_kernel = image_function(&module, "add");
    mul_kernel = image_function(&module, "mul");
    RUN(test_random_graphs_agree_with_a_serial_model);
    RUN(test_launches_of_one_graph_follow_each_other);
    RUN(test_nodes_and_edges_can_be_asked_for);
    RUN(test_a_cycle_is_refused_with_its_node);
    RUN(test_child_graphs_run_in_their_place);
    RUN(test_update_takes_parameters_but_no_new_shape);
    RUN(test_events_in_graphs);
    RUN(test_captured_streams_give_the_graph_of_their_work);
    RUN(test_what_captures_forbid);
    RUN(test_capture_into_a_graph_of_ones_own);
    RUN(test_variables_are_copied_to_and_from);
    RUN(test_graph_memory_has_one_address);
    RUN(test_user_objects_live_as_long_as_somebody_has_them);
    RUN(test_references_of_a_graph_are_not_the_programs_to_give);
    RUN(test_debug_print_writes_a_file);
    RUN(test_made_up_handles_answer_codes);
    return 0;
}
