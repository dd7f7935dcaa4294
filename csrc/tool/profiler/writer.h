/* SPDX-License-Identifier: MIT */
/* Writers: they take slices and stream them into a trace.
 *
 * A URL says where the trace goes.  `file://PATH` or a plain path is a file, whose
 * suffix says its format: .json (Chrome), .json.gz, .pftrace (Perfetto).  Other schemes
 * are registered by whoever can write them.
 *
 * A file grows while slices come, in a temporary file beside it, which gets the file's
 * name at the end; so a file is there whole or not at all.  Temporaries that dead
 * processes left in the same folder are removed when a writer opens.  What a writer
 * keeps in memory does not grow with the number of slices.  Opening a file costs a look
 * through its folder: do it before the start of what is to be recorded.
 *
 * One thread at a time uses a writer.  After fork the parent goes on with it; the child
 * calls nothing but ha_writer_abandon, which leaves the parent's file alone. */
#ifndef HA_TOOL_PROFILER_WRITER_H
#define HA_TOOL_PROFILER_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "tool/profiler/slice.h"

struct ha_writer;

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

/* Opens a trace.  HA_ERROR_UNSUPPORTED with the list of right ones for a scheme or a
 * suffix that nobody writes; HA_ERROR_INVALID where the file is a link or no regular
 * file; HA_ERROR_SYSTEM or HA_ERROR_NOT_FOUND where the temporary can't be made. */
enum ha_status ha_writer_open(const char *url, const struct ha_writer_info *info,
                              struct ha_writer **writer);

/* Names a row; to be called before the row's first slice. */
enum ha_status ha_writer_row(struct ha_writer *writer, const struct ha_trace_row *row);

/* Slices come in any order.  After a failure (a full disk) all further ones fail with
 * the same status and text, at little cost. */
enum ha_status ha_writer_slice(struct ha_writer *writer, const struct ha_slice *slice);

/* Ends the trace and gives it its name; the writer is gone, whatever is returned.  On
 * failure there is no file, and the text says why. */
enum ha_status ha_writer_finish(struct ha_writer *writer,
                                const struct ha_writer_result *result);

/* Drops the writer and what it has written so far; NULL is allowed. */
void ha_writer_abandon(struct ha_writer *writer);

/* The path of a URL that is one, or of the scheme file; NULL for other schemes. */
const char *ha_writer_path(const char *url);

/* Bytes that were written so far, for progress. */
uint64_t ha_writer_bytes(const struct ha_writer *writer);

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

/* URLs `scheme://...` go to this class from now on, which stays for the life of the
 * process, as does `context`.  HA_ERROR_INVALID for "file", for a scheme that is no
 * word of [a-z0-9+.-], or one that is taken; HA_ERROR_MEMORY where the list is full.
 * Any thread may call it. */
enum ha_status ha_writer_register(const char *scheme,
                                  const struct ha_writer_class *class, void *context);

/* Whether the text is one JSON value (RFC 8259). */
bool ha_json_is_value(const char *text);

/* Whether the text is members of a JSON object, without its brackets: what `args` of a
 * slice must be. */
bool ha_json_is_members(const char *text);

#endif
