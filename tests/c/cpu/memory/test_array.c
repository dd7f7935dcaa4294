/* SPDX-License-Identifier: MIT */
/* Arrays, textures and surfaces of the CPU device through the C ABI: made-up handles,
 * values outside of their enums, threads, fork. */
#include "cpu_support.h"

#include <stdatomic.h>

#include "cpu/base/slab.h"
#include "cpu/memory/texture.h"

static const hipChannelFormatDesc floats = {32, 0, 0, 0, hipChannelFormatKindFloat};

static size_t
free_bytes(void)
{
    size_t bytes;
    size_t total;
    OK(hipMemGetInfo(&bytes, &total));
    return bytes;
}

static hipArray_t
new_array(size_t width, size_t height)
{
    hipArray_t array;
    OK(hipMallocArray(&array, &floats, width, height, hipArraySurfaceLoadStore));
    return array;
}

static hipResourceDesc
resource_of(hipArray_t array)
{
    hipResourceDesc resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = hipResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}

static hipTextureObject_t
new_texture(hipArray_t array)
{
    hipTextureObject_t texture;
    hipTextureDesc desc;
    const hipResourceDesc resource = resource_of(array);
    memset(&desc, 0, sizeof desc);
    OK(hipCreateTextureObject(&texture, &resource, &desc, NULL));
    return texture;
}

/* ---- what is refused ---- */

