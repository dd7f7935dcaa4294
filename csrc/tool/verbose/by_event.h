/* SPDX-License-Identifier: MIT */
/* Events of HIP behind work, for trackers that have no records of it. */
#ifndef HA_TOOL_VERBOSE_BY_EVENT_H
#define HA_TOOL_VERBOSE_BY_EVENT_H

#include <stdbool.h>

#include "abi/hip.h"
#include "core/status.h"

/* Finds HIP among what the process has loaded.  HA_ERROR_UNSUPPORTED: it is not there.
 */
enum ha_status ha_by_event_need(void);

/* INVALID with a sentence: the handle is none, or the stream is being captured. */
enum ha_status ha_by_event_check(hipStream_t stream, hipEvent_t event);

/* A new event behind what the stream has to do; false and NULL: the device has failed.
 */
bool ha_by_event_record(hipStream_t stream, hipEvent_t *event);

/* hipSuccess: it is reached.  hipErrorNotReady; else the work before it has failed. */
hipError_t ha_by_event_query(hipEvent_t event);

/* Nanoseconds from one to the other; false: HIP doesn't tell. */
bool ha_by_event_elapsed(hipEvent_t from, hipEvent_t to, uint64_t *ns);

void ha_by_event_free(hipEvent_t event);

#endif
