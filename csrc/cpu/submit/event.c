/* SPDX-License-Identifier: MIT */
#include "cpu/submit/event.h"

#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/graph/capture.h"
#include "cpu/queue/event.h"
#include "cpu/submit/door.h"

hipError_t
ha_submit_record(hipEvent_t handle, hipStream_t stream, struct ha_device *device,
                 enum ha_event_how how)
{
    struct ha_door door = {.handle = stream, .device = device};
    struct ha_event *event = NULL;
    hipError_t code = ha_door_open(&door);
    if (code == hipSuccess) {
        code = ha_event_find(handle, door.stream, &event);
    }
    if (code != hipSuccess) {
        return code;
    }
    if (ha_door_captures(&door)) {
        return ha_capture_record(ha_door_front(&door), handle,
                                 how == HA_EVENT_EXTERNAL);
    }
    return ha_event_record(event, door.stream);
}

hipError_t
ha_submit_event_wait(hipStream_t stream, hipEvent_t handle, struct ha_device *device,
                     enum ha_event_how how)
{
    struct ha_door door = {.handle = stream, .device = device};
    hipError_t code = ha_door_open(&door);
    if (code != hipSuccess) {
        return code;
    }
    struct ha_event *event = ha_event_peek(handle);
    if (event == NULL) {
        ha_pool_unlock();
        return ha_event_fail_gone("event", handle);
    }
    if (!ha_door_captures(&door) && ha_event_point(event) == NULL) {
        return ha_event_follow(event, door.stream);
    }
    /* The stream may be one that is not captured yet. */
    ha_door_leave(&door);
    code = ha_capture_wait(door.stream, handle, how == HA_EVENT_EXTERNAL);
    ha_door_abandon(&door);
    return code;
}
