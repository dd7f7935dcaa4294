/* SPDX-License-Identifier: MIT */
/* What a trace is made of: *slices*, as the collector gives them to a writer.
 *
 * A slice is something that took time on a *row*.  A CPU row is a thread, a GPU row is
 * a stream of a device.  Instants and counters have a start only.  Times are Unix time
 * in nanoseconds, and they are written as they are.
 *
 * A *flow* is an arrow from one slice to another.  The launch flow goes from the call
 * that gave work to the work itself, and is drawn from `launches` and `correlation`.
 * A slice may begin or end one more flow, named by `flow`.
 *
 * Everything that a slice points to is borrowed for the call. */
#ifndef HA_TOOL_PROFILER_SLICE_H
#define HA_TOOL_PROFILER_SLICE_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/event.h"

enum ha_slice_kind {
    /* CPU rows: `thread` counts. */
    HA_SLICE_RUNTIME, /* a call of HIP */
    HA_SLICE_CPU_OP,
    HA_SLICE_USER_ANNOTATION,
    HA_SLICE_PYTHON,
    HA_SLICE_OVERHEAD,
    HA_SLICE_SYNC, /* on the GPU row where `device` is not HA_DEVICE_NONE */
    /* GPU rows: `device` and `stream` count.  A copy within the host has the device of
     * its stream, so that it has a row. */
    HA_SLICE_KERNEL,
    HA_SLICE_MEMCPY,
    HA_SLICE_MEMSET,
    HA_SLICE_GPU_ANNOTATION,
    /* Points in time. */
    HA_SLICE_INSTANT, /* of `thread`; of the whole trace where that is 0 */
    HA_SLICE_COUNTER, /* of `device`; of the process with HA_DEVICE_NONE */
    HA_SLICE_KINDS,
    /* No slice: an arrow from the operation on `thread` that began at `start` to the
     * work on `device` and `stream` that began at `end`; `flow_id` is its own. */
    HA_SLICE_LINK = HA_SLICE_KINDS
};

enum ha_flow {
    HA_FLOW_NONE,
    HA_FLOW_OPERATION, /* an operation of a framework to the work that it caused */
    HA_FLOW_BACKWARD,  /* a forward operation to its backward one */
    HA_FLOW_CAUSED,    /* one id for an operation and all its work, which `starts` as
                        * well; for formats that have no use for HA_SLICE_LINK */
};

struct ha_slice {
    enum ha_slice_kind kind;
    enum ha_flow flow;
    bool flow_starts; /* else it ends here */
    bool launches;    /* of a call: work with the same correlation follows from it */
    const char *name; /* bytes as they came, with NUL at the end; writers escape them */
    uint64_t start;
    uint64_t end; /* not before start */
    uint32_t thread;
    int32_t device;
    uint64_t stream;      /* small dense number; 0 is the default stream */
    uint64_t correlation; /* 0: none */
    uint64_t external;    /* "External id"; 0: none */
    uint64_t flow_id;
    /* The slice's own event: grid, block, shared, bytes, devices, result.  NULL: none.
     */
    const struct ha_trace_event *event;
    /* Of a call, where its kernel or copy is known: that one's event and name, so that
     * the call shows kernel, grid, block and bytes.  NULL: not known. */
    const struct ha_trace_event *work;
    const char *work_name;
    uint64_t form; /* of a kernel: ha_sdk_launch_form, or 0 */
    /* How work has ended, in letters; NULL: as it should. */
    const char *status;
    /* Further members as JSON text, `"a":1,"b":[2]`, escaped and valid.  NULL: none. */
    const char *args;
    double value; /* of a counter */
};

/* Whether a call of this name gives work to a device, so that its slice `launches`. */
bool ha_call_launches(const char *name);

#endif
