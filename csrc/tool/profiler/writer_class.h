/* SPDX-License-Identifier: MIT */
/* What writers are told (writer.h), and how a kind of writer works. */
#ifndef HA_TOOL_PROFILER_WRITER_CLASS_H
#define HA_TOOL_PROFILER_WRITER_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "tool/profiler/slice.h"

/* One entry of the trace's metadata.  The value is JSON text; text that is no JSON
 * value is written as a JSON string. */
struct ha_trace_pair {
    const char *key;
    const char *value;
};

/* A device, as the trace shows it; 0 and NULL where something is not known. */
struct ha_trace_device {
    int32_t id;
    const char *name;
    uint64_t memory_bytes;
    int32_t compute_major, compute_minor;
    uint32_t block_threads_max;
    uint32_t multiprocessor_threads_max;
    uint32_t block_registers;
    uint32_t warp_size;
    uint32_t block_shared_bytes;
    uint32_t multiprocessors;
    uint32_t multiprocessor_shared_bytes;
};

/* What is known before the first slice.  Everything is borrowed until ha_writer_open
 * returns. */
struct ha_writer_info {
    uint64_t start; /* of the window, Unix ns */
    uint32_t pid;
    const char *process_name; /* NULL: "hipadapt" */
    const char *host_name;    /* NULL: left out */
    const char *span_name;    /* what was recorded, as "hipadapt.profile"; NULL: that */
    const struct ha_trace_device *devices;
    size_t device_count;
    const struct ha_trace_pair *metadata;
    size_t metadata_count;
    int32_t hip_runtime_version; /* 0: left out, as with the next two */
    int32_t hip_driver_version;
    const char *sdk_version;
    const char *distributed; /* JSON of "distributedInfo"; NULL: none */
    int64_t clock_offset;    /* Unix time minus CLOCK_BOOTTIME, ns */
    uint64_t clock_error;    /* width of the bracket that it was measured in, ns */
    bool cuda_names; /* calls get CUDA's names, for readers that know no others */
};

/* What is known at the end; borrowed for the call. */
struct ha_writer_result {
    uint64_t start; /* of the window, Unix ns; 0: as it was said at the beginning */
    uint64_t end;
    uint64_t lost_events;
    uint64_t out_of_window_events;
    const struct ha_trace_pair *metadata; /* further entries, as counts of errors */
    size_t metadata_count;
};

/* A row's name, where the writer's own ("thread 17 (python)", "stream 3", "GPU 0") does
 * not do: for rows of child profilers.  NULL leaves a name as it is. */
struct ha_trace_row {
    int32_t device; /* HA_DEVICE_NONE: the row of a thread */
    uint32_t thread;
    uint64_t stream;
    const char *device_name; /* of all rows of the device, as "NPU 0" */
    const char *name;
};

/* How a kind of writer works.  `state` is the writer's own; `finish` and `abandon` free
 * it.  `row` and `bytes` may be NULL. */
struct ha_writer_class {
    enum ha_status (*open)(void *context, const char *url,
                           const struct ha_writer_info *info, void **state);
    enum ha_status (*row)(void *state, const struct ha_trace_row *row);
    enum ha_status (*slice)(void *state, const struct ha_slice *slice);
    enum ha_status (*finish)(void *state, const struct ha_writer_result *result);
    void (*abandon)(void *state);
    uint64_t (*bytes)(const void *state);
};

#endif
