/* SPDX-License-Identifier: MIT */
/* Modules, launches, faults, time-out and reset of the CPU device. */
#include "cpu_support.h"

static hipError_t
launch(hipFunction_t function, unsigned blocks, unsigned threads, hipStream_t stream,
       void **params)
{
    return hipModuleLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream,
                                 params, NULL);
}

static void
test_add_over_all_blocks(void)
{
    enum { COUNT = 100003 };
    hipModule_t module;
    hipFunction_t add = image_function(&module, "add");
    int *data;
    int *host = malloc(COUNT * sizeof *host);
    int value = 5;
    uint64_t count = COUNT;
    OK(hipMalloc((void **)&data, COUNT * sizeof *data));
    OK(hipMemset(data, 0, COUNT * sizeof *data));
    void *params[] = {&data, &value, &count};
    for (int i = 0; i < 20; i++) {
        OK(launch(add, (COUNT + 127) / 128, 128, NULL, params));
        value = 0; /* the launch has its own copy */
        OK(hipDeviceSynchronize());
        value = 5;
    }
    OK(hipMemcpy(host, data, COUNT * sizeof *data, hipMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++) {
        CHECK(host[i] == 100);
    }
    OK(hipFree(data));
    OK(hipModuleUnload(module));
    free(host);
}

static void
test_arguments(void)
{
    hipModule_t module;
    hipFunction_t odd = image_function(&module, "odd");
    double *out;
    double host[4];
    OK(hipMalloc((void **)&out, sizeof host));
    struct {
        char c;
        double d;
        short s;
        float f;
        double *out;
    } packed = {'x', 2.5, -3, 0.5f, out};
    size_t size = sizeof packed;
    void *extra[] = {(void *)1, &packed, (void *)2, &size, (void *)3};
    OK(hipModuleLaunchKernel(odd, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    OK(hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost));
    CHECK(host[0] == 'x' && host[1] == 2.5 && host[2] == -3 && host[3] == 0.5);
    size = 24;
    CHECK_HIP(hipModuleLaunchKernel(odd, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra),
              hipErrorInvalidValue);
    CHECK(strstr(hipadaptGetErrorText(), "24 bytes") != NULL);
    CHECK(strstr(hipadaptGetErrorText(), "32 bytes") != NULL);
    size = 40;
    CHECK_HIP(hipModuleLaunchKernel(odd, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra),
              hipErrorInvalidValue);
    void *unknown[] = {(void *)9, &packed, (void *)3};
    CHECK_HIP(hipModuleLaunchKernel(odd, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, unknown),
              hipErrorInvalidValue);
    CHECK_HIP(launch(odd, 1, 1, NULL, NULL), hipErrorInvalidValue);
    void *missing[] = {&packed.c, &packed.d, NULL, &packed.f, &packed.out};
    CHECK_HIP(launch(odd, 1, 1, NULL, missing), hipErrorInvalidValue);
    OK(hipFree(out));
    OK(hipModuleUnload(module));
}

static void
test_shapes_are_checked(void)
{
    hipModule_t module;
    hipFunction_t empty = image_function(&module, "empty");
    hipFunction_t odd;
    static const unsigned bad[][7] = {
        /* grid, block, shared */
        {0, 1, 1, 1, 1, 1, 0},
        {1, 0, 1, 1, 1, 1, 0},
        {1, 1, 1, 0, 1, 1, 0},
        {1, 1, 1, 1, 1, 0, 0},
        {1, 1, 1, 1025, 1, 1, 0},
        {1, 1, 1, 33, 32, 1, 0},
        {1, 65536, 1, 1, 1, 1, 0},
        {2147483648u, 1, 1, 1, 1, 1, 0},
        {2147483647, 1, 1, 1024, 1, 1, 0},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_HIP(hipModuleLaunchKernel(empty, bad[i][0], bad[i][1], bad[i][2],
                                        bad[i][3], bad[i][4], bad[i][5], bad[i][6],
                                        NULL, NULL, NULL),
                  hipErrorInvalidConfiguration);
    }
    CHECK_HIP(hipModuleLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 65537, NULL, NULL, NULL),
              hipErrorInvalidValue);
    OK(hipModuleLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 65536, NULL, NULL, NULL));
    OK(hipModuleLaunchKernel(empty, 3, 5, 7, 2, 4, 8, 0, NULL, NULL, NULL));
    OK(hipDeviceSynchronize());
    OK(hipModuleGetFunction(&odd, module, "odd"));
    void *params[5] = {params, params, params, params, params};
    CHECK_HIP(launch(odd, 1, 129, NULL, params), hipErrorInvalidConfiguration);
    int blocks;
    int size;
    OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 256, 0));
    CHECK(blocks == 8);
    OK(hipOccupancyMaxPotentialBlockSize(&blocks, &size, odd, 0, 0));
    CHECK(size == 128 && blocks > 0);
    hipFuncAttributes attributes;
    OK(hipFuncGetAttributes(&attributes, odd));
    CHECK(attributes.maxThreadsPerBlock == 128 && attributes.sharedSizeBytes == 1024);
    OK(hipModuleUnload(module));
}

