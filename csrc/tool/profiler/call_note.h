/* SPDX-License-Identifier: MIT */
/* What a trace shows of the arguments of a call of HIP: how much a fill fills, what is
 * waited for, what a host function is.
 *
 * A *note* says what sort of call it is.  The recorder copies the arguments into the
 * event while they are there; members that a note does not name are left alone:
 *
 *   FILL          bytes; address: where; source: the value
 *   WAIT_STREAM   stream
 *   WAIT_EVENT    address: the event
 *   STREAM_WAITS  stream, which waits; address: the event
 *   RECORD        stream; address: the event
 *   HOST          stream; address: the function
 *
 * Streams and events are the program's handles. Any thread may call these. */
#ifndef HA_TOOL_PROFILER_CALL_NOTE_H
#define HA_TOOL_PROFILER_CALL_NOTE_H

#include <stdint.h>

#include "tool/event.h"
#include "tool/sdk.h"

enum ha_call_note {
    HA_NOTE_NONE,
    HA_NOTE_FILL,
    HA_NOTE_WAIT_DEVICE,
    HA_NOTE_WAIT_STREAM,
    HA_NOTE_WAIT_EVENT,
    HA_NOTE_STREAM_WAITS,
    HA_NOTE_RECORD,
    HA_NOTE_HOST,
};

/* By a call's operation, as the SDK numbers it. */
enum ha_call_note ha_call_note(int32_t operation);

/* Copies what event->operation has by these arguments. */
void ha_call_note_set(struct ha_trace_event *event,
                      const rocprofiler_hip_api_args_t *args);

/* The name of a wait as a slice; NULL for other notes. */
const char *ha_call_note_wait(enum ha_call_note note);

#endif
