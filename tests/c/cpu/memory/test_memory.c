/* SPDX-License-Identifier: MIT */
/* Device, memory, copies and fills of the CPU device, one thread. */
#include "cpu_support.h"

static void
test_device_is_honest(void)
{
    hipDeviceProp_t properties;
    char name[256];
    int count;
    int value;
    OK(hipGetDeviceCount(&count));
    CHECK(count == 2);
    OK(hipGetDeviceProperties(&properties, 0));
    CHECK(strncmp(properties.name, "hipadapt CPU device", 19) == 0);
    CHECK(strncmp(properties.gcnArchName, "gfx", 3) == 0);
    CHECK(properties.warpSize == 32 && properties.maxThreadsPerBlock == 1024);
    OK(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 1));
    CHECK(value == 32);
    OK(hipDeviceGetName(name, sizeof name, 0));
    CHECK(strcmp(name, properties.name) == 0);
    CHECK_HIP(hipGetDeviceProperties(&properties, 2), hipErrorInvalidDevice);
    CHECK_HIP(hipDeviceGetAttribute(&value, (hipDeviceAttribute_t)4242, 0),
              hipErrorInvalidValue);
    CHECK_HIP(hipSetDevice(-1), hipErrorInvalidDevice);
    CHECK(hipGetLastError() == hipErrorInvalidDevice);
    CHECK(hipGetLastError() == hipSuccess);
}

static void
test_malloc_sizes(void)
{
    static const size_t sizes[] = {1,      255,    256,    257,     4096,    65536,
                                   262128, 262144, 262145, 1 << 20, 5 << 20, 64 << 20};
    void *pointers[12];
    size_t free_before;
    size_t free_after;
    size_t total;
    OK(hipMemGetInfo(&free_before, &total));
    CHECK(total >= free_before);
    for (int i = 0; i < 12; i++) {
        hipPointerAttribute_t attributes;
        hipDeviceptr_t base;
        size_t size;
        OK(hipMalloc(&pointers[i], sizes[i]));
        CHECK((uintptr_t)pointers[i] % 256 == 0);
        OK(hipMemset(pointers[i], i, sizes[i]));
        char *last = (char *)pointers[i] + sizes[i] - 1;
        CHECK(*last == i);
        OK(hipPointerGetAttributes(&attributes, last));
        CHECK(attributes.type == hipMemoryTypeDevice && attributes.device == 0);
        OK(hipMemGetAddressRange(&base, &size, last));
        CHECK(base == pointers[i] && size == sizes[i]);
        CHECK_HIP(hipMemset(pointers[i], 0, sizes[i] + 1), hipErrorInvalidValue);
        OK(hipMemset(pointers[i], 0, sizes[i]));
    }
    OK(hipMemGetInfo(&free_after, &total));
    CHECK(free_after < free_before);
    for (int i = 0; i < 12; i++) {
        CHECK_HIP(hipFree((char *)pointers[i] + 1), hipErrorInvalidValue);
        OK(hipFree(pointers[i]));
        CHECK_HIP(hipFree(pointers[i]), hipErrorInvalidValue);
    }
    OK(hipMemGetInfo(&free_after, &total));
    CHECK(free_after == free_before);
    OK(hipFree(NULL));
}