static void
test_modules_have_their_own_variables(void)
{
    hipModule_t one;
    hipModule_t two;
    hipFunction_t bump = image_function(&one, "bump");
    hipFunction_t other = image_function(&two, "bump");
    hipDeviceptr_t first;
    hipDeviceptr_t second;
    size_t size;
    unsigned count;
    int values[4];
    OK(hipModuleGetGlobal(&first, &size, one, "counter"));
    CHECK(size == sizeof values);
    OK(hipModuleGetGlobal(&second, NULL, two, "counter"));
    CHECK(first != second);
    for (int i = 0; i < 3; i++) {
        OK(launch(bump, 10, 1, NULL, NULL));
    }
    OK(launch(other, 1, 1, NULL, NULL));
    OK(hipMemcpyDtoH(values, first, sizeof values));
    CHECK(values[0] == 37 && values[3] == 10);
    OK(hipMemcpyDtoH(values, second, sizeof values));
    CHECK(values[0] == 8);
    CHECK_HIP(hipMemcpyDtoH(values, first, sizeof values + 1), hipErrorInvalidValue);
    OK(hipModuleGetFunctionCount(&count, one));
    CHECK(count == 11);
    CHECK_HIP(hipModuleGetFunction(&other, one, "none"), hipErrorNotFound);
    CHECK_HIP(hipModuleGetGlobal(&first, &size, one, "none"), hipErrorNotFound);
    OK(hipModuleUnload(one));
    CHECK_HIP(hipModuleUnload(one), hipErrorInvalidResourceHandle);
    CHECK_HIP(launch(bump, 1, 1, NULL, NULL), hipErrorInvalidResourceHandle);
    CHECK_HIP(hipMemcpyDtoH(values, first, sizeof values), hipErrorInvalidValue);
    OK(hipModuleUnload(two));
}

