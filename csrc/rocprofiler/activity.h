/* SPDX-License-Identifier: MIT */
/* What the device does: kernels, copies, memory, code objects, streams. */
#ifndef HA_ROCPROFILER_ACTIVITY_H
#define HA_ROCPROFILER_ACTIVITY_H

#include <stdint.h>

#include "abi/activity.h"
#include "abi/host_function.h"
#include "rocprofiler/sdk.h"

/* Subscribes to what active contexts have asked for. */
void ha_activity_subscribe(const struct ha_activity *activity);

/* After contexts were started, stopped or given a service, or host functions are
 * wanted: subscribes anew, and reports the present code objects to those that were
 * started for the first time.  Without locks. */
void ha_activity_switched(void);

/* The stream of a copy, which AMD's structs don't have.  `copy` is the payload of a
 * callback or of a record, as a tool has got it from this library. */
HA_SDK_EXPORT uint64_t hipadapt_rocprofiler_copy_stream(const void *copy);

/* How many bytes a launch fills, if that is what it does; else 0.  `launch` is the
 * payload or record of a kernel. */
HA_SDK_EXPORT uint64_t hipadapt_rocprofiler_fill_bytes(const void *launch);

/* How the lanes of a launch ran (enum ha_activity_form, with what goes with it); 0
 * before its end.  `launch` as above. */
HA_SDK_EXPORT uint64_t hipadapt_rocprofiler_launch_form(const void *launch);

/* How a kernel or copy has ended: 0 as it should, 1 it failed while it ran, 2 it ran
 * too long, 3 it was cancelled before it began.  `work` is the payload or record of
 * its end. */
HA_SDK_EXPORT int hipadapt_rocprofiler_work_status(const void *work);

/* Who hears of host functions (abi/host_function.h). */
HA_SDK_EXPORT void
hipadapt_rocprofiler_host_functions(void (*told)(const struct ha_host_function *));

/* Waits, for limit_ns at most, until tools were told of all work that has ended by now.
 */
HA_SDK_EXPORT void hipadapt_rocprofiler_settle(uint64_t limit_ns);

/* Waits until the device has no work left, and has reported all of it. */
void ha_activity_drain(void);

#endif
