/* SPDX-License-Identifier: MIT */
/* External memory: files in memory as memory of the device. */
#include <fcntl.h>
#include <sys/mman.h>

#include "cpu_support.h"

#define BYTES ((size_t)3 * 4096 + 100)

/* A file in memory of BYTES bytes, with these seals. */
static int
file_new(int seals)
{
    int file = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    CHECK(file >= 0 && ftruncate(file, (off_t)BYTES) == 0);
    CHECK(fcntl(file, F_ADD_SEALS, seals) == 0);
    return file;
}

static hipExternalMemoryHandleDesc
description(int file, size_t size)
{
    hipExternalMemoryHandleDesc desc;
    memset(&desc, 0, sizeof desc);
    desc.type = hipExternalMemoryHandleTypeOpaqueFd;
    desc.handle.fd = file;
    desc.size = size;
    return desc;
}

static hipExternalMemory_t
import(int file, size_t size)
{
    hipExternalMemory_t memory;
    hipExternalMemoryHandleDesc desc = description(file, size);
    OK(hipImportExternalMemory(&memory, &desc));
    return memory;
}

static hipError_t
map(hipExternalMemory_t memory, size_t offset, size_t size, unsigned char **ptr)
{
    hipExternalMemoryBufferDesc desc;
    memset(&desc, 0, sizeof desc);
    desc.offset = offset;
    desc.size = size;
    return hipExternalMemoryGetMappedBuffer((void **)ptr, memory, &desc);
}

static void
test_device_and_file_are_the_same_bytes(void)
{
    int file = file_new(F_SEAL_SHRINK);
    unsigned char *host =
        mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    unsigned char *all;
    unsigned char *part;
    unsigned char byte = 0;
    CHECK(host != MAP_FAILED);
    hipExternalMemory_t memory = import(file, BYTES);
    OK(map(memory, 0, BYTES, &all));
    OK(map(memory, 5000, 5100, &part));
    host[5000] = 41;
    OK(hipMemcpy(&byte, part, 1, hipMemcpyDeviceToHost));
    CHECK(byte == 41);
    OK(hipMemset(part + 5099, 42, 1));
    CHECK(host[10099] == 42);
    OK(hipMemcpy(&byte, all + 10099, 1, hipMemcpyDeviceToHost));
    CHECK(byte == 42);
    CHECK_HIP(hipMemset(part, 0, 5101), hipErrorInvalidValue);

    hipModule_t module;
    hipFunction_t add = image_function(&module, "add");
    int value = 7;
    uint64_t count = BYTES / sizeof(int);
    void *arguments[] = {&all, &value, &count};
    memset(host, 0, BYTES);
    OK(hipModuleLaunchKernel(add, 13, 1, 1, 256, 1, 1, 0, NULL, arguments, NULL));
    OK(hipDeviceSynchronize());
    CHECK(((int *)(void *)host)[count - 1] == 7);
    OK(hipModuleUnload(module));
    OK(hipFree(all));
    OK(hipFree(part));
    OK(hipDestroyExternalMemory(memory));
    munmap(host, BYTES);
    close(file);
}

static void
test_buffers_outlive_memory_and_descriptor(void)
{
    int file = file_new(F_SEAL_SHRINK | F_SEAL_GROW);
    unsigned char *ptr;
    hipPointerAttribute_t attributes;
    size_t size = 0;
    hipExternalMemory_t memory = import(file, BYTES);
    close(file);
    OK(map(memory, 16, 100, &ptr));
    OK(hipDestroyExternalMemory(memory));
    OK(hipPointerGetAttributes(&attributes, ptr + 99));
    CHECK(attributes.type == hipMemoryTypeDevice && attributes.device == 0);
    OK(hipMemPtrGetInfo(ptr, &size));
    CHECK(size == 100);
    OK(hipMemset(ptr, 1, 100));
    CHECK_HIP(hipFree(ptr + 1), hipErrorInvalidValue);
    CHECK_HIP(hipHostFree(ptr), hipErrorInvalidValue);
    OK(hipFreeAsync(ptr, NULL));
    OK(hipStreamSynchronize(NULL));
    CHECK_HIP(hipMemset(ptr, 1, 100), hipErrorInvalidValue);
    CHECK_HIP(hipFree(ptr), hipErrorInvalidValue);
}