static void
test_bad_images_are_refused(void)
{
    hipModule_t module;
    unsigned char *bytes = malloc(image_size);
    memcpy(bytes, image_bytes, image_size);
    bytes[image_size / 2] ^= 1;
    CHECK_HIP(hipModuleLoadData(&module, bytes), hipErrorInvalidImage);
    memcpy(bytes, "not an image at all, but long enough to be read as one .........",
           64);
    CHECK_HIP(hipModuleLoadData(&module, bytes), hipErrorInvalidImage);
    CHECK_HIP(hipModuleLoadData(&module, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipModuleLoad(&module, "/nowhere/at/all"), hipErrorFileNotFound);
    CHECK_HIP(hipModuleLoad(&module, "/"), hipErrorInvalidImage);
    free(bytes);
}

static void
test_unload_while_it_runs(void)
{
    hipModule_t module;
    hipFunction_t spin = image_function(&module, "spin");
    hipStream_t stream;
    int *stop;
    OK(hipHostMalloc((void **)&stop, sizeof *stop, 0));
    *stop = 0;
    OK(hipStreamCreate(&stream));
    void *params[] = {&stop};
    OK(launch(spin, 1, 1, stream, params));
    CHECK_HIP(hipStreamQuery(stream), hipErrorNotReady);
    OK(hipModuleUnload(module));
    usleep(20000);
    __atomic_store_n(stop, 1, __ATOMIC_SEQ_CST);
    OK(hipStreamSynchronize(stream));
    OK(hipStreamDestroy(stream));
    OK(hipHostFree(stop));
}

static void
test_fault_is_sticky_until_reset(void)
{
    hipModule_t module;
    hipFunction_t crash = image_function(&module, "crash");
    hipStream_t stream;
    hipEvent_t event;
    void *pointer;
    int id;
    OK(hipStreamCreate(&stream));
    OK(hipEventCreate(&event));
    OK(hipMalloc(&pointer, 100));
    OK(launch(crash, 4, 64, stream, NULL));
    OK(hipEventRecord(event, stream) == hipErrorIllegalAddress ? hipSuccess
                                                               : hipSuccess);
    CHECK_HIP(hipDeviceSynchronize(), hipErrorIllegalAddress);
    CHECK(strstr(hipadaptGetErrorText(), "crash") != NULL);
    CHECK_HIP(hipMalloc(&pointer, 100), hipErrorIllegalAddress);
    CHECK_HIP(hipStreamSynchronize(stream), hipErrorIllegalAddress);
    CHECK_HIP(launch(crash, 1, 1, NULL, NULL), hipErrorIllegalAddress);
    OK(hipGetDevice(&id));
    OK(hipSetDevice(1));
    OK(hipMalloc(&pointer, 100)); /* the other device is well */
    OK(hipFree(pointer));
    OK(hipSetDevice(0));
    OK(hipDeviceReset());
    CHECK_HIP(hipStreamSynchronize(stream), hipErrorContextIsDestroyed);
    CHECK_HIP(hipEventQuery(event), hipErrorInvalidHandle);
    CHECK_HIP(hipModuleUnload(module), hipErrorInvalidResourceHandle);
    CHECK_HIP(launch(crash, 1, 1, NULL, NULL), hipErrorInvalidResourceHandle);
    OK(hipMalloc(&pointer, 100));
    OK(hipFree(pointer));
}

static int calls;

static void
count_call(void *argument)
{
    (void)argument;
    calls++;
}

static hipError_t told;

static void
note_status(hipStream_t stream, hipError_t status, void *data)
{
    (void)stream;
    (void)data;
    told = status;
}

static void
test_fault_drops_queued_work(void)
{
    hipModule_t module;
    hipFunction_t crash = image_function(&module, "crash");
    int *pinned;
    OK(hipHostMalloc((void **)&pinned, sizeof *pinned, 0));
    *pinned = 7;
    OK(launch(crash, 1, 1, NULL, NULL));
    /* Either these are queued behind the fault, or they are refused because of it. */
    (void)hipMemsetAsync(pinned, 0, sizeof *pinned, NULL);
    (void)hipLaunchHostFunc(NULL, count_call, NULL);
    bool queued = hipStreamAddCallback(NULL, note_status, NULL, 0) == hipSuccess;
    CHECK_HIP(hipDeviceSynchronize(), hipErrorIllegalAddress);
    CHECK(*pinned == 7);
    CHECK(calls == 0);
    CHECK(!queued || told == hipErrorIllegalAddress);
    OK(hipDeviceReset());
    OK(hipHostFree(pinned));
}

static void
test_endless_kernel_times_out(void)
{
    hipModule_t module;
    hipFunction_t spin = image_function(&module, "spin");
    int *stop;
    OK(hipHostMalloc((void **)&stop, sizeof *stop, 0));
    *stop = 0;
    void *params[] = {&stop};
    uint64_t begin_ns = ha_clock_ns();
    OK(launch(spin, 3, 2, NULL, params));
    CHECK_HIP(hipDeviceSynchronize(), hipErrorLaunchTimeOut);
    uint64_t passed_ns = ha_clock_ns() - begin_ns;
    CHECK(passed_ns > 900000000u && passed_ns < 2500000000u);
    CHECK(strstr(hipadaptGetErrorText(), "'spin'") != NULL);
    OK(hipDeviceReset());
    OK(hipHostFree(stop));
}

static void
test_reset_ends_running_kernels(void)
{
    hipModule_t module;
    hipFunction_t spin = image_function(&module, "spin");
    int *stop;
    OK(hipHostMalloc((void **)&stop, sizeof *stop, 0));
    *stop = 0;
    void *params[] = {&stop};
    OK(launch(spin, 1, 1, NULL, params));
    OK(launch(spin, 1, 1, NULL, params));
    usleep(10000);
    uint64_t begin_ns = ha_clock_ns();
    OK(hipDeviceReset());
    CHECK(ha_clock_ns() - begin_ns < 500000000u);
    OK(hipDeviceSynchronize());
    OK(hipHostFree(stop));
}

static int interrupts;

static int
interrupt_check(void)
{
    return ++interrupts >= 2;
}

static void
test_wait_can_be_interrupted(void)
{
    hipModule_t module;
    hipFunction_t spin = image_function(&module, "spin");
    int *stop;
    OK(hipHostMalloc((void **)&stop, sizeof *stop, 0));
    *stop = 0;
    void *params[] = {&stop};
    OK(launch(spin, 1, 1, NULL, params));
    hipadaptSetInterruptCheck(interrupt_check);
    uint64_t begin_ns = ha_clock_ns();
    CHECK_HIP(hipDeviceSynchronize(), hipErrorNotReady);
    CHECK(ha_clock_ns() - begin_ns < 400000000u);
    int host = 1;
    int *device;
    OK(hipMalloc((void **)&device, sizeof host));
    *device = 5;
    CHECK_HIP(hipMemcpy(device, &host, sizeof host, hipMemcpyHostToDevice),
              hipErrorNotReady);
    hipadaptSetInterruptCheck(NULL);
    __atomic_store_n(stop, 1, __ATOMIC_SEQ_CST);
    OK(hipDeviceSynchronize());
    CHECK(*device == 5); /* the copy was taken out of the queue */
    OK(hipFree(device));
    OK(hipHostFree(stop));
    OK(hipModuleUnload(module));
}

int
main(void)
{
    setenv("HIPADAPT_CPU_DEVICES", "2", 1);
    setenv("HIPADAPT_KERNEL_TIMEOUT", "1", 1);
    setenv("HIPADAPT_LOG", "0", 1);
    RUN(test_add_over_all_blocks);
    RUN(test_arguments);
    RUN(test_shapes_are_checked);
    RUN(test_modules_have_their_own_variables);
    RUN(test_bad_images_are_refused);
    RUN(test_unload_while_it_runs);
    RUN(test_wait_can_be_interrupted);
    RUN(test_fault_is_sticky_until_reset);
    RUN(test_fault_drops_queued_work);
    if (CAN_END_KERNELS) {
        RUN(test_endless_kernel_times_out);
        RUN(test_reset_ends_running_kernels);
    }
    return 0;
}
