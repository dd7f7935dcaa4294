/* SPDX-License-Identifier: MIT */
/* Stream memory operations, and calls on the thread's own default stream. */
#include "cpu_support.h"

#include <time.h>

#include "cpu/queue/stream.h"

static hipModule_t module;
static hipFunction_t add_kernel;

static void
sleep_ms(long ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static hipStream_t
new_stream(void)
{
    hipStream_t stream;
    OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    return stream;
}

/* True if the stream still waits some time later. */
static bool
waits(hipStream_t stream)
{
    sleep_ms(5);
    return hipStreamQuery(stream) == hipErrorNotReady;
}

static void
test_each_comparison_waits_for_its_condition(void)
{
    static const struct {
        unsigned flags;
        uint32_t before, after, value, mask;
    } rows[] = {
        {hipStreamWaitValueGte, 4, 5, 5, UINT32_MAX},
        {hipStreamWaitValueGte, 0, 0x80000000u, 5, UINT32_MAX},
        {hipStreamWaitValueGte, 0xf0, 0xf7, 7, 0x0f},
        {hipStreamWaitValueEq, 5, 4, 4, UINT32_MAX},
        {hipStreamWaitValueEq, 0x15, 0x24, 4, 0x0f},
        {hipStreamWaitValueAnd, 8, 12, 4, UINT32_MAX},
        {hipStreamWaitValueAnd, 4, 6, 6, 2},
        {hipStreamWaitValueNor, 0xffffff00u, 0xfffffe00u, 0xff, UINT32_MAX},
    };
    hipStream_t stream = new_stream();
    uint32_t *word;
    uint32_t *done;
    OK(hipHostMalloc((void **)&word, 8, 0));
    OK(hipHostMalloc((void **)&done, 4, 0));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        __atomic_store_n(word, rows[i].before, __ATOMIC_SEQ_CST);
        *done = 0;
        OK(hipStreamWaitValue32(stream, word, rows[i].value, rows[i].flags,
                                rows[i].mask));
        OK(hipStreamWriteValue32(stream, done, 1, 0));
        CHECK(waits(stream) && __atomic_load_n(done, __ATOMIC_SEQ_CST) == 0);
        __atomic_store_n(word, rows[i].after, __ATOMIC_SEQ_CST);
        OK(hipStreamSynchronize(stream));
        CHECK(*done == 1);
    }
    /* All 64 bits count, and no more of memory than that. */
    uint64_t *wide = (uint64_t *)word;
    *wide = UINT32_MAX;
    OK(hipStreamWaitValue64(stream, wide, 1ull << 32, hipStreamWaitValueGte,
                            UINT64_MAX));
    CHECK(waits(stream));
    __atomic_store_n(wide, 1ull << 32, __ATOMIC_SEQ_CST);
    OK(hipStreamSynchronize(stream));
    OK(hipStreamWriteValue32(stream, wide, 7, 0));
    OK(hipStreamSynchronize(stream));
    CHECK(*wide == ((1ull << 32) | 7));
    OK(hipStreamWriteValue64(stream, wide, 9, 0));
    OK(hipStreamSynchronize(stream));
    CHECK(*wide == 9);
    OK(hipHostFree(word));
    OK(hipHostFree(done));
    OK(hipStreamDestroy(stream));
}

static void
test_streams_hand_values_around(void)
{
    enum { STREAMS = 300, ROUNDS = 3 };
    static hipStream_t streams[STREAMS];
    uint32_t *words;
    OK(hipMalloc((void **)&words, STREAMS * 4));
    OK(hipMemset(words, 0, STREAMS * 4));
    for (int i = 0; i < STREAMS; i++) {
        streams[i] = new_stream();
    }
    /* A ring that begins when everybody waits: more streams than there are threads. */
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        for (int i = 1; i < STREAMS; i++) {
            OK(hipStreamWaitValue32(streams[i], &words[i - 1], round,
                                    hipStreamWaitValueEq, UINT32_MAX));
            OK(hipStreamWriteValue32(streams[i], &words[i], round, 0));
        }
        CHECK(hipStreamQuery(streams[STREAMS - 1]) == hipErrorNotReady);
        OK(hipStreamWriteValue32(streams[0], &words[0], round, 0));
        OK(hipStreamSynchronize(streams[STREAMS - 1]));
        OK(hipDeviceSynchronize());
    }
    uint32_t last = 0;
    OK(hipMemcpy(&last, &words[STREAMS - 1], 4, hipMemcpyDeviceToHost));
    CHECK(last == ROUNDS);
    for (int i = 0; i < STREAMS; i++) {
        OK(hipStreamDestroy(streams[i]));
    }
    OK(hipFree(words));
}

