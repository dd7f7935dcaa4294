/* SPDX-License-Identifier: MIT */
/* Members of the sink that report what is over at once: memory, code objects, kernels,
 * streams; and runtimes that have handed over their tables. */
#ifndef HA_ROCPROFILER_ACTIVITY_EVENT_H
#define HA_ROCPROFILER_ACTIVITY_EVENT_H

#include <stdint.h>

#include "abi/activity.h"

/* Members of the sink that report what is over at once (activity_event.c). */
void ha_activity_memory(enum ha_activity_memory operation, int device,
                        const void *address, uint64_t bytes, uint64_t start,
                        uint64_t end);
void ha_activity_code_object(const struct ha_activity_code_object *source, int loaded);
void ha_activity_kernel(const struct ha_activity_kernel *source, int loaded);
void ha_activity_stream(enum ha_activity_stream operation, uint64_t queue,
                        const void *handle);
/* Limits the contexts that code objects are reported to on this thread: those that got
 * no report of the present ones.  0 ends that. */
void ha_activity_replay(uint64_t contexts);
/* Tells contexts, from number `first` on, that a runtime has handed over its tables. */
void ha_activity_runtime(int operation, uint64_t version, uint64_t instance,
                         unsigned first);

#endif
