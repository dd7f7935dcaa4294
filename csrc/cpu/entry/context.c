/* SPDX-License-Identifier: MIT */
/* HIP entry points: contexts, of which each device has one. */
#include "abi/hip.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/base/thread.h"
#include "cpu/entry/device.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/peer.h"
#include "cpu/entry/runtime.h"
#include "cpu/queue/context.h"

#define API_VERSION 4 /* the version of the interface that HIP reports */

/* The device of the argument `ctx`. */
static hipError_t
device_of(hipCtx_t context, const char *argument, struct ha_device **device)
{
    *device = ha_context_device(context);
    if (*device == NULL) {
        return ha_cpu_fail(hipErrorInvalidContext,
                           "argument '%s' (%p) is not a context", argument,
                           (void *)context);
    }
    return hipSuccess;
}

static struct ha_device *
current(void)
{
    return ha_device_get(ha_thread_self()->device);
}

/* ---- making contexts, and which is current ---- */

HA_EXPORT hipError_t
hipCtxCreate(hipCtx_t *ctx, unsigned int flags, hipDevice_t device)
{
    struct ha_device *found;
    hipError_t code =
        ha_enter_for_device_out("hipCtxCreate", device, "ctx", ctx, &found);
    if (code != hipSuccess) {
        return code;
    }
    unsigned before = atomic_load(&found->flags);
    code = ha_device_set_flags(found, flags);
    if (code != hipSuccess) {
        return code;
    }
    if (!ha_context_push(found)) {
        atomic_store(&found->flags, before);
        return ha_cpu_fail(hipErrorOutOfMemory, "%d contexts are on the thread's stack",
                           HA_CONTEXT_DEPTH);
    }
    *ctx = ha_context_of(found);
    return hipSuccess;
}

/* The context is the device's and stays; the thread forgets that it pushed it. */
HA_EXPORT hipError_t
hipCtxDestroy(hipCtx_t ctx)
{
    struct ha_device *device;
    hipError_t code = ha_enter_query("hipCtxDestroy");
    if (code != hipSuccess) {
        return code;
    }
    device = ha_context_device(ctx);
    if (device == NULL) {
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'ctx' (%p) is not a context",
                           (void *)ctx);
    }
    ha_context_forget(device);
    return hipSuccess;
}

HA_EXPORT hipError_t
hipCtxPushCurrent(hipCtx_t ctx)
{
    struct ha_device *device;
    hipError_t code = ha_enter_query("hipCtxPushCurrent");
    if (code == hipSuccess) {
        code = device_of(ctx, "ctx", &device);
    }
    if (code != hipSuccess) {
        return code;
    }
    if (!ha_context_push(device)) {
        return ha_cpu_fail(hipErrorOutOfMemory, "%d contexts are on the thread's stack",
                           HA_CONTEXT_DEPTH);
    }
    return hipSuccess;
}

HA_EXPORT hipError_t
hipCtxPopCurrent(hipCtx_t *ctx)
{
    hipError_t code = ha_enter_query("hipCtxPopCurrent");
    if (code != hipSuccess) {
        return code;
    }
    struct ha_device *device = ha_context_pop();
    if (device == NULL) {
        return ha_cpu_fail(hipErrorInvalidContext,
                           "no context is on the thread's stack");
    }
    if (ctx != NULL) {
        *ctx = ha_context_of(device);
    }
    return hipSuccess;
}

/* NULL takes the newest context off the stack, if there is one. */
HA_EXPORT hipError_t
hipCtxSetCurrent(hipCtx_t ctx)
{
    struct ha_device *device;
    hipError_t code = ha_enter_query("hipCtxSetCurrent");
    if (code != hipSuccess) {
        return code;
    }
    if (ctx == NULL) {
        (void)ha_context_pop();
        return hipSuccess;
    }
    code = device_of(ctx, "ctx", &device);
    if (code == hipSuccess) {
        ha_context_set(device);
    }
    return code;
}

HA_EXPORT hipError_t
hipCtxGetCurrent(hipCtx_t *ctx)
{
    hipError_t code = ha_enter_query_out("hipCtxGetCurrent", "ctx", ctx);
    if (code == hipSuccess) {
        *ctx = ha_context_of(current());
    }
    return code;
}

HA_EXPORT hipError_t
hipCtxGetDevice(hipDevice_t *device)
{
    hipError_t code = ha_enter_query_out("hipCtxGetDevice", "device", device);
    if (code == hipSuccess) {
        *device = (hipDevice_t)current()->id;
    }
    return code;
}

/* ---- the current one: what can be asked of it, and settings ---- */

/* NULL stands for the current context. */
HA_EXPORT hipError_t
hipCtxGetApiVersion(hipCtx_t ctx, unsigned int *apiVersion)
{
    struct ha_device *device;
    hipError_t code =
        ha_enter_query_out("hipCtxGetApiVersion", "apiVersion", apiVersion);
    if (code != hipSuccess) {
        return code;
    }
    if (ctx != NULL) {
        code = device_of(ctx, "ctx", &device);
    }
    if (code == hipSuccess) {
        *apiVersion = API_VERSION;
    }
    return code;
}

