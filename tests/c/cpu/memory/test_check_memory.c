/* SPDX-License-Identifier: MIT */
/* HIPADAPT_CHECK=memory as the host sees it: where allocations stand, what is known of
 * them, how long, and what calls find. */
#include "abi/check.h"
#include "cpu/memory/check_memory.h"
#include "cpu_support.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

/* The newest finding; its texts are copied. */
static struct {
    struct ha_check_finding found;
    char message[512], call[64], stack[4096], allocated[64], freed[64], name[64];
    char allocated_by[4096], freed_by[4096];
    unsigned count;
} last;

static void
keep(char *to, size_t bytes, const char *text)
{
    snprintf(to, bytes, "%s", text);
}

static int
take(const struct ha_check_finding *found, void *context)
{
    (void)context;
    last.found = *found;
    keep(last.message, sizeof last.message, found->message);
    keep(last.call, sizeof last.call, found->here.call);
    keep(last.stack, sizeof last.stack, found->here.stack);
    keep(last.allocated, sizeof last.allocated, found->memory.allocated);
    keep(last.freed, sizeof last.freed, found->memory.freed);
    keep(last.name, sizeof last.name, found->memory.name);
    keep(last.allocated_by, sizeof last.allocated_by, found->memory.allocated_by);
    keep(last.freed_by, sizeof last.freed_by, found->memory.freed_by);
    last.count++;
    return 0;
}

/* How many there are; the newest is in `last`.  They are forgotten. */
static unsigned
findings(void)
{
    memset(&last, 0, sizeof last);
    CHECK(hipadaptCheckFindings(take, NULL) == 0);
    CHECK(hipadaptCheckClear() == 0);
    return last.count;
}

/* Tests are part of main where the compiler has put them there. */
static bool
leads_to_main(const char *stack)
{
    return strncmp(stack, "main+0x", 7) == 0 || strstr(stack, "\nmain+0x") != NULL;
}

#define FOUND(kind, in_call)                                                           \
    do {                                                                               \
        unsigned count_ = findings();                                                  \
        if (count_ != 1 || last.found.what != (kind) ||                                \
            strcmp(last.call, (in_call)) != 0) {                                       \
            fprintf(stderr, "%s:%d: %u findings, the last is %d in %s: %s\n",          \
                    __FILE__, __LINE__, count_, last.found.what, last.call,            \
                    last.message);                                                     \
            exit(1);                                                                   \
        }                                                                              \
        CHECK(leads_to_main(last.stack));                                              \
    } while (0)

static bool
is_alive(const void *at, uint64_t bytes)
{
    struct ha_checked_range range;
    return ha_checked_find((uintptr_t)at, bytes, &range);
}

static int
by_address(const void *a, const void *b)
{
    uintptr_t first = *(const uintptr_t *)a, second = *(const uintptr_t *)b;
    return first < second ? -1 : first > second;
}

static void
test_allocations_stand_apart(void)
{
    static const size_t sizes[] = {1,    255,   256,   257,    4096,
                                   9000, 65536, 76800, 262144, 5 << 20};
    uintptr_t places[10 * 20][2];
    size_t count = 0;
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < 10; i++) {
            void *ptr = NULL;
            hipDeviceptr_t base;
            size_t bytes;
            OK(round % 2 == 0 ? hipMalloc(&ptr, sizes[i])
                              : hipMallocAsync(&ptr, sizes[i], NULL));
            CHECK((uintptr_t)ptr % 256 == 0);
            OK(hipMemGetAddressRange(&base, &bytes, ptr));
            CHECK(base == ptr && bytes == sizes[i]);
            OK(hipMemset(ptr, 1, sizes[i]));
            places[count][0] = (uintptr_t)ptr;
            places[count++][1] = sizes[i];
        }
    }
    qsort(places, count, sizeof places[0], by_address);
    for (size_t i = 0; i + 1 < count; i++) {
        size_t gap = places[i + 1][0] - (places[i][0] + places[i][1]);
        size_t quarter = places[i][1] / 4 < MIB ? places[i][1] / 4 : MIB;
        CHECK(gap >= 256 && gap >= quarter);
    }
    for (size_t i = 0; i < count; i++) {
        OK(hipFree((void *)places[i][0]));
    }
    CHECK(findings() == 0);
}

