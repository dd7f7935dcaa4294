/* SPDX-License-Identifier: MIT */
/* Virtual memory management: reserve, create, map, give access, and back. */
#include <fcntl.h>

#include "cpu_support.h"

static size_t page;

static hipMemAllocationProp
prop_of(int device, hipMemAllocationHandleType type)
{
    hipMemAllocationProp prop;
    memset(&prop, 0, sizeof prop);
    prop.type = hipMemAllocationTypePinned;
    prop.requestedHandleTypes = type;
    prop.location.type = hipMemLocationTypeDevice;
    prop.location.id = device;
    return prop;
}

static hipMemGenericAllocationHandle_t
create(size_t size)
{
    hipMemGenericAllocationHandle_t handle;
    hipMemAllocationProp prop = prop_of(0, hipMemHandleTypePosixFileDescriptor);
    OK(hipMemCreate(&handle, size, &prop, 0));
    return handle;
}

static char *
reserve(size_t size)
{
    void *ptr;
    OK(hipMemAddressReserve(&ptr, size, 0, NULL, 0));
    return ptr;
}

static hipError_t
access_for(void *ptr, size_t size, int device, hipMemAccessFlags flags)
{
    hipMemAccessDesc desc = {
        .location = {.type = hipMemLocationTypeDevice, .id = device}, .flags = flags};
    return hipMemSetAccess(ptr, size, &desc, 1);
}

static unsigned long long
access_of(void *ptr, int device)
{
    unsigned long long flags = 99;
    hipMemLocation location = {.type = hipMemLocationTypeDevice, .id = device};
    OK(hipMemGetAccess(&flags, &location, ptr));
    return flags;
}

