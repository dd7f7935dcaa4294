/* SPDX-License-Identifier: MIT */
/* HIP entry points: streams, host functions and events. */
#include "abi/hip.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"
#include "cpu/queue/event.h"
#include "cpu/queue/pool.h"
#include "cpu/queue/stream.h"
#include "cpu/submit/event.h"
#include "cpu/submit/stream.h"

#define EVENT_FLAGS                                                                    \
    ((unsigned)hipEventBlockingSync | (unsigned)hipEventDisableTiming |                \
     (unsigned)hipEventInterprocess | 0x20000000u /* no system fence */ |              \
     (unsigned)hipEventReleaseToDevice | (unsigned)hipEventReleaseToSystem)

static hipError_t
stream_create(const char *function, hipStream_t *stream, unsigned flags, int priority)
{
    struct ha_device *device;
    hipError_t code = ha_enter_out(function, "stream", stream, &device);
    if (code != hipSuccess) {
        return code;
    }
    if (flags != hipStreamDefault && flags != hipStreamNonBlocking) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'flags' is 0x%x; it must be hipStreamDefault or "
                           "hipStreamNonBlocking",
                           flags);
    }
    /* Priorities out of range are moved into it. */
    if (priority < HA_PRIORITY_HIGH) {
        priority = HA_PRIORITY_HIGH;
    }
    if (priority > HA_PRIORITY_LOW) {
        priority = HA_PRIORITY_LOW;
    }
    return ha_stream_create(device, flags, priority, stream);
}

HA_EXPORT hipError_t
hipStreamCreate(hipStream_t *stream)
{
    return stream_create("hipStreamCreate", stream, hipStreamDefault,
                         HA_PRIORITY_NORMAL);
}

HA_EXPORT hipError_t
hipStreamCreateWithFlags(hipStream_t *stream, unsigned int flags)
{
    return stream_create("hipStreamCreateWithFlags", stream, flags, HA_PRIORITY_NORMAL);
}

HA_EXPORT hipError_t
hipStreamCreateWithPriority(hipStream_t *stream, unsigned int flags, int priority)
{
    return stream_create("hipStreamCreateWithPriority", stream, flags, priority);
}

HA_EXPORT hipError_t
hipStreamDestroy(hipStream_t stream)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipStreamDestroy", &device);
    return code != hipSuccess ? code : ha_stream_destroy(stream);
}

HA_EXPORT hipError_t
hipStreamQuery(hipStream_t handle)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipStreamQuery", &device);
    return code != hipSuccess ? code : ha_query_stream(handle, device);
}

HA_EXPORT hipError_t
hipStreamSynchronize(hipStream_t handle)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipStreamSynchronize", &device);
    return code != hipSuccess ? code : ha_wait_stream(handle, device);
}

HA_EXPORT hipError_t
hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned int flags)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipStreamWaitEvent", &device);
    if (code != hipSuccess) {
        return code;
    }
    if (flags > 1) { /* hipEventWaitDefault, hipEventWaitExternal */
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'flags' is 0x%x", flags);
    }
    return ha_submit_event_wait(stream, event, device,
                                flags == 1 ? HA_EVENT_EXTERNAL : HA_EVENT_INTERNAL);
}

/* Begins a getter; after success the pool lock is held. `output` takes the answer, and
 * `argument` is its name. */
static hipError_t
getter_enter(const char *function, hipStream_t handle, const void *output,
             const char *argument, struct ha_stream **stream)
{
    struct ha_device *device;
    hipError_t code = ha_enter_out(function, argument, output, &device);
    return code != hipSuccess ? code : ha_stream_look(handle, device, stream);
}

HA_EXPORT hipError_t
hipStreamGetFlags(hipStream_t handle, unsigned int *flags)
{
    struct ha_stream *stream;
    hipError_t code =
        getter_enter("hipStreamGetFlags", handle, flags, "flags", &stream);
    if (code == hipSuccess) {
        *flags = stream->flags;
        ha_pool_unlock();
    }
    return code;
}

HA_EXPORT hipError_t
hipStreamGetPriority(hipStream_t handle, int *priority)
{
    struct ha_stream *stream;
    hipError_t code =
        getter_enter("hipStreamGetPriority", handle, priority, "priority", &stream);
    if (code == hipSuccess) {
        *priority = stream->queue.priority;
        ha_pool_unlock();
    }
    return code;
}