static void
test_questions_are_answered_to_the_byte(void)
{
    struct ha_checked_range range;
    struct ha_check_memory memory;
    char text[HA_CHECKED_TEXT_BYTES];
    char *ptr;
    OK(hipMalloc((void **)&ptr, 400));
    uintptr_t at = (uintptr_t)ptr;
    CHECK(ha_checked_find(at, 400, &range) && range.begin == at && range.bytes == 400);
    CHECK(range.space == HA_SPACE_GLOBAL && !range.freed && range.device == 0);
    CHECK(is_alive(ptr + 399, 1) && !is_alive(ptr + 399, 2) && !is_alive(ptr + 400, 1));
    CHECK(!is_alive(ptr - 1, 1) && !is_alive(ptr - 1, 2) && !is_alive(ptr, 401));
    CHECK(ha_checked_what(at + 400, 4) == HA_FOUND_OUT_OF_BOUNDS);
    CHECK(ha_checked_what(at - 4, 4) == HA_FOUND_OUT_OF_BOUNDS);
    CHECK(ha_checked_what(16, 4) == HA_FOUND_UNKNOWN_MEMORY);
    CHECK(!ha_checked_find(16, 4, &range) && range.space == HA_SPACE_UNKNOWN);
    ha_checked_describe(at + 408, 4, &memory);
    CHECK(memory.base == at && memory.bytes == 400);
    CHECK(strcmp(memory.allocated, "hipMalloc") == 0 && memory.freed[0] == '\0');
    CHECK(leads_to_main(memory.allocated_by));
    ha_checked_relation(at + 408, 4, &memory, text);
    CHECK(strstr(text, "8 bytes past the end of the 400 bytes at 0x") == text);
    uint64_t before = ha_checked_changes();
    OK(hipFree(ptr));
    CHECK(ha_checked_changes() != before);
    CHECK(!ha_checked_find(at + 8, 4, &range) && range.freed && range.begin == at);
    CHECK(ha_checked_what(at + 8, 4) == HA_FOUND_USE_AFTER_FREE);
    ha_checked_describe(at + 8, 4, &memory);
    CHECK(strcmp(memory.freed, "hipFree") == 0);
    CHECK(leads_to_main(memory.freed_by));
}

static void
test_kinds_of_memory_are_told(void)
{
    struct ha_checked_range range;
    static char registered[3000];
    void *ptr;
    OK(hipHostMalloc(&ptr, 100, 0));
    CHECK(ha_checked_find((uintptr_t)ptr, 100, &range));
    CHECK(range.space == HA_SPACE_PINNED && range.bytes == 100);
    OK(hipHostFree(ptr));
    OK(hipMallocManaged(&ptr, 100, hipMemAttachGlobal));
    CHECK(ha_checked_find((uintptr_t)ptr, 100, &range));
    CHECK(range.space == HA_SPACE_MANAGED);
    OK(hipFree(ptr));
    CHECK(!is_alive(registered, 1));
    OK(hipHostRegister(registered, sizeof registered, 0));
    CHECK(ha_checked_find((uintptr_t)registered, 3000, &range));
    CHECK(range.space == HA_SPACE_PINNED && !is_alive(registered, 3001));
    OK(hipHostUnregister(registered));
    CHECK(!is_alive(registered, 1));
    /* The program's own memory goes on being what it was. */
    OK(hipMalloc(&ptr, 3000));
    OK(hipMemcpy(ptr, registered, 3000, hipMemcpyHostToDevice));
    OK(hipFree(ptr));
    CHECK(findings() == 0);
}

