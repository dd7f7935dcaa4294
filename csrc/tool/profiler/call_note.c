/* SPDX-License-Identifier: MIT */
#include "tool/profiler/call_note.h"

#include <stddef.h>

/* hipStreamPerThread, which is the stream that these functions mean by NULL. */
enum { PER_THREAD = 2 };

/* Functions that fill: a line by the names of two arguments, rows and a box, with the
 * bytes of an element. */
#define FILLS(LINE, ROWS, BOX)                                                         \
    LINE(hipMemset, dst, sizeBytes, 1)                                                 \
    LINE(hipMemsetAsync, dst, sizeBytes, 1)                                            \
    LINE(hipMemset_spt, dst, sizeBytes, 1)                                             \
    LINE(hipMemsetAsync_spt, dst, sizeBytes, 1)                                        \
    LINE(hipMemsetD8, dest, count, 1)                                                  \
    LINE(hipMemsetD8Async, dest, count, 1)                                             \
    LINE(hipMemsetD16, dest, count, 2)                                                 \
    LINE(hipMemsetD16Async, dest, count, 2)                                            \
    LINE(hipMemsetD32, dest, count, 4)                                                 \
    LINE(hipMemsetD32Async, dst, count, 4)                                             \
    ROWS(hipMemset2D, 1)                                                               \
    ROWS(hipMemset2DAsync, 1)                                                          \
    ROWS(hipMemset2D_spt, 1)                                                           \
    ROWS(hipMemset2DAsync_spt, 1)                                                      \
    ROWS(hipMemsetD2D8, 1)                                                             \
    ROWS(hipMemsetD2D8Async, 1)                                                        \
    ROWS(hipMemsetD2D16, 2)                                                            \
    ROWS(hipMemsetD2D16Async, 2)                                                       \
    ROWS(hipMemsetD2D32, 4)                                                            \
    ROWS(hipMemsetD2D32Async, 4)                                                       \
    BOX(hipMemset3D)                                                                   \
    BOX(hipMemset3DAsync)                                                              \
    BOX(hipMemset3D_spt)                                                               \
    BOX(hipMemset3DAsync_spt)

/* Functions with a stream: note, what they mean by NULL, a further argument. */
#define STREAMS(ALONE, WITH)                                                           \
    ALONE(hipStreamSynchronize, WAIT_STREAM, 0)                                        \
    ALONE(hipStreamSynchronize_spt, WAIT_STREAM, PER_THREAD)                           \
    WITH(hipStreamWaitEvent, STREAM_WAITS, 0, event)                                   \
    WITH(hipStreamWaitEvent_spt, STREAM_WAITS, PER_THREAD, event)                      \
    WITH(hipEventRecord, RECORD, 0, event)                                             \
    WITH(hipEventRecord_spt, RECORD, PER_THREAD, event)                                \
    WITH(hipEventRecordWithFlags, RECORD, 0, event)                                    \
    WITH(hipLaunchHostFunc, HOST, 0, fn)                                               \
    WITH(hipLaunchHostFunc_spt, HOST, PER_THREAD, fn)                                  \
    WITH(hipStreamAddCallback, HOST, 0, callback)                                      \
    WITH(hipStreamAddCallback_spt, HOST, PER_THREAD, callback)

#define ID(name) ROCPROFILER_HIP_RUNTIME_API_ID_##name

enum ha_call_note
ha_call_note(int32_t operation)
{
    switch (operation) {
#define LINE(name, address, count, bytes) case ID(name):
#define ROWS(name, bytes) case ID(name):
#define BOX(name) case ID(name):
        FILLS(LINE, ROWS, BOX)
        return HA_NOTE_FILL;
#undef LINE
#undef ROWS
#undef BOX
#define ALONE(name, note, null)                                                        \
    case ID(name):                                                                     \
        return HA_NOTE_##note;
#define WITH(name, note, null, other)                                                  \
    case ID(name):                                                                     \
        return HA_NOTE_##note;
        STREAMS(ALONE, WITH)
#undef ALONE
#undef WITH
    case ID(hipDeviceSynchronize):
    case ID(hipCtxSynchronize):
        return HA_NOTE_WAIT_DEVICE;
    case ID(hipEventSynchronize):
        return HA_NOTE_WAIT_EVENT;
    default:
        return HA_NOTE_NONE;
    }
}

static void
set_fill(struct ha_trace_event *event, const void *address, int value, size_t bytes)
{
    event->address = (uintptr_t)address;
    event->source = (uint32_t)value;
    event->bytes = bytes;
}

static uint64_t
handle(hipStream_t stream, uint64_t null)
{
    return stream != NULL ? (uintptr_t)stream : null;
}

void
ha_call_note_set(struct ha_trace_event *event, const rocprofiler_hip_api_args_t *args)
{
    switch (event->operation) {
#define LINE(name, to, count, width)                                                   \
    case ID(name):                                                                     \
        set_fill(event, args->name.to, args->name.value, args->name.count *(width));   \
        break;
#define ROWS(name, element)                                                            \
    case ID(name):                                                                     \
        set_fill(event, args->name.dst, (int)args->name.value,                         \
                 args->name.width * args->name.height * (element));                    \
        break;
#define BOX(name)                                                                      \
    case ID(name):                                                                     \
        set_fill(event, args->name.pitchedDevPtr.ptr, args->name.value,                \
                 args->name.extent.width * args->name.extent.height *                  \
                     args->name.extent.depth);                                         \
        break;
        FILLS(LINE, ROWS, BOX)
#undef LINE
#undef ROWS
#undef BOX
#define ALONE(name, note, null)                                                        \
    case ID(name):                                                                     \
        event->stream = handle(args->name.stream, null);                               \
        break;
#define WITH(name, note, null, other)                                                  \
    case ID(name):                                                                     \
        event->stream = handle(args->name.stream, null);                               \
        event->address = (uintptr_t)args->name.other;                                  \
        break;
        STREAMS(ALONE, WITH)
#undef ALONE
#undef WITH
    case ID(hipEventSynchronize):
        event->address = (uintptr_t)args->hipEventSynchronize.event;
        break;
    default:
        break;
    }
}

const char *
ha_call_note_wait(enum ha_call_note note)
{
    switch (note) {
    case HA_NOTE_WAIT_DEVICE:
        return "Device Sync";
    case HA_NOTE_WAIT_STREAM:
        return "Stream Sync";
    case HA_NOTE_WAIT_EVENT:
        return "Event Sync";
    case HA_NOTE_STREAM_WAITS:
        return "Stream Wait Event";
    default:
        return NULL;
    }
}
