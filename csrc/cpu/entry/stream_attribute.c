/* SPDX-License-Identifier: MIT */
/* HIP entry points: attributes of streams, and streams that use a part of the device.
 *
 * A *compute unit* of the device is a worker thread, and no worker is different from
 * another, so a mask of compute units only decides how many of them work for the stream
 * at once. */
#include "cpu/entry/stream_attribute.h"

#include <string.h>

#include "abi/hip.h"
#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/base/gone.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"
#include "cpu/queue/pool.h"
#include "cpu/queue/stream.h"

#define MASK_BITS 32u

/* ---- attributes ---- */

static hipError_t
no_attribute(hipLaunchAttributeID attribute)
{
    switch ((int)attribute) {
    case hipLaunchAttributeMemSyncDomain:
    case hipLaunchAttributeMemSyncDomainMap:
        return ha_cpu_fail(hipErrorNotSupported,
                           "argument 'attr': the device has no memory domains");
    default:
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'attr': streams have no attribute %d",
                           (int)attribute);
    }
}

hipError_t
ha_window_check(const hipAccessPolicyWindow *window)
{
    if (!(window->hitRatio >= 0.0f && window->hitRatio <= 1.0f)) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'value': the hit ratio is %g; it is from 0 to 1",
                           (double)window->hitRatio);
    }
    if ((unsigned)window->hitProp > hipAccessPropertyPersisting ||
        (unsigned)window->missProp > hipAccessPropertyStreaming) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'value': the access properties are %d and %d",
                           (int)window->hitProp, (int)window->missProp);
    }
    return hipSuccess;
}

/* No cache can be reserved: only windows of no bytes fit. */
static hipError_t
check_window(const hipAccessPolicyWindow *window)
{
    hipError_t code = ha_window_check(window);
    if (code == hipSuccess && window->num_bytes != 0) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'value': the window has %zu bytes, and the device "
                           "has no cache to set aside (accessPolicyMaxWindowSize)",
                           window->num_bytes);
    }
    return code;
}

static hipError_t
check_value(hipLaunchAttributeID attribute, const hipLaunchAttributeValue *value)
{
    switch ((int)attribute) {
    case hipLaunchAttributeAccessPolicyWindow:
        return check_window(&value->accessPolicyWindow);
    case hipLaunchAttributeSynchronizationPolicy:
        if ((int)value->syncPolicy < hipSyncPolicyAuto ||
            (int)value->syncPolicy > hipSyncPolicyBlockingSync) {
            return ha_cpu_fail(hipErrorInvalidValue,
                               "argument 'value': the synchronization policy is %d",
                               (int)value->syncPolicy);
        }
        return hipSuccess;
    case hipLaunchAttributePriority:
        if (value->priority < HA_PRIORITY_HIGH || value->priority > HA_PRIORITY_LOW) {
            return ha_cpu_fail(
                hipErrorInvalidValue,
                "argument 'value': the priority is %d; it is from %d to %d",
                value->priority, HA_PRIORITY_HIGH, HA_PRIORITY_LOW);
        }
        return hipSuccess;
    default:
        return no_attribute(attribute);
    }
}

HA_EXPORT hipError_t
hipStreamSetAttribute(hipStream_t handle, hipLaunchAttributeID attr,
                      const hipLaunchAttributeValue *value)
{
    struct ha_device *device;
    struct ha_stream *stream;
    hipError_t code = ha_enter_out("hipStreamSetAttribute", "value", value, &device);
    if (code == hipSuccess) {
        code = check_value(attr, value);
    }
    if (code == hipSuccess) {
        code = ha_stream_look(handle, device, &stream);
    }
    if (code != hipSuccess) {
        return code;
    }
    if (attr == hipLaunchAttributePriority) {
        ha_queue_set_priority(&stream->queue, value->priority);
    } else if (attr == hipLaunchAttributeAccessPolicyWindow) {
        stream->window = value->accessPolicyWindow;
    } else {
        stream->sync_policy = value->syncPolicy;
    }
    ha_pool_unlock();
    return hipSuccess;
}