static void
test_copies_and_fills_out_of_bounds(void)
{
    static char host[8000];
    char *ptr, *other;
    size_t pitch;
    OK(hipMalloc((void **)&ptr, 400));
    CHECK_HIP(hipMemcpy(ptr, host, 404, hipMemcpyHostToDevice), hipErrorInvalidValue);
    FOUND(HA_FOUND_OUT_OF_BOUNDS, "hipMemcpy");
    CHECK(last.found.here.bits == HA_CHECK_WRITES && last.found.here.bytes == 404);
    CHECK(last.found.address == (uintptr_t)ptr + 400);
    CHECK(last.found.memory.base == (uintptr_t)ptr && last.found.memory.bytes == 400);
    CHECK(strstr(last.message, "running 4 bytes past the end of the 400") != NULL);
    CHECK_HIP(hipMemcpy(host, ptr + 400, 4, hipMemcpyDeviceToHost),
              hipErrorInvalidValue);
    FOUND(HA_FOUND_OUT_OF_BOUNDS, "hipMemcpy");
    CHECK(last.found.here.bits == HA_CHECK_READS);
    CHECK(strstr(last.message, "0 bytes past the end of the 400") != NULL);
    CHECK_HIP(hipMemcpy(host, ptr - 4, 4, hipMemcpyDeviceToHost), hipErrorInvalidValue);
    FOUND(HA_FOUND_OUT_OF_BOUNDS, "hipMemcpy");
    CHECK(strstr(last.message, "4 bytes before the 400") != NULL);
    CHECK_HIP(hipMemset(ptr + 200, 0, 201), hipErrorInvalidValue);
    FOUND(HA_FOUND_OUT_OF_BOUNDS, "hipMemset");
    CHECK_HIP(hipMemsetD32Async(ptr, 0, 101, NULL), hipErrorInvalidValue);
    FOUND(HA_FOUND_OUT_OF_BOUNDS, "hipMemsetD32Async");
    OK(hipMallocPitch((void **)&other, &pitch, 100, 10));
    CHECK_HIP(hipMemcpy2D(host, 100, other, pitch, 100, 11, hipMemcpyDeviceToHost),
              hipErrorInvalidValue);
    FOUND(HA_FOUND_OUT_OF_BOUNDS, "hipMemcpy2D");
    CHECK_HIP(hipMemcpyPeer(other, 0, ptr, 0, 401), hipErrorInvalidValue);
    FOUND(HA_FOUND_OUT_OF_BOUNDS, "hipMemcpyPeer");
    CHECK(last.found.memory.bytes == 400);
    OK(hipFree(other));
    OK(hipFree(ptr));
    CHECK_HIP(hipMemcpyAsync(host, ptr + 8, 4, hipMemcpyDeviceToHost, NULL),
              hipErrorInvalidValue);
    FOUND(HA_FOUND_USE_AFTER_FREE, "hipMemcpyAsync");
    CHECK(strcmp(last.freed, "hipFree") == 0);
    CHECK(leads_to_main(last.freed_by));
    CHECK_HIP(hipMemset2D(other, pitch, 0, 100, 10), hipErrorInvalidValue);
    FOUND(HA_FOUND_USE_AFTER_FREE, "hipMemset2D");
    CHECK(strcmp(last.allocated, "hipMallocPitch") == 0);
}

