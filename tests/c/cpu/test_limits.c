/* SPDX-License-Identifier: MIT */
/* Memory, descriptors and threads run out; and allocations between guards: each in a
 * child of its own, because limits and environment are the process's. */
#include "cpu_support.h"

#include <signal.h>
#include <sys/resource.h>

enum { LANES = 64, BLOCKS = 16, COUNT = LANES * BLOCKS };

static void
run(void (*body)(void))
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(120);
        body();
        exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void
limit_set(int which, rlim_t soft)
{
    struct rlimit limit;
    CHECK(getrlimit(which, &limit) == 0);
    limit.rlim_cur = soft;
    CHECK(setrlimit(which, &limit) == 0);
}

static hipFunction_t
load(int **data)
{
    hipModule_t module;
    hipFunction_t add = image_function(&module, "add");
    OK(hipMalloc((void **)data, COUNT * sizeof **data));
    OK(hipMemset(*data, 0, COUNT * sizeof **data));
    return add;
}

static void
add_one(hipFunction_t add, int *data, hipStream_t stream)
{
    int value = 1;
    uint64_t n = COUNT;
    void *params[] = {&data, &value, &n};
    OK(hipModuleLaunchKernel(add, BLOCKS, 1, 1, LANES, 1, 1, 0, stream, params, NULL));
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* ---- what runs out ---- */

static void
no_address_space(void)
{
    enum { MOST = 100000 };
    static void *kept[MOST];
    int *data;
    int count = 0;
    hipError_t code = hipSuccess;
    hipFunction_t add = load(&data);
    add_one(add, data, NULL);
    OK(hipDeviceSynchronize());
    unsigned long pages;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%lu", &pages) == 1 && fclose(file) == 0);
    limit_set(RLIMIT_AS, pages * (rlim_t)sysconf(_SC_PAGESIZE) + ((rlim_t)64 << 20));
    for (size_t size = (size_t)16 << 20; size >= 4096; size /= 16) {
        code = hipSuccess;
        while (count < MOST && code == hipSuccess) {
            code = hipMalloc(&kept[count], size);
            count += code == hipSuccess;
        }
        CHECK_HIP(code, hipErrorOutOfMemory);
    }
    /* Objects are made or are not, and what is there goes on. */
    for (int i = 0; i < 1000; i++) {
        hipStream_t stream;
        hipEvent_t event;
        hipGraph_t graph;
        code = hipStreamCreate(&stream);
        CHECK(code == hipSuccess || code == hipErrorOutOfMemory);
        code = hipEventCreate(&event);
        CHECK(code == hipSuccess || code == hipErrorOutOfMemory);
        code = hipGraphCreate(&graph, 0);
        CHECK(code == hipSuccess || code == hipErrorOutOfMemory);
    }
    add_one(add, data, NULL);
    OK(hipDeviceSynchronize());
    CHECK(data[0] == 2 && data[COUNT - 1] == 2);
    while (count > 0) {
        OK(hipFree(kept[--count]));
    }
    OK(hipMalloc(&kept[0], (size_t)1 << 20));
}

static void
no_descriptors(void)
{
    int *data;
    hipModule_t module;
    hipIpcMemHandle_t handle;
    hipFunction_t add = load(&data);
    limit_set(RLIMIT_NOFILE, 0);
    CHECK(hipModuleLoadData(&module, image_bytes) != hipSuccess);
    CHECK(hipModuleLoad(&module, "/nowhere") != hipSuccess);
    CHECK(hipIpcGetMemHandle(&handle, data) != hipSuccess);
    for (int i = 0; i < 100; i++) {
        hipStream_t stream;
        void *memory;
        OK(hipStreamCreate(&stream));
        OK(hipMalloc(&memory, (size_t)1 << 20));
        add_one(add, data, stream);
        OK(hipFree(memory));
        OK(hipStreamDestroy(stream));
    }
    OK(hipDeviceSynchronize());
    CHECK(data[0] == 100 && data[COUNT - 1] == 100);
    limit_set(RLIMIT_NOFILE, 64);
    OK(hipModuleLoadData(&module, image_bytes));
}

static void
no_threads(void)
{
    int *data;
    hipStream_t stream;
    image_make();
    if (geteuid() == 0) { /* the limit does not count for root */
        CHECK(setresgid(54321, 54321, 54321) == 0);
        CHECK(setresuid(54321, 54321, 54321) == 0);
    }
    limit_set(RLIMIT_NPROC, 1);
    hipFunction_t add = load(&data);
    OK(hipStreamCreate(&stream));
    for (int i = 0; i < 200; i++) {
        add_one(add, data, stream);
    }
    OK(hipStreamSynchronize(stream));
    CHECK(data[0] == 200 && data[COUNT - 1] == 200);
}

static void
test_what_runs_out_is_an_error(void)
{
    if (!SANITIZED) {
        run(no_address_space); /* the sanitizers need a lot of it */
    }
    run(no_descriptors);
    run(no_threads);
}

/* ---- guards ---- */

/* A store `at` elements from the beginning; the device is as new afterwards. */
static hipError_t
store(const int *data, ptrdiff_t at)
{
    hipModule_t module;
    hipFunction_t fail = image_function(&module, "fail");
    int kind = 0;
    uint64_t address = (uint64_t)(uintptr_t)data + (uint64_t)at * sizeof *data;
    void *params[] = {&kind, &address};
    OK(hipModuleLaunchKernel(fail, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    hipError_t code = hipDeviceSynchronize();
    if (code != hipSuccess) {
        OK(hipDeviceReset());
    } else {
        OK(hipModuleUnload(module));
    }
    return code;
}

static void
guarded(void)
{
    static const ptrdiff_t bad[] = {COUNT, COUNT + 1023, -1, -1024};
    int *data;
    CHECK(setenv("HIPADAPT_CPU_GUARD", "1", 1) == 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        OK(hipMalloc((void **)&data, COUNT * sizeof *data));
        CHECK((uintptr_t)data % 256 == 0);
        OK(store(data, 0));
        OK(store(data, COUNT - 1));
        CHECK_HIP(store(data, bad[i]), hipErrorIllegalAddress);
    }
    OK(hipMalloc((void **)&data, COUNT * sizeof *data));
    OK(hipFree(data));
    CHECK_HIP(store(data, 0), hipErrorIllegalAddress);
    /* What is too near for a page is told by hipFree, on both sides. */
    OK(hipMalloc((void **)&data, 100));
    OK(store(data, 25));
    CHECK_HIP(hipFree(data), hipErrorIllegalAddress);
    OK(hipMalloc((void **)&data, 256));
    OK(store(data, -1));
    CHECK_HIP(hipFree(data), hipErrorIllegalAddress);
}

static void
guarded_copies(void)
{
    hipMemPool_t pool;
    hipIpcMemHandle_t handle;
    char *data;
    char back[5000];
    uint64_t state = 1;
    CHECK(setenv("HIPADAPT_CPU_GUARD", "1", 1) == 0);
    for (int i = 0; i < 500; i++) {
        size_t size = random_next(&state) % sizeof back + 1;
        OK(hipMalloc((void **)&data, size));
        OK(hipMemset(data, i, size));
        OK(hipMemcpyDtoH(back, data, size));
        CHECK(back[0] == (char)i && back[size - 1] == (char)i);
        CHECK_HIP(hipMemset(data, 0, size + 1), hipErrorInvalidValue);
        CHECK_HIP(hipMemset(data - 1, 0, 1), hipErrorInvalidValue);
        if (i % 10 == 0) { /* its pages become those of a file */
            OK(hipIpcGetMemHandle(&handle, data));
            CHECK(data[0] == (char)i && data[size - 1] == (char)i);
        }
        OK(hipFree(data));
    }
    OK(hipDeviceGetDefaultMemPool(&pool, 0));
    for (int i = 0; i < 500; i++) {
        size_t size = random_next(&state) % sizeof back + 1;
        OK(hipMallocFromPoolAsync((void **)&data, size, pool, NULL));
        OK(hipMemsetAsync(data, i, size, NULL));
        OK(hipFreeAsync(data, NULL));
    }
    OK(hipDeviceSynchronize());
}

static void
unguarded(void)
{
    int *data;
    OK(hipMalloc((void **)&data, COUNT * sizeof *data));
    OK(store(data, COUNT));
    CHECK_HIP(hipFree(data), hipErrorIllegalAddress);
}

static void
test_guarded_memory(void)
{
    run(guarded);
    run(guarded_copies);
    run(unguarded);
}

/* ---- the size of files ---- */

/* A handler would hide what is looked for: the signal must not come at all. */
static void
small_files(void)
{
    void *small;
    void *big;
    hipIpcMemHandle_t handle;
    hipMemPool_t pool;
    hipMemPoolProps pool_props;
    hipMemAllocationProp prop;
    hipMemGenericAllocationHandle_t allocation;
    hipModule_t module;
    hipModule_t other;
    sigset_t before;
    sigset_t after;
    (void)image_function(&module, "add");
    CHECK(signal(SIGXFSZ, SIG_DFL) != SIG_ERR);
    CHECK(sigprocmask(SIG_SETMASK, NULL, &before) == 0);
    limit_set(RLIMIT_FSIZE, 6000);

    OK(hipMalloc(&small, 1000));
    OK(hipMemset(small, 5, 1000));
    OK(hipMalloc(&big, (size_t)4 << 20));
    CHECK_HIP(hipIpcGetMemHandle(&handle, small), hipErrorOutOfMemory);
    CHECK_HIP(hipIpcGetMemHandle(&handle, big), hipErrorOutOfMemory);
    memset(&pool_props, 0, sizeof pool_props);
    pool_props.allocType = hipMemAllocationTypePinned;
    pool_props.handleTypes = hipMemHandleTypePosixFileDescriptor;
    pool_props.location.type = hipMemLocationTypeDevice;
    OK(hipMemPoolCreate(&pool, &pool_props));
    CHECK_HIP(hipMallocFromPoolAsync(&big, 1000, pool, NULL), hipErrorOutOfMemory);
    memset(&prop, 0, sizeof prop);
    prop.type = hipMemAllocationTypePinned;
    prop.location.type = hipMemLocationTypeDevice;
    CHECK_HIP(hipMemCreate(&allocation, (size_t)1 << 20, &prop, 0),
              hipErrorOutOfMemory);
    CHECK_HIP(hipModuleLoadData(&other, image_bytes), hipErrorOutOfMemory);

    unsigned char host = 0;
    OK(hipMemcpy(&host, small, 1, hipMemcpyDeviceToHost));
    CHECK(host == 5);
    CHECK(sigprocmask(SIG_SETMASK, NULL, &after) == 0);
    CHECK(sigismember(&before, SIGXFSZ) == sigismember(&after, SIGXFSZ));
    limit_set(RLIMIT_FSIZE, (rlim_t)1 << 30);
    OK(hipIpcGetMemHandle(&handle, small));
    OK(hipModuleLoadData(&other, image_bytes));
}

static void
test_limit_of_file_sizes_is_an_error_and_no_signal(void)
{
    run(small_files);
}

int
main(void)
{
    RUN(test_what_runs_out_is_an_error);
    RUN(test_limit_of_file_sizes_is_an_error_and_no_signal);
    RUN(test_guarded_memory);
    return 0;
}