HA_EXPORT hipError_t
hipStreamGetAttribute(hipStream_t handle, hipLaunchAttributeID attr,
                      hipLaunchAttributeValue *value_out)
{
    struct ha_device *device;
    struct ha_stream *stream;
    hipLaunchAttributeValue value;
    memset(&value, 0, sizeof value);
    hipError_t code =
        ha_enter_out("hipStreamGetAttribute", "value_out", value_out, &device);
    if (code == hipSuccess && attr != hipLaunchAttributePriority &&
        attr != hipLaunchAttributeAccessPolicyWindow &&
        attr != hipLaunchAttributeSynchronizationPolicy) {
        code = no_attribute(attr);
    }
    if (code == hipSuccess) {
        code = ha_stream_look(handle, device, &stream);
    }
    if (code != hipSuccess) {
        return code;
    }
    if (attr == hipLaunchAttributePriority) {
        value.priority = stream->queue.priority;
    } else if (attr == hipLaunchAttributeAccessPolicyWindow) {
        value.accessPolicyWindow = stream->window;
    } else {
        value.syncPolicy =
            stream->sync_policy != 0 ? stream->sync_policy : hipSyncPolicyAuto;
    }
    ha_pool_unlock();
    *value_out = value;
    return hipSuccess;
}

HA_EXPORT hipError_t
hipStreamCopyAttributes(hipStream_t dst, hipStream_t src)
{
    struct ha_device *device;
    struct ha_stream *stream;
    hipError_t code = ha_enter("hipStreamCopyAttributes", &device);
    if (code == hipSuccess) {
        code = ha_stream_look(src, device, &stream);
    }
    if (code != hipSuccess) {
        return code;
    }
    hipAccessPolicyWindow window = stream->window;
    hipSynchronizationPolicy sync_policy = stream->sync_policy;
    int priority = stream->queue.priority;
    ha_pool_unlock();
    code = ha_stream_look(dst, device, &stream);
    if (code != hipSuccess) {
        return code;
    }
    stream->window = window;
    stream->sync_policy = sync_policy;
    ha_queue_set_priority(&stream->queue, priority);
    ha_pool_unlock();
    return hipSuccess;
}

/* ---- compute units ---- */

/* The bits of word `index` that stand for compute units of the device. */
static uint32_t
units_in_word(uint32_t index)
{
    uint32_t units = ha_config()->thread_count;
    if (index * MASK_BITS >= units) {
        return 0;
    }
    uint32_t left = units - index * MASK_BITS;
    return left >= MASK_BITS ? UINT32_MAX : (1u << left) - 1;
}

HA_EXPORT hipError_t
hipExtStreamCreateWithCUMask(hipStream_t *stream, uint32_t cuMaskSize,
                             const uint32_t *cuMask)
{
    struct ha_device *device;
    struct ha_stream *made;
    hipStream_t handle;
    uint32_t mask[HA_MASK_WORDS] = {0};
    uint32_t units = 0;
    hipError_t code = ha_enter("hipExtStreamCreateWithCUMask", &device);
    if (code != hipSuccess) {
        return code;
    }
    code = stream == NULL
               ? ha_cpu_fail_null("stream")
               : ha_gone_check("cuMask", cuMask, cuMaskSize * sizeof *cuMask);
    if (code != hipSuccess) {
        return code;
    }
    for (uint32_t i = 0; i < cuMaskSize && i < HA_MASK_WORDS; i++) {
        mask[i] = cuMask[i] & units_in_word(i);
        units += (uint32_t)__builtin_popcount(mask[i]);
    }
    if (cuMaskSize == 0) {
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'cuMaskSize' is 0");
    }
    code = ha_stream_create(device, hipStreamDefault, HA_PRIORITY_NORMAL, &handle);
    if (code == hipSuccess) {
        code = ha_stream_look(handle, device, &made);
    }
    if (code != hipSuccess) {
        return code;
    }
    memcpy(made->mask, mask, sizeof mask);
    made->queue.threads_max = units; /* 0, for a mask of no unit, stands for all */
    ha_pool_unlock();
    *stream = handle;
    return hipSuccess;
}

HA_EXPORT hipError_t
hipExtStreamGetCUMask(hipStream_t handle, uint32_t cuMaskSize, uint32_t *cuMask)
{
    struct ha_device *device;
    struct ha_stream *stream;
    hipError_t code = ha_enter_out("hipExtStreamGetCUMask", "cuMask", cuMask, &device);
    if (code != hipSuccess) {
        return code;
    }
    if ((uint64_t)cuMaskSize * MASK_BITS < ha_config()->thread_count) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'cuMaskSize' is %u; the device has %u compute "
                           "units",
                           cuMaskSize, ha_config()->thread_count);
    }
    code = ha_stream_look(handle, device, &stream);
    if (code != hipSuccess) {
        return code;
    }
    bool all = stream->queue.threads_max == 0;
    for (uint32_t i = 0; i < cuMaskSize; i++) {
        uint32_t word = i < HA_MASK_WORDS ? stream->mask[i] : 0;
        cuMask[i] = all ? units_in_word(i) : word;
    }
    ha_pool_unlock();
    return hipSuccess;
}