static void
test_bad_frees(void)
{
    char *ptr, *pinned;
    int local;
    OK(hipMalloc((void **)&ptr, 400));
    CHECK_HIP(hipFree(ptr + 4), hipErrorInvalidValue);
    FOUND(HA_FOUND_INVALID_FREE, "hipFree");
    CHECK(strstr(last.message, "byte 4 of the 400 bytes of hipMalloc") != NULL);
    CHECK_HIP(hipHostFree(ptr), hipErrorInvalidValue);
    FOUND(HA_FOUND_INVALID_FREE, "hipHostFree");
    CHECK(strstr(last.message, "another kind") != NULL);
    OK(hipFree(ptr));
    CHECK_HIP(hipFree(ptr), hipErrorInvalidValue);
    FOUND(HA_FOUND_DOUBLE_FREE, "hipFree");
    CHECK(last.found.address == (uintptr_t)ptr && last.found.memory.bytes == 400);
    CHECK(strcmp(last.freed, "hipFree") == 0);
    CHECK_HIP(hipFreeAsync(ptr, NULL), hipErrorInvalidValue);
    FOUND(HA_FOUND_DOUBLE_FREE, "hipFreeAsync");
    CHECK_HIP(hipFree(&local), hipErrorInvalidValue);
    FOUND(HA_FOUND_INVALID_FREE, "hipFree");
    OK(hipHostMalloc((void **)&pinned, 64, 0));
    OK(hipHostFree(pinned));
    CHECK_HIP(hipHostFree(pinned), hipErrorInvalidValue);
    FOUND(HA_FOUND_DOUBLE_FREE, "hipHostFree");
    OK(hipFree(NULL));
    CHECK(findings() == 0);
}

static void
test_asynchronous_frees_are_in_the_order_of_the_stream(void)
{
    hipStream_t stream, other;
    char *ptr, *next;
    OK(hipStreamCreate(&stream));
    OK(hipStreamCreate(&other));
    OK(hipMallocAsync((void **)&ptr, 1000, stream));
    OK(hipMemsetAsync(ptr, 1, 1000, stream));
    close_gate(stream);
    OK(hipFreeAsync(ptr, stream));
    /* Work before it in the stream may use it, but nothing behind. */
    CHECK(is_alive(ptr, 1000));
    CHECK(findings() == 0);
    (void)hipMemsetAsync(ptr, 1, 1000, stream);
    FOUND(HA_FOUND_USE_AFTER_FREE, "hipMemsetAsync");
    CHECK(strcmp(last.freed, "hipFreeAsync") == 0);
    CHECK(strcmp(last.allocated, "hipMallocAsync") == 0);
    CHECK_HIP(hipFreeAsync(ptr, other), hipErrorInvalidValue);
    FOUND(HA_FOUND_DOUBLE_FREE, "hipFreeAsync");
    gate_open = 1;
    OK(hipStreamSynchronize(stream));
    CHECK(!is_alive(ptr, 1));
    CHECK_HIP(hipMemset(ptr, 1, 1000), hipErrorInvalidValue);
    FOUND(HA_FOUND_USE_AFTER_FREE, "hipMemset");
    CHECK(strcmp(last.freed, "hipFreeAsync") == 0);
    /* The pool gives other memory. */
    OK(hipMallocAsync((void **)&next, 1000, stream));
    CHECK(next != ptr);
    OK(hipFreeAsync(next, stream));
    OK(hipStreamSynchronize(stream));
    OK(hipStreamDestroy(stream));
    OK(hipStreamDestroy(other));
    CHECK(findings() == 0);
}

static void
test_pools_count_what_the_program_has(void)
{
    hipMemPool_t pool;
    hipMemPoolProps props;
    uint64_t used, reserved;
    char *ptr;
    memset(&props, 0, sizeof props);
    props.allocType = hipMemAllocationTypePinned;
    props.location.type = hipMemLocationTypeDevice;
    OK(hipMemPoolCreate(&pool, &props));
    for (int i = 0; i < 100; i++) {
        OK(hipMallocFromPoolAsync((void **)&ptr, MIB, pool, NULL));
        CHECK_HIP(hipMemset(ptr, 0, MIB + 1), hipErrorInvalidValue);
        FOUND(HA_FOUND_OUT_OF_BOUNDS, "hipMemset");
        CHECK(strcmp(last.allocated, "hipMallocFromPoolAsync") == 0);
        OK(hipFreeAsync(ptr, NULL));
        OK(hipStreamSynchronize(NULL));
    }
    OK(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &used));
    OK(hipMemPoolGetAttribute(pool, hipMemPoolAttrReservedMemCurrent, &reserved));
    CHECK(used == 0 && reserved == 0);
    OK(hipMallocFromPoolAsync((void **)&ptr, MIB, pool, NULL));
    OK(hipMemPoolDestroy(pool));
    OK(hipMemset(ptr, 0, MIB));
    OK(hipFree(ptr));
    CHECK(findings() == 0);
}