static void
test_batches_are_done_in_order(void)
{
    hipStream_t stream = new_stream();
    uint32_t *words;
    OK(hipHostMalloc((void **)&words, 32, 0));
    memset(words, 0, 32);
    hipStreamBatchMemOpParams ops[5];
    memset(ops, 0, sizeof ops);
    ops[0].writeValue.operation = hipStreamMemOpWriteValue32;
    ops[0].writeValue.address = &words[0];
    ops[0].writeValue.value = 1;
    ops[1].waitValue.operation = hipStreamMemOpWaitValue32;
    ops[1].waitValue.address = &words[1];
    ops[1].waitValue.value = 2;
    ops[1].waitValue.flags = hipStreamWaitValueEq;
    ops[2].memoryBarrier.operation = hipStreamMemOpBarrier;
    ops[3].writeValue.operation = hipStreamMemOpWriteValue64;
    ops[3].writeValue.address = &words[2];
    ops[3].writeValue.value64 = 3ull << 32;
    ops[4].flushRemoteWrites.operation = hipStreamMemOpFlushRemoteWrites;
    OK(hipStreamBatchMemOp(stream, 5, ops, 0));
    CHECK(waits(stream));
    CHECK(words[0] == 1 && words[3] == 0);
    __atomic_store_n(&words[1], 2, __ATOMIC_SEQ_CST);
    OK(hipStreamSynchronize(stream));
    CHECK(words[3] == 3);

    /* The same as a node, with other values, twice. */
    hipGraph_t graph;
    hipGraphExec_t exec;
    hipGraphNode_t node;
    hipBatchMemOpNodeParams params = {.count = 2, .paramArray = ops};
    hipBatchMemOpNodeParams got;
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params));
    memset(words, 0, 32);
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    ops[0].writeValue.value = 8;
    ops[1].waitValue.value = 9;
    OK(hipGraphBatchMemOpNodeGetParams(node, &got));
    CHECK(got.count == 2 && got.paramArray[0].writeValue.value == 1 &&
          got.paramArray != ops);
    OK(hipGraphLaunch(exec, stream));
    CHECK(waits(stream) && words[0] == 1);
    __atomic_store_n(&words[1], 2, __ATOMIC_SEQ_CST);
    OK(hipStreamSynchronize(stream));
    OK(hipGraphExecBatchMemOpNodeSetParams(exec, node, &params));
    OK(hipGraphLaunch(exec, stream));
    CHECK(waits(stream) && words[0] == 8);
    __atomic_store_n(&words[1], 9, __ATOMIC_SEQ_CST);
    OK(hipStreamSynchronize(stream));
    params.count = 0;
    CHECK_HIP(hipGraphBatchMemOpNodeSetParams(node, &params), hipErrorInvalidValue);
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));

    /* And captured, with a mask, which parameters of nodes have no place for. */
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
    OK(hipStreamWriteValue32(stream, &words[0], 5, 0));
    OK(hipStreamWaitValue32(stream, &words[1], 4, hipStreamWaitValueEq, 0x0f));
    OK(hipStreamEndCapture(stream, &graph));
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    words[0] = 0;
    OK(hipGraphLaunch(exec, stream));
    CHECK(waits(stream) && words[0] == 5);
    __atomic_store_n(&words[1], 0x14, __ATOMIC_SEQ_CST);
    OK(hipStreamSynchronize(stream));
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
    OK(hipHostFree(words));
    OK(hipStreamDestroy(stream));
}

static void
test_bad_values_are_refused(void)
{
    hipStream_t stream = new_stream();
    hipStreamBatchMemOpParams op;
    uint32_t *word;
    uint32_t foreign = 0;
    memset(&op, 0, sizeof op);
    OK(hipMalloc((void **)&word, 8));
    CHECK_HIP(hipStreamWaitValue32(stream, NULL, 0, 0, 0), hipErrorInvalidValue);
    CHECK_HIP(hipStreamWaitValue32(stream, &foreign, 0, 0, 0), hipErrorInvalidValue);
    CHECK_HIP(hipStreamWaitValue32(stream, word, 0, 4, 0), hipErrorInvalidValue);
    CHECK_HIP(hipStreamWaitValue64(stream, word + 1, 0, 0, 0), hipErrorInvalidValue);
    CHECK_HIP(hipStreamWaitValue32(stream, (char *)word + 1, 0, 0, 0),
              hipErrorInvalidValue);
    CHECK_HIP(hipStreamWriteValue64(stream, word + 2, 0, 0), hipErrorInvalidValue);
    CHECK_HIP(hipStreamWriteValue32(stream, word, 0, 1), hipErrorInvalidValue);
    CHECK_HIP(hipStreamWriteValue32((hipStream_t)(uintptr_t)0x1234, word, 0, 0),
              hipErrorContextIsDestroyed);
    CHECK_HIP(hipStreamBatchMemOp(stream, 0, &op, 0), hipErrorInvalidValue);
    CHECK_HIP(hipStreamBatchMemOp(stream, 257, &op, 0), hipErrorInvalidValue);
    CHECK_HIP(hipStreamBatchMemOp(stream, 1, NULL, 0), hipErrorInvalidValue);
    CHECK_HIP(hipStreamBatchMemOp(stream, 1, &op, 1), hipErrorInvalidValue);
    CHECK_HIP(hipStreamBatchMemOp(stream, 1, &op, 0), hipErrorInvalidValue);
    OK(hipStreamSynchronize(stream));
    OK(hipFree(word));
    OK(hipStreamDestroy(stream));
}

