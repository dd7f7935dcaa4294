/* SPDX-License-Identifier: MIT */
/* Entry points that compiled programs call: registration when a program or library
 * starts and ends, and the two halves of `kernel<<<...>>>(...)`.
 *
 * They run in constructors, before main and while the dynamic linker works, so they
 * start nothing and report failures to the log at most. */
#include <stddef.h>
#include <stdlib.h>

#include "abi/hip.h"
#include "core/log.h"
#include "cpu/base/export.h"
#include "cpu/module/register.h"
#include "cpu/work/call_config.h"

HA_EXPORT void **
__hipRegisterFatBinary(const void *data)
{
    struct ha_registered *binary = ha_register_binary(data);
    if (binary == NULL) {
        ha_log(1, "__hipRegisterFatBinary: no memory");
    }
    return (void **)binary;
}

static void
add(const char *entry_point, void *modules, const struct ha_register_request *request)
{
    if (modules == NULL || request->host == NULL || request->name == NULL ||
        !ha_register_add(modules, request)) {
        ha_log(1, "%s: '%s' can't be registered", entry_point,
               request->name != NULL ? request->name : "");
    }
}

HA_EXPORT void
__hipRegisterFunction(void **modules, const void *hostFunction, char *deviceFunction,
                      const char *deviceName, unsigned int threadLimit,
                      struct uint3 *tid, struct uint3 *bid, dim3 *blockDim,
                      dim3 *gridDim, int *wSize)
{
    /* The image knows the limits of its kernels itself. */
    (void)deviceFunction;
    (void)threadLimit;
    (void)tid;
    (void)bid;
    (void)blockDim;
    (void)gridDim;
    (void)wSize;
    const struct ha_register_request request = {
        .kind = HA_REGISTER_FUNCTION,
        .host = hostFunction,
        .name = deviceName,
    };
    add("__hipRegisterFunction", modules, &request);
}

HA_EXPORT void
__hipRegisterVar(void **modules, void *var, char *hostVar, char *deviceVar, int ext,
                 size_t size, int constant, int global)
{
    (void)hostVar;
    (void)ext;
    (void)constant;
    (void)global;
    const struct ha_register_request request = {
        .kind = HA_REGISTER_VARIABLE,
        .host = var,
        .name = deviceVar,
        .bytes = size,
    };
    add("__hipRegisterVar", modules, &request);
}

HA_EXPORT void
__hipRegisterManagedVar(void *hipModule, void **pointer, void *init_value,
                        const char *name, size_t size, unsigned align)
{
    const struct ha_register_request request = {
        .kind = HA_REGISTER_MANAGED,
        .host = pointer,
        .name = name,
        .bytes = size,
        .value = init_value,
        .align = align,
    };
    add("__hipRegisterManagedVar", hipModule, &request);
}

HA_EXPORT void
__hipRegisterTexture(void **modules, void *var, char *hostVar, char *deviceVar,
                     int type, int norm, int ext)
{
    (void)hostVar;
    (void)type;
    (void)norm;
    (void)ext;
    const struct ha_register_request request = {
        .kind = HA_REGISTER_TEXTURE,
        .host = var,
        .name = deviceVar,
    };
    add("__hipRegisterTexture", modules, &request);
}

HA_EXPORT void
__hipRegisterSurface(void **modules, void *var, char *hostVar, char *deviceVar,
                     int type, int ext)
{
    (void)hostVar;
    (void)type;
    (void)ext;
    const struct ha_register_request request = {
        .kind = HA_REGISTER_SURFACE,
        .host = var,
        .name = deviceVar,
    };
    add("__hipRegisterSurface", modules, &request);
}

HA_EXPORT void
__hipUnregisterFatBinary(void **modules)
{
    ha_register_remove((struct ha_registered *)(void *)modules);
}

HA_EXPORT hipError_t
__hipPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem,
                           hipStream_t stream)
{
    const struct ha_call_config config = {.grid = gridDim,
                                          .block = blockDim,
                                          .shared_bytes = sharedMem,
                                          .stream = stream};
    return ha_call_config_push(&config);
}

HA_EXPORT hipError_t
__hipPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem,
                          hipStream_t *stream)
{
    struct ha_call_config config;
    if (gridDim == NULL || blockDim == NULL || sharedMem == NULL || stream == NULL) {
        return hipErrorInvalidValue;
    }
    hipError_t code = ha_call_config_pop(&config);
    if (code != hipSuccess) {
        return code;
    }
    free(config.arguments);
    *gridDim = config.grid;
    *blockDim = config.block;
    *sharedMem = config.shared_bytes;
    *stream = config.stream;
    return hipSuccess;
}