static void
test_quarantine_is_bounded(void)
{
    size_t free_before, free_after, total;
    char *ptr, *first;
    CHECK(setenv("HIPADAPT_CHECK_QUARANTINE", "1", 1) == 0);
    OK(hipMalloc((void **)&first, 100 * KIB));
    OK(hipMemGetInfo(&free_before, &total));
    OK(hipFree(first));
    OK(hipMemGetInfo(&free_after, &total));
    CHECK(free_after > free_before && free_after - free_before < 128 * KIB);
    CHECK(ha_checked_what((uintptr_t)first, 1) == HA_FOUND_USE_AFTER_FREE);
    free_before = free_after;
    for (int i = 0; i < 1000; i++) {
        OK(hipMalloc((void **)&ptr, 100 * KIB));
        OK(hipFree(ptr));
        CHECK(ha_checked_kept_bytes() <= MIB);
    }
    OK(hipMemGetInfo(&free_after, &total));
    CHECK(free_after == free_before);
    /* Big ones give their pages back. */
    for (int i = 0; i < 64; i++) {
        OK(hipMalloc((void **)&ptr, 512 * MIB));
        ptr[0] = ptr[511 * MIB] = 1;
        OK(hipFree(ptr));
        CHECK(ha_checked_what((uintptr_t)ptr + 511 * MIB, 1) ==
              HA_FOUND_USE_AFTER_FREE);
        CHECK(ha_checked_kept_bytes() <= MIB);
    }
    CHECK(unsetenv("HIPADAPT_CHECK_QUARANTINE") == 0);
    CHECK(findings() == 0);
}

static void
test_writes_that_nobody_saw_are_found_later(void)
{
    char *ptr;
    OK(hipMalloc((void **)&ptr, 1000));
    ptr[1100] = 1;
    CHECK_HIP(hipFree(ptr), hipErrorIllegalAddress);
    FOUND(HA_FOUND_OUT_OF_BOUNDS, "hipFree");
    CHECK(last.found.address == (uintptr_t)ptr + 1100 &&
          last.found.memory.base == (uintptr_t)ptr);
    OK(hipHostMalloc((void **)&ptr, 1000, 0));
    OK(hipHostFree(ptr));
    ptr[7] = 1;
    ha_memory_look_for_damage();
    CHECK(findings() == 1 && last.found.what == HA_FOUND_USE_AFTER_FREE);
    CHECK(last.found.address == (uintptr_t)ptr + 7);
    CHECK(strcmp(last.allocated, "hipHostMalloc") == 0);
    OK(hipMalloc((void **)&ptr, 1000));
    ptr[1003] = 1;
    ha_memory_look_for_damage();
    CHECK(findings() == 1 && last.found.what == HA_FOUND_OUT_OF_BOUNDS);
    /* Each is told once. */
    ha_memory_look_for_damage();
    CHECK(findings() == 0);
    CHECK_HIP(hipFree(ptr), hipErrorIllegalAddress);
    ha_memory_look_for_damage();
    (void)findings();
}