static void
test_malloc_refuses_what_there_is_not(void)
{
    void *pointer = &pointer;
    size_t free_bytes;
    size_t total;
    OK(hipMemGetInfo(&free_bytes, &total));
    size_t only = 0;
    OK(hipMemGetInfo(&only, NULL));
    CHECK(only == free_bytes);
    OK(hipMemGetInfo(NULL, &only));
    CHECK(only == total);
    CHECK_HIP(hipMalloc(&pointer, total + 1), hipErrorOutOfMemory);
    CHECK_HIP(hipMalloc(&pointer, SIZE_MAX), hipErrorOutOfMemory);
    CHECK_HIP(hipMalloc(&pointer, SIZE_MAX - 300), hipErrorOutOfMemory);
    CHECK(pointer == &pointer);
    CHECK_HIP(hipMalloc(NULL, 1), hipErrorInvalidValue);
    OK(hipMalloc(&pointer, 0));
    CHECK(pointer == NULL);
    CHECK_HIP(hipHostMalloc(&pointer, 1, 0x8), hipErrorInvalidValue);
    CHECK_HIP(hipMallocManaged(&pointer, 16, 7), hipErrorInvalidValue);
    size_t pitch;
    hipPitchedPtr pitched;
    CHECK_HIP(hipMallocPitch(&pointer, &pitch, SIZE_MAX, 2), hipErrorOutOfMemory);
    CHECK_HIP(hipMallocPitch(&pointer, &pitch, SIZE_MAX / 2, 4), hipErrorOutOfMemory);
    CHECK_HIP(hipMalloc3D(&pitched, (hipExtent){4, SIZE_MAX, 2}), hipErrorOutOfMemory);
    CHECK_HIP(hipExtMallocWithFlags(&pointer, 16, hipMallocSignalMemory),
              hipErrorInvalidValue);
    OK(hipExtMallocWithFlags(&pointer, 8, hipMallocSignalMemory));
    OK(hipFree(pointer));
}

static void
test_write_past_the_end_is_told(void)
{
    char *pointer;
    OK(hipMalloc((void **)&pointer, 1000));
    pointer[1000] = 1;
    CHECK_HIP(hipFree(pointer), hipErrorIllegalAddress);
    CHECK(strstr(hipadaptGetErrorText(), "past the end of the 1000 bytes") != NULL);
    (void)hipGetLastError();
}

static void
test_copies(void)
{
    static int source[1000];
    static int target[1000];
    int *device;
    for (int i = 0; i < 1000; i++) {
        source[i] = i * i;
    }
    OK(hipMalloc((void **)&device, sizeof source));
    OK(hipMemcpy(device, source, sizeof source, hipMemcpyHostToDevice));
    OK(hipMemcpy(target, device, sizeof source, hipMemcpyDeviceToHost));
    CHECK(memcmp(source, target, sizeof source) == 0);
    memset(target, 0, sizeof target);
    OK(hipMemcpyDtoH(target, device + 10, 40));
    CHECK(target[9] == 19 * 19 && target[10] == 0);
    CHECK_HIP(hipMemcpyDtoH(target, source, 4), hipErrorInvalidValue);
    CHECK_HIP(hipMemcpy(device + 1, source, sizeof source, hipMemcpyHostToDevice),
              hipErrorInvalidValue);
    CHECK(strstr(hipadaptGetErrorText(), "4000 bytes") != NULL);
    CHECK(strstr(hipadaptGetErrorText(), "3996 bytes") != NULL);
    CHECK_HIP(hipMemcpy(device, source, SIZE_MAX, hipMemcpyHostToDevice),
              hipErrorInvalidValue);
    CHECK_HIP(hipMemcpy(device, source, 4, (hipMemcpyKind)9),
              hipErrorInvalidMemcpyDirection);
    CHECK_HIP(hipMemcpy(NULL, source, 4, hipMemcpyDefault), hipErrorInvalidValue);
    OK(hipMemcpy(NULL, NULL, 0, hipMemcpyDefault));
    OK(hipFree(device));
}