static void
test_granularity(void)
{
    hipMemAllocationProp prop = prop_of(0, hipMemHandleTypeNone);
    size_t recommended;
    OK(hipMemGetAllocationGranularity(&page, &prop,
                                      hipMemAllocationGranularityMinimum));
    OK(hipMemGetAllocationGranularity(&recommended, &prop,
                                      hipMemAllocationGranularityRecommended));
    CHECK(page > 0 && (page & (page - 1)) == 0);
    CHECK(recommended >= page && recommended % page == 0);
    CHECK_HIP(hipMemGetAllocationGranularity(NULL, &prop, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemGetAllocationGranularity(&recommended, NULL, 0),
              hipErrorInvalidValue);
    CHECK_HIP(hipMemGetAllocationGranularity(&recommended, &prop,
                                             (hipMemAllocationGranularity_flags)5),
              hipErrorInvalidValue);
    prop.location.id = 5;
    CHECK_HIP(hipMemGetAllocationGranularity(&recommended, &prop, 0),
              hipErrorInvalidValue);
}

static void
test_copies_and_kernels_on_mapped_memory(void)
{
    size_t size = 4 * page;
    char *base = reserve(size);
    hipMemGenericAllocationHandle_t handle = create(size);
    int *host = calloc(1, size);
    int n = (int)(size / sizeof(int));
    OK(hipMemMap(base, size, 0, handle, 0));
    OK(access_for(base, size, 0, hipMemAccessFlagsProtReadWrite));
    for (int i = 0; i < n; i++) {
        host[i] = i;
    }
    OK(hipMemcpy(base, host, size, hipMemcpyHostToDevice));
    hipModule_t module;
    hipFunction_t add = image_function(&module, "add");
    int value = 1000;
    uint64_t count = (uint64_t)n;
    void *arguments[] = {&base, &value, &count};
    OK(hipModuleLaunchKernel(add, (unsigned)n / 256, 1, 1, 256, 1, 1, 0, NULL,
                             arguments, NULL));
    OK(hipMemcpy(host, base, size, hipMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        CHECK(host[i] == i + 1000);
    }
    hipPointerAttribute_t attributes;
    OK(hipPointerGetAttributes(&attributes, base + 100));
    CHECK(attributes.type == hipMemoryTypeDevice && attributes.device == 0);
    OK(hipMemUnmap(base, size));
    OK(hipMemRelease(handle));
    OK(hipMemAddressFree(base, size));
    OK(hipModuleUnload(module));
    free(host);
}

static void
test_copies_on_unmapped_ranges_fail(void)
{
    size_t size = 4 * page;
    char *base = reserve(size);
    char host[64];
    hipMemGenericAllocationHandle_t handle = create(page);
    hipPointerAttribute_t attributes;
    CHECK_HIP(hipMemcpy(host, base, 64, hipMemcpyDefault), hipErrorInvalidValue);
    CHECK_HIP(hipMemcpy(base, host, 64, hipMemcpyHostToDevice), hipErrorInvalidValue);
    CHECK_HIP(hipMemcpyAsync(base, host, 64, hipMemcpyHostToHost, NULL),
              hipErrorInvalidValue);
    CHECK_HIP(hipMemset(base, 0, 64), hipErrorInvalidValue);
    CHECK_HIP(hipHostRegister(base, 64, 0), hipErrorHostMemoryAlreadyRegistered);
    CHECK_HIP(hipFree(base), hipErrorInvalidValue);
    OK(hipPointerGetAttributes(&attributes, base));
    CHECK(attributes.type == hipMemoryTypeUnregistered);
    /* Mapped, but without access. */
    OK(hipMemMap(base + page, page, 0, handle, 0));
    CHECK_HIP(hipMemset(base + page, 0, 64), hipErrorInvalidValue);
    CHECK_HIP(hipMemcpy(host, base + page, 64, hipMemcpyDeviceToHost),
              hipErrorInvalidValue);
    /* Read only. */
    OK(access_for(base + page, page, 0, hipMemAccessFlagsProtRead));
    CHECK_HIP(hipMemset(base + page, 0, 64), hipErrorInvalidValue);
    CHECK_HIP(hipStreamWriteValue32(NULL, base + page, 1, 0), hipErrorInvalidValue);
    OK(hipMemcpy(host, base + page, 64, hipMemcpyDeviceToHost));
    /* Past the end of what is mapped, and before it. */
    OK(access_for(base + page, page, 0, hipMemAccessFlagsProtReadWrite));
    OK(hipMemset(base + page, 1, page));
    CHECK_HIP(hipMemset(base + page, 1, page + 1), hipErrorInvalidValue);
    CHECK_HIP(hipMemset(base + page - 1, 1, 2), hipErrorInvalidValue);
    OK(hipMemUnmap(base + page, page));
    CHECK_HIP(hipMemset(base + page, 1, 1), hipErrorInvalidValue);
    OK(hipMemRelease(handle));
    OK(hipMemAddressFree(base, size));
}

static void
test_kernel_on_unmapped_range_is_a_fault(void)
{
    char *base = reserve(page);
    hipModule_t module;
    hipFunction_t add = image_function(&module, "add");
    int value = 1;
    uint64_t count = 16;
    void *arguments[] = {&base, &value, &count};
    OK(hipModuleLaunchKernel(add, 1, 1, 1, 16, 1, 1, 0, NULL, arguments, NULL));
    CHECK_HIP(hipDeviceSynchronize(), hipErrorIllegalAddress);
    OK(hipDeviceReset());
    OK(hipMemAddressFree(base, page));
}

static void
test_neighbours_are_one_piece(void)
{
    char *base = reserve(3 * page);
    hipMemGenericAllocationHandle_t a = create(page);
    hipMemGenericAllocationHandle_t b = create(2 * page);
    char *host = malloc(3 * page);
    OK(hipMemMap(base, page, 0, a, 0));
    OK(hipMemMap(base + page, page, page, b, 0));  /* second half of b */
    OK(hipMemMap(base + 2 * page, page, 0, a, 0)); /* a again */
    OK(access_for(base, 3 * page, 0, hipMemAccessFlagsProtReadWrite));
    OK(hipMemset(base, 1, 3 * page));
    OK(hipMemset(base + 2 * page, 5, page));
    OK(hipMemcpy(host, base, 3 * page, hipMemcpyDeviceToHost));
    CHECK(host[0] == 5 && host[page - 1] == 5 && host[page] == 1 &&
          host[2 * page] == 5);
    CHECK_HIP(hipMemUnmap(base + page, page + 1), hipErrorInvalidValue);
    CHECK_HIP(hipMemUnmap(base, 4 * page), hipErrorInvalidValue);
    OK(hipMemUnmap(base + page, page));
    CHECK_HIP(hipMemset(base, 1, 3 * page), hipErrorInvalidValue);
    CHECK_HIP(access_for(base, 3 * page, 0, hipMemAccessFlagsProtReadWrite),
              hipErrorInvalidValue);
    CHECK_HIP(hipMemAddressFree(base, 3 * page), hipErrorInvalidValue);
    OK(hipMemUnmap(base, page));
    OK(hipMemUnmap(base + 2 * page, page));
    OK(hipMemRelease(a));
    OK(hipMemRelease(b));
    OK(hipMemAddressFree(base, 3 * page));
    free(host);
}

static void
test_access_of_each_device(void)
{
    char *base = reserve(page);
    hipMemGenericAllocationHandle_t handle = create(page);
    unsigned long long flags;
    hipMemLocation host = {.type = hipMemLocationTypeHost, .id = 0};
    OK(hipMemMap(base, page, 0, handle, 0));
    CHECK(access_of(base, 0) == hipMemAccessFlagsProtNone);
    OK(access_for(base, page, 1, hipMemAccessFlagsProtRead));
    CHECK(access_of(base, 0) == hipMemAccessFlagsProtNone);
    CHECK(access_of(base, 1) == hipMemAccessFlagsProtRead);
    OK(hipMemGetAccess(&flags, &host, base));
    CHECK(flags == hipMemAccessFlagsProtNone);
    hipMemAccessDesc both[2] = {
        {.location = {.type = hipMemLocationTypeDevice, .id = 0},
         .flags = hipMemAccessFlagsProtReadWrite},
        {.location = host, .flags = hipMemAccessFlagsProtReadWrite},
    };
    OK(hipMemSetAccess(base, page, both, 2));
    base[0] = 1;
    CHECK(access_of(base, 0) == hipMemAccessFlagsProtReadWrite);
    int pointer_access;
    OK(hipPointerGetAttribute(&pointer_access, HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS,
                              base));
    CHECK(pointer_access == hipMemAccessFlagsProtReadWrite);
    both[1].location.id = 4;
    both[1].location.type = hipMemLocationTypeDevice;
    CHECK_HIP(hipMemSetAccess(base, page, both, 2), hipErrorInvalidValue);
    CHECK_HIP(hipMemSetAccess(base, page, both, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemSetAccess(base, page, NULL, 1), hipErrorInvalidValue);
    CHECK_HIP(access_for(base, page, 0, (hipMemAccessFlags)2), hipErrorInvalidValue);
    CHECK_HIP(hipMemGetAccess(&flags, &host, &flags), hipErrorInvalidValue);
    OK(hipMemUnmap(base, page));
    OK(hipMemRelease(handle));
    OK(hipMemAddressFree(base, page));
}

static void
test_life_of_handles(void)
{
    size_t free_before;
    size_t free_now;
    size_t total;
    OK(hipMemGetInfo(&free_before, &total));
    char *base = reserve(page);
    hipMemGenericAllocationHandle_t handle = create(page);
    hipMemGenericAllocationHandle_t again;
    OK(hipMemGetInfo(&free_now, &total));
    CHECK(free_before - free_now == page);
    OK(hipMemMap(base, page, 0, handle, 0));
    OK(access_for(base, page, 0, hipMemAccessFlagsProtReadWrite));
    OK(hipMemRetainAllocationHandle(&again, base + 10));
    CHECK(again == handle);
    OK(hipMemRelease(again));
    OK(hipMemRelease(handle));
    CHECK_HIP(hipMemRelease(handle), hipErrorInvalidValue);
    /* The mapping keeps the memory, from which a handle can be had again. */
    OK(hipMemset(base, 3, page));
    OK(hipMemRetainAllocationHandle(&again, base));
    hipMemAllocationProp prop;
    OK(hipMemGetAllocationPropertiesFromHandle(&prop, again));
    CHECK(prop.type == hipMemAllocationTypePinned && prop.location.id == 0 &&
          prop.requestedHandleTypes == hipMemHandleTypePosixFileDescriptor);
    OK(hipMemUnmap(base, page));
    OK(hipMemMap(base, page, 0, again, 0));
    OK(access_for(base, page, 0, hipMemAccessFlagsProtRead));
    char byte;
    OK(hipMemcpy(&byte, base, 1, hipMemcpyDeviceToHost));
    CHECK(byte == 3);
    OK(hipMemRelease(again));
    OK(hipMemUnmap(base, page));
    CHECK_HIP(hipMemRetainAllocationHandle(&again, base), hipErrorInvalidValue);
    OK(hipMemAddressFree(base, page));
    OK(hipMemGetInfo(&free_now, &total));
    CHECK(free_now == free_before);
}

static void
test_bad_arguments(void)
{
    void *ptr;
    hipMemGenericAllocationHandle_t handle;
    hipMemAllocationProp prop = prop_of(0, hipMemHandleTypeNone);
    char *base = reserve(2 * page);
    CHECK_HIP(hipMemAddressReserve(&ptr, page + 1, 0, NULL, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemAddressReserve(&ptr, 0, 0, NULL, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemAddressReserve(&ptr, page, 3, NULL, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemAddressReserve(&ptr, page, 0, NULL, 1), hipErrorInvalidValue);
    CHECK_HIP(hipMemAddressReserve(NULL, page, 0, NULL, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemAddressReserve(&ptr, SIZE_MAX / page * page, 0, NULL, 0),
              hipErrorOutOfMemory);
    CHECK_HIP(hipMemAddressFree(base, page), hipErrorInvalidValue);
    CHECK_HIP(hipMemAddressFree(base + page, page), hipErrorInvalidValue);
    CHECK_HIP(hipMemAddressFree(NULL, page), hipErrorInvalidValue);
    CHECK_HIP(hipMemCreate(&handle, page + 1, &prop, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemCreate(&handle, 0, &prop, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemCreate(&handle, page, &prop, 1), hipErrorInvalidValue);
    CHECK_HIP(hipMemCreate(&handle, page, NULL, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemCreate(NULL, page, &prop, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemCreate(&handle, SIZE_MAX / page * page, &prop, 0),
              hipErrorOutOfMemory);
    prop.type = hipMemAllocationTypeInvalid;
    CHECK_HIP(hipMemCreate(&handle, page, &prop, 0), hipErrorInvalidValue);
    prop = prop_of(0, hipMemHandleTypeWin32);
    CHECK_HIP(hipMemCreate(&handle, page, &prop, 0), hipErrorNotSupported);
    hipMemGenericAllocationHandle_t made_up = (void *)(uintptr_t)0x5550;
    CHECK_HIP(hipMemRelease(made_up), hipErrorInvalidValue);
    CHECK_HIP(hipMemRelease(NULL), hipErrorInvalidValue);
    CHECK_HIP(hipMemMap(base, page, 0, made_up, 0), hipErrorInvalidValue);
    handle = create(page);
    CHECK_HIP(hipMemMap(base, 2 * page, 0, handle, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemMap(base, page, page, handle, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemMap(base + 1, page, 0, handle, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemMap(base + 2 * page, page, 0, handle, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemMap(NULL, page, 0, handle, 0), hipErrorInvalidValue);
    OK(hipMemMap(base, page, 0, handle, 0));
    CHECK_HIP(hipMemMap(base, page, 0, handle, 0), hipErrorInvalidValue);
    OK(hipMemUnmap(base, page));
    CHECK_HIP(hipMemUnmap(base, page), hipErrorInvalidValue);
    int fd;
    CHECK_HIP(hipMemExportToShareableHandle(&fd, handle, hipMemHandleTypeFabric, 0),
              hipErrorNotSupported);
    CHECK_HIP(hipMemExportToShareableHandle(&fd, handle, hipMemHandleTypeNone, 0),
              hipErrorInvalidValue);
    fd = open("/dev/zero", O_RDWR);
    CHECK_HIP(hipMemImportFromShareableHandle(&made_up, &fd,
                                              hipMemHandleTypePosixFileDescriptor),
              hipErrorInvalidValue);
    close(fd);
    CHECK_HIP(hipMemImportFromShareableHandle(&made_up, (void *)(uintptr_t)0x7777777777,
                                              hipMemHandleTypePosixFileDescriptor),
              hipErrorInvalidValue);
    OK(hipMemRelease(handle));
    OK(hipMemAddressFree(base, 2 * page));
}

static void
test_exhaustion(void)
{
    size_t free_bytes;
    size_t total;
    hipMemAllocationProp prop = prop_of(0, hipMemHandleTypeNone);
    hipMemGenericAllocationHandle_t a;
    hipMemGenericAllocationHandle_t b;
    void *ptr;
    OK(hipMemGetInfo(&free_bytes, &total));
    OK(hipMemCreate(&a, free_bytes / 4 * 3 / page * page, &prop, 0));
    CHECK_HIP(hipMemCreate(&b, free_bytes / 2 / page * page, &prop, 0),
              hipErrorOutOfMemory);
    CHECK_HIP(hipMalloc(&ptr, free_bytes / 2), hipErrorOutOfMemory);
    OK(hipMemRelease(a));
    OK(hipMalloc(&ptr, free_bytes / 2));
    OK(hipFree(ptr));
}

static void
test_many_random_maps(void)
{
    enum { PLACES = 64, HANDLES = 8 };
    hipMemGenericAllocationHandle_t handles[HANDLES];
    char model[HANDLES] = {0};
    int mapped[PLACES];
    uint64_t state = 3;
    char *base = reserve(PLACES * page);
    for (int i = 0; i < HANDLES; i++) {
        handles[i] = create(page);
    }
    for (int i = 0; i < PLACES; i++) {
        mapped[i] = -1;
    }
    for (int i = 0; i < 4000; i++) {
        size_t at = random_next(&state) % PLACES;
        char *place = base + at * page;
        if (mapped[at] < 0) {
            int which = (int)(random_next(&state) % HANDLES);
            OK(hipMemMap(place, page, 0, handles[which], 0));
            OK(access_for(place, page, 0, hipMemAccessFlagsProtReadWrite));
            mapped[at] = which;
        } else if (random_next(&state) % 2 == 0) {
            OK(hipMemUnmap(place, page));
            mapped[at] = -1;
            CHECK_HIP(hipMemset(place, 0, 1), hipErrorInvalidValue);
        } else {
            char byte;
            OK(hipMemcpy(&byte, place + page - 1, 1, hipMemcpyDeviceToHost));
            CHECK(byte == model[mapped[at]]);
            model[mapped[at]] = (char)i;
            OK(hipMemset(place, i & 0xff, page));
        }
    }
    for (int i = 0; i < PLACES; i++) {
        if (mapped[i] >= 0) {
            OK(hipMemUnmap(base + (size_t)i * page, page));
        }
    }
    for (int i = 0; i < HANDLES; i++) {
        OK(hipMemRelease(handles[i]));
    }
    OK(hipMemAddressFree(base, PLACES * page));
}

/* ---- other processes ---- */

static int
importer(uintptr_t fd)
{
    hipMemGenericAllocationHandle_t handle;
    char text[8];
    hipMemAllocationProp prop = prop_of(0, hipMemHandleTypeNone);
    OK(hipMemGetAllocationGranularity(&page, &prop,
                                      hipMemAllocationGranularityMinimum));
    OK(hipMemImportFromShareableHandle(&handle, (void *)fd,
                                       hipMemHandleTypePosixFileDescriptor));
    char *base = reserve(2 * page);
    CHECK_HIP(hipMemMap(base, 2 * page, 0, handle, 0), hipErrorInvalidValue);
    OK(hipMemMap(base, page, 0, handle, 0));
    OK(access_for(base, page, 0, hipMemAccessFlagsProtReadWrite));
    OK(hipMemcpy(text, base, 6, hipMemcpyDeviceToHost));
    CHECK(strcmp(text, "hello") == 0);
    OK(hipMemcpy(base + 100, "reply", 6, hipMemcpyHostToDevice));
    OK(hipMemUnmap(base, page));
    OK(hipMemRelease(handle));
    OK(hipMemAddressFree(base, 2 * page));
    return 0;
}

static void
test_memory_of_two_processes(void)
{
    char *base = reserve(page);
    char text[8];
    char number[16];
    int fd = -1;
    int status;
    hipMemGenericAllocationHandle_t handle = create(page);
    hipMemGenericAllocationHandle_t own;
    OK(hipMemMap(base, page, 0, handle, 0));
    OK(access_for(base, page, 0, hipMemAccessFlagsProtReadWrite));
    OK(hipMemcpy(base, "hello", 6, hipMemcpyHostToDevice));
    OK(hipMemExportToShareableHandle(&fd, handle, hipMemHandleTypePosixFileDescriptor,
                                     0));
    CHECK(fd >= 0 && ftruncate(fd, 0) != 0); /* nobody can take the pages away */
    snprintf(number, sizeof number, "%d", fd);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        fcntl(fd, F_SETFD, 0);
        execl("/proc/self/exe", "test", "import", number, NULL);
        _exit(99);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    OK(hipMemcpy(text, base + 100, 6, hipMemcpyDeviceToHost));
    CHECK(strcmp(text, "reply") == 0);
    /* The same file in the same process. */
    OK(hipMemImportFromShareableHandle(&own, &fd, hipMemHandleTypePosixFileDescriptor));
    CHECK(own != handle);
    OK(hipMemRelease(own));
    close(fd);
    OK(hipMemUnmap(base, page));
    OK(hipMemRelease(handle));
    OK(hipMemAddressFree(base, page));
}

static void
test_reset_takes_mappings(void)
{
    char *base = reserve(page);
    size_t free_bytes;
    size_t total;
    hipMemGenericAllocationHandle_t handle = create(page);
    OK(hipMemMap(base, page, 0, handle, 0));
    OK(access_for(base, page, 0, hipMemAccessFlagsProtReadWrite));
    OK(hipDeviceReset());
    CHECK_HIP(hipMemset(base, 0, 1), hipErrorInvalidValue);
    CHECK_HIP(hipMemRelease(handle), hipErrorInvalidValue);
    OK(hipMemGetInfo(&free_bytes, &total));
    CHECK(free_bytes == total);
    OK(hipMemAddressFree(base, page));
}

int
main(int argc, char **argv)
{
    setenv("HIPADAPT_CPU_DEVICES", "2", 1);
    if (argc == 3 && strcmp(argv[1], "import") == 0) {
        return importer((uintptr_t)atoi(argv[2]));
    }
    RUN(test_granularity);
    RUN(test_copies_and_kernels_on_mapped_memory);
    RUN(test_copies_on_unmapped_ranges_fail);
    RUN(test_neighbours_are_one_piece);
    RUN(test_access_of_each_device);
    RUN(test_life_of_handles);
    RUN(test_bad_arguments);
    RUN(test_exhaustion);
    RUN(test_many_random_maps);
    RUN(test_memory_of_two_processes);
    RUN(test_kernel_on_unmapped_range_is_a_fault);
    RUN(test_reset_takes_mappings);
    return 0;
}
