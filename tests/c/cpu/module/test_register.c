/* SPDX-License-Identifier: MIT */
/* Registration by compiled programs: fat binaries of every kind, kernels and variables
 * by their host addresses, launches in steps, wrong arguments, and threads that
 * register, launch and take back at once. */
#include "cpu_support.h"

#include "cpu/module/fatbin.h"
#include "cpu/module/symbol.h"

#define BUNDLE_HEAD 256 /* bytes before the code object */

static char host_add, host_bump, host_missing, host_counter;
static void *host_managed;
static int managed_value = 11;

static unsigned char *
bundle_new(const char *id, const void *code, size_t size, size_t *bundle_size)
{
    unsigned char *bundle = calloc(1, BUNDLE_HEAD + size);
    const uint64_t numbers[4] = {1, BUNDLE_HEAD, size, strlen(id)};
    CHECK(bundle != NULL);
    memcpy(bundle, "__CLANG_OFFLOAD_BUNDLE__", 24);
    memcpy(bundle + 24, numbers, sizeof numbers);
    memcpy(bundle + 56, id, strlen(id));
    memcpy(bundle + BUNDLE_HEAD, code, size);
    *bundle_size = BUNDLE_HEAD + size;
    return bundle;
}

static void **
program_register(const void *binary, struct ha_fatbin_wrapper *wrapper)
{
    *wrapper = (struct ha_fatbin_wrapper){HA_FATBIN_WRAPPER_MAGIC,
                                          HA_FATBIN_WRAPPER_VERSION, binary, NULL};
    void **handle = __hipRegisterFatBinary(wrapper);
    CHECK(handle != NULL);
    __hipRegisterFunction(handle, &host_add, NULL, "add", 0, NULL, NULL, NULL, NULL,
                          NULL);
    __hipRegisterFunction(handle, &host_bump, NULL, "bump", 0, NULL, NULL, NULL, NULL,
                          NULL);
    __hipRegisterFunction(handle, &host_missing, NULL, "nothing", 0, NULL, NULL, NULL,
                          NULL, NULL);
    __hipRegisterVar(handle, &host_counter, NULL, "counter", 0, 16, 0, 0);
    __hipRegisterManagedVar(handle, &host_managed, &managed_value, "managed", 4, 4);
    return handle;
}

static const dim3 one = {1, 1, 1};

static int
add_to_zero(int value)
{
    int *data, result = 0;
    uint64_t n = 1;
    OK(hipMalloc((void **)&data, sizeof *data));
    OK(hipMemset(data, 0, sizeof *data));
    void *args[] = {&data, &value, &n};
    OK(hipLaunchKernel(&host_add, one, one, args, 0, NULL));
    OK(hipMemcpy(&result, data, sizeof result, hipMemcpyDeviceToHost));
    OK(hipFree(data));
    return result;
}

