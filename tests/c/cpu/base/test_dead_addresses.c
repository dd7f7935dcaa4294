/* SPDX-License-Identifier: MIT */
/* Handles where addresses belong, and addresses that HIP gave back to the machine: an
 * error, no fault. */
#include "cpu_support.h"

#include <sys/mman.h>

#include "abi/hiprtc.h"

#define LARGE_BYTES ((size_t)256 << 20)

/* A handle of another kind, made-up numbers, and what free has unmapped. */
static const void *dead[4];
static char host[4096];

static void
make_dead(void)
{
    hipStream_t stream;
    void *large;
    OK(hipStreamCreate(&stream));
    OK(hipMalloc(&large, LARGE_BYTES));
    OK(hipFree(large));
    dead[0] = stream;
    dead[1] = (void *)(uintptr_t)5;
    dead[2] = (void *)(uintptr_t)0x5551;
    dead[3] = large;
}

static void
test_copies_of_dead_memory_are_refused(void)
{
    void *device;
    OK(hipMalloc(&device, sizeof host));
    for (size_t i = 0; i < sizeof dead / sizeof dead[0]; i++) {
        void *gone = (void *)(uintptr_t)dead[i];
        CHECK_HIP(hipMemcpy(host, gone, 64, hipMemcpyDefault), hipErrorInvalidValue);
        CHECK_HIP(hipMemcpy(gone, host, 64, hipMemcpyDefault), hipErrorInvalidValue);
        CHECK_HIP(hipMemcpy(device, gone, 64, hipMemcpyHostToDevice),
                  hipErrorInvalidValue);
        CHECK_HIP(hipMemcpy(gone, device, 64, hipMemcpyDeviceToHost),
                  hipErrorInvalidValue);
        CHECK_HIP(hipMemcpyAsync(device, gone, 64, hipMemcpyDefault, NULL),
                  hipErrorInvalidValue);
        CHECK_HIP(hipMemcpy2D(device, 16, gone, 16, 8, 4, hipMemcpyDefault),
                  hipErrorInvalidValue);
        CHECK_HIP(hipMemset(gone, 0, 64), hipErrorInvalidValue);
    }
    OK(hipDeviceSynchronize());
    OK(hipFree(device));
}

/* Memory of the program's own is copied wherever it lies: also where HIP's was. */
static void
test_memory_in_the_place_of_freed_memory_is_copied(void)
{
    const size_t bytes = (size_t)8 << 20;
    void *device;
    void *place = (void *)(uintptr_t)dead[3];
    char *own = mmap(place, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (own != place) { /* somebody else was faster, or the kernel is old */
        return;
    }
    OK(hipMalloc(&device, bytes));
    memset(own, 7, bytes);

    OK(hipMemcpy(device, own, bytes, hipMemcpyHostToDevice));
    memset(own, 0, bytes);
    OK(hipMemcpy(own, device, bytes, hipMemcpyDeviceToHost));

    CHECK(own[0] == 7 && own[bytes - 1] == 7);
    CHECK_HIP(hipMemcpy(device, own + bytes - 64, 65, hipMemcpyHostToDevice),
              hipErrorInvalidValue);
    CHECK(munmap(own, bytes) == 0);
    OK(hipFree(device));
}

static void
test_reserved_addresses_that_were_freed_are_refused(void)
{
    void *reserved;
    OK(hipMemAddressReserve(&reserved, LARGE_BYTES, 0, NULL, 0));
    CHECK_HIP(hipMemcpy(host, reserved, 64, hipMemcpyDefault), hipErrorInvalidValue);
    OK(hipMemAddressFree(reserved, LARGE_BYTES));
    CHECK_HIP(hipMemcpy(host, reserved, 64, hipMemcpyDefault), hipErrorInvalidValue);
}

static void
test_lists_of_nodes_and_units_at_dead_addresses_are_refused(void)
{
    hipGraph_t graph;
    hipGraphNode_t node;
    hipGraphNode_t nodes[2];
    hipStream_t made;
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphAddEmptyNode(&nodes[0], graph, NULL, 0));
    OK(hipGraphAddEmptyNode(&nodes[1], graph, nodes, 1));
    for (size_t i = 0; i < sizeof dead / sizeof dead[0]; i++) {
        const hipGraphNode_t *list = dead[i];
        CHECK_HIP(hipGraphAddEmptyNode(&node, graph, list, 2), hipErrorInvalidValue);
        CHECK_HIP(hipGraphAddDependencies(graph, list, nodes, 2), hipErrorInvalidValue);
        CHECK_HIP(hipGraphAddDependencies(graph, nodes, list, 2), hipErrorInvalidValue);
        CHECK_HIP(hipGraphAddMemcpyNode(&node, graph, NULL, 0, dead[i]),
                  hipErrorInvalidValue);
        CHECK_HIP(hipExtStreamCreateWithCUMask(&made, 2, dead[i]),
                  hipErrorInvalidValue);
    }
    OK(hipGraphDestroy(graph));
}