static void
test_copies_of_rows(void)
{
    static char source[64 * 100];
    static char target[64 * 100];
    char *device;
    size_t pitch;
    for (size_t i = 0; i < sizeof source; i++) {
        source[i] = (char)(i * 7);
    }
    OK(hipMallocPitch((void **)&device, &pitch, 100, 64));
    CHECK(pitch == 256);
    OK(hipMemcpy2D(device, pitch, source, 100, 100, 64, hipMemcpyHostToDevice));
    OK(hipMemcpy2D(target, 100, device, pitch, 100, 64, hipMemcpyDeviceToHost));
    CHECK(memcmp(source, target, sizeof source) == 0);
    OK(hipMemset2D(device, pitch, 5, 50, 64));
    CHECK(device[49] == 5 && device[50] == source[50] && device[63 * pitch + 49] == 5);
    CHECK_HIP(hipMemcpy2D(device, 99, source, 100, 100, 64, hipMemcpyHostToDevice),
              hipErrorInvalidPitchValue);
    CHECK_HIP(hipMemset2D(device, 49, 5, 50, 64), hipErrorInvalidValue);
    CHECK_HIP(hipMemcpy2D(device, pitch, source, 100, 100, 65, hipMemcpyHostToDevice),
              hipErrorInvalidValue);
    CHECK_HIP(hipMemcpy2D(device, pitch, source, 100, 100, SIZE_MAX / 50,
                          hipMemcpyHostToDevice),
              hipErrorInvalidValue);
    hip_Memcpy2D what = {.srcXInBytes = 10,
                         .srcY = 2,
                         .srcMemoryType = hipMemoryTypeHost,
                         .srcHost = source,
                         .srcPitch = 100,
                         .dstMemoryType = hipMemoryTypeDevice,
                         .dstDevice = device,
                         .dstPitch = pitch,
                         .WidthInBytes = 20,
                         .Height = 3};
    OK(hipMemcpyParam2D(&what));
    CHECK(memcmp(device + 2 * pitch, source + 4 * 100 + 10, 20) == 0);
    what.dstPitch = 19;
    CHECK_HIP(hipMemcpyParam2D(&what), hipErrorInvalidValue);
    HIP_MEMCPY3D solid = {.srcMemoryType = hipMemoryTypeHost,
                          .srcHost = source,
                          .srcPitch = 99,
                          .srcHeight = 2,
                          .dstMemoryType = hipMemoryTypeDevice,
                          .dstDevice = device,
                          .dstPitch = pitch,
                          .dstHeight = 2,
                          .WidthInBytes = 100,
                          .Height = 2,
                          .Depth = 2};
    CHECK_HIP(hipDrvMemcpy3D(&solid), hipErrorInvalidValue);
    hipPointer_attribute attribute = HIP_POINTER_ATTRIBUTE_MEMORY_TYPE;
    int type;
    void *data = &type;
    CHECK_HIP(hipDrvPointerGetAttributes(1, &attribute, &data, NULL),
              hipErrorInvalidValue);
    OK(hipFree(device));
}

static void
test_fills(void)
{
    uint32_t *device;
    OK(hipMalloc((void **)&device, 4000));
    OK(hipMemsetD32(device, -2, 1000));
    CHECK(device[0] == 0xfffffffeu && device[999] == 0xfffffffeu);
    OK(hipMemsetD16((char *)device + 2, 0x1234, 1));
    CHECK(device[0] == 0x1234fffeu);
    OK(hipMemsetD8(device, 1, 1));
    CHECK(device[0] == 0x1234ff01u);
    CHECK_HIP(hipMemsetD32(device, 0, 1001), hipErrorInvalidValue);
    CHECK_HIP(hipMemsetD32(device, 0, SIZE_MAX / 4 + 2), hipErrorInvalidValue);
    CHECK_HIP(hipMemsetD32((char *)device + 1, 0, 1), hipErrorInvalidValue);
    uint32_t host;
    CHECK_HIP(hipMemset(&host, 0, 4), hipErrorInvalidValue);
    OK(hipFree(device));
}

