/* SPDX-License-Identifier: MIT */
/* Memory pools: counters, thresholds, reuse in stream order, exhaustion, and pools of
 * several processes. */
#include <errno.h>
#include <fcntl.h>

#include "cpu_support.h"

#define MIB ((size_t)1 << 20)

static uint64_t
number(hipMemPool_t pool, hipMemPoolAttr attribute)
{
    uint64_t value = 0;
    OK(hipMemPoolGetAttribute(pool, attribute, &value));
    return value;
}

static int
flag(hipMemPool_t pool, hipMemPoolAttr attribute)
{
    int value = -1;
    OK(hipMemPoolGetAttribute(pool, attribute, &value));
    return value;
}

static void
set_flag(hipMemPool_t pool, hipMemPoolAttr attribute, int value)
{
    OK(hipMemPoolSetAttribute(pool, attribute, &value));
}

static void
set_threshold(hipMemPool_t pool, uint64_t bytes)
{
    OK(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &bytes));
}

static hipMemPool_t
new_pool(int device, hipMemAllocationHandleType type, size_t limit)
{
    hipMemPool_t pool;
    hipMemPoolProps props;
    memset(&props, 0, sizeof props);
    props.allocType = hipMemAllocationTypePinned;
    props.handleTypes = type;
    props.location.type = hipMemLocationTypeDevice;
    props.location.id = device;
    props.maxSize = limit;
    OK(hipMemPoolCreate(&pool, &props));
    return pool;
}

static void
test_default_and_current_pool(void)
{
    hipMemPool_t standard;
    hipMemPool_t current;
    hipMemPool_t other = new_pool(0, hipMemHandleTypeNone, 0);
    hipMemPool_t far = new_pool(1, hipMemHandleTypeNone, 0);
    hipMemLocation here = {.type = hipMemLocationTypeDevice, .id = 0};
    void *ptr;
    OK(hipDeviceGetDefaultMemPool(&standard, 0));
    OK(hipDeviceGetMemPool(&current, 0));
    CHECK(standard == current);
    CHECK_HIP(hipMemPoolDestroy(standard), hipErrorInvalidValue);
    CHECK_HIP(hipDeviceSetMemPool(0, far), hipErrorInvalidValue);
    OK(hipDeviceSetMemPool(0, other));
    OK(hipMemGetMemPool(&current, &here, hipMemAllocationTypePinned));
    CHECK(current == other);
    OK(hipMemGetDefaultMemPool(&current, &here, hipMemAllocationTypePinned));
    CHECK(current == standard);
    OK(hipMallocAsync(&ptr, 1000, NULL));
    CHECK(number(other, hipMemPoolAttrUsedMemCurrent) == 1000);
    CHECK(number(standard, hipMemPoolAttrUsedMemCurrent) == 0);
    hipMemPool_t owner;
    OK(hipPointerGetAttribute(&owner, HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, ptr));
    CHECK(owner == other);
    /* A pool that is destroyed is no device's any more, but what it gave stays. */
    OK(hipMemPoolDestroy(other));
    CHECK_HIP(hipMemPoolDestroy(other), hipErrorInvalidValue);
    CHECK_HIP(hipMemPoolTrimTo(other, 0), hipErrorInvalidValue);
    OK(hipDeviceGetMemPool(&current, 0));
    CHECK(current == standard);
    OK(hipMemset(ptr, 1, 1000));
    OK(hipFree(ptr));
    OK(hipMemPoolDestroy(far));
    OK(hipMemSetMemPool(&here, hipMemAllocationTypePinned, standard));
    CHECK_HIP(hipDeviceGetMemPool(&current, 7), hipErrorInvalidValue);
    CHECK_HIP(hipDeviceSetMemPool(-1, standard), hipErrorInvalidValue);
    CHECK_HIP(hipDeviceGetDefaultMemPool(&current, 7), hipErrorInvalidDevice);
    CHECK_HIP(hipMemGetMemPool(&current, &here, hipMemAllocationTypeInvalid),
              hipErrorInvalidValue);
}