static void
test_parts_are_allocations_of_their_own(void)
{
    struct ha_checked_range range;
    struct ha_check_memory memory;
    char *ptr;
    OK(hipMalloc((void **)&ptr, 4096));
    CHECK(is_alive(ptr, 4096));
    CHECK(hipadaptMarkSuballocation(ptr + 512, 100) == hipSuccess);
    CHECK(hipadaptMarkSuballocation(ptr + 1024, 200) == hipSuccess);
    CHECK(is_alive(ptr + 512, 100) && is_alive(ptr + 1024, 200));
    CHECK(!is_alive(ptr, 1) && !is_alive(ptr + 512, 101) && !is_alive(ptr + 1224, 1));
    CHECK(ha_checked_what((uintptr_t)ptr + 612, 4) == HA_FOUND_OUT_OF_BOUNDS);
    ha_checked_describe((uintptr_t)ptr + 612, 4, &memory);
    CHECK(memory.base == (uintptr_t)ptr + 512 && memory.bytes == 100);
    CHECK(strcmp(memory.allocated, "hipadaptMarkSuballocation") == 0);
    CHECK(leads_to_main(memory.allocated_by));
    /* The host may still use all of it. */
    OK(hipMemset(ptr, 0, 4096));
    CHECK(hipadaptMarkSuballocation(ptr + 600, 100) == hipErrorInvalidValue);
    CHECK(hipadaptMarkSuballocation(ptr + 4000, 100) == hipErrorInvalidValue);
    CHECK(hipadaptMarkSuballocation(ptr + 4000, SIZE_MAX) == hipErrorInvalidValue);
    CHECK(hipadaptMarkSuballocation(ptr + 513, 0) == hipErrorInvalidValue);
    CHECK(hipadaptMarkSuballocation(&memory, 4) == hipErrorInvalidValue);
    uint64_t before = ha_checked_changes();
    CHECK(hipadaptMarkSuballocation(ptr + 512, 0) == hipSuccess);
    CHECK(ha_checked_changes() != before);
    CHECK(!ha_checked_find((uintptr_t)ptr + 520, 4, &range) && range.freed);
    CHECK(ha_checked_what((uintptr_t)ptr + 520, 4) == HA_FOUND_USE_AFTER_FREE);
    CHECK(hipadaptMarkSuballocation(ptr + 512, 0) == hipErrorInvalidValue);
    /* Used again, cut in another way. */
    CHECK(hipadaptMarkSuballocation(ptr + 256, 300) == hipSuccess);
    CHECK(is_alive(ptr + 520, 4) && !is_alive(ptr + 556, 1));
    OK(hipFree(ptr));
    CHECK(!is_alive(ptr + 1024, 1));
    ha_checked_describe((uintptr_t)ptr + 1024, 4, &memory);
    CHECK(memory.base == (uintptr_t)ptr && strcmp(memory.freed, "hipFree") == 0);
    CHECK(findings() == 0);
}

static void
test_parts_of_memory_from_before_the_check(void)
{
    char *ptr;
    CHECK(hipadaptCheckStop() == 0);
    OK(hipMalloc((void **)&ptr, 4096));
    CHECK(hipadaptMarkSuballocation(ptr, 100) == hipSuccess);
    CHECK(hipadaptCheckStart("memory,quiet") == 0);
    CHECK(is_alive(ptr, 100) && !is_alive(ptr + 100, 1));
    OK(hipFree(ptr));
    CHECK(findings() == 0);
}

