/* SPDX-License-Identifier: MIT */
/* Kernels of the program that only a GPU could run: whichever way one is launched, the
 * program learns it from what waits next, even if it drops the code of the launch. */
#include "cpu_support.h"

#include "cpu/module/fatbin.h"

#define FOREIGN_ID "hipv4-amdgcn-amd-amdhsa--gfx942"

static char host_there, host_gone;
static const dim3 one = {1, 1, 1};
static hipStream_t streams[2]; /* one a device */

static void
program_register(void)
{
    static unsigned char bundle[4096];
    static struct ha_fatbin_wrapper wrappers[2];
    const uint64_t numbers[4] = {1, 1024, 64, sizeof FOREIGN_ID - 1};
    memcpy(bundle, "__CLANG_OFFLOAD_BUNDLE__", 24);
    memcpy(bundle + 24, numbers, sizeof numbers);
    memcpy(bundle + 56, FOREIGN_ID, sizeof FOREIGN_ID - 1);
    const void *const binaries[2] = {image_bytes, bundle};
    char *const hosts[2] = {&host_there, &host_gone};
    for (int i = 0; i < 2; i++) {
        wrappers[i] = (struct ha_fatbin_wrapper){
            HA_FATBIN_WRAPPER_MAGIC, HA_FATBIN_WRAPPER_VERSION, binaries[i], NULL};
        void **handle = __hipRegisterFatBinary(&wrappers[i]);
        CHECK(handle != NULL);
        __hipRegisterFunction(handle, hosts[i], NULL, i == 0 ? "bump" : "sort", 0, NULL,
                              NULL, NULL, NULL, NULL);
    }
}

/* The device tells of the kernel until it is reset. */
static void
check_device(int device)
{
    char byte;
    void *memory;
    hipStream_t stream = streams[device];
    OK(hipSetDevice(device));
    CHECK_HIP(hipStreamSynchronize(stream), hipErrorNoBinaryForGpu);
    CHECK_HIP(hipPeekAtLastError(), hipErrorNoBinaryForGpu);
    CHECK_HIP(hipGetLastError(), hipErrorNoBinaryForGpu);
    CHECK_HIP(hipGetLastError(), hipSuccess);
    CHECK_HIP(hipDeviceSynchronize(), hipErrorNoBinaryForGpu);
    CHECK(strstr(hipadaptGetErrorText(), "kernel 'sort' of the program cannot run") !=
          NULL);
    CHECK(strstr(hipadaptGetErrorText(), "gfx942") != NULL);
    CHECK_HIP(hipMemcpy(&byte, &byte, 1, hipMemcpyDefault), hipErrorNoBinaryForGpu);
    CHECK_HIP(hipMalloc(&memory, 1), hipErrorNoBinaryForGpu);
    CHECK_HIP(hipLaunchKernel(&host_there, one, one, NULL, 0, NULL),
              hipErrorNoBinaryForGpu);
    OK(hipDeviceReset());
    OK(hipStreamCreate(&streams[device]));
    OK(hipLaunchKernel(&host_there, one, one, NULL, 0, streams[device]));
    OK(hipDeviceSynchronize());
    OK(hipSetDevice(0));
    (void)hipGetLastError();
}

static void
check_healthy(int device)
{
    OK(hipSetDevice(device));
    OK(hipDeviceSynchronize());
    OK(hipSetDevice(0));
}

#define CHECK_LEFT(call)                                                               \
    do {                                                                               \
        CHECK_HIP(call, hipErrorNoBinaryForGpu);                                       \
        CHECK_HIP(hipPeekAtLastError(), hipErrorNoBinaryForGpu);                       \
        CHECK(strstr(hipadaptGetErrorText(), "'sort'") != NULL);                       \
        check_device(0);                                                               \
        check_healthy(1);                                                              \
    } while (0)