static void
test_counters_and_threshold(void)
{
    size_t free_before;
    size_t free_now;
    size_t total;
    void *a;
    void *b;
    hipStream_t stream;
    hipMemPool_t pool = new_pool(0, hipMemHandleTypeNone, 0);
    OK(hipStreamCreate(&stream));
    OK(hipMemGetInfo(&free_before, &total));
    CHECK(flag(pool, hipMemPoolReuseFollowEventDependencies) == 1);
    CHECK(flag(pool, hipMemPoolReuseAllowOpportunistic) == 1);
    CHECK(flag(pool, hipMemPoolReuseAllowInternalDependencies) == 1);
    CHECK(number(pool, hipMemPoolAttrReleaseThreshold) == 0);
    OK(hipMallocFromPoolAsync(&a, 4 * MIB, pool, stream));
    OK(hipMallocFromPoolAsync(&b, 1 * MIB, pool, stream));
    CHECK(number(pool, hipMemPoolAttrUsedMemCurrent) == 5 * MIB);
    CHECK(number(pool, hipMemPoolAttrReservedMemCurrent) >= 5 * MIB);
    OK(hipMemGetInfo(&free_now, &total));
    CHECK(free_before - free_now == number(pool, hipMemPoolAttrReservedMemCurrent));
    OK(hipFreeAsync(a, stream));
    OK(hipStreamSynchronize(stream));
    /* Threshold 0: what is free goes at a synchronization. */
    CHECK(number(pool, hipMemPoolAttrUsedMemCurrent) == 1 * MIB);
    CHECK(number(pool, hipMemPoolAttrReservedMemCurrent) < 2 * MIB);
    CHECK(number(pool, hipMemPoolAttrUsedMemHigh) == 5 * MIB);
    CHECK(number(pool, hipMemPoolAttrReservedMemHigh) >= 5 * MIB);
    uint64_t zero = 0;
    uint64_t one = 1;
    OK(hipMemPoolSetAttribute(pool, hipMemPoolAttrUsedMemHigh, &zero));
    OK(hipMemPoolSetAttribute(pool, hipMemPoolAttrReservedMemHigh, &zero));
    CHECK(number(pool, hipMemPoolAttrUsedMemHigh) == 1 * MIB);
    CHECK(number(pool, hipMemPoolAttrReservedMemHigh) < 2 * MIB);
    CHECK_HIP(hipMemPoolSetAttribute(pool, hipMemPoolAttrUsedMemHigh, &one),
              hipErrorInvalidValue);
    CHECK_HIP(hipMemPoolSetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &zero),
              hipErrorInvalidValue);
    CHECK_HIP(hipMemPoolGetAttribute(pool, (hipMemPoolAttr)99, &zero),
              hipErrorInvalidValue);
    set_threshold(pool, UINT64_MAX);
    OK(hipMallocFromPoolAsync(&a, 4 * MIB, pool, stream));
    OK(hipFreeAsync(a, stream));
    OK(hipFreeAsync(b, stream));
    OK(hipStreamSynchronize(stream));
    OK(hipDeviceSynchronize());
    CHECK(number(pool, hipMemPoolAttrReservedMemCurrent) >= 5 * MIB);
    CHECK(number(pool, hipMemPoolAttrUsedMemCurrent) == 0);
    OK(hipMemPoolTrimTo(pool, 3 * MIB));
    CHECK(number(pool, hipMemPoolAttrReservedMemCurrent) <= 3 * MIB);
    OK(hipMemPoolTrimTo(pool, 0));
    CHECK(number(pool, hipMemPoolAttrReservedMemCurrent) == 0);
    OK(hipMemGetInfo(&free_now, &total));
    CHECK(free_now == free_before);
    OK(hipMemPoolDestroy(pool));
    OK(hipStreamDestroy(stream));
}

