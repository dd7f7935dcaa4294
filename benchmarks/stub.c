/* SPDX-License-Identifier: MIT */
/* A HIP library whose functions only return, so that what is measured is the way from
 * Python to the library.  Device addresses and handles are constants; nothing is copied. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define STUB __attribute__((visibility("default")))

enum { SUCCESS = 0, VERSION = 70153211 };

STUB int hipInit(unsigned flags);
STUB int
hipInit(unsigned flags)
{
    (void)flags;
    return SUCCESS;
}

STUB int hipGetDeviceCount(int *count);
STUB int
hipGetDeviceCount(int *count)
{
    *count = 1;
    return SUCCESS;
}

STUB int hipGetDevice(int *device);
STUB int
hipGetDevice(int *device)
{
    *device = 0;
    return SUCCESS;
}

STUB int hipRuntimeGetVersion(int *version);
STUB int
hipRuntimeGetVersion(int *version)
{
    *version = VERSION;
    return SUCCESS;
}

STUB int hipDriverGetVersion(int *version);
STUB int
hipDriverGetVersion(int *version)
{
    *version = VERSION;
    return SUCCESS;
}

STUB int hipGetLastError(void);
STUB int
hipGetLastError(void)
{
    return SUCCESS;
}

STUB int hipMalloc(void **memory, size_t size);
STUB int
hipMalloc(void **memory, size_t size)
{
    (void)size;
    *memory = (void *)(uintptr_t)0x7f0000001000;
    return SUCCESS;
}

STUB int hipFree(void *memory);
STUB int
hipFree(void *memory)
{
    (void)memory;
    return SUCCESS;
}

STUB int hipMemcpy(void *target, const void *source, size_t size, int kind);
STUB int
hipMemcpy(void *target, const void *source, size_t size, int kind)
{
    (void)target, (void)source, (void)size, (void)kind;
    return SUCCESS;
}

STUB int hipStreamCreate(void **stream);
STUB int
hipStreamCreate(void **stream)
{
    *stream = (void *)(uintptr_t)0x5550;
    return SUCCESS;
}

STUB int hipStreamQuery(void *stream);
STUB int
hipStreamQuery(void *stream)
{
    (void)stream;
    return SUCCESS;
}

STUB int hipModuleLoadData(void **module, const void *image);
STUB int
hipModuleLoadData(void **module, const void *image)
{
    (void)image;
    *module = (void *)(uintptr_t)0x6660;
    return SUCCESS;
}

STUB int hipModuleGetFunction(void **function, void *module, const char *name);
STUB int
hipModuleGetFunction(void **function, void *module, const char *name)
{
    (void)module, (void)name;
    *function = (void *)(uintptr_t)0x7770;
    return SUCCESS;
}

/* The arguments of the last launch, for tests that compare what callers send. */
STUB unsigned char stub_arguments[4096];
STUB size_t stub_arguments_bytes;
STUB unsigned stub_sizes[7]; /* grid, block, shared memory */

STUB int hipModuleLaunchKernel(void *function, unsigned grid_x, unsigned grid_y,
                               unsigned grid_z, unsigned block_x, unsigned block_y,
                               unsigned block_z, unsigned shared_bytes, void *stream,
                               void **params, void **extra);
STUB int
hipModuleLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                      unsigned block_x, unsigned block_y, unsigned block_z,
                      unsigned shared_bytes, void *stream, void **params, void **extra)
{
    (void)function, (void)stream, (void)params;
    const unsigned sizes[7] = {grid_x,  grid_y,  grid_z,      block_x,
                               block_y, block_z, shared_bytes};
    memcpy(stub_sizes, sizes, sizeof sizes);
    stub_arguments_bytes = 0;
    if (extra != NULL && extra[1] != NULL) { /* buffer, its address, size, its address */
        size_t size = *(const size_t *)extra[3];
        if (size > sizeof stub_arguments) {
            return 1; /* hipErrorInvalidValue */
        }
        memcpy(stub_arguments, extra[1], size);
        stub_arguments_bytes = size;
    }
    return SUCCESS;
}