static void
test_reset_unmaps_buffers(void)
{
    int file = file_new(F_SEAL_SHRINK);
    unsigned char *first;
    unsigned char *second;
    hipExternalMemory_t memory = import(file, BYTES);
    OK(hipSetDevice(1));
    OK(map(memory, 0, 10, &second));
    OK(hipSetDevice(0));
    OK(map(memory, 0, 10, &first));
    OK(hipDeviceReset());
    CHECK_HIP(hipMemset(first, 1, 10), hipErrorInvalidValue);
    OK(hipMemset(second, 1, 10));
    OK(map(memory, 0, 10, &first));
    OK(hipFree(first));
    OK(hipFree(second));
    OK(hipDestroyExternalMemory(memory));
    close(file);
}

static void
test_allocation_of_hipMemCreate_can_be_imported(void)
{
    hipMemGenericAllocationHandle_t allocation;
    hipMemAllocationProp prop;
    size_t unit;
    int file = -1;
    unsigned char *ptr;
    memset(&prop, 0, sizeof prop);
    prop.type = hipMemAllocationTypePinned;
    prop.requestedHandleTypes = hipMemHandleTypePosixFileDescriptor;
    prop.location.type = hipMemLocationTypeDevice;
    OK(hipMemGetAllocationGranularity(&unit, &prop,
                                      hipMemAllocationGranularityMinimum));
    OK(hipMemCreate(&allocation, unit, &prop, 0));
    OK(hipMemExportToShareableHandle(&file, allocation,
                                     hipMemHandleTypePosixFileDescriptor, 0));
    hipExternalMemory_t memory = import(file, unit);
    OK(map(memory, 0, unit, &ptr));
    OK(hipMemset(ptr, 1, unit));
    OK(hipFree(ptr));
    OK(hipDestroyExternalMemory(memory));
    OK(hipMemRelease(allocation));
    close(file);
}

/* ---- what is refused ---- */

static void
refused(int file, size_t size)
{
    hipExternalMemory_t memory = NULL;
    hipExternalMemoryHandleDesc desc = description(file, size);
    CHECK_HIP(hipImportExternalMemory(&memory, &desc), hipErrorInvalidValue);
    CHECK(memory == NULL);
}

static void
test_files_that_can_lose_pages_are_refused(void)
{
    char path[64];
    int plain = file_new(0);
    int good = file_new(F_SEAL_SHRINK);
    int null = open("/dev/null", O_RDWR);
    int ends[2];
    snprintf(path, sizeof path, "/proc/self/fd/%d", good);
    int readable = open(path, O_RDONLY);
    CHECK(null >= 0 && readable >= 0 && pipe(ends) == 0);
    refused(plain, BYTES);
    refused(null, 1);
    refused(ends[0], 1);
    refused(readable, BYTES);
    refused(good, BYTES + 1);
    refused(good, SIZE_MAX);
    refused(-1, 1);
    refused(100000, 1);
    close(ends[0]);
    close(ends[1]);
    close(readable);
    close(null);
    close(plain);
    refused(plain, BYTES);
    close(good);
}

