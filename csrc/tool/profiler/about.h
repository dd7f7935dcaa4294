/* SPDX-License-Identifier: MIT */
/* What a trace says of the machine and of this process. */
#ifndef HA_TOOL_PROFILER_ABOUT_H
#define HA_TOOL_PROFILER_ABOUT_H

#include <stddef.h>
#include <stdint.h>

#include "tool/profiler/writer.h"

enum { HA_ABOUT_DEVICES = 64 };

struct ha_about {
    struct ha_trace_device devices[HA_ABOUT_DEVICES];
    size_t device_count;
    char process_name[64];
    char host_name[256];
    char sdk_version[32];
    int32_t hip_runtime_version; /* 0: not known, as the next one */
    int32_t hip_driver_version;
};

/* Once the profiler's library is there.  Names of devices are that library's. */
void ha_about_fill(struct ha_about *about);

/* Sets the fields that `about` knows, which is borrowed. */
void ha_about_tell(const struct ha_about *about, struct ha_writer_info *info);

#endif