static void
finds_kernels_and_variables(void)
{
    struct ha_fatbin_wrapper wrapper;
    hipFunction_t function;
    hipFuncAttributes attributes;
    size_t size, bundle_size;
    void *address, *resolved;
    int numbers[2] = {0};
    char id[HA_FATBIN_ID_BYTES];
    CHECK(ha_fatbin_id(id) == strlen(id));
    unsigned char *bundle = bundle_new(id, image_bytes, image_size, &bundle_size);
    void **handle = program_register(bundle, &wrapper);
    CHECK(host_managed != NULL && *(int *)host_managed == 11);
    CHECK(add_to_zero(5) == 5);
    OK(hipGetSymbolAddress(&address, &host_counter));
    OK(hipGetSymbolSize(&size, &host_counter));
    CHECK(size == 16);
    OK(ha_symbol_resolve(&host_counter, &resolved, &size));
    CHECK(resolved == address);
    OK(hipMemcpyFromSymbol(numbers, &host_counter, 8, 4, hipMemcpyDeviceToHost));
    CHECK(numbers[0] == 8 && numbers[1] == 9);
    numbers[0] = 100;
    OK(hipMemcpyToSymbol(&host_counter, numbers, 4, 0, hipMemcpyHostToDevice));
    OK(hipLaunchKernel(&host_bump, one, one, NULL, 0, NULL));
    OK(hipMemcpyFromSymbol_spt(numbers, &host_counter, 4, 0, hipMemcpyDefault));
    CHECK(numbers[0] == 101);
    /* Each device has its own. */
    OK(hipSetDevice(1));
    OK(hipMemcpyFromSymbol(numbers, &host_counter, 4, 0, hipMemcpyDeviceToHost));
    CHECK(numbers[0] == 7);
    OK(hipGetSymbolAddress(&resolved, &host_counter));
    CHECK(resolved != address);
    OK(hipSetDevice(0));
    OK(hipGetFuncBySymbol(&function, &host_add));
    OK(hipFuncGetAttributes(&attributes, &host_add));
    CHECK(attributes.maxThreadsPerBlock == 1024);
    CHECK(strcmp(hipKernelNameRefByPtr(&host_add, NULL), "add") == 0);
    CHECK_HIP(hipLaunchKernel(&host_missing, one, one, NULL, 0, NULL),
              hipErrorInvalidDeviceFunction);
    CHECK(strstr(hipadaptGetErrorText(), "nothing") != NULL);
    /* After a reset the code is loaded anew. */
    OK(hipDeviceReset());
    CHECK(add_to_zero(6) == 6);
    OK(hipMemcpyFromSymbol(numbers, &host_counter, 4, 0, hipMemcpyDeviceToHost));
    CHECK(numbers[0] == 7);
    __hipUnregisterFatBinary(handle);
    CHECK_HIP(hipLaunchKernel(&host_add, one, one, NULL, 0, NULL),
              hipErrorInvalidDeviceFunction);
    CHECK_HIP(hipGetSymbolSize(&size, &host_counter), hipErrorInvalidSymbol);
    CHECK_HIP(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
              hipErrorInvalidResourceHandle);
    free(bundle);
}

static void
first_registration_wins_until_it_is_gone(void)
{
    struct ha_fatbin_wrapper first, second;
    int number;
    void **a = program_register(image_bytes, &first);
    void **b = program_register(image_bytes, &second);
    const int mark = 50;
    OK(hipMemcpyToSymbol(&host_counter, &mark, 4, 0, hipMemcpyHostToDevice));
    __hipUnregisterFatBinary(a);
    OK(hipMemcpyFromSymbol(&number, &host_counter, 4, 0, hipMemcpyDeviceToHost));
    CHECK(number == 7);
    __hipUnregisterFatBinary(b);
}