static void
test_cells_at_dead_addresses_are_refused(void)
{
    hipMemPool_t pool;
    void *device;
    OK(hipDeviceGetDefaultMemPool(&pool, 0));
    OK(hipMalloc(&device, 64));
    for (size_t i = 0; i < sizeof dead / sizeof dead[0]; i++) {
        void *cell = (void *)(uintptr_t)dead[i];
        CHECK_HIP(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, cell),
                  hipErrorInvalidValue);
        CHECK_HIP(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, cell),
                  hipErrorInvalidValue);
        CHECK_HIP(
            hipPointerGetAttribute(cell, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, device),
            hipErrorInvalidValue);
    }
    OK(hipFree(device));
}

static void
test_programs_and_link_states_that_are_none_are_refused(void)
{
    hiprtcProgram program = (hiprtcProgram)(uintptr_t)12345;
    size_t size;
    void *binary;
    for (size_t i = 0; i < sizeof dead / sizeof dead[0]; i++) {
        hiprtcProgram *place = (hiprtcProgram *)(uintptr_t)dead[i];
        hiprtcProgram other = (hiprtcProgram)(uintptr_t)dead[i];
        hiprtcLinkState link = (hiprtcLinkState)(uintptr_t)dead[i];
        CHECK(hiprtcDestroyProgram(place) == HIPRTC_ERROR_INVALID_PROGRAM);
        CHECK(hiprtcDestroyProgram(&other) == HIPRTC_ERROR_INVALID_PROGRAM);
        CHECK(hiprtcCompileProgram(other, 0, NULL) == HIPRTC_ERROR_INVALID_PROGRAM);
        CHECK(hiprtcGetCodeSize(other, &size) == HIPRTC_ERROR_INVALID_PROGRAM);
        CHECK(hiprtcLinkComplete(link, &binary, &size) == HIPRTC_ERROR_INVALID_INPUT);
        CHECK(hiprtcLinkDestroy(link) == HIPRTC_ERROR_INVALID_INPUT);
    }
    /* The handle's own value, where its address belongs. */
    OK((hipError_t)hiprtcCreateProgram(&program, "", NULL, 0, NULL, NULL));
    CHECK(hiprtcDestroyProgram((hiprtcProgram *)(void *)program) ==
          HIPRTC_ERROR_INVALID_PROGRAM);
    CHECK(hiprtcDestroyProgram(&program) == HIPRTC_SUCCESS);
}

int
main(void)
{
    make_dead();
    RUN(test_copies_of_dead_memory_are_refused);
    RUN(test_reserved_addresses_that_were_freed_are_refused);
    RUN(test_lists_of_nodes_and_units_at_dead_addresses_are_refused);
    RUN(test_cells_at_dead_addresses_are_refused);
    RUN(test_programs_and_link_states_that_are_none_are_refused);
    RUN(test_memory_in_the_place_of_freed_memory_is_copied);
    return 0;
}
