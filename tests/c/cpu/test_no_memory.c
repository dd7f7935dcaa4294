/* SPDX-License-Identifier: MIT */
/* Memory runs out at the n-th time that anything asks for some, for each n: the call
 * that needed it says so, or did without; nothing crashes, hangs or is lost, and
 * everything works again right after.
 *
 * Each n has a process of its own, in which the device starts anew.  References of our
 * objects are redirected by the linker; what the C library takes for itself is not.
 *
 * HIPADAPT_SLOW_TESTS=1: every n. */
/* libraries: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* libraries: -Wl,--wrap=strdup,--wrap=strndup,--wrap=mmap,--wrap=memfd_create */
#include "abi/hiprtc.h"
#include "cpu_support.h"
#include "no_memory.h"

#define BYTES 8192
#define COUNT ((uint64_t)(BYTES / sizeof(int)))
#define STEP 4 /* of n, where not every one is tried */
#define LIMIT_S 60
#define REPEATED_TIMES                                                                 \
    4 /* how often in a row there is no memory, in the second round */

/* Goes on after success and leaves after "no memory"; all else is an error. */
#define TRY(call)                                                                      \
    do {                                                                               \
        hipError_t got_ = (call);                                                      \
        if (got_ != hipSuccess) {                                                      \
            if (!armed || got_ != hipErrorOutOfMemory) {                               \
                fprintf(stderr, "%s:%d: %s is %s (%s)\n", __FILE__, __LINE__, #call,   \
                        hipGetErrorName(got_), hipadaptGetErrorText());                \
                _exit(1);                                                              \
            }                                                                          \
            goto done;                                                                 \
        }                                                                              \
    } while (0)

#define TRY_RTC(call)                                                                  \
    do {                                                                               \
        hiprtcResult got_ = (call);                                                    \
        if (got_ != HIPRTC_SUCCESS) {                                                  \
            if (!armed || got_ != HIPRTC_ERROR_OUT_OF_MEMORY) {                        \
                fprintf(stderr, "%s:%d: %s is %s (%s)\n", __FILE__, __LINE__, #call,   \
                        hiprtcGetErrorString(got_), hipadaptGetErrorText());           \
                _exit(1);                                                              \
            }                                                                          \
            goto done;                                                                 \
        }                                                                              \
    } while (0)

/* What is given back at the end works without memory, whatever failed before. */
#define BACK(condition, call)                                                          \
    do {                                                                               \
        if (condition) {                                                               \
            OK(call);                                                                  \
        }                                                                              \
    } while (0)

static void
disarm(void)
{
    armed = false;
}

/* A kernel that has no memory for its lanes fails as any kernel does: the device has to
 * be reset, which takes all that was made along. */
static bool
ended_by_kernel(void)
{
    hipError_t code = hipDeviceSynchronize();
    if (code == hipSuccess) {
        return false;
    }
    CHECK(code == hipErrorOutOfMemory);
    CHECK(strstr(hipadaptGetErrorText(), "no memory for the stacks") != NULL);
    OK(hipDeviceReset());
    return true;
}

static void
check_ints(const int *memory, int value)
{
    int host[COUNT];
    OK(hipMemcpy(host, memory, BYTES, hipMemcpyDeviceToHost));
    for (size_t i = 0; i < COUNT; i++) {
        CHECK(host[i] == value);
    }
}

static void
use_memory(void)
{
    void *device = NULL, *pinned = NULL, *managed = NULL, *pitched = NULL;
    hipStream_t stream = NULL;
    hipEvent_t event = NULL;
    size_t pitch;
    char *pageable = malloc(BYTES);
    if (pageable == NULL) {
        goto done;
    }
    memset(pageable, 5, BYTES);
    TRY(hipMalloc(&device, BYTES));
    TRY(hipHostMalloc(&pinned, BYTES, 0));
    TRY(hipMallocManaged(&managed, BYTES, hipMemAttachGlobal));
    TRY(hipMallocPitch(&pitched, &pitch, 100, 10));
    TRY(hipStreamCreate(&stream));
    TRY(hipEventCreate(&event));
    TRY(hipMemcpyAsync(device, pageable, BYTES, hipMemcpyHostToDevice, stream));
    TRY(hipMemcpyAsync(pinned, device, BYTES, hipMemcpyDeviceToHost, stream));
    TRY(hipMemset2DAsync(pitched, pitch, 1, 100, 10, stream));
    TRY(hipEventRecord(event, stream));
    TRY(hipStreamWaitEvent(NULL, event, 0));
    TRY(hipMemcpyAsync(managed, pinned, BYTES, hipMemcpyDefault, NULL));
    TRY(hipDeviceSynchronize());
    CHECK(memcmp(managed, pageable, BYTES) == 0);
done:
    disarm();
    OK(hipDeviceSynchronize());
    BACK(event != NULL, hipEventDestroy(event));
    BACK(stream != NULL, hipStreamDestroy(stream));
    BACK(pitched != NULL, hipFree(pitched));
    BACK(managed != NULL, hipFree(managed));
    BACK(pinned != NULL, hipHostFree(pinned));
    BACK(device != NULL, hipFree(device));
    free(pageable);
}