static void
refuses_wrong_arguments(void)
{
    struct ha_fatbin_wrapper wrapper;
    void **handle = program_register(image_bytes, &wrapper);
    size_t size;
    void *address;
    hipFunction_t function;
    int n = 0;
    hipModule_t module;
    hipStream_t stream;
    dim3 grid, block;

    __hipRegisterFunction(NULL, &host_add, NULL, "add", 0, NULL, NULL, NULL, NULL,
                          NULL);
    __hipRegisterFunction(handle, NULL, NULL, "add", 0, NULL, NULL, NULL, NULL, NULL);
    __hipRegisterFunction(handle, &n, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL);
    __hipRegisterVar((void **)&n, &n, NULL, "counter", 0, 4, 0, 0);
    __hipRegisterManagedVar(handle, NULL, NULL, "x", 4, 4);
    __hipRegisterManagedVar(handle, &address, NULL, "x", SIZE_MAX, 4);
    __hipRegisterManagedVar(handle, &address, NULL, "x", 4, 3000);
    __hipUnregisterFatBinary(NULL);
    __hipUnregisterFatBinary((void **)&n);
    CHECK_HIP(hipGetSymbolAddress(NULL, &host_counter), hipErrorInvalidValue);
    CHECK_HIP(hipGetSymbolAddress(&address, NULL), hipErrorInvalidSymbol);
    CHECK_HIP(hipGetSymbolAddress(&address, &host_add), hipErrorInvalidSymbol);
    CHECK_HIP(hipGetSymbolSize(&size, &n), hipErrorInvalidSymbol);
    CHECK_HIP(hipMemcpyToSymbol(&host_counter, &n, 4, 13, hipMemcpyHostToDevice),
              hipErrorInvalidValue);
    CHECK_HIP(hipMemcpyToSymbol(&host_counter, &n, 1, SIZE_MAX, hipMemcpyHostToDevice),
              hipErrorInvalidValue);
    CHECK_HIP(hipMemcpyToSymbol(&host_counter, &n, 4, 0, hipMemcpyDeviceToHost),
              hipErrorInvalidMemcpyDirection);
    CHECK_HIP(hipMemcpyFromSymbol(&n, &host_counter, 4, 0, hipMemcpyHostToDevice),
              hipErrorInvalidMemcpyDirection);
    CHECK_HIP(hipMemcpyFromSymbol(NULL, &host_counter, 4, 0, hipMemcpyDeviceToHost),
              hipErrorInvalidValue);
    CHECK_HIP(hipMemcpyToSymbol(&host_counter, NULL, 4, 0, hipMemcpyHostToDevice),
              hipErrorInvalidValue);
    CHECK_HIP(hipGetFuncBySymbol(NULL, &host_add), hipErrorInvalidValue);
    CHECK_HIP(hipGetFuncBySymbol(&function, &host_counter),
              hipErrorInvalidDeviceFunction);
    CHECK_HIP(hipLaunchKernel(NULL, one, one, NULL, 0, NULL),
              hipErrorInvalidDeviceFunction);
    CHECK_HIP(hipLaunchKernel(&host_add, one, one, NULL, 0, NULL),
              hipErrorInvalidValue);
    CHECK_HIP(hipLaunchKernelExC(NULL, &host_add, NULL), hipErrorInvalidValue);
    hipLaunchConfig_t config = {.gridDim = one, .blockDim = one, .numAttrs = 1};
    CHECK_HIP(hipLaunchKernelExC(&config, &host_bump, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipModuleLoadFatBinary(&module, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipModuleLoadFatBinary(NULL, image_bytes), hipErrorInvalidValue);
    CHECK(hipKernelNameRefByPtr(NULL, NULL) == NULL);
    CHECK(hipKernelNameRefByPtr(&host_add, (hipStream_t)0x77) == NULL);
    CHECK_HIP(__hipPopCallConfiguration(&grid, &block, &size, &stream),
              hipErrorMissingConfiguration);
    CHECK_HIP(__hipPopCallConfiguration(NULL, NULL, NULL, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipSetupArgument(&n, 4, 0), hipErrorMissingConfiguration);
    CHECK_HIP(hipLaunchByPtr(&host_bump), hipErrorMissingConfiguration);
    OK(hipConfigureCall(one, one, 0, NULL));
    CHECK_HIP(hipSetupArgument(NULL, 4, 0), hipErrorInvalidValue);
    CHECK_HIP(hipSetupArgument(&n, SIZE_MAX, 8), hipErrorInvalidValue);
    CHECK_HIP(hipSetupArgument(&n, 4, 1 << 20), hipErrorInvalidValue);
    OK(hipLaunchByPtr(&host_bump));
    int depth = 0;
    while (__hipPushCallConfiguration(one, one, 0, NULL) == hipSuccess) {
        depth++;
    }
    CHECK(depth == 64);
    while (__hipPopCallConfiguration(&grid, &block, &size, &stream) == hipSuccess) {
        depth--;
    }
    CHECK(depth == 0);
    OK(hipDeviceSynchronize());
    __hipUnregisterFatBinary(handle);
}

static void
configurations_come_back_last_first(void)
{
    dim3 grid, block;
    size_t shared;
    hipStream_t stream;
    for (uint32_t i = 1; i <= 3; i++) {
        const dim3 size = {i, 2 * i, 3 * i};
        OK(__hipPushCallConfiguration(size, one, i, (hipStream_t)(uintptr_t)i));
    }
    for (uint32_t i = 3; i >= 1; i--) {
        OK(__hipPopCallConfiguration(&grid, &block, &shared, &stream));
        CHECK(grid.x == i && grid.y == 2 * i && grid.z == 3 * i && block.z == 1);
        CHECK(shared == i && stream == (hipStream_t)(uintptr_t)i);
    }
}

/* Damaged bundles in memory of their own size: a sanitizer sees each byte too far. */
static void
refuses_damaged_bundles(void)
{
    static const char code[] = "code object";
    const void *image;
    size_t image_bytes_found, size;
    uint64_t state = 1;
    char id[HA_FATBIN_ID_BYTES];
    (void)ha_fatbin_id(id);
    unsigned char *bundle = bundle_new(id, code, sizeof code, &size);
    OK(ha_fatbin_pick(bundle, size, &image, &image_bytes_found));
    CHECK(image == bundle + BUNDLE_HEAD && image_bytes_found == sizeof code);
    OK(ha_fatbin_pick(code, sizeof code, &image, &image_bytes_found));
    CHECK(image == code);
    for (int i = 0; i < 100000; i++) {
        size_t part = i < (int)size ? (size_t)i + 1 : size;
        unsigned char *copy = malloc(part);
        CHECK(copy != NULL);
        memcpy(copy, bundle, part);
        if (i >= (int)size) {
            copy[24 + random_next(&state) % 80] = (unsigned char)random_next(&state);
        }
        if (ha_fatbin_pick(copy, part, &image, &image_bytes_found) == hipSuccess &&
            image != copy) {
            CHECK((const unsigned char *)image >= copy &&
                  image_bytes_found <=
                      part - (size_t)((const unsigned char *)image - copy));
        }
        free(copy);
    }
    free(bundle);
}

/* ---- threads ---- */

static _Atomic bool stop;

static void *
register_again_and_again(void *unused)
{
    (void)unused;
    while (!stop) {
        struct ha_fatbin_wrapper wrapper;
        static char mine[4];
        wrapper = (struct ha_fatbin_wrapper){
            HA_FATBIN_WRAPPER_MAGIC, HA_FATBIN_WRAPPER_VERSION, image_bytes, NULL};
        void **handle = __hipRegisterFatBinary(&wrapper);
        __hipRegisterFunction(handle, &mine[1], NULL, "bump", 0, NULL, NULL, NULL, NULL,
                              NULL);
        hipError_t code = hipLaunchKernel(&mine[1], one, one, NULL, 0, NULL);
        CHECK(code == hipSuccess || code == hipErrorInvalidDeviceFunction);
        __hipUnregisterFatBinary(handle);
    }
    return NULL;
}

static void *
launch_again_and_again(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2000; i++) {
        OK(hipLaunchKernel(&host_bump, one, one, NULL, 0, NULL));
    }
    return NULL;
}

static void
threads_register_and_launch(void)
{
    struct ha_fatbin_wrapper wrapper;
    pthread_t registering[2], launching[4];
    int number = 0;
    void **handle = program_register(image_bytes, &wrapper);
    stop = false;
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_create(&registering[i], NULL, register_again_and_again, NULL) ==
              0);
    }
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_create(&launching[i], NULL, launch_again_and_again, NULL) == 0);
    }
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_join(launching[i], NULL) == 0);
    }
    stop = true;
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_join(registering[i], NULL) == 0);
    }
    OK(hipMemcpyFromSymbol(&number, &host_counter, 4, 0, hipMemcpyDeviceToHost));
    CHECK(number == 7 + 4 * 2000);
    __hipUnregisterFatBinary(handle);
}

int
main(void)
{
    setenv("HIPADAPT_CPU_DEVICES", "2", 1);
    image_make();
    RUN(finds_kernels_and_variables);
    RUN(first_registration_wins_until_it_is_gone);
    RUN(refuses_wrong_arguments);
    RUN(configurations_come_back_last_first);
    RUN(refuses_damaged_bundles);
    RUN(threads_register_and_launch);
    return 0;
}
