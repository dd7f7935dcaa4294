/* SPDX-License-Identifier: MIT */
/* Events in streams (cpu/queue/event.h): a record and a wait run, or become a part of a
 * capture.
 *
 * Locks: called with none held. */
#ifndef HA_CPU_SUBMIT_EVENT_H
#define HA_CPU_SUBMIT_EVENT_H

#include "abi/hip.h"

struct ha_device;

enum ha_event_how {
    HA_EVENT_INTERNAL, /* in a capture: a point of it */
    HA_EVENT_EXTERNAL, /* in a capture: a node of its own */
};

hipError_t ha_submit_record(hipEvent_t event, hipStream_t stream,
                            struct ha_device *device, enum ha_event_how how);

/* Makes later work of the stream wait for the event. */
hipError_t ha_submit_event_wait(hipStream_t stream, hipEvent_t event,
                                struct ha_device *device, enum ha_event_how how);

#endif