static void
test_freed_memory_is_not_known(void)
{
    char host[16];
    void *ptr;
    hipMemPool_t pool = new_pool(0, hipMemHandleTypeNone, 0);
    set_threshold(pool, UINT64_MAX);
    OK(hipMallocFromPoolAsync(&ptr, 100, pool, NULL));
    OK(hipFreeAsync(ptr, NULL));
    OK(hipStreamSynchronize(NULL));
    CHECK_HIP(hipMemcpy(host, ptr, 16, hipMemcpyDeviceToHost), hipErrorInvalidValue);
    CHECK_HIP(hipFree(ptr), hipErrorInvalidValue);
    CHECK_HIP(hipFreeAsync(ptr, NULL), hipErrorInvalidValue);
    /* Another size of the same class gets the same memory and its own end. */
    void *again;
    OK(hipMallocFromPoolAsync(&again, 60, pool, NULL));
    CHECK(again == ptr);
    CHECK_HIP(hipMemset(again, 0, 61), hipErrorInvalidValue);
    ((char *)again)[60] = 1;
    CHECK_HIP(hipFree(again), hipErrorIllegalAddress);
    OK(hipMemPoolDestroy(pool));
}

static void
test_reuse_in_stream_order(void)
{
    void *a;
    void *b;
    void *c;
    hipStream_t first;
    hipStream_t second;
    hipMemPool_t pool = new_pool(0, hipMemHandleTypeNone, 0);
    set_threshold(pool, UINT64_MAX);
    OK(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
    OK(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
    OK(hipMallocFromPoolAsync(&a, MIB, pool, first));
    close_gate(first);
    OK(hipFreeAsync(a, first));
    /* It is not freed yet: another stream can't have it, the same one can. */
    CHECK(number(pool, hipMemPoolAttrUsedMemCurrent) == MIB);
    OK(hipMallocFromPoolAsync(&b, MIB, pool, second));
    CHECK(b != a);
    OK(hipMallocFromPoolAsync(&c, MIB, pool, first));
    CHECK(c == a);
    CHECK(number(pool, hipMemPoolAttrUsedMemCurrent) == 2 * MIB);
    gate_open = 1;
    OK(hipStreamSynchronize(first));
    /* The first free must not have taken the memory of the second allocation. */
    CHECK(number(pool, hipMemPoolAttrUsedMemCurrent) == 2 * MIB);
    OK(hipMemset(c, 7, MIB));
    /* A free that is over can be used by all streams, if that is allowed. */
    OK(hipFreeAsync(c, first));
    OK(hipStreamSynchronize(first));
    set_flag(pool, hipMemPoolReuseAllowOpportunistic, 0);
    OK(hipMallocFromPoolAsync(&a, MIB, pool, second));
    CHECK(a != c);
    set_flag(pool, hipMemPoolReuseAllowOpportunistic, 1);
    OK(hipFreeAsync(a, second));
    OK(hipStreamSynchronize(second));
    OK(hipMallocFromPoolAsync(&a, MIB, pool, second));
    OK(hipFreeAsync(a, second));
    OK(hipFreeAsync(b, second));
    OK(hipDeviceSynchronize());
    CHECK(number(pool, hipMemPoolAttrUsedMemCurrent) == 0);
    OK(hipMemPoolDestroy(pool));
    OK(hipStreamDestroy(first));
    OK(hipStreamDestroy(second));
}

static _Atomic int second_gate_open;

static void
second_gate(void *unused)
{
    (void)unused;
    while (!second_gate_open) {
        usleep(100);
    }
}

/* A free that is overtaken by a new allocation must not end that one's free early. */
static void
test_overtaken_free_frees_nothing(void)
{
    void *a;
    void *b;
    void *c;
    hipEvent_t between;
    hipStream_t stream;
    hipMemPool_t pool = new_pool(0, hipMemHandleTypeNone, 0);
    set_threshold(pool, UINT64_MAX);
    OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    OK(hipEventCreate(&between));
    OK(hipMallocFromPoolAsync(&a, MIB, pool, stream));
    close_gate(stream);
    OK(hipFreeAsync(a, stream));
    OK(hipMallocFromPoolAsync(&b, MIB, pool, stream));
    CHECK(b == a);
    OK(hipEventRecord(between, stream));
    second_gate_open = 0;
    OK(hipLaunchHostFunc(stream, second_gate, NULL));
    OK(hipFreeAsync(b, stream));
    gate_open = 1;
    OK(hipEventSynchronize(between));
    CHECK(number(pool, hipMemPoolAttrUsedMemCurrent) == MIB);
    OK(hipMallocFromPoolAsync(&c, MIB, pool, NULL));
    CHECK(c != a);
    second_gate_open = 1;
    OK(hipStreamSynchronize(stream));
    CHECK(number(pool, hipMemPoolAttrUsedMemCurrent) == MIB);
    OK(hipFree(c));
    OK(hipMemPoolDestroy(pool));
    OK(hipEventDestroy(between));
    OK(hipStreamDestroy(stream));
}

/* Memory that is given out again before it is free is still written to, up to its old
 * size; that is nobody's fault. */
static void
test_early_reuse_with_another_size(void)
{
    char *a;
    char *b;
    hipStream_t stream;
    hipMemPool_t pool = new_pool(0, hipMemHandleTypeNone, 0);
    OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    for (int smaller = 0; smaller < 2; smaller++) {
        size_t first = smaller ? 1000 : 900;
        size_t second = smaller ? 900 : 1000;
        OK(hipMallocFromPoolAsync((void **)&a, first, pool, stream));
        close_gate(stream);
        OK(hipMemsetAsync(a, 1, first, stream));
        OK(hipFreeAsync(a, stream));
        OK(hipMallocFromPoolAsync((void **)&b, second, pool, stream));
        CHECK(b == a);
        CHECK_HIP(hipMemsetAsync(b, 2, second + 1, stream), hipErrorInvalidValue);
        OK(hipMemsetAsync(b, 2, second, stream));
        gate_open = 1;
        OK(hipStreamSynchronize(stream));
        OK(hipFree(b)); /* tells writes past the end */
    }
    OK(hipMemPoolDestroy(pool));
    OK(hipStreamDestroy(stream));
}

static void
count_down(void *data)
{
    --*(int *)data;
}

static void
test_a_full_pool_waits_for_another_stream(void)
{
    void *a;
    void *b = NULL;
    static int left;
    hipStream_t first;
    hipStream_t second;
    hipMemPool_t pool = new_pool(0, hipMemHandleTypeNone, 3 * MIB);
    OK(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
    OK(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
    OK(hipMallocFromPoolAsync(&a, 2 * MIB, pool, first));
    CHECK_HIP(hipMallocFromPoolAsync(&b, 2 * MIB, pool, second), hipErrorOutOfMemory);
    CHECK(b == NULL);
    left = 2;
    close_gate(first);
    OK(hipLaunchHostFunc(first, count_down, &left));
    OK(hipFreeAsync(a, first));
    OK(hipMallocFromPoolAsync(&b, 2 * MIB, pool, second));
    CHECK(b == a);
    OK(hipLaunchHostFunc(second, count_down, &left));
    usleep(20000);
    CHECK(left == 2); /* the second stream waits for the first one's free */
    gate_open = 1;
    OK(hipStreamSynchronize(second));
    CHECK(left == 0);
    OK(hipFreeAsync(b, second));
    /* Without permission for that, there is no memory. */
    OK(hipDeviceSynchronize());
    set_flag(pool, hipMemPoolReuseAllowInternalDependencies, 0);
    OK(hipMallocFromPoolAsync(&a, 2 * MIB, pool, first));
    close_gate(first);
    OK(hipFreeAsync(a, first));
    CHECK_HIP(hipMallocFromPoolAsync(&b, 2 * MIB, pool, second), hipErrorOutOfMemory);
    gate_open = 1;
    OK(hipDeviceSynchronize());
    OK(hipMemPoolDestroy(pool));
    OK(hipStreamDestroy(first));
    OK(hipStreamDestroy(second));
}

static void
test_exhaustion(void)
{
    size_t free_bytes;
    size_t total;
    void *a;
    void *b;
    hipMemPool_t pool = new_pool(0, hipMemHandleTypeNone, 0);
    set_threshold(pool, UINT64_MAX);
    OK(hipMemGetInfo(&free_bytes, &total));
    CHECK_HIP(hipMallocFromPoolAsync(&a, total + 1, pool, NULL), hipErrorOutOfMemory);
    CHECK_HIP(hipMallocFromPoolAsync(&a, SIZE_MAX, pool, NULL), hipErrorOutOfMemory);
    CHECK_HIP(hipMallocAsync(&a, SIZE_MAX - 4096, NULL), hipErrorOutOfMemory);
    /* What the pool keeps is given up for a bigger allocation. */
    OK(hipMallocFromPoolAsync(&a, free_bytes / 2, pool, NULL));
    OK(hipFreeAsync(a, NULL));
    OK(hipMallocFromPoolAsync(&b, free_bytes / 4 * 3, pool, NULL));
    OK(hipFreeAsync(b, NULL));
    OK(hipMallocFromPoolAsync(&a, 0, pool, NULL));
    CHECK(a == NULL);
    CHECK_HIP(hipFreeAsync(NULL, NULL), hipErrorInvalidValue);
    hipStream_t none = (hipStream_t)(intptr_t)-1;
    hipMemPool_t standard;
    OK(hipDeviceGetDefaultMemPool(&standard, 0));
    CHECK_HIP(hipMallocAsync(&a, 8, none), hipErrorInvalidHandle);
    CHECK_HIP(hipMallocFromPoolAsync(&a, 8, standard, none), hipErrorInvalidHandle);
    OK(hipMallocAsync(&a, 8, NULL));
    CHECK_HIP(hipFreeAsync(a, none), hipErrorInvalidHandle);
    OK(hipFree(a));
    OK(hipStreamSynchronize(NULL));
    OK(hipMemPoolDestroy(pool));
}

static void
test_access(void)
{
    hipMemPool_t pool = new_pool(0, hipMemHandleTypeNone, 0);
    hipMemAccessFlags access;
    hipMemLocation other = {.type = hipMemLocationTypeDevice, .id = 1};
    hipMemAccessDesc desc = {.location = other,
                             .flags = hipMemAccessFlagsProtReadWrite};
    OK(hipMemPoolGetAccess(&access, pool, &other));
    CHECK(access == hipMemAccessFlagsProtNone);
    OK(hipMemPoolSetAccess(pool, &desc, 1));
    OK(hipMemPoolGetAccess(&access, pool, &other));
    CHECK(access == hipMemAccessFlagsProtReadWrite);
    desc.location.id = 0;
    desc.flags = hipMemAccessFlagsProtNone;
    CHECK_HIP(hipMemPoolSetAccess(pool, &desc, 1), hipErrorInvalidValue);
    desc.location.id = 9;
    CHECK_HIP(hipMemPoolSetAccess(pool, &desc, 1), hipErrorInvalidValue);
    desc.location.id = 1;
    desc.flags = (hipMemAccessFlags)2;
    CHECK_HIP(hipMemPoolSetAccess(pool, &desc, 1), hipErrorInvalidValue);
    OK(hipMemPoolDestroy(pool));
}

static void
test_bad_arguments(void)
{
    hipMemPool_t pool;
    hipMemPool_t made_up = (hipMemPool_t)(uintptr_t)0x5550;
    hipMemPoolProps props;
    hipMemPoolPtrExportData data;
    void *ptr;
    int fd;
    memset(&props, 0, sizeof props);
    CHECK_HIP(hipMemPoolCreate(&pool, &props), hipErrorInvalidValue);
    CHECK_HIP(hipMemPoolCreate(NULL, &props), hipErrorInvalidValue);
    CHECK_HIP(hipMemPoolCreate(&pool, NULL), hipErrorInvalidValue);
    props.allocType = hipMemAllocationTypePinned;
    CHECK_HIP(hipMemPoolCreate(&pool, &props), hipErrorInvalidValue);
    props.location.type = hipMemLocationTypeDevice;
    props.location.id = 2;
    CHECK_HIP(hipMemPoolCreate(&pool, &props), hipErrorInvalidValue);
    props.location.id = 0;
    props.handleTypes = hipMemHandleTypeFabric;
    CHECK_HIP(hipMemPoolCreate(&pool, &props), hipErrorNotSupported);
    CHECK_HIP(hipMallocFromPoolAsync(&ptr, 1, made_up, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipMallocFromPoolAsync(&ptr, 1, NULL, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipMemPoolDestroy(NULL), hipErrorInvalidValue);
    CHECK_HIP(hipMemPoolDestroy(made_up), hipErrorInvalidValue);
    CHECK_HIP(hipDeviceSetMemPool(0, made_up), hipErrorInvalidValue);
    hipMemPool_t plain = new_pool(0, hipMemHandleTypeNone, 0);
    CHECK_HIP(hipMemPoolExportToShareableHandle(&fd, plain,
                                                hipMemHandleTypePosixFileDescriptor, 0),
              hipErrorInvalidValue);
    OK(hipMallocFromPoolAsync(&ptr, 100, plain, NULL));
    CHECK_HIP(hipMemPoolExportPointer(&data, ptr), hipErrorInvalidValue);
    memset(&data, 0xa5, sizeof data);
    CHECK_HIP(hipMemPoolImportPointer(&ptr, plain, &data), hipErrorInvalidValue);
    /* Files that are no pools. */
    fd = open("/dev/null", O_RDWR);
    CHECK_HIP(hipMemPoolImportFromShareableHandle(
                  &pool, (void *)(uintptr_t)fd, hipMemHandleTypePosixFileDescriptor, 0),
              hipErrorInvalidValue);
    CHECK_HIP(
        hipMemPoolImportFromShareableHandle(&pool, (void *)(uintptr_t)0x7777777777,
                                            hipMemHandleTypePosixFileDescriptor, 0),
        hipErrorInvalidValue);
    close(fd);
    OK(hipFree(ptr));
    OK(hipMemPoolDestroy(plain));
}

/* ---- threads ---- */

static void *
churn(void *data)
{
    uint64_t state = (uint64_t)(uintptr_t)data;
    hipStream_t stream;
    unsigned char *live[8] = {0};
    size_t sizes[8] = {0};
    hipMemPool_t pool;
    OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    OK(hipDeviceGetDefaultMemPool(&pool, 0));
    for (int i = 0; i < 3000; i++) {
        unsigned at = random_next(&state) % 8;
        if (live[at] != NULL) {
            OK(hipMemsetAsync(live[at], (int)at, sizes[at], stream));
            OK(hipFreeAsync(live[at], stream));
            live[at] = NULL;
        } else {
            sizes[at] = 1 + random_next(&state) % 20000;
            OK(hipMallocAsync((void **)&live[at], sizes[at], stream));
            OK(hipMemsetAsync(live[at], (int)at, sizes[at], stream));
        }
        if (random_next(&state) % 64 == 0) {
            OK(hipStreamSynchronize(stream));
            for (unsigned j = 0; j < 8; j++) {
                CHECK(live[j] == NULL ||
                      (live[j][0] == j && live[j][sizes[j] - 1] == j));
            }
        }
    }
    for (int j = 0; j < 8; j++) {
        if (live[j] != NULL) {
            OK(hipFreeAsync(live[j], stream));
        }
    }
    OK(hipStreamSynchronize(stream));
    OK(hipStreamDestroy(stream));
    return NULL;
}

static void
test_threads(void)
{
    pthread_t threads[4];
    hipMemPool_t pool;
    OK(hipDeviceGetDefaultMemPool(&pool, 0));
    set_threshold(pool, 64 * MIB);
    for (uintptr_t i = 0; i < 4; i++) {
        CHECK(pthread_create(&threads[i], NULL, churn, (void *)(i + 1)) == 0);
    }
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    CHECK(number(pool, hipMemPoolAttrUsedMemCurrent) == 0);
    OK(hipMemPoolTrimTo(pool, 0));
    CHECK(number(pool, hipMemPoolAttrReservedMemCurrent) == 0);
    set_threshold(pool, 0);
}

/* ---- other processes ---- */

/* The other side: gets a file descriptor and export data on standard input. */
static int
importer(int fd)
{
    hipMemPool_t pool;
    hipMemPoolPtrExportData data;
    unsigned char *ptr;
    unsigned char *again;
    unsigned char host[5000];
    void *none;
    CHECK(read(0, &data, sizeof data) == (ssize_t)sizeof data);
    OK(hipMemPoolImportFromShareableHandle(&pool, &fd,
                                           hipMemHandleTypePosixFileDescriptor, 0));
    CHECK_HIP(hipMallocFromPoolAsync(&none, 10, pool, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipDeviceSetMemPool(0, pool), hipErrorInvalidValue);
    OK(hipMemPoolImportPointer((void **)&ptr, pool, &data));
    OK(hipMemcpy(host, ptr, sizeof host, hipMemcpyDeviceToHost));
    for (size_t i = 0; i < sizeof host; i++) {
        CHECK(host[i] == (unsigned char)(i * 7));
    }
    CHECK_HIP(hipMemset(ptr, 0, sizeof host + 1), hipErrorInvalidValue);
    OK(hipMemset(ptr, 0x3c, sizeof host));
    OK(hipMemPoolImportPointer((void **)&again, pool, &data));
    CHECK(again == ptr);
    data.reserved[8] ^= 1;
    CHECK_HIP(hipMemPoolImportPointer((void **)&again, pool, &data),
              hipErrorInvalidValue);
    OK(hipMemPoolDestroy(pool));
    OK(hipFreeAsync(ptr, NULL));
    OK(hipMemset(ptr, 0x3c, 1));
    OK(hipFree(ptr));
    CHECK_HIP(hipMemset(ptr, 0, 1), hipErrorInvalidValue);
    CHECK_HIP(hipFree(ptr), hipErrorInvalidValue);
    return 0;
}

static void
test_pool_of_two_processes(void)
{
    hipMemPool_t pool = new_pool(0, hipMemHandleTypePosixFileDescriptor, 0);
    hipMemPoolPtrExportData data;
    unsigned char host[5000];
    unsigned char *small;
    unsigned char *ptr;
    char number_text[16];
    int fd = -1;
    int feed[2];
    OK(hipMallocFromPoolAsync((void **)&small, 10, pool, NULL));
    OK(hipMallocFromPoolAsync((void **)&ptr, sizeof host, pool, NULL));
    for (size_t i = 0; i < sizeof host; i++) {
        host[i] = (unsigned char)(i * 7);
    }
    OK(hipMemcpy(ptr, host, sizeof host, hipMemcpyHostToDevice));
    OK(hipMemPoolExportToShareableHandle(&fd, pool, hipMemHandleTypePosixFileDescriptor,
                                         0));
    OK(hipMemPoolExportPointer(&data, ptr));
    CHECK(pipe(feed) == 0);
    snprintf(number_text, sizeof number_text, "%d", fd);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        dup2(feed[0], 0);
        fcntl(fd, F_SETFD, 0); /* stays open in the new program */
        execl("/proc/self/exe", "test", "import", number_text, NULL);
        _exit(99);
    }
    CHECK(write(feed[1], &data, sizeof data) == (ssize_t)sizeof data);
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    OK(hipMemcpy(host, ptr, sizeof host, hipMemcpyDeviceToHost));
    for (size_t i = 0; i < sizeof host; i++) {
        CHECK(host[i] == 0x3c);
    }
    close(fd);
    close(feed[0]);
    close(feed[1]);
    OK(hipFree(small));
    OK(hipFree(ptr));
    OK(hipMemPoolDestroy(pool));
}

static void
test_pointer_of_another_pool_is_refused(void)
{
    hipMemPool_t pools[2];
    hipMemPool_t imported[2];
    hipMemPoolPtrExportData data[2];
    void *memory[2];
    void *ptr;
    for (int i = 0; i < 2; i++) {
        int fd = -1;
        pools[i] = new_pool(0, hipMemHandleTypePosixFileDescriptor, 0);
        OK(hipMallocFromPoolAsync(&memory[i], 100, pools[i], NULL));
        OK(hipMemPoolExportPointer(&data[i], memory[i]));
        OK(hipMemPoolExportToShareableHandle(&fd, pools[i],
                                             hipMemHandleTypePosixFileDescriptor, 0));
        OK(hipMemPoolImportFromShareableHandle(&imported[i], (void *)(uintptr_t)fd,
                                               hipMemHandleTypePosixFileDescriptor, 0));
        close(fd);
    }
    CHECK_HIP(hipMemPoolImportPointer(&ptr, imported[0], &data[1]),
              hipErrorInvalidValue);
    CHECK_HIP(hipMemPoolImportPointer(&ptr, pools[0], &data[0]), hipErrorInvalidValue);
    OK(hipMemPoolImportPointer(&ptr, imported[0], &data[0]));
    char byte = 0;
    OK(hipMemset(memory[0], 5, 100));
    OK(hipMemcpy(&byte, (char *)ptr + 99, 1, hipMemcpyDeviceToHost));
    CHECK(byte == 5);
    OK(hipFree(ptr));
    for (int i = 0; i < 2; i++) {
        OK(hipFree(memory[i]));
        OK(hipMemPoolDestroy(pools[i]));
        OK(hipMemPoolDestroy(imported[i]));
    }
}

static void
test_reset_ends_pools(void)
{
    hipMemPool_t pool = new_pool(0, hipMemHandleTypePosixFileDescriptor, 0);
    hipMemPool_t standard;
    size_t free_bytes;
    size_t total;
    void *a;
    void *b;
    OK(hipMallocFromPoolAsync(&a, MIB, pool, NULL));
    OK(hipMallocAsync(&b, MIB, NULL));
    OK(hipFreeAsync(b, NULL));
    OK(hipDeviceGetDefaultMemPool(&standard, 0));
    OK(hipDeviceReset());
    CHECK_HIP(hipFree(a), hipErrorInvalidValue);
    CHECK_HIP(hipMemPoolDestroy(pool), hipErrorInvalidValue);
    CHECK_HIP(hipMemPoolTrimTo(standard, 0), hipErrorInvalidValue);
    OK(hipMemGetInfo(&free_bytes, &total));
    CHECK(free_bytes == total);
    OK(hipMallocAsync(&b, MIB, NULL));
    OK(hipFreeAsync(b, NULL));
    OK(hipStreamSynchronize(NULL));
}

int
main(int argc, char **argv)
{
    setenv("HIPADAPT_CPU_DEVICES", "2", 1);
    if (argc == 3 && strcmp(argv[1], "import") == 0) {
        return importer(atoi(argv[2]));
    }
    RUN(test_default_and_current_pool);
    RUN(test_counters_and_threshold);
    RUN(test_freed_memory_is_not_known);
    RUN(test_reuse_in_stream_order);
    RUN(test_overtaken_free_frees_nothing);
    RUN(test_early_reuse_with_another_size);
    RUN(test_a_full_pool_waits_for_another_stream);
    RUN(test_exhaustion);
    RUN(test_access);
    RUN(test_bad_arguments);
    RUN(test_threads);
    RUN(test_pool_of_two_processes);
    RUN(test_pointer_of_another_pool_is_refused);
    RUN(test_reset_ends_pools);
    return 0;
}