static void
test_memory_from_before_the_check(void)
{
    struct ha_checked_range range;
    char *ptr, *other;
    CHECK(hipadaptCheckStop() == 0);
    OK(hipMalloc((void **)&ptr, 100));
    OK(hipMalloc((void **)&other, 100));
    CHECK(ptr + 256 == other || other + 256 == ptr);
    CHECK_HIP(hipMemset(ptr, 0, 101), hipErrorInvalidValue);
    CHECK_HIP(hipFree(ptr + 1), hipErrorInvalidValue);
    CHECK(findings() == 0);
    CHECK(hipadaptCheckStart("memory,quiet") == 0);
    CHECK(is_alive(ptr, 100) && !is_alive(ptr, 101));
    CHECK(!ha_checked_find((uintptr_t)ptr + 100, 1, &range));
    CHECK(range.begin == (uintptr_t)ptr && range.bytes == 100 && !range.freed);
    CHECK_HIP(hipMemset(ptr, 0, 101), hipErrorInvalidValue);
    FOUND(HA_FOUND_OUT_OF_BOUNDS, "hipMemset");
    CHECK(last.found.memory.bytes == 100 && last.allocated[0] == '\0');
    OK(hipFree(ptr));
    OK(hipFree(other));
    /* What a pool has from before is not given out. */
    uint64_t all = UINT64_MAX;
    hipMemPool_t pool;
    OK(hipDeviceGetDefaultMemPool(&pool, 0));
    OK(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &all));
    CHECK(hipadaptCheckStop() == 0);
    OK(hipMallocAsync((void **)&ptr, 100, NULL));
    OK(hipFreeAsync(ptr, NULL));
    OK(hipStreamSynchronize(NULL));
    CHECK(hipadaptCheckStart("memory,quiet") == 0);
    OK(hipMallocAsync((void **)&other, 100, NULL));
    CHECK(other != ptr);
    OK(hipFreeAsync(other, NULL));
    /* What a check made is kept after it, too, and the places are used again. */
    OK(hipMalloc((void **)&ptr, 100));
    CHECK(hipadaptCheckStop() == 0);
    OK(hipFree(ptr));
    for (int i = 0; i < 1000; i++) {
        OK(hipMalloc((void **)&other, 100));
        CHECK(other != ptr && is_alive(other, 100));
        OK(hipFree(other));
    }
    CHECK(hipadaptCheckStart("memory,quiet") == 0);
    CHECK(findings() == 0);
}

static void
test_graph_memory(void)
{
    struct ha_check_memory memory;
    hipGraph_t graph;
    hipGraphExec_t exec;
    hipStream_t stream;
    char *ptr;
    OK(hipStreamCreate(&stream));
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    OK(hipMallocAsync((void **)&ptr, 1000, stream));
    OK(hipMemsetAsync(ptr, 1, 1000, stream));
    OK(hipStreamEndCapture(stream, &graph));
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    for (int i = 0; i < 3; i++) {
        OK(hipGraphLaunch(exec, stream));
        OK(hipStreamSynchronize(stream));
        CHECK(is_alive(ptr, 1000) && !is_alive(ptr, 1001));
        CHECK_HIP(hipMemset(ptr, 1, 1001), hipErrorInvalidValue);
        FOUND(HA_FOUND_OUT_OF_BOUNDS, "hipMemset");
        CHECK(strcmp(last.allocated, "hipMallocAsync") == 0);
        OK(hipFree(ptr));
        CHECK(!is_alive(ptr, 1));
        ha_checked_describe((uintptr_t)ptr, 4, &memory);
        CHECK(strcmp(memory.freed, "hipFree") == 0);
    }
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
    OK(hipStreamDestroy(stream));
    CHECK(!is_alive(ptr, 1));
    CHECK(findings() == 0);
}

static void
test_stacks_of_nodes_and_arrays(void)
{
    struct ha_check_memory memory;
    hipMemAllocNodeParams params;
    hipGraph_t graph;
    hipGraphNode_t node;
    hipArray_t array;
    hipChannelFormatDesc format = {32, 0, 0, 0, hipChannelFormatKindFloat};
    memset(&params, 0, sizeof params);
    params.poolProps.allocType = hipMemAllocationTypePinned;
    params.poolProps.location.type = hipMemLocationTypeDevice;
    params.bytesize = 1000;
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    ha_checked_describe((uintptr_t)params.dptr, 4, &memory);
    CHECK(strcmp(memory.allocated, "hipGraphAddMemAllocNode") == 0);
    CHECK(leads_to_main(memory.allocated_by));
    OK(hipGraphDestroy(graph));
    OK(hipMallocArray(&array, &format, 16, 16, 0));
    OK(hipFreeArray(array));
    ha_checked_describe((uintptr_t)params.dptr, 4, &memory);
    CHECK(strcmp(memory.freed, "hipGraphDestroy") == 0);
    CHECK(findings() == 0);
}

