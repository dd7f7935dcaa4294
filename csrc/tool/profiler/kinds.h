/* SPDX-License-Identifier: MIT */
/* What the events of a recording are of (recorder.h). */
#ifndef HA_TOOL_PROFILER_KINDS_H
#define HA_TOOL_PROFILER_KINDS_H

#include "tool/sdk.h"

/* Kinds of events, besides the SDK's numbers of callback tracing. */
enum {
    HA_KIND_CALL = ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API,
    HA_KIND_KERNEL = ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH,
    HA_KIND_COPY = ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY,
    HA_KIND_MEMORY = ROCPROFILER_CALLBACK_TRACING_MEMORY_ALLOCATION,
    HA_KIND_PUSH = 0x8000,
    HA_KIND_POP,
    HA_KIND_START,
    HA_KIND_STOP,
    HA_KIND_HANDED,  /* handed.h */
    HA_KIND_COUNTER, /* device_counters.h */
};

#endif