static void
launch_of_any_kind_leaves_an_error(void)
{
    hipLaunchConfig_t config = {
        .gridDim = one, .blockDim = one, .stream = streams[0], .numAttrs = 0};
    HIP_LAUNCH_CONFIG driver = {.gridDimX = 1,
                                .gridDimY = 1,
                                .gridDimZ = 1,
                                .blockDimX = 1,
                                .blockDimY = 1,
                                .blockDimZ = 1};
    hipFunction_t function = (hipFunction_t)(void *)&host_gone;
    CHECK_LEFT(hipLaunchKernel(&host_gone, one, one, NULL, 0, streams[0]));
    CHECK_LEFT(hipLaunchKernel(&host_gone, one, one, NULL, 0, NULL));
    CHECK_LEFT(hipLaunchKernel_spt(&host_gone, one, one, NULL, 0, NULL));
    CHECK_LEFT(
        hipExtLaunchKernel(&host_gone, one, one, NULL, 0, streams[0], NULL, NULL, 0));
    config.stream = streams[0];
    CHECK_LEFT(hipLaunchKernelExC(&config, &host_gone, NULL));
    driver.hStream = streams[0];
    CHECK_LEFT(hipDrvLaunchKernelEx(&driver, function, NULL, NULL));
    OK(hipConfigureCall(one, one, 0, streams[0]));
    CHECK_LEFT(hipLaunchByPtr(&host_gone));
    CHECK_LEFT(hipLaunchCooperativeKernel(&host_gone, one, one, NULL, 0, streams[0]));
    CHECK_LEFT(
        hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, streams[0], NULL, NULL));
    CHECK_LEFT(hipModuleLaunchCooperativeKernel(function, 1, 1, 1, 1, 1, 1, 0,
                                                streams[0], NULL));
    CHECK_LEFT(hipExtModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, streams[0], NULL,
                                        NULL, NULL, NULL, 0));
}

static void
launch_in_stream_of_other_device_leaves_it_there(void)
{
    CHECK_HIP(hipLaunchKernel(&host_gone, one, one, NULL, 0, streams[1]),
              hipErrorNoBinaryForGpu);
    check_healthy(0);
    check_device(1);
}

static void
launch_on_several_devices_leaves_it_on_all(void)
{
    hipLaunchParams list[2] = {
        {.func = &host_there, .gridDim = one, .blockDim = one, .stream = streams[0]},
        {.func = &host_gone, .gridDim = one, .blockDim = one, .stream = streams[1]},
    };
    CHECK_HIP(hipLaunchCooperativeKernelMultiDevice(list, 2, 0),
              hipErrorNoBinaryForGpu);
    check_device(0);
    check_device(1);
    list[0].stream = streams[0];
    list[1].stream = streams[1];
    CHECK_HIP(hipExtLaunchMultiKernelMultiDevice(list, 2, 0), hipErrorNoBinaryForGpu);
    check_device(0);
    check_device(1);
    /* A list that is wrong by itself is refused, and that is all. */
    list[0].stream = streams[0];
    list[1].stream = NULL;
    CHECK_HIP(hipLaunchCooperativeKernelMultiDevice(list, 2, 0),
              hipErrorInvalidResourceHandle);
    check_healthy(0);
}

static void
capture_of_launch_is_invalid(void)
{
    hipStreamCaptureStatus status;
    OK(hipStreamBeginCapture(streams[0], hipStreamCaptureModeRelaxed));
    CHECK_HIP(hipLaunchKernel(&host_gone, one, one, NULL, 0, streams[0]),
              hipErrorNoBinaryForGpu);
    hipGraph_t graph = NULL;
    CHECK_HIP(hipStreamIsCapturing(streams[0], &status), hipErrorNoBinaryForGpu);
    CHECK_HIP(hipStreamEndCapture(streams[0], &graph), hipErrorNoBinaryForGpu);
    CHECK(graph == NULL);
    check_device(0);
}