static void
test_null_is_no_argument(void)
{
    hipArray_t array = new_array(4, 4);
    hipMipmappedArray_t mipmap;
    hipResourceDesc resource = resource_of(array);
    hipTextureDesc desc;
    HIP_ARRAY3D_DESCRIPTOR shape = {4, 4, 0, HIP_AD_FORMAT_FLOAT, 1, 0};
    hipTextureObject_t texture;
    hipPitchedPtr pitched;
    size_t size;
    char bytes[16];
    void *pointer = bytes;
    memset(&desc, 0, sizeof desc);
    CHECK_HIP(hipMallocArray(NULL, &floats, 4, 0, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMallocArray(&array, NULL, 4, 0, 0), hipErrorInvalidValue);
    CHECK_HIP(hipArrayCreate(&array, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipArray3DCreate(NULL, &shape), hipErrorInvalidValue);
    CHECK_HIP(hipFreeArray(NULL), hipErrorInvalidValue);
    CHECK_HIP(hipArrayDestroy(NULL), hipErrorInvalidValue);
    CHECK_HIP(hipMallocMipmappedArray(NULL, &floats, (hipExtent){4, 0, 0}, 1, 0),
              hipErrorInvalidValue);
    CHECK_HIP(hipMipmappedArrayCreate(&mipmap, NULL, 1), hipErrorInvalidValue);
    CHECK_HIP(hipFreeMipmappedArray(NULL), hipErrorInvalidValue);
    CHECK_HIP(hipGetMipmappedArrayLevel(&array, NULL, 0), hipErrorInvalidValue);
    CHECK_HIP(hipGetChannelDesc(NULL, array), hipErrorInvalidValue);
    CHECK_HIP(hipArrayGetDescriptor(NULL, array), hipErrorInvalidValue);
    OK(hipArrayGetInfo(NULL, NULL, NULL, array));
    CHECK_HIP(hipMemcpy3D(NULL), hipErrorInvalidValue);
    CHECK_HIP(hipMemcpy3DPeer(NULL), hipErrorInvalidValue);
    CHECK_HIP(hipDrvMemcpy3D(NULL), hipErrorInvalidValue);
    CHECK_HIP(hipMalloc3D(NULL, (hipExtent){4, 4, 4}), hipErrorInvalidValue);
    CHECK_HIP(hipMemcpyBatchAsync(NULL, &pointer, &size, 1, NULL, NULL, 0, NULL, NULL),
              hipErrorInvalidValue);
    CHECK_HIP(hipMemcpy3DBatchAsync(1, NULL, NULL, 0, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipCreateTextureObject(NULL, &resource, &desc, NULL),
              hipErrorInvalidValue);
    CHECK_HIP(hipCreateTextureObject(&texture, NULL, &desc, NULL),
              hipErrorInvalidValue);
    CHECK_HIP(hipCreateTextureObject(&texture, &resource, NULL, NULL),
              hipErrorInvalidValue);
    OK(hipDestroyTextureObject(NULL));
    CHECK_HIP(hipCreateSurfaceObject(NULL, &resource), hipErrorInvalidValue);
    OK(hipDestroySurfaceObject(NULL));
    CHECK_HIP(hipTexRefSetFlags(NULL, 0), hipErrorInvalidValue);
    CHECK_HIP(hipTexRefGetArray(&array, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipUnbindTexture(NULL), hipErrorInvalidValue);
    OK(hipFreeArray(array));
    memset(&pitched, 0, sizeof pitched);
    CHECK_HIP(hipMemset3D(pitched, 0, (hipExtent){1, 1, 1}), hipErrorInvalidValue);
    (void)hipGetLastError();
}

static void
test_values_outside_of_their_enums(void)
{
    hipArray_t array = new_array(4, 4);
    hipTextureObject_t texture;
    hipTextureDesc desc;
    hipResourceDesc resource = resource_of(array);
    hipResourceViewDesc view;
    textureReference reference;
    hipArray_t other;
    const int bad[] = {-1, 4, 99, INT32_MAX, INT32_MIN};
    memset(&reference, 0, sizeof reference);
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int value = bad[i];
        hipChannelFormatDesc format = floats;
        HIP_ARRAY_DESCRIPTOR shape = {4, 0, (hipArray_Format)value, 1};
        if (value != 4) { /* 4 is no format, either, but 1 to 3 and 8 to 10 are */
            CHECK_HIP(hipArrayCreate(&other, &shape), hipErrorInvalidValue);
        }
        format.f = (hipChannelFormatKind)value;
        CHECK_HIP(hipMallocArray(&other, &format, 4, 0, 0), hipErrorInvalidValue);
        for (int field = 0; field < 6; field++) {
            memset(&desc, 0, sizeof desc);
            *(field < 3    ? (int *)&desc.addressMode[field]
              : field == 3 ? (int *)&desc.filterMode
              : field == 4 ? (int *)&desc.readMode
                           : (int *)&desc.mipmapFilterMode) = value;
            CHECK_HIP(hipCreateTextureObject(&texture, &resource, &desc, NULL),
                      hipErrorInvalidValue);
        }
        memset(&desc, 0, sizeof desc);
        memset(&view, 0, sizeof view);
        view.format = (hipResourceViewFormat)(value == 4 ? 35 : value);
        CHECK_HIP(hipCreateTextureObject(&texture, &resource, &desc, &view),
                  hipErrorInvalidValue);
        resource.resType = (hipResourceType)value;
        CHECK_HIP(hipCreateTextureObject(&texture, &resource, &desc, NULL),
                  hipErrorInvalidValue);
        resource.resType = hipResourceTypeArray;
        CHECK_HIP(hipTexRefSetAddressMode(&reference, 0, (hipTextureAddressMode)value),
                  hipErrorInvalidValue);
        CHECK_HIP(hipTexRefSetAddressMode(&reference, value, hipAddressModeClamp),
                  hipErrorInvalidValue);
        CHECK_HIP(hipTexRefSetFilterMode(&reference, (hipTextureFilterMode)value),
                  hipErrorInvalidValue);
        HIP_MEMCPY3D copy;
        memset(&copy, 0, sizeof copy);
        copy.srcMemoryType = (hipMemoryType)(value == 4 ? 77 : value);
        CHECK_HIP(hipDrvMemcpy3D(&copy), hipErrorInvalidValue);
    }
    OK(hipFreeArray(array));
    (void)hipGetLastError();
}

/* ---- batches ---- */

static void
test_batch_names_the_entry_at_fault(void)
{
    char from[8] = "abcdefg";
    char to[2][8];
    void *dsts[3] = {to[0], NULL, to[1]};
    void *srcs[3] = {from, from, from};
    size_t sizes[3] = {8, 8, 8};
    size_t indices[2] = {0, 2};
    size_t fail = 77;
    hipMemcpyAttributes attributes[2];
    memset(to, 0, sizeof to);
    memset(attributes, 0, sizeof attributes);
    attributes[0].srcAccessOrder = hipMemcpySrcAccessOrderStream;
    attributes[1].srcAccessOrder = hipMemcpySrcAccessOrderDuringApiCall;
    CHECK_HIP(
        hipMemcpyBatchAsync(dsts, srcs, sizes, 3, attributes, indices, 2, &fail, NULL),
        hipErrorInvalidValue);
    CHECK(fail == 1 && to[0][0] == 0 && to[1][0] == 0);
    CHECK_HIP(
        hipMemcpyBatchAsync(dsts, srcs, sizes, 0, attributes, indices, 2, &fail, NULL),
        hipErrorInvalidValue);
    CHECK(fail == SIZE_MAX);
    dsts[1] = dsts[0];
    attributes[1].flags = hipMemcpyFlagExtOpSwap;
    CHECK_HIP(
        hipMemcpyBatchAsync(dsts, srcs, sizes, 3, attributes, indices, 2, &fail, NULL),
        hipErrorNotSupported);
    CHECK(fail == 2 && to[0][0] == 0);
    attributes[1].flags = 0;
    fail = 77;
    OK(hipMemcpyBatchAsync(dsts, srcs, sizes, 3, attributes, indices, 2, &fail, NULL));
    OK(hipDeviceSynchronize());
    CHECK(fail == 77 && memcmp(to[0], from, 8) == 0 && memcmp(to[1], from, 8) == 0);
    OK(hipMemcpyBatchAsync(dsts, srcs, sizes, 3, NULL, NULL, 0, NULL, NULL));
    OK(hipDeviceSynchronize());
    (void)hipGetLastError();
}

/* ---- handles ---- */

static void
test_made_up_handles_are_told_from_real_ones(void)
{
    uint64_t state = 5;
    hipArray_t array = new_array(4, 4);
    hipTextureObject_t texture = new_texture(array);
    uint64_t seeds[] = {(uint64_t)(uintptr_t)array, (uint64_t)(uintptr_t)texture,
                        (uint64_t)(uintptr_t)&state, 0};
    hipExtent extent;
    hipTextureDesc desc;
    hipArray_t level;
    for (int i = 0; i < 300000; i++) {
        uint64_t number = seeds[random_next(&state) % 4];
        number ^= (uint64_t)random_next(&state) << (random_next(&state) % 40);
        number ^= 1ull << (random_next(&state) % 64);
        if (number == seeds[0] || number == seeds[1] || number == 0) {
            continue;
        }
        CHECK_HIP(hipArrayGetInfo(NULL, &extent, NULL, (hipArray_t)(uintptr_t)number),
                  hipErrorInvalidHandle);
        CHECK_HIP(hipFreeArray((hipArray_t)(uintptr_t)number),
                  hipErrorContextIsDestroyed);
        CHECK_HIP(hipGetTextureObjectTextureDesc(&desc,
                                                 (hipTextureObject_t)(uintptr_t)number),
                  hipErrorInvalidHandle);
        CHECK_HIP(hipDestroyTextureObject((hipTextureObject_t)(uintptr_t)number),
                  hipErrorInvalidHandle);
        CHECK_HIP(hipDestroySurfaceObject((hipSurfaceObject_t)(uintptr_t)number),
                  hipErrorInvalidHandle);
        CHECK_HIP(hipGetMipmappedArrayLevel(&level,
                                            (hipMipmappedArray_t)(uintptr_t)number, 0),
                  hipErrorInvalidHandle);
    }
    OK(hipDestroyTextureObject(texture));
    CHECK_HIP(hipDestroyTextureObject(texture), hipErrorInvalidHandle);
    OK(hipFreeArray(array));
    CHECK_HIP(hipFreeArray(array), hipErrorContextIsDestroyed);
    CHECK_HIP(hipArrayDestroy(array), hipErrorContextIsDestroyed);
    (void)hipGetLastError();
}

static void
test_no_array_is_no_handle(void)
{
    HIP_ARRAY_DESCRIPTOR shape;
    HIP_ARRAY3D_DESCRIPTOR shape_3d;
    hipExtent extent;
    char bytes[16];
    CHECK_HIP(hipArrayGetInfo(NULL, &extent, NULL, NULL), hipErrorInvalidHandle);
    CHECK_HIP(hipArrayGetDescriptor(&shape, NULL), hipErrorInvalidHandle);
    CHECK_HIP(hipArray3DGetDescriptor(&shape_3d, NULL), hipErrorInvalidHandle);
    CHECK_HIP(hipMemcpy2DToArray(NULL, 0, 0, bytes, 4, 4, 4, hipMemcpyHostToDevice),
              hipErrorInvalidHandle);
    CHECK_HIP(hipMemcpy2DFromArray(bytes, 4, NULL, 0, 0, 4, 4, hipMemcpyDeviceToHost),
              hipErrorInvalidHandle);
    CHECK_HIP(hipFreeArray(NULL), hipErrorInvalidValue);
    (void)hipGetLastError();
}

static void
test_mipmapped_array_is_freed_once(void)
{
    hipMipmappedArray_t mipmap;
    OK(hipMallocMipmappedArray(&mipmap, &floats, (hipExtent){8, 8, 0}, 2, 0));
    OK(hipFreeMipmappedArray(mipmap));
    CHECK_HIP(hipFreeMipmappedArray(mipmap), hipErrorContextIsDestroyed);
    CHECK_HIP(hipFreeMipmappedArray(NULL), hipErrorInvalidValue);
    (void)hipGetLastError();
}

static void
test_address_of_a_texture_is_used_again_late(void)
{
    hipArray_t array = new_array(4, 4);
    hipTextureObject_t stale = new_texture(array);
    OK(hipDestroyTextureObject(stale));
    CHECK(stale->live == 0); /* kernels see that it is gone */
    for (int i = 0; i < 500; i++) {
        hipTextureObject_t texture = new_texture(array);
        CHECK(texture != stale && texture->live == __HA_TEXTURE_LIVE);
        OK(hipDestroyTextureObject(texture));
    }
    CHECK_HIP(hipDestroyTextureObject(stale), hipErrorInvalidHandle);
    OK(hipFreeArray(array));
    (void)hipGetLastError();
}

static void
test_slab_keeps_many_items_apart(void)
{
    enum { COUNT = 5000 };
    static void *items[COUNT];
    struct ha_slab slab = {.item_bytes = HA_SLAB_ALIGN};
    uint64_t state = 9;
    uint32_t number = 0;
    uint32_t seen = 0;
    for (int round = 0; round < 40000; round++) {
        uint32_t at = random_next(&state) % COUNT;
        if (items[at] == NULL) {
            items[at] = ha_slab_take(&slab);
            CHECK(items[at] != NULL && ha_slab_has(&slab, items[at]));
            for (size_t i = 0; i < HA_SLAB_ALIGN; i++) {
                CHECK(((unsigned char *)items[at])[i] == 0);
            }
            memcpy(items[at], &at, sizeof at);
        } else {
            CHECK(memcmp(items[at], &at, sizeof at) == 0);
            CHECK(!ha_slab_has(&slab, (char *)items[at] + 1));
            ha_slab_give(&slab, items[at]);
            CHECK(!ha_slab_has(&slab, items[at]));
            items[at] = NULL;
        }
    }
    for (void *item; (item = ha_slab_next(&slab, &number)) != NULL; seen++) {
        uint32_t at;
        memcpy(&at, item, sizeof at);
        CHECK(items[at] == item);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        seen -= items[i] != NULL;
    }
    CHECK(seen == 0 && !ha_slab_has(&slab, NULL) && !ha_slab_has(&slab, &slab));
    for (uint32_t i = 0; i < slab.chunk_count; i++) {
        free(slab.chunks[i]);
        free(slab.live[i]);
    }
    free(slab.free);
}

/* ---- devices ---- */

static void
test_arrays_of_two_devices_copy_to_each_other(void)
{
    float values[16];
    float back[16] = {0};
    hipMemcpy3DPeerParms params;
    hipArray_t first = new_array(4, 4);
    for (int i = 0; i < 16; i++) {
        values[i] = (float)i;
    }
    OK(hipSetDevice(1));
    hipArray_t second = new_array(4, 4);
    OK(hipSetDevice(0));
    OK(hipMemcpyHtoA(first, 0, values, sizeof values));
    memset(&params, 0, sizeof params);
    params.srcArray = first;
    params.dstArray = second;
    params.dstDevice = 1;
    params.extent = (hipExtent){4, 4, 1};
    OK(hipMemcpy3DPeer(&params));
    OK(hipMemcpyAtoH(back, second, 0, sizeof back));
    CHECK(memcmp(values, back, sizeof back) == 0);
    params.dstDevice = 2;
    CHECK_HIP(hipMemcpy3DPeer(&params), hipErrorInvalidDevice);
    OK(hipFreeArray(first));
    /* The texture belongs to device 0 and keeps the array of device 1. */
    hipTextureObject_t texture = new_texture(second);
    OK(hipSetDevice(1));
    OK(hipDeviceReset());
    OK(hipSetDevice(0));
    CHECK_HIP(hipFreeArray(second), hipErrorContextIsDestroyed);
    CHECK(texture->live == __HA_TEXTURE_LIVE &&
          memcmp(texture->levels[0].data, values, 16) == 0);
    OK(hipDestroyTextureObject(texture));
    (void)hipGetLastError();
}

/* ---- threads ---- */

#define THREADS 4
#define ROUNDS 300

static hipArray_t shared_array;

static void *
make_and_end(void *context)
{
    uint64_t state = (uint64_t)(uintptr_t)context + 1;
    const hipResourceDesc resource = resource_of(shared_array);
    hipSurfaceObject_t surface;
    hipMipmappedArray_t mipmap;
    float value[8] = {0};
    for (int i = 0; i < ROUNDS; i++) {
        size_t width = 1 + random_next(&state) % 64;
        hipArray_t array = new_array(width, 2);
        hipTextureObject_t own = new_texture(array);
        hipTextureObject_t shared = new_texture(shared_array);
        OK(hipCreateSurfaceObject(&surface, &resource));
        OK(hipMallocMipmappedArray(&mipmap, &floats, (hipExtent){width, width, 0}, 4,
                                   0));
        OK(hipMemcpyAtoH(value, shared_array, 0, sizeof value));
        OK(hipFreeArray(array));
        OK(hipDestroyTextureObject(own));
        OK(hipDestroyTextureObject(shared));
        OK(hipDestroySurfaceObject(surface));
        OK(hipFreeMipmappedArray(mipmap));
    }
    return NULL;
}

static void
test_threads_make_and_end_at_once(void)
{
    pthread_t threads[THREADS];
    size_t before = free_bytes();
    shared_array = new_array(8, 8);
    for (uintptr_t i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, make_and_end, (void *)i) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    OK(hipFreeArray(shared_array));
    CHECK(free_bytes() == before);
}

static hipArray_t contested;
static _Atomic int winners;

static void *
free_contested(void *context)
{
    (void)context;
    hipError_t code = hipFreeArray(contested);
    CHECK(code == hipSuccess || code == hipErrorContextIsDestroyed);
    atomic_fetch_add(&winners, code == hipSuccess);
    return NULL;
}

static void
test_an_array_is_freed_once(void)
{
    size_t before = free_bytes();
    for (int round = 0; round < 50; round++) {
        pthread_t threads[THREADS];
        contested = new_array(4, 4);
        atomic_store(&winners, 0);
        for (int i = 0; i < THREADS; i++) {
            CHECK(pthread_create(&threads[i], NULL, free_contested, NULL) == 0);
        }
        for (int i = 0; i < THREADS; i++) {
            CHECK(pthread_join(threads[i], NULL) == 0);
        }
        CHECK(atomic_load(&winners) == 1);
    }
    CHECK(free_bytes() == before);
}

/* ---- fork ---- */

static void
test_forked_child_has_none_of_them(void)
{
    hipArray_t array = new_array(4, 4);
    hipTextureObject_t texture = new_texture(array);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        OK(hipInit(0));
        CHECK_HIP(hipFreeArray(array), hipErrorContextIsDestroyed);
        CHECK_HIP(hipDestroyTextureObject(texture), hipErrorInvalidHandle);
        array = new_array(4, 4);
        texture = new_texture(array);
        OK(hipDestroyTextureObject(texture));
        OK(hipFreeArray(array));
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) &&
          WEXITSTATUS(status) == 0);
    OK(hipDestroyTextureObject(texture));
    OK(hipFreeArray(array));
}

int
main(void)
{
    setenv("HIPADAPT_CPU_DEVICES", "2", 1);
    RUN(test_null_is_no_argument);
    RUN(test_values_outside_of_their_enums);
    RUN(test_batch_names_the_entry_at_fault);
    RUN(test_made_up_handles_are_told_from_real_ones);
    RUN(test_no_array_is_no_handle);
    RUN(test_mipmapped_array_is_freed_once);
    RUN(test_address_of_a_texture_is_used_again_late);
    RUN(test_slab_keeps_many_items_apart);
    RUN(test_arrays_of_two_devices_copy_to_each_other);
    RUN(test_threads_make_and_end_at_once);
    RUN(test_an_array_is_freed_once);
    RUN(test_forked_child_has_none_of_them);
    return 0;
}