static void
test_reset_frees(void)
{
    struct ha_check_memory memory;
    char *ptr, *managed;
    OK(hipMalloc((void **)&ptr, 1000));
    OK(hipMallocManaged((void **)&managed, 1000, hipMemAttachGlobal));
    OK(hipDeviceReset());
    CHECK(!is_alive(ptr, 1) && !is_alive(managed, 1));
    ha_checked_describe((uintptr_t)ptr, 4, &memory);
    CHECK(strcmp(memory.freed, "hipDeviceReset") == 0);
    CHECK(managed[999] == 0);
    size_t free_bytes, total;
    OK(hipMemGetInfo(&free_bytes, &total));
    CHECK(free_bytes == total);
    CHECK(findings() == 0);
}

#define THREADS 8

static void *
worker(void *argument)
{
    unsigned seed = (unsigned)(uintptr_t)argument * 7919 + 1;
    char *held[16] = {NULL};
    size_t sizes[16] = {0};
    hipStream_t stream;
    OK(hipStreamCreate(&stream));
    for (int i = 0; i < 1500; i++) {
        int at = rand_r(&seed) % 16;
        struct ha_check_memory memory;
        if (held[at] != NULL) {
            CHECK(is_alive(held[at], sizes[at]) && !is_alive(held[at], sizes[at] + 1));
            ha_checked_describe((uintptr_t)held[at], sizes[at] + 1, &memory);
            CHECK(memory.bytes == sizes[at]);
            OK(i % 2 == 0 ? hipFree(held[at]) : hipFreeAsync(held[at], stream));
            held[at] = NULL;
        } else {
            sizes[at] = 1 + rand_r(&seed) % 100000;
            OK(i % 3 == 0 ? hipMallocAsync((void **)&held[at], sizes[at], stream)
                          : hipMalloc((void **)&held[at], sizes[at]));
            held[at][0] = held[at][sizes[at] - 1] = 1;
        }
    }
    for (int at = 0; at < 16; at++) {
        OK(hipFree(held[at]));
    }
    OK(hipStreamDestroy(stream));
    return NULL;
}

static void
test_many_threads(void)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, worker, (void *)i) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    CHECK(findings() == 0);
    CHECK(ha_checked_kept_bytes() <= ha_checked_quarantine_bytes());
}

static void
test_a_forked_child_begins_anew(void)
{
    char *ptr;
    int status;
    OK(hipMalloc((void **)&ptr, 100));
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        char *own;
        OK(hipInit(0));
        CHECK(!is_alive(ptr, 1));
        OK(hipMalloc((void **)&own, 100));
        CHECK(is_alive(own, 100));
        CHECK_HIP(hipMemset(own, 0, 101), hipErrorInvalidValue);
        FOUND(HA_FOUND_OUT_OF_BOUNDS, "hipMemset");
        OK(hipFree(own));
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(is_alive(ptr, 100));
    OK(hipFree(ptr));
    CHECK(findings() == 0);
}

/* Seen by the dynamic linker, which names it in stacks. */
__attribute__((visibility("default"))) int
main(void)
{
    setenv("HIPADAPT_CHECK", "memory,quiet", 1);
    RUN(test_allocations_stand_apart);
    RUN(test_questions_are_answered_to_the_byte);
    RUN(test_kinds_of_memory_are_told);
    RUN(test_copies_and_fills_out_of_bounds);
    RUN(test_bad_frees);
    RUN(test_asynchronous_frees_are_in_the_order_of_the_stream);
    RUN(test_pools_count_what_the_program_has);
    RUN(test_quarantine_is_bounded);
    RUN(test_writes_that_nobody_saw_are_found_later);
    RUN(test_parts_are_allocations_of_their_own);
    RUN(test_parts_of_memory_from_before_the_check);
    RUN(test_memory_from_before_the_check);
    RUN(test_graph_memory);
    RUN(test_stacks_of_nodes_and_arrays);
    RUN(test_many_threads);
    RUN(test_a_forked_child_begins_anew);
    RUN(test_reset_frees);
    return 0;
}