static void
test_big_copy_in_chunks(void)
{
    size_t size = ((size_t)33 << 20) + 12345;
    unsigned char *source = malloc(size);
    unsigned char *target = malloc(size);
    unsigned char *device;
    CHECK(source != NULL && target != NULL);
    uint64_t state = 1;
    for (size_t i = 0; i < size; i++) {
        source[i] = (unsigned char)random_next(&state);
    }
    memset(target, 0, size);
    OK(hipMalloc((void **)&device, size));
    OK(hipMemcpy(device, source, size, hipMemcpyHostToDevice));
    OK(hipMemcpyAsync(target, device, size, hipMemcpyDeviceToHost, NULL));
    OK(hipStreamSynchronize(NULL));
    CHECK(memcmp(source, target, size) == 0);
    OK(hipMemset2D(device, 4096, 3, 4000, size / 4096));
    OK(hipMemcpy2D(target, 4000, device, 4096, 4000, size / 4096, hipMemcpyDefault));
    for (size_t i = 0; i < 4000 * (size / 4096); i++) {
        CHECK(target[i] == 3);
    }
    CHECK(device[4000] == source[4000]);
    OK(hipFree(device));
    free(source);
    free(target);
}

static void
test_host_memory(void)
{
    char *pinned;
    char plain[512];
    void *device;
    unsigned flags;
    hipPointerAttribute_t attributes;
    OK(hipHostMalloc((void **)&pinned, 100, hipHostMallocMapped));
    OK(hipPointerGetAttributes(&attributes, pinned + 5));
    CHECK(attributes.type == hipMemoryTypeHost && attributes.hostPointer == pinned + 5);
    OK(hipHostGetDevicePointer(&device, pinned, 0));
    OK(hipHostGetFlags(&flags, pinned));
    CHECK(flags == hipHostMallocMapped);
    OK(hipHostFree(pinned));
    CHECK_HIP(hipHostFree(pinned), hipErrorInvalidValue);
    OK(hipPointerGetAttributes(&attributes, plain));
    CHECK(attributes.type == hipMemoryTypeUnregistered);
    OK(hipHostRegister(plain, sizeof plain, 0));
    CHECK_HIP(hipHostRegister(plain + 10, 10, 0), hipErrorHostMemoryAlreadyRegistered);
    OK(hipPointerGetAttributes(&attributes, plain + 511));
    CHECK(attributes.type == hipMemoryTypeHost);
    OK(hipPointerGetAttributes(&attributes, plain + 512));
    CHECK(attributes.type == hipMemoryTypeUnregistered);
    OK(hipHostUnregister(plain));
    CHECK_HIP(hipHostUnregister(plain), hipErrorHostMemoryNotRegistered);
    OK(hipMallocManaged((void **)&pinned, 100, hipMemAttachGlobal));
    bool managed;
    OK(hipPointerGetAttribute(&managed, HIP_POINTER_ATTRIBUTE_IS_MANAGED, pinned));
    CHECK(managed);
    OK(hipFree(pinned));
}

static void
test_many_allocations(void)
{
    enum { COUNT = 20000 };
    static char *pointers[COUNT];
    static size_t sizes[COUNT];
    uint64_t state = 7;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < COUNT; i++) {
            if (pointers[i] != NULL && random_next(&state) % 2 == 0) {
                CHECK(pointers[i][0] == (char)i &&
                      pointers[i][sizes[i] - 1] == (char)i);
                OK(hipFree(pointers[i]));
                pointers[i] = NULL;
            } else if (pointers[i] == NULL) {
                sizes[i] = 1 + random_next(&state) % 3000;
                OK(hipMalloc((void **)&pointers[i], sizes[i]));
                pointers[i][0] = (char)i;
                pointers[i][sizes[i] - 1] = (char)i;
            }
        }
    }
    for (int i = 0; i < COUNT; i++) {
        hipDeviceptr_t base;
        size_t size;
        if (pointers[i] == NULL) {
            continue;
        }
        OK(hipMemGetAddressRange(&base, &size, pointers[i] + sizes[i] / 2));
        CHECK(base == pointers[i] && size == sizes[i]);
    }
    OK(hipDeviceReset());
    for (int i = 0; i < COUNT; i++) {
        if (pointers[i] != NULL) {
            CHECK_HIP(hipFree(pointers[i]), hipErrorInvalidValue);
        }
    }
    size_t free_bytes;
    size_t total;
    OK(hipMemGetInfo(&free_bytes, &total));
    CHECK(free_bytes == total);
}

/* ---- pageable memory ---- */