static void
node_of_graph_leaves_an_error(void)
{
    hipGraph_t graph;
    hipGraphNode_t node = NULL;
    hipGraphExec_t exec;
    hipKernelNodeParams params = {.func = &host_gone, .gridDim = one, .blockDim = one};
    hipKernelNodeParams good = {.func = &host_there, .gridDim = one, .blockDim = one};
    OK(hipGraphCreate(&graph, 0));
    CHECK_LEFT(hipGraphAddKernelNode(&node, graph, NULL, 0, &params));
    CHECK(node == NULL);
    OK(hipGraphAddKernelNode(&node, graph, NULL, 0, &good));
    CHECK_LEFT(hipGraphKernelNodeSetParams(node, &params));
    OK(hipGraphDestroy(graph));
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphAddKernelNode(&node, graph, NULL, 0, &good));
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    CHECK_LEFT(hipGraphExecKernelNodeSetParams(exec, node, &params));
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
}

static _Atomic int stage; /* 1: the host function may end, 2: it has ended */

static void
wait_for_stage(void *unused)
{
    (void)unused;
    while (stage == 0) {
        usleep(100);
    }
    stage = 2;
}

static void
work_before_the_launch_is_done(void)
{
    hipStream_t other;
    OK(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
    stage = 0;
    OK(hipLaunchHostFunc(streams[0], wait_for_stage, NULL));
    CHECK_HIP(hipLaunchKernel(&host_gone, one, one, NULL, 0, streams[0]),
              hipErrorNoBinaryForGpu);
    OK(hipStreamSynchronize(other)); /* as if the kernel had not begun yet */
    stage = 1;
    CHECK_HIP(hipStreamSynchronize(streams[0]), hipErrorNoBinaryForGpu);
    CHECK(stage == 2);
    CHECK_HIP(hipStreamSynchronize(other), hipErrorNoBinaryForGpu);
    check_device(0);
}

/* What only asks, or names no kernel of the program, leaves nothing behind. */
static void
questions_and_wrong_arguments_leave_nothing(void)
{
    hipFuncAttributes attributes;
    hipFunction_t function;
    int blocks;
    CHECK_HIP(hipFuncGetAttributes(&attributes, &host_gone), hipErrorNoBinaryForGpu);
    CHECK(strstr(hipadaptGetErrorText(), "'sort'") != NULL);
    CHECK_HIP(hipGetFuncBySymbol(&function, &host_gone), hipErrorNoBinaryForGpu);
    CHECK_HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &host_gone, 64, 0),
              hipErrorNoBinaryForGpu);
    CHECK_HIP(hipLaunchKernel(&blocks, one, one, NULL, 0, NULL),
              hipErrorInvalidDeviceFunction);
    const dim3 none = {0, 1, 1};
    CHECK_HIP(hipLaunchKernel(&host_there, none, one, NULL, 0, NULL),
              hipErrorInvalidConfiguration);
    CHECK_HIP(hipLaunchKernel(&host_gone, one, one, NULL, 0, (hipStream_t)&blocks),
              hipErrorContextIsDestroyed); /* no stream, so no device */
    check_healthy(0);
    check_healthy(1);
}

int
main(void)
{
    setenv("HIPADAPT_CPU_DEVICES", "2", 1);
    setenv("HIPADAPT_CPU_THREADS", "2", 1);
    setenv("HIPADAPT_LOG", "0", 1);
    image_make();
    program_register();
    for (int i = 0; i < 2; i++) {
        OK(hipSetDevice(i));
        OK(hipStreamCreate(&streams[i]));
    }
    OK(hipSetDevice(0));
    RUN(launch_of_any_kind_leaves_an_error);
    RUN(launch_in_stream_of_other_device_leaves_it_there);
    RUN(launch_on_several_devices_leaves_it_on_all);
    RUN(capture_of_launch_is_invalid);
    RUN(node_of_graph_leaves_an_error);
    RUN(work_before_the_launch_is_done);
    RUN(questions_and_wrong_arguments_leave_nothing);
    return 0;
}
