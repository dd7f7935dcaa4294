/* SPDX-License-Identifier: MIT */
/* Libraries and their kernels: what they answer, each device's own module, wrong
 * handles, and threads that use and unload them at once. */
#include "cpu_support.h"

static hipLibrary_t
library_new(void)
{
    hipLibrary_t library;
    if (image_bytes == NULL) {
        image_make();
    }
    OK(hipLibraryLoadData(&library, image_bytes, NULL, NULL, 0, NULL, NULL, 0));
    return library;
}

static void
loads_and_enumerates(void)
{
    hipLibrary_t library = library_new(), owner;
    hipKernel_t kernels[16] = {0}, two[3] = {0}, add;
    unsigned count = 0;
    const char *name;

    OK(hipLibraryGetKernelCount(&count, library));
    CHECK(count == 11);
    OK(hipLibraryEnumerateKernels(kernels, 16, library));
    CHECK(kernels[10] != NULL && kernels[11] == NULL);
    OK(hipLibraryEnumerateKernels(two, 2, library));
    CHECK(two[0] == kernels[0] && two[1] == kernels[1] && two[2] == NULL);
    OK(hipLibraryGetKernel(&add, library, "add"));
    CHECK(add == kernels[1]);
    OK(hipKernelGetName(&name, add));
    CHECK(strcmp(name, "add") == 0);
    OK(hipKernelGetLibrary(&owner, add));
    CHECK(owner == library);
    CHECK_HIP(hipLibraryGetKernel(&add, library, "nothing"), hipErrorNotFound);
    CHECK(strstr(hipadaptGetErrorText(), "nothing") != NULL);
    OK(hipLibraryUnload(library));
    CHECK(strcmp(name, "add") == 0); /* still readable */
}

static void
tells_parameters(void)
{
    static const size_t offsets[] = {0, 8, 16, 20, 24}, sizes[] = {1, 8, 2, 4, 8};
    hipLibrary_t library = library_new();
    hipFunction_t function;
    hipKernel_t odd;
    size_t offset = 0, size = 0;
    int kind = -1, value = 0;

    OK(hipLibraryGetKernel(&odd, library, "odd"));
    for (size_t i = 0; i < 5; i++) {
        OK(hipKernelGetParamInfo(odd, i, &offset, &size));
        CHECK(offset == offsets[i] && size == sizes[i]);
    }
    OK(hipKernelGetParamInfo(odd, 2, &offset, NULL));
    CHECK_HIP(hipKernelGetParamInfo(odd, 5, &offset, &size), hipErrorInvalidValue);
    CHECK_HIP(hipKernelGetParamInfo(odd, SIZE_MAX, &offset, &size),
              hipErrorInvalidValue);
    CHECK_HIP(hipKernelGetParamInfo(odd, 0, NULL, &size), hipErrorInvalidValue);

    OK(hipKernelGetFunction(&function, odd));
    OK(hipadaptKernelParam(function, 4, &offset, &size, &kind));
    CHECK(offset == 24 && size == 8 && kind == 1);
    (void)hipGetLastError();
    CHECK(hipadaptKernelParam(function, 5, &offset, &size, &kind) ==
          hipErrorInvalidValue);
    OK(hipGetLastError());
    CHECK_HIP(hipadaptKernelParam((hipFunction_t)odd, 0, &offset, &size, &kind),
              hipErrorInvalidResourceHandle);

    OK(hipKernelGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, odd, 0));
    CHECK(value == 128);
    OK(hipKernelGetAttribute(&value, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, odd, 1));
    CHECK(value == 1024);
    CHECK_HIP(hipKernelGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX, odd, 0),
              hipErrorInvalidValue);
    CHECK_HIP(hipKernelGetAttribute(&value, HIP_FUNC_ATTRIBUTE_NUM_REGS, odd, 2),
              hipErrorInvalidDevice);
    CHECK_HIP(hipKernelGetAttribute(&value, HIP_FUNC_ATTRIBUTE_NUM_REGS, odd, -1),
              hipErrorInvalidDevice);
    OK(hipKernelGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                             odd, 0));
    CHECK(value == 65536 - 1024);
    OK(hipKernelSetAttribute(HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 4096,
                             odd, 0));
    OK(hipKernelGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                             odd, 0));
    CHECK(value == 4096);
    OK(hipKernelGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                             odd, 1));
    CHECK(value == 65536 - 1024); /* each device has its own */
    CHECK_HIP(hipKernelSetAttribute(HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                    1 << 20, odd, 0),
              hipErrorInvalidValue);
    CHECK_HIP(hipKernelSetAttribute(HIP_FUNC_ATTRIBUTE_NUM_REGS, 1, odd, 0),
              hipErrorInvalidValue);
    OK(hipLibraryUnload(library));
}