static void
nap(void *unused)
{
    (void)unused;
    usleep(30000);
}

static void
test_pageable_source_is_read_when_an_asynchronous_copy_returns(void)
{
    enum { ROW = 40, ROWS = 30 };
    unsigned char source[ROWS][ROW];
    unsigned char back[ROWS * ROW / 2];
    unsigned char *ptr;
    hipStream_t stream;
    OK(hipMalloc((void **)&ptr, sizeof source));
    OK(hipStreamCreate(&stream));
    for (int rows = 1; rows <= ROWS; rows += ROWS - 1) {
        memset(source, 5, sizeof source);
        close_gate(stream);
        OK(hipMemcpy2DAsync(ptr, ROW / 2, source, ROW, ROW / 2, (size_t)rows,
                            hipMemcpyHostToDevice, stream));
        memset(source, 6, sizeof source);
        gate_open = 1;
        OK(hipStreamSynchronize(stream));
        size_t bytes = (size_t)rows * ROW / 2;
        OK(hipMemcpy(back, ptr, bytes, hipMemcpyDeviceToHost));
        for (size_t i = 0; i < bytes; i++) {
            CHECK(back[i] == 5);
        }
        OK(hipMemset(ptr, 0, sizeof source));
    }
    OK(hipStreamDestroy(stream));
    OK(hipFree(ptr));
}

static void
test_pageable_memory_of_any_size_is_done_with_when_the_copy_returns(void)
{
    const size_t bytes = (size_t)3 << 20;
    unsigned char *host = malloc(bytes);
    unsigned char *ptr;
    hipStream_t stream;
    CHECK(host != NULL);
    memset(host, 7, bytes);
    OK(hipMalloc((void **)&ptr, bytes));
    OK(hipStreamCreate(&stream));
    OK(hipLaunchHostFunc(stream, nap, NULL));
    OK(hipMemcpyAsync(ptr, host, bytes, hipMemcpyHostToDevice, stream));
    memset(host, 0, bytes);
    OK(hipLaunchHostFunc(stream, nap, NULL));
    OK(hipMemcpyAsync(host, ptr, bytes, hipMemcpyDefault, stream));
    for (size_t i = 0; i < bytes; i += 1001) {
        CHECK(host[i] == 7);
    }
    free(host);
    OK(hipStreamDestroy(stream));
    OK(hipFree(ptr));
}

static void
test_pinned_memory_is_copied_behind_the_call(void)
{
    int *host;
    int *ptr;
    hipStream_t stream;
    OK(hipHostMalloc((void **)&host, sizeof *host, 0));
    OK(hipMalloc((void **)&ptr, sizeof *ptr));
    OK(hipStreamCreate(&stream));
    *host = 1;
    close_gate(stream);
    OK(hipMemcpyAsync(ptr, host, sizeof *ptr, hipMemcpyHostToDevice, stream));
    *host = 2;
    gate_open = 1;
    OK(hipStreamSynchronize(stream));
    OK(hipMemcpy(host, ptr, sizeof *ptr, hipMemcpyDeviceToHost));
    CHECK(*host == 2);
    OK(hipStreamDestroy(stream));
    OK(hipFree(ptr));
    OK(hipHostFree(host));
}

int
main(void)
{
    setenv("HIPADAPT_CPU_DEVICES", "2", 1);
    RUN(test_device_is_honest);
    RUN(test_malloc_sizes);
    RUN(test_malloc_refuses_what_there_is_not);
    RUN(test_write_past_the_end_is_told);
    RUN(test_copies);
    RUN(test_copies_of_rows);
    RUN(test_fills);
    RUN(test_big_copy_in_chunks);
    RUN(test_host_memory);
    RUN(test_many_allocations);
    RUN(test_pageable_source_is_read_when_an_asynchronous_copy_returns);
    RUN(test_pageable_memory_of_any_size_is_done_with_when_the_copy_returns);
    RUN(test_pinned_memory_is_copied_behind_the_call);
    return 0;
}