HA_EXPORT hipError_t
hipCtxGetFlags(unsigned int *flags)
{
    hipError_t code = ha_enter_query_out("hipCtxGetFlags", "flags", flags);
    if (code == hipSuccess) {
        *flags = atomic_load(&current()->flags);
    }
    return code;
}

HA_EXPORT hipError_t
hipCtxGetCacheConfig(hipFuncCache_t *cacheConfig)
{
    hipError_t code =
        ha_enter_query_out("hipCtxGetCacheConfig", "cacheConfig", cacheConfig);
    if (code == hipSuccess) {
        *cacheConfig = (hipFuncCache_t)atomic_load(&current()->cache_config);
    }
    return code;
}

HA_EXPORT hipError_t
hipCtxSetCacheConfig(hipFuncCache_t cacheConfig)
{
    hipError_t code = ha_enter_query("hipCtxSetCacheConfig");
    return code != hipSuccess ? code
                              : ha_device_set_cache_config(current(), cacheConfig);
}

HA_EXPORT hipError_t
hipCtxGetSharedMemConfig(hipSharedMemConfig *pConfig)
{
    hipError_t code =
        ha_enter_query_out("hipCtxGetSharedMemConfig", "pConfig", pConfig);
    if (code == hipSuccess) {
        *pConfig = hipSharedMemBankSizeFourByte;
    }
    return code;
}

HA_EXPORT hipError_t
hipCtxSetSharedMemConfig(hipSharedMemConfig config)
{
    hipError_t code = ha_enter_query("hipCtxSetSharedMemConfig");
    return code != hipSuccess ? code : ha_check_shared_config(config);
}

HA_EXPORT hipError_t
hipCtxSynchronize(void)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipCtxSynchronize", &device);
    return code != hipSuccess ? code : ha_device_synchronize(device);
}

HA_EXPORT hipError_t
hipCtxEnablePeerAccess(hipCtx_t peerCtx, unsigned int flags)
{
    struct ha_device *device;
    struct ha_device *peer;
    hipError_t code = ha_enter("hipCtxEnablePeerAccess", &device);
    if (code == hipSuccess) {
        code = device_of(peerCtx, "peerCtx", &peer);
    }
    return code != hipSuccess ? code : ha_peer_enable(device, peer->id, flags);
}

HA_EXPORT hipError_t
hipCtxDisablePeerAccess(hipCtx_t peerCtx)
{
    struct ha_device *device;
    struct ha_device *peer;
    hipError_t code = ha_enter("hipCtxDisablePeerAccess", &device);
    if (code == hipSuccess) {
        code = device_of(peerCtx, "peerCtx", &peer);
    }
    return code != hipSuccess ? code : ha_peer_disable(device, peer->id);
}

/* ---- primary contexts ---- */

HA_EXPORT hipError_t
hipDevicePrimaryCtxGetState(hipDevice_t dev, unsigned int *flags, int *active)
{
    struct ha_device *device;
    hipError_t code = ha_enter_for_device("hipDevicePrimaryCtxGetState", dev, &device);
    if (code == hipSuccess) {
        code = ha_need_both("flags", flags, "active", active);
    }
    if (code != hipSuccess) {
        return code;
    }
    *flags = atomic_load(&device->flags);
    *active = device->id == ha_thread_self()->device;
    return hipSuccess;
}

/* The context exists without being retained, so retaining counts nothing. */
HA_EXPORT hipError_t
hipDevicePrimaryCtxRetain(hipCtx_t *pctx, hipDevice_t dev)
{
    struct ha_device *device;
    hipError_t code = ha_enter_for_device_out("hipDevicePrimaryCtxRetain", dev, "pctx",
                                              pctx, &device);
    if (code == hipSuccess) {
        *pctx = ha_context_of(device);
    }
    return code;
}

/* HIP keeps the context, by design. */
HA_EXPORT hipError_t
hipDevicePrimaryCtxRelease(hipDevice_t dev)
{
    struct ha_device *device;
    return ha_enter_for_device("hipDevicePrimaryCtxRelease", dev, &device);
}

HA_EXPORT hipError_t
hipDevicePrimaryCtxReset(hipDevice_t dev)
{
    struct ha_device *device;
    hipError_t code = ha_enter_for_device("hipDevicePrimaryCtxReset", dev, &device);
    return code == hipSuccess ? ha_device_reset(device) : code;
}

HA_EXPORT hipError_t
hipDevicePrimaryCtxSetFlags(hipDevice_t dev, unsigned int flags)
{
    struct ha_device *device;
    hipError_t code = ha_enter_for_device("hipDevicePrimaryCtxSetFlags", dev, &device);
    return code != hipSuccess ? code : ha_device_set_flags(device, flags);
}