static int
counter_of(hipLibrary_t library)
{
    void *address;
    size_t size;
    int value;

    OK(hipLibraryGetGlobal(&address, &size, library, "counter"));
    CHECK(size == 16);
    OK(hipMemcpy(&value, address, sizeof value, hipMemcpyDeviceToHost));
    return value;
}

static void
each_device_has_its_own_variables(void)
{
    hipLibrary_t library = library_new();
    hipFunction_t first, second;
    hipKernel_t bump;
    void *address;
    size_t size;

    OK(hipLibraryGetKernel(&bump, library, "bump"));
    OK(hipKernelGetFunction(&first, bump));
    OK(hipModuleLaunchKernel(first, 3, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(hipDeviceSynchronize());
    CHECK(counter_of(library) == 10);
    OK(hipSetDevice(1));
    OK(hipKernelGetFunction(&second, bump));
    CHECK(second != first);
    CHECK(counter_of(library) == 7);

    /* After a reset the device gets a new module. */
    OK(hipModuleLaunchKernel(second, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(hipDeviceSynchronize());
    CHECK(counter_of(library) == 8);
    OK(hipDeviceReset());
    CHECK(counter_of(library) == 7);
    CHECK_HIP(hipModuleLaunchKernel(second, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
              hipErrorInvalidResourceHandle);
    OK(hipSetDevice(0));
    CHECK(counter_of(library) == 10);

    CHECK_HIP(hipLibraryGetGlobal(&address, &size, library, "none"), hipErrorNotFound);
    CHECK_HIP(hipLibraryGetManaged(&address, &size, library, "counter"),
              hipErrorNotFound);
    CHECK_HIP(hipLibraryGetGlobal(NULL, NULL, library, "counter"),
              hipErrorInvalidValue);
    OK(hipLibraryUnload(library));
}

static void
refuses_bad_images(void)
{
    hipLibrary_t library = NULL;
    hipLibraryOption option = hipLibraryBinaryIsPreserved;
    hipLibraryOption wrong = (hipLibraryOption)7;
    unsigned char rubbish[128] = {0x7f, 'E', 'L', 'F'};
    char path[] = "/tmp/hipadapt_test_XXXXXX";

    CHECK_HIP(hipLibraryLoadData(&library, NULL, NULL, NULL, 0, NULL, NULL, 0),
              hipErrorInvalidValue);
    CHECK_HIP(hipLibraryLoadData(NULL, image_bytes, NULL, NULL, 0, NULL, NULL, 0),
              hipErrorInvalidValue);
    CHECK(hipLibraryLoadData(&library, rubbish, NULL, NULL, 0, NULL, NULL, 0) !=
          hipSuccess);
    CHECK_HIP(hipLibraryLoadData(&library, image_bytes, NULL, NULL, 1, NULL, NULL, 0),
              hipErrorInvalidValue);
    CHECK_HIP(hipLibraryLoadData(&library, image_bytes, NULL, NULL, 0, &wrong, NULL, 1),
              hipErrorInvalidValue);
    CHECK(library == NULL);
    OK(hipLibraryLoadData(&library, image_bytes, NULL, NULL, 0, &option, NULL, 1));
    OK(hipLibraryUnload(library));

    int fd = mkstemp(path);
    CHECK(fd >= 0);
    CHECK_HIP(hipLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0),
              hipErrorInvalidImage);
    CHECK(write(fd, image_bytes, image_size) == (ssize_t)image_size);
    close(fd);
    OK(hipLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0));
    OK(hipLibraryUnload(library));
    CHECK(unlink(path) == 0);
    CHECK_HIP(hipLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0),
              hipErrorFileNotFound);
}

/* Every call with a handle that is stale, of another kind, NULL, or made up. */
static void
refuses_wrong_handles(void)
{
    const hipError_t want = hipErrorInvalidResourceHandle;
    hipLibrary_t library = library_new(), stale = library_new(), found;
    hipKernel_t kernel, old, kernels[2];
    hipFunction_t function;
    unsigned count;
    const char *name;
    void *address;
    size_t size;
    int value;

    OK(hipLibraryGetKernel(&kernel, library, "add"));
    OK(hipLibraryGetKernel(&old, stale, "add"));
    OK(hipLibraryUnload(stale));
    const hipLibrary_t libraries[] = {stale, NULL, (hipLibrary_t)kernel,
                                      (hipLibrary_t)(uintptr_t)0x1234,
                                      (hipLibrary_t)((uintptr_t)library ^ 0x100)};
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        hipLibrary_t bad = libraries[i];
        CHECK_HIP(hipLibraryUnload(bad), want);
        CHECK_HIP(hipLibraryGetKernel(&old, bad, "add"), want);
        CHECK_HIP(hipLibraryGetKernelCount(&count, bad), want);
        CHECK_HIP(hipLibraryEnumerateKernels(kernels, 2, bad), want);
        CHECK_HIP(hipLibraryGetGlobal(&address, &size, bad, "counter"), want);
        CHECK_HIP(hipLibraryGetManaged(&address, &size, bad, "counter"), want);
    }
    OK(hipKernelGetFunction(&function, kernel));
    const hipKernel_t bads[] = {old, NULL, (hipKernel_t)library, (hipKernel_t)function,
                                (hipKernel_t)((uintptr_t)kernel + 0x100000000)};
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        hipKernel_t bad = bads[i];
        CHECK_HIP(hipKernelGetFunction(&function, bad), want);
        CHECK_HIP(hipKernelGetLibrary(&found, bad), want);
        CHECK_HIP(hipKernelGetName(&name, bad), want);
        CHECK_HIP(hipKernelGetParamInfo(bad, 0, &size, &size), want);
        CHECK_HIP(hipKernelGetAttribute(&value, HIP_FUNC_ATTRIBUTE_NUM_REGS, bad, 0),
                  want);
        CHECK_HIP(hipKernelSetAttribute(
                      HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 1, bad, 0),
                  want);
    }
    CHECK_HIP(hipModuleUnload((hipModule_t)library), want);
    CHECK_HIP(hipKernelGetFunction(NULL, kernel), hipErrorInvalidValue);
    CHECK_HIP(hipKernelGetName(NULL, kernel), hipErrorInvalidValue);
    CHECK_HIP(hipKernelGetLibrary(NULL, kernel), hipErrorInvalidValue);
    CHECK_HIP(hipLibraryEnumerateKernels(NULL, 1, library), hipErrorInvalidValue);
    CHECK_HIP(hipLibraryEnumerateKernels(kernels, 0, library), hipErrorInvalidValue);
    OK(hipLibraryUnload(library));
}