static void
test_bad_arguments(void)
{
    int file = file_new(F_SEAL_SHRINK);
    hipExternalMemory_t memory = import(file, BYTES);
    hipExternalMemory_t none;
    hipExternalMemoryHandleDesc desc = description(file, 0);
    hipExternalMemoryBufferDesc part;
    unsigned char *ptr = NULL;
    void *place;
    CHECK_HIP(hipImportExternalMemory(&none, &desc), hipErrorInvalidValue);
    desc = description(file, BYTES);
    CHECK_HIP(hipImportExternalMemory(NULL, &desc), hipErrorInvalidValue);
    CHECK_HIP(hipImportExternalMemory(&none, NULL), hipErrorInvalidValue);
    desc.flags = 2;
    CHECK_HIP(hipImportExternalMemory(&none, &desc), hipErrorInvalidValue);
    desc.flags = 1; /* hipExternalMemoryDedicated */
    OK(hipImportExternalMemory(&none, &desc));
    OK(hipDestroyExternalMemory(none));
    for (int type = -1; type < 12; type++) {
        desc.type = (hipExternalMemoryHandleType)type;
        if (type != hipExternalMemoryHandleTypeOpaqueFd) {
            CHECK_HIP(hipImportExternalMemory(&none, &desc),
                      type >= 2 && type <= 8 ? hipErrorNotSupported
                                             : hipErrorInvalidValue);
        }
    }
    CHECK_HIP(map(memory, 0, 0, &ptr), hipErrorInvalidValue);
    CHECK_HIP(map(memory, 0, BYTES + 1, &ptr), hipErrorInvalidValue);
    CHECK_HIP(map(memory, BYTES, 1, &ptr), hipErrorInvalidValue);
    CHECK_HIP(map(memory, 1, SIZE_MAX, &ptr), hipErrorInvalidValue);
    CHECK_HIP(map(memory, SIZE_MAX, 2, &ptr), hipErrorInvalidValue);
    CHECK_HIP(map(memory, 0, 1, NULL), hipErrorInvalidValue);
    memset(&part, 0, sizeof part);
    part.size = 1;
    part.flags = 1;
    CHECK_HIP(hipExternalMemoryGetMappedBuffer(&place, memory, &part),
              hipErrorInvalidValue);
    CHECK_HIP(hipExternalMemoryGetMappedBuffer(&place, memory, NULL),
              hipErrorInvalidValue);
    CHECK(ptr == NULL);
    OK(hipDestroyExternalMemory(memory));
    CHECK_HIP(hipDestroyExternalMemory(memory), hipErrorInvalidValue);
    CHECK_HIP(hipDestroyExternalMemory(NULL), hipErrorInvalidValue);
    CHECK_HIP(hipDestroyExternalMemory(&file), hipErrorInvalidValue);
    CHECK_HIP(map(memory, 0, 1, &ptr), hipErrorInvalidValue);
    close(file);
}

/* ---- threads ---- */

static hipExternalMemory_t common;
static _Atomic int destroying;

static void *
churn(void *unused)
{
    unsigned char *ptr;
    (void)unused;
    for (int i = 0; i < 500; i++) {
        hipError_t code = map(common, (size_t)i, 300, &ptr);
        CHECK(code == hipSuccess || (code == hipErrorInvalidValue && destroying));
        if (code == hipSuccess) {
            OK(hipMemset(ptr, i, 300));
            OK(hipFree(ptr));
        }
        if (i == 250) {
            destroying = 1;
            (void)hipDestroyExternalMemory(common);
        }
    }
    return NULL;
}

static void
test_threads_map_and_destroy(void)
{
    pthread_t threads[4];
    int file = file_new(F_SEAL_SHRINK);
    common = import(file, BYTES);
    close(file);
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_create(&threads[i], NULL, churn, NULL) == 0);
    }
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    CHECK_HIP(hipDestroyExternalMemory(common), hipErrorInvalidValue);
}

int
main(void)
{
    setenv("HIPADAPT_CPU_DEVICES", "2", 1);
    RUN(test_device_and_file_are_the_same_bytes);
    RUN(test_buffers_outlive_memory_and_descriptor);
    RUN(test_reset_unmaps_buffers);
    RUN(test_allocation_of_hipMemCreate_can_be_imported);
    RUN(test_files_that_can_lose_pages_are_refused);
    RUN(test_bad_arguments);
    RUN(test_threads_map_and_destroy);
    return 0;
}