HA_EXPORT hipError_t
hipStreamGetId(hipStream_t handle, unsigned long long *streamId)
{
    struct ha_stream *stream;
    hipError_t code =
        getter_enter("hipStreamGetId", handle, streamId, "streamId", &stream);
    if (code == hipSuccess) {
        *streamId = stream->id;
        ha_pool_unlock();
    }
    return code;
}

HA_EXPORT hipError_t
hipStreamGetDevice(hipStream_t handle, hipDevice_t *device)
{
    struct ha_stream *stream;
    hipError_t code =
        getter_enter("hipStreamGetDevice", handle, device, "device", &stream);
    if (code == hipSuccess) {
        *device = (hipDevice_t)stream->queue.device->id;
        ha_pool_unlock();
    }
    return code;
}

HA_EXPORT int
hipGetStreamDeviceId(hipStream_t handle)
{
    struct ha_device *current;
    struct ha_stream *stream;
    if (ha_enter("hipGetStreamDeviceId", &current) != hipSuccess ||
        ha_stream_look(handle, current, &stream) != hipSuccess) {
        return -1;
    }
    int id = stream->queue.device->id;
    ha_pool_unlock();
    return id;
}

HA_EXPORT hipError_t
hipLaunchHostFunc(hipStream_t stream, hipHostFn_t fn, void *userData)
{
    struct ha_device *device;
    hipError_t code = ha_enter_out("hipLaunchHostFunc", "fn", fn, &device);
    return code == hipSuccess ? ha_submit_function(stream, device, fn, userData) : code;
}

HA_EXPORT hipError_t
hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void *userData,
                     unsigned int flags)
{
    struct ha_device *device;
    hipError_t code =
        ha_enter_out("hipStreamAddCallback", "callback", callback, &device);
    if (code == hipSuccess) {
        code = ha_need_no_flags(flags);
    }
    return code == hipSuccess ? ha_submit_callback(stream, device, callback, userData)
                              : code;
}

/* ---- events ---- */

static hipError_t
event_create(const char *function, hipEvent_t *event, unsigned flags)
{
    struct ha_device *device;
    hipError_t code = ha_enter_out(function, "event", event, &device);
    if (code != hipSuccess) {
        return code;
    }
    const unsigned releases =
        (unsigned)hipEventReleaseToDevice | (unsigned)hipEventReleaseToSystem;
    if ((flags & ~EVENT_FLAGS) != 0 || (flags & releases) == releases ||
        ((flags & hipEventInterprocess) != 0 && (flags & hipEventDisableTiming) == 0)) {
        return ha_cpu_fail(
            hipErrorInvalidValue,
            "argument 'flags' is 0x%x, which is not a set of event flags", flags);
    }
    return ha_event_create(device, flags, event);
}

HA_EXPORT hipError_t
hipEventCreate(hipEvent_t *event)
{
    return event_create("hipEventCreate", event, hipEventDefault);
}

HA_EXPORT hipError_t
hipEventCreateWithFlags(hipEvent_t *event, unsigned int flags)
{
    return event_create("hipEventCreateWithFlags", event, flags);
}

HA_EXPORT hipError_t
hipEventDestroy(hipEvent_t event)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipEventDestroy", &device);
    return code != hipSuccess ? code : ha_event_destroy(event);
}

HA_EXPORT hipError_t
hipEventRecord(hipEvent_t event, hipStream_t stream)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipEventRecord", &device);
    return code != hipSuccess
               ? code
               : ha_submit_record(event, stream, device, HA_EVENT_INTERNAL);
}

HA_EXPORT hipError_t
hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned int flags)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipEventRecordWithFlags", &device);
    if (code != hipSuccess) {
        return code;
    }
    if (flags > 1) { /* hipEventRecordDefault, hipEventRecordExternal */
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'flags' is 0x%x", flags);
    }
    return ha_submit_record(event, stream, device,
                            flags == 1 ? HA_EVENT_EXTERNAL : HA_EVENT_INTERNAL);
}

HA_EXPORT hipError_t
hipEventQuery(hipEvent_t event)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipEventQuery", &device);
    return code != hipSuccess ? code : ha_event_query(event);
}

HA_EXPORT hipError_t
hipEventSynchronize(hipEvent_t event)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipEventSynchronize", &device);
    return code != hipSuccess ? code : ha_wait_event(event);
}

HA_EXPORT hipError_t
hipEventElapsedTime(float *ms, hipEvent_t start, hipEvent_t stop)
{
    struct ha_device *device;
    hipError_t code = ha_enter_out("hipEventElapsedTime", "ms", ms, &device);
    return code == hipSuccess ? ha_event_elapsed(start, stop, ms) : code;
}