static void
launched_work_outlives_the_library(void)
{
    hipLibrary_t library = library_new();
    hipKernel_t add;
    hipFunction_t function;
    int *data, host[64];
    int value = 5;
    uint64_t n = 64;

    OK(hipLibraryGetKernel(&add, library, "add"));
    OK(hipKernelGetFunction(&function, add));
    OK(hipMalloc((void **)&data, sizeof host));
    OK(hipMemset(data, 0, sizeof host));
    void *params[] = {&data, &value, &n};
    for (int i = 0; i < 100; i++) {
        OK(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
    }
    OK(hipLibraryUnload(library));
    OK(hipMemcpy(host, data, sizeof host, hipMemcpyDeviceToHost));
    CHECK(host[0] == 500 && host[63] == 500);
    OK(hipFree(data));
}

static hipLibrary_t shared_library;
static hipKernel_t shared_kernel;

static void *
use_thread(void *argument)
{
    int device = (int)(intptr_t)argument % 2;
    OK(hipSetDevice(device));
    for (int i = 0; i < 200; i++) {
        hipFunction_t function;
        size_t offset, size;
        hipError_t code = hipKernelGetFunction(&function, shared_kernel);
        CHECK(code == hipSuccess || code == hipErrorInvalidResourceHandle);
        code = hipKernelGetParamInfo(shared_kernel, 1, &offset, &size);
        CHECK(code == hipErrorInvalidResourceHandle || (size == 4 && offset == 8));
    }
    return NULL;
}

static void
threads_use_and_unload(void)
{
    for (int round = 0; round < 5; round++) {
        pthread_t threads[4];
        shared_library = library_new();
        OK(hipLibraryGetKernel(&shared_kernel, shared_library, "add"));
        for (intptr_t i = 0; i < 4; i++) {
            CHECK(pthread_create(&threads[i], NULL, use_thread, (void *)i) == 0);
        }
        OK(hipLibraryUnload(shared_library));
        for (int i = 0; i < 4; i++) {
            CHECK(pthread_join(threads[i], NULL) == 0);
        }
    }
}

int
main(void)
{
    setenv("HIPADAPT_CPU_DEVICES", "2", 1);
    RUN(loads_and_enumerates);
    RUN(tells_parameters);
    RUN(each_device_has_its_own_variables);
    RUN(refuses_bad_images);
    RUN(refuses_wrong_handles);
    RUN(launched_work_outlives_the_library);
    RUN(threads_use_and_unload);
    return 0;
}
