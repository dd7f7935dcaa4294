/* SPDX-License-Identifier: MIT */
/* One event, the record that all observers share: of fixed size, in two cache lines,
 * the second one for the device's own work.  Kinds and operations are the numbers of
 * rocprofiler-sdk: those of callback tracing from callbacks, those of buffer tracing
 * from buffers.
 *
 *   0 kind phase operation result thread | correlation ancestor external
 *  40 start end name device
 *  64 stream bytes object address source | grid block source_device shared
 */
#ifndef HA_TOOL_EVENT_H
#define HA_TOOL_EVENT_H

#include <stdint.h>

enum { HA_DEVICE_NONE = -1 }; /* the host, or none */

struct ha_trace_event {
    uint16_t kind;
    uint16_t phase;
    int32_t operation;
    int32_t result; /* of a call */
    uint32_t thread;
    uint64_t correlation;
    uint64_t ancestor;
    uint64_t external;
    uint64_t start; /* ns of CLOCK_BOOTTIME */
    uint64_t end;
    uint32_t name;  /* ha_name_text */
    int32_t device; /* HIP's number, or HA_DEVICE_NONE */
    uint64_t stream;
    uint64_t bytes;
    uint64_t object; /* kernel or code object; text of arguments meanwhile */
    uint64_t address;
    uint64_t source;
    uint32_t grid[3];  /* threads */
    uint16_t block[3]; /* threads */
    int16_t source_device;
    uint32_t shared; /* bytes */
};

_Static_assert(sizeof(struct ha_trace_event) == 128, "two cache lines");

#endif
