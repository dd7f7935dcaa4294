/* SPDX-License-Identifier: MIT */
/* What the device does: kernels, copies, memory, code objects, streams. */
#ifndef HA_ROCPROFILER_ACTIVITY_H
#define HA_ROCPROFILER_ACTIVITY_H

#include <stdint.h>

#include "abi/activity.h"
#include "rocprofiler/correlation.h"
#include "rocprofiler/state.h"

/* Subscribes to what contexts have asked for. */
void ha_activity_subscribe(const struct ha_activity *activity);

/* A context that was started is told of the code objects that are there, the first
 * time. */
void ha_activity_started(void);

/* Tells contexts, from number `first` on, that a runtime has handed over its tables. */
void ha_activity_runtime(int operation, uint64_t version, uint64_t instance,
                         unsigned first);

/* The stream of a copy, which AMD's structs don't have.  `copy` is the payload of a
 * callback or of a record, as a tool has got it from this library. */
HA_SDK_EXPORT uint64_t hipadapt_rocprofiler_copy_stream(const void *copy);

/* Members of the sink that report what is over at once (activity_event.c). */
void ha_activity_memory(enum ha_activity_memory operation, int device,
                        const void *address, uint64_t bytes, uint64_t start,
                        uint64_t end);
void ha_activity_code_object(const struct ha_activity_code_object *source, int loaded);
void ha_activity_kernel(const struct ha_activity_kernel *source, int loaded);
void ha_activity_stream(enum ha_activity_stream operation, uint64_t queue,
                        const void *handle);

/* Sets the contexts that code objects are told to on this thread: those that haven't
 * been told of what is there.  0 ends that. */
void ha_activity_replay(uint64_t contexts);

#endif