static void
test_a_reset_ends_what_waits(void)
{
    hipStream_t stream = new_stream();
    uint32_t *word;
    OK(hipMalloc((void **)&word, 4));
    OK(hipMemset(word, 0, 4));
    OK(hipStreamWaitValue32(stream, word, 1, hipStreamWaitValueEq, UINT32_MAX));
    CHECK(waits(stream));
    OK(hipDeviceReset());
    OK(hipDeviceSynchronize());
    add_kernel = image_function(&module, "add");
}

/* ---- the thread's own default stream ---- */

static void
begin_waiting(uint32_t *word)
{
    OK(hipStreamWaitValue32(HA_STREAM_PER_THREAD, word, 1, hipStreamWaitValueEq,
                            UINT32_MAX));
}

static void
test_spt_calls_are_on_the_threads_own_stream(void)
{
    uint32_t *word;
    int *data;
    int got = 0;
    int value = 3;
    uint64_t n = 1;
    void *args[] = {&data, &value, &n};
    hipStreamCaptureStatus status;
    hipGraph_t graph;
    hipGraphExec_t exec;
    size_t count = 9;
    OK(hipHostMalloc((void **)&word, 4, 0));
    OK(hipMalloc((void **)&data, 64));
    *word = 0;
    OK(hipMemset_spt(data, 0, 64));
    OK(hipDeviceSynchronize());
    begin_waiting(word);
    OK(hipMemsetAsync_spt(data, 0xff, 64, NULL));
    CHECK_HIP(hipStreamQuery_spt(NULL), hipErrorNotReady);
    /* What is named is meant: this one is idle. */
    hipStream_t other = new_stream();
    OK(hipStreamQuery_spt(other));
    OK(hipMemcpyAsync_spt(&got, data, 4, hipMemcpyDeviceToHost, other));
    OK(hipStreamSynchronize_spt(other));
    CHECK(got == 0);
    __atomic_store_n(word, 1, __ATOMIC_SEQ_CST);
    OK(hipMemcpy_spt(&got, data, 4, hipMemcpyDeviceToHost));
    CHECK(got == -1);
    OK(hipMemset2D_spt(data, 16, 0, 4, 4));
    OK(hipMemcpy2D_spt(&got, 4, data, 16, 4, 1, hipMemcpyDeviceToHost));
    CHECK(got == 0);

    /* The legacy stream can't be captured, but this is not it. */
    CHECK_HIP(hipStreamBeginCapture(NULL, hipStreamCaptureModeThreadLocal),
              hipErrorStreamCaptureUnsupported);
    OK(hipStreamBeginCapture_spt(NULL, hipStreamCaptureModeThreadLocal));
    OK(hipStreamIsCapturing_spt(NULL, &status));
    CHECK(status == hipStreamCaptureStatusActive);
    OK(hipModuleLaunchKernel(add_kernel, 1, 1, 1, 1, 1, 1, 0, HA_STREAM_PER_THREAD,
                             args, NULL));
    OK(hipMemcpyAsync_spt(data + 1, data, 4, hipMemcpyDeviceToDevice, NULL));
    OK(hipStreamEndCapture_spt(NULL, &graph));
    OK(hipGraphGetNodes(graph, NULL, &count));
    CHECK(count == 2);
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    OK(hipGraphLaunch_spt(exec, NULL));
    OK(hipStreamSynchronize_spt(NULL));
    OK(hipMemcpy_spt(&got, data + 1, 4, hipMemcpyDeviceToHost));
    CHECK(got == 3);
    CHECK_HIP(hipMemcpy_spt(NULL, data, 4, hipMemcpyDeviceToHost),
              hipErrorInvalidValue);
    CHECK(strncmp(hipadaptGetErrorText(), "hipMemcpy_spt: ", 15) == 0);
    /* Afterwards NULL means what it meant. */
    CHECK_HIP(hipStreamBeginCapture(NULL, hipStreamCaptureModeThreadLocal),
              hipErrorStreamCaptureUnsupported);
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
    OK(hipStreamDestroy(other));
    OK(hipFree(data));
    OK(hipHostFree(word));
}

int
main(void)
{
    add_kernel = image_function(&module, "add");
    RUN(test_each_comparison_waits_for_its_condition);
    RUN(test_streams_hand_values_around);
    RUN(test_batches_are_done_in_order);
    RUN(test_bad_values_are_refused);
    RUN(test_a_reset_ends_what_waits);
    RUN(test_spt_calls_are_on_the_threads_own_stream);
    return 0;
}
