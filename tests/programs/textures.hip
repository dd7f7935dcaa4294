// SPDX-License-Identifier: MIT
// Arrays, textures and surfaces in a program of host code and kernels.
// expect: channel 32 0 0 0 2, 8 8 8 8 1, 16 16 0 0 2
// expect: linear 2.5 3.5 4.5
// expect: written 0 10 20 30
// expect: vector 4 3 2 1
// expect: level 7
#include "check.h"
#include <hip/hip_texture_types.h>

__global__ void between(hipTextureObject_t image, float *out) {
    out[threadIdx.x] = tex2D<float>(image, threadIdx.x + 1.0f, 1.0f);
}
__global__ void put(hipSurfaceObject_t image) {
    surf2Dwrite(10.0f * threadIdx.x, image, threadIdx.x * 4, 2);
}
__global__ void reverse(hipTextureObject_t image, uchar4 *out) {
    uchar4 v = tex1Dfetch<uchar4>(image, 0);
    *out = make_uchar4(v.w, v.z, v.y, v.x);
}
__global__ void at_level(hipTextureObject_t image, float *out) {
    *out = tex2DLod<float>(image, 0.5f, 0.5f, 1.0f);
}

static void show(hipChannelFormatDesc desc, const char *end) {
    printf("%d %d %d %d %d%s", desc.x, desc.y, desc.z, desc.w, (int)desc.f, end);
}

int main() {
    float image[3][4], row[4], *out;
    printf("channel ");
    show(hipCreateChannelDesc<float>(), ", ");
    show(hipCreateChannelDesc<uchar4>(), ", ");
    show(hipCreateChannelDescHalf2(), "\n");
    for (int i = 0; i < 12; i++)
        image[i / 4][i % 4] = i;
    hipArray_t array;
    hipChannelFormatDesc desc = hipCreateChannelDesc<float>();
    CHECK(hipMalloc(&out, sizeof row));
    CHECK(hipMallocArray(&array, &desc, 4, 3, hipArraySurfaceLoadStore));
    CHECK(hipMemcpy2DToArray(array, 0, 0, image, 16, 16, 3, hipMemcpyHostToDevice));

    hipResourceDesc resource = {};
    hipTextureDesc sampling = {};
    hipTextureObject_t texture;
    resource.resType = hipResourceTypeArray;
    resource.res.array.array = array;
    sampling.filterMode = hipFilterModeLinear;
    CHECK(hipCreateTextureObject(&texture, &resource, &sampling, nullptr));
    between<<<1, 3>>>(texture, out);
    CHECK(hipMemcpy(row, out, 12, hipMemcpyDeviceToHost));
    printf("linear %.1f %.1f %.1f\n", row[0], row[1], row[2]);
    CHECK(hipDestroyTextureObject(texture));

    hipSurfaceObject_t surface;
    CHECK(hipCreateSurfaceObject(&surface, &resource));
    put<<<1, 4>>>(surface);
    CHECK(hipMemcpyFromArray(row, array, 0, 2, 16, hipMemcpyDeviceToHost));
    printf("written %.0f %.0f %.0f %.0f\n", row[0], row[1], row[2], row[3]);
    CHECK(hipDestroySurfaceObject(surface));
    CHECK(hipFreeArray(array));

    uchar4 color = make_uchar4(1, 2, 3, 4), *memory;
    CHECK(hipMalloc(&memory, 2 * sizeof color));
    CHECK(hipMemcpy(memory, &color, sizeof color, hipMemcpyHostToDevice));
    resource = {};
    resource.resType = hipResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = hipCreateChannelDesc<uchar4>();
    resource.res.linear.sizeInBytes = sizeof color;
    sampling = {};
    CHECK(hipCreateTextureObject(&texture, &resource, &sampling, nullptr));
    reverse<<<1, 1>>>(texture, memory + 1);
    CHECK(hipMemcpy(&color, memory + 1, sizeof color, hipMemcpyDeviceToHost));
    printf("vector %d %d %d %d\n", color.x, color.y, color.z, color.w);
    CHECK(hipDestroyTextureObject(texture));
    CHECK(hipFree(memory));

    hipMipmappedArray_t mipmap;
    float seven = 7;
    CHECK(hipMallocMipmappedArray(&mipmap, &desc, make_hipExtent(2, 2, 0), 2, 0));
    CHECK(hipGetMipmappedArrayLevel(&array, mipmap, 1));
    CHECK(hipMemcpyToArray(array, 0, 0, &seven, 4, hipMemcpyHostToDevice));
    resource = {};
    resource.resType = hipResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = mipmap;
    sampling.normalizedCoords = 1;
    sampling.maxMipmapLevelClamp = 1;
    CHECK(hipCreateTextureObject(&texture, &resource, &sampling, nullptr));
    at_level<<<1, 1>>>(texture, out);
    CHECK(hipMemcpy(row, out, 4, hipMemcpyDeviceToHost));
    printf("level %.0f\n", row[0]);
    CHECK(hipDestroyTextureObject(texture));
    CHECK(hipFreeMipmappedArray(mipmap));
    CHECK(hipFree(out));
    return 0;
}
