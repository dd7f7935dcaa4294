/* SPDX-License-Identifier: MIT */
/* The profiler's library of this process: AMD's librocprofiler-sdk where it is loaded
 * or installed, else our own beside the library that this is part of.
 *
 * It is found at the first need and never unloaded.  `ha_sdk` is written once and read
 * by anybody who has seen `there`; no lock is held while libraries are loaded. */
#ifndef HA_TOOL_SDK_H
#define HA_TOOL_SDK_H

#include <stdbool.h>

#include "abi/hip.h"
/* After abi/hip.h, which has the types of HIP. */
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include "abi/host_function.h"
#include "core/status.h"
#include "tool/generated/sdk_table.h"

#define HA_SDK_MEMBER(name) __typeof__(rocprofiler_##name) *name;

/* NULL: a function that the library lacks, which are none of those that are called in
 * hand-written C. */
struct ha_sdk {
    HA_SDK_FUNCTIONS(HA_SDK_MEMBER)
    void (*finalize)(void); /* our own library's end; NULL: AMD's */
    /* The stream of a copy, by its payload or record; NULL: AMD's doesn't tell it. */
    uint64_t (*copy_stream)(const void *copy);
    /* How work has ended, what it fills, and how its lanes ran; NULL: AMD's doesn't
     * tell it. */
    int (*work_status)(const void *work);
    uint64_t (*fill_bytes)(const void *launch);
    uint64_t (*launch_form)(const void *launch);
    /* Waits until all was told of work that has ended, for limit_ns at most; NULL:
     * AMD's doesn't. */
    void (*settle)(uint64_t limit_ns);
    /* Tells host functions; NULL: AMD's doesn't. */
    ha_host_functions_tell *host_functions;
    char path[1024];
    _Atomic bool there; /* last */
};

extern struct ha_sdk ha_sdk;

/* 0 where the library doesn't tell it. */
static inline uint64_t
ha_sdk_copy_stream(const void *copy)
{
    return ha_sdk.copy_stream != NULL ? ha_sdk.copy_stream(copy) : 0;
}

/* The same. */
static inline uint64_t
ha_sdk_fill_bytes(const void *launch)
{
    return ha_sdk.fill_bytes != NULL ? ha_sdk.fill_bytes(launch) : 0;
}

/* enum ha_activity_form of abi/activity.h, with what goes with it; 0 the same. */
static inline uint64_t
ha_sdk_launch_form(const void *launch)
{
    return ha_sdk.launch_form != NULL ? ha_sdk.launch_form(launch) : 0;
}

/* 0 as it should, 1 a fault, 2 too long, 3 cancelled; HA_SDK_STATUS_UNKNOWN where the
 * library doesn't tell it. */
enum { HA_SDK_STATUS_UNKNOWN = -1 };

static inline int
ha_sdk_work_status(const void *work)
{
    return ha_sdk.work_status != NULL ? ha_sdk.work_status(work)
                                      : HA_SDK_STATUS_UNKNOWN;
}

/* Looks for the library unless it is there; the text of a failure says where. */
enum ha_status ha_sdk_need(void);

/* Fork hook of the child. */
void ha_sdk_forked(void);

#endif