static void
use_kernels(void)
{
    hipModule_t module = NULL;
    hipLibrary_t library = NULL;
    hipKernel_t kernel;
    hipFunction_t function, barrier;
    hipStream_t stream = NULL;
    int *memory = NULL;
    int value = 3, rounds = 2;
    uint64_t count = COUNT;
    void *arguments[] = {&memory, &value, &count};
    void *meeting[] = {&memory, &rounds};
    TRY(hipModuleLoadData(&module, image_bytes));
    TRY(hipModuleGetFunction(&function, module, "add"));
    TRY(hipModuleGetFunction(&barrier, module, "meet"));
    TRY(hipLibraryLoadData(&library, image_bytes, NULL, NULL, 0, NULL, NULL, 0));
    TRY(hipLibraryGetKernel(&kernel, library, "mul"));
    TRY(hipMalloc((void **)&memory, BYTES));
    TRY(hipMemset(memory, 0, BYTES));
    TRY(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    TRY(hipModuleLaunchKernel(function, BYTES / 4 / 64, 1, 1, 64, 1, 1, 0, stream,
                              arguments, NULL));
    TRY(hipStreamSynchronize(stream));
    check_ints(memory, 3);
    TRY(hipModuleLaunchKernel(barrier, 4, 1, 1, 64, 1, 1, 4096, stream, meeting, NULL));
    TRY(hipModuleLaunchCooperativeKernel(barrier, 2, 1, 1, 64, 1, 1, 4096, stream,
                                         meeting));
    TRY(hipStreamSynchronize(stream));
done:
    disarm();
    if (ended_by_kernel()) {
        return;
    }
    BACK(stream != NULL, hipStreamDestroy(stream));
    BACK(memory != NULL, hipFree(memory));
    BACK(library != NULL, hipLibraryUnload(library));
    BACK(module != NULL, hipModuleUnload(module));
}

static void
add_one(void *number)
{
    atomic_fetch_add((_Atomic int *)number, 1);
}

static void
use_graphs(void)
{
    static _Atomic int calls;
    hipGraph_t graph = NULL, captured = NULL;
    hipGraphExec_t exec = NULL, captured_exec = NULL;
    hipGraphNode_t nodes[3];
    hipStream_t stream = NULL;
    int *memory = NULL;
    bool capturing = false;
    int before = calls;
    hipHostNodeParams host = {.fn = add_one, .userData = &calls};
    hipMemsetParams fill = {.elementSize = 4, .width = COUNT, .height = 1, .value = 9};
    TRY(hipMalloc((void **)&memory, BYTES));
    TRY(hipStreamCreate(&stream));
    fill.dst = memory;
    TRY(hipGraphCreate(&graph, 0));
    TRY(hipGraphAddMemsetNode(&nodes[0], graph, NULL, 0, &fill));
    TRY(hipGraphAddHostNode(&nodes[1], graph, nodes, 1, &host));
    TRY(hipGraphAddEmptyNode(&nodes[2], graph, nodes, 2));
    TRY(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    TRY(hipGraphLaunch(exec, stream));
    TRY(hipStreamSynchronize(stream));
    check_ints(memory, 9);
    CHECK(calls == before + 1);
    TRY(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
    capturing = true;
    TRY(hipMemsetAsync(memory, 0, BYTES, stream));
    TRY(hipLaunchHostFunc(stream, add_one, &calls));
    capturing = false;
    TRY(hipStreamEndCapture(stream, &captured));
    TRY(hipGraphInstantiate(&captured_exec, captured, NULL, NULL, 0));
    TRY(hipGraphLaunch(captured_exec, stream));
    TRY(hipStreamSynchronize(stream));
    check_ints(memory, 0);
done:
    disarm();
    if (capturing) {
        hipError_t code = hipStreamEndCapture(stream, &captured);
        CHECK(code == hipSuccess || code == hipErrorStreamCaptureInvalidated);
    }
    OK(hipDeviceSynchronize());
    BACK(captured_exec != NULL, hipGraphExecDestroy(captured_exec));
    BACK(captured != NULL, hipGraphDestroy(captured));
    BACK(exec != NULL, hipGraphExecDestroy(exec));
    BACK(graph != NULL, hipGraphDestroy(graph));
    BACK(stream != NULL, hipStreamDestroy(stream));
    BACK(memory != NULL, hipFree(memory));
}

static void
use_pools(void)
{
    hipMemPool_t pool = NULL;
    hipStream_t stream = NULL;
    void *first = NULL, *second = NULL, *shared = NULL;
    hipIpcMemHandle_t handle;
    hipMemPoolProps props = {.allocType = hipMemAllocationTypePinned,
                             .location = {.type = hipMemLocationTypeDevice, .id = 0}};
    TRY(hipStreamCreate(&stream));
    TRY(hipMallocAsync(&first, BYTES, stream));
    TRY(hipMemPoolCreate(&pool, &props));
    TRY(hipMallocFromPoolAsync(&second, 1 << 20, pool, stream));
    TRY(hipMemsetAsync(first, 1, BYTES, stream));
    TRY(hipMemsetAsync(second, 1, 1 << 20, stream));
    TRY(hipStreamSynchronize(stream));
    TRY(hipMalloc(&shared, BYTES));
    TRY(hipIpcGetMemHandle(&handle, shared));
done:
    disarm();
    BACK(shared != NULL, hipFree(shared));
    BACK(second != NULL, hipFreeAsync(second, stream));
    BACK(first != NULL, hipFreeAsync(first, stream));
    OK(hipDeviceSynchronize());
    BACK(pool != NULL, hipMemPoolDestroy(pool));
    BACK(stream != NULL, hipStreamDestroy(stream));
}

static void
use_arrays(void)
{
    hipArray_t array = NULL;
    hipTextureObject_t texture = NULL;
    hipChannelFormatDesc format = {32, 0, 0, 0, hipChannelFormatKindFloat};
    hipResourceDesc resource = {.resType = hipResourceTypeArray};
    hipTextureDesc description = {0};
    float host[64] = {1};
    void *registered = NULL;
    TRY(hipMallocArray(&array, &format, 8, 8, 0));
    TRY(hipMemcpy2DToArray(array, 0, 0, host, 32, 32, 8, hipMemcpyHostToDevice));
    resource.res.array.array = array;
    TRY(hipCreateTextureObject(&texture, &resource, &description, NULL));
    TRY(hipHostRegister(host, sizeof host, 0));
    registered = host;
done:
    disarm();
    BACK(registered != NULL, hipHostUnregister(registered));
    BACK(texture != NULL, hipDestroyTextureObject(texture));
    BACK(array != NULL, hipFreeArray(array));
}

static void
use_programs(void)
{
    hiprtcProgram program = NULL;
    hiprtcLinkState state = NULL;
    static const char *const texts[] = {"int a;"}, *const names[] = {"a.h"};
    static char ir[] = "target triple = \"nvptx64-nvidia-cuda\"\n";
    TRY_RTC(hiprtcCreateProgram(&program, "kernel", "name", 1, (const char **)texts,
                                (const char **)names));
    TRY_RTC(hiprtcAddNameExpression(program, "kernel"));
    TRY_RTC(hiprtcLinkCreate(0, NULL, NULL, &state));
    for (int i = 0; i < 5; i++) {
        TRY_RTC(hiprtcLinkAddData(state, hipJitInputLLVMBitcode, ir, sizeof ir, "ir", 0,
                                  NULL, NULL));
    }
done:
    disarm();
    if (state != NULL) {
        CHECK(hiprtcLinkDestroy(state) == HIPRTC_SUCCESS);
    }
    if (program != NULL) {
        CHECK(hiprtcDestroyProgram(&program) == HIPRTC_SUCCESS);
    }
}

static void
use_addresses(void)
{
    hipMemAllocationProp prop = {.type = hipMemAllocationTypePinned,
                                 .requestedHandleType =
                                     hipMemHandleTypePosixFileDescriptor,
                                 .location = {.type = hipMemLocationTypeDevice}};
    hipMemAccessDesc access = {.location = {.type = hipMemLocationTypeDevice},
                               .flags = hipMemAccessFlagsProtReadWrite};
    hipMemGenericAllocationHandle_t handle = NULL;
    hipMipmappedArray_t levels = NULL;
    hipChannelFormatDesc format = {8, 8, 8, 8, hipChannelFormatKindUnsigned};
    hipUserObject_t object = NULL;
    hipEvent_t event = NULL;
    hipIpcEventHandle_t event_handle;
    static _Atomic int ended;
    void *place = NULL;
    bool mapped = false;
    int file = -1;
    size_t size = 0;
    TRY(hipMemGetAllocationGranularity(&size, &prop,
                                       hipMemAllocationGranularityRecommended));
    TRY(hipMemAddressReserve(&place, size, 0, NULL, 0));
    TRY(hipMemCreate(&handle, size, &prop, 0));
    TRY(hipMemMap(place, size, 0, handle, 0));
    mapped = true;
    TRY(hipMemSetAccess(place, size, &access, 1));
    TRY(hipMemset(place, 4, size));
    TRY(hipMemExportToShareableHandle(&file, handle,
                                      hipMemHandleTypePosixFileDescriptor, 0));
    TRY(hipMallocMipmappedArray(&levels, &format, (struct hipExtent){16, 16, 0}, 3, 0));
    TRY(hipUserObjectCreate(&object, &ended, add_one, 1,
                            hipUserObjectNoDestructorSync));
    TRY(hipEventCreateWithFlags(&event, hipEventInterprocess | hipEventDisableTiming));
    TRY(hipIpcGetEventHandle(&event_handle, event));
done:
    disarm();
    BACK(event != NULL, hipEventDestroy(event));
    BACK(object != NULL, hipUserObjectRelease(object, 1));
    BACK(levels != NULL, hipFreeMipmappedArray(levels));
    if (file >= 0) {
        CHECK(close(file) == 0);
    }
    BACK(mapped, hipMemUnmap(place, size));
    BACK(handle != NULL, hipMemRelease(handle));
    BACK(place != NULL, hipMemAddressFree(place, size));
}

void **__hipRegisterFatBinary(const void *data);
void __hipRegisterFunction(void **modules, const void *host, char *device_function,
                           const char *device_name, unsigned limit, struct uint3 *tid,
                           struct uint3 *bid, dim3 *block, dim3 *grid, int *warp);
void __hipUnregisterFatBinary(void **modules);

static void
use_registration(void)
{
    static char stand_in, name[] = "empty";
    const struct {
        unsigned magic, version;
        const void *binary, *unused;
    } wrapper = {0x48495046, 1, image_bytes, NULL};
    hipFuncAttributes attributes;
    void **modules = __hipRegisterFatBinary(&wrapper);
    /* Constructors have no answer; a kernel that could not be noted is unknown. */
    __hipRegisterFunction(modules, &stand_in, name, name, 0, NULL, NULL, NULL, NULL,
                          NULL);
    hipError_t code = hipFuncGetAttributes(&attributes, &stand_in);
    CHECK(code == hipSuccess || (armed && (code == hipErrorOutOfMemory ||
                                           code == hipErrorInvalidDeviceFunction)));
    disarm();
    if (modules != NULL) {
        __hipUnregisterFatBinary(modules);
    }
}

/* In a process of its own.  Gives 0 where all went well, 2 where so many requests were
 * never made. */
static int
run_with(void (*use)(void), long number, long times)
{
    (void)alarm(LIMIT_S);
    left = number;
    failures = times;
    armed = true;
    use();
    bool reached = left <= 0;
    use();
    use();
    size_t free_bytes, all_bytes;
    OK(hipMemGetInfo(&free_bytes, &all_bytes));
    OK(hipDeviceReset());
    use();
    return reached ? 0 : 2;
}

static void
try_each(void (*use)(void), long times)
{
    static long start;
    long step = scaled(STEP, STEP) == STEP ? 1 : STEP;
    long number = step == 1 ? 1 : 1 + start++ % step;
    for (int status = 0; status == 0; number += step) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            _exit(run_with(use, number, times));
        }
        CHECK(waitpid(child, &status, 0) == child);
        if (!WIFEXITED(status) ||
            (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 2)) {
            fprintf(stderr, "without memory at request %ld (%ld times): status 0x%x\n",
                    number, times, status);
            exit(1);
        }
        status = WEXITSTATUS(status);
    }
    printf("   %ld requests\n", number);
}

#define NO_MEMORY_TEST(what)                                                           \
    static void test_no_memory_for_##what(void)                                        \
    {                                                                                  \
        try_each(use_##what, 1);                                                       \
        try_each(use_##what, REPEATED_TIMES);                                          \
    }

NO_MEMORY_TEST(memory)
NO_MEMORY_TEST(kernels)
NO_MEMORY_TEST(graphs)
NO_MEMORY_TEST(pools)
NO_MEMORY_TEST(arrays)
NO_MEMORY_TEST(programs)
NO_MEMORY_TEST(addresses)
NO_MEMORY_TEST(registration)

int
main(void)
{
    image_make();
    RUN(test_no_memory_for_memory);
    RUN(test_no_memory_for_kernels);
    RUN(test_no_memory_for_graphs);
    RUN(test_no_memory_for_pools);
    RUN(test_no_memory_for_arrays);
    RUN(test_no_memory_for_programs);
    RUN(test_no_memory_for_addresses);
    RUN(test_no_memory_for_registration);
    return 0;
}
