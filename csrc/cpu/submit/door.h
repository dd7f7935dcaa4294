/* SPDX-License-Identifier: MIT */
/* The one door for work: each call that gives a stream something to do goes through it.
 *
 * A *door* finds the stream and decides whether the call runs, is captured or is
 * refused.  The stream is looked up once, and the pool lock is taken once.  It is taken
 * a second time only where something has to be done between the decision and the
 * operation that allows no lock.  A profiler's tools run when a ticket is made
 * (cpu/queue/ticket.h).  While anything is captured, a call that waits asks for the
 * rules of captures (cpu/graph/capture.h), and a pageable source is put aside only when
 * its copy is known to run.  The stream is kept meanwhile, and what may have changed is
 * looked at again.
 *
 * A call fills in the first part of a door, opens it, and then does one of two things
 * with the same request: it makes a node (ha_capture_..., with ha_door_front), or an
 * operation, which it submits to door.stream.  Only entry/ calls this room.
 *
 * Locks: the pool lock is held from ha_door_open until the operation is submitted. */
#ifndef HA_CPU_SUBMIT_DOOR_H
#define HA_CPU_SUBMIT_DOOR_H

#include <stdbool.h>
#include <stddef.h>

#include "abi/hip.h"
#include "cpu/graph/capture.h"
#include "cpu/queue/stream.h"

struct ha_door {
    hipStream_t handle;       /* as the program gave it */
    struct ha_device *device; /* the caller's current one; borrowed */
    enum ha_run how;          /* HA_RUN_SYNC: allowed only where the thread may wait */
    const char *refusal;      /* why it can't be captured, as in "nothing can wait for";
                                 NULL: it can, unless it is HA_RUN_SYNC */
    /* What is done without a lock before the work is submitted, if it is not going to
     * be captured or refused; may be NULL.  A door that is `silent` may do it for
     * nothing: no tool sees it. */
    void (*prepare)(struct ha_door *door);
    bool silent;
    struct ha_stream *stream; /* once it is open; borrowed while the lock is held */
};

/* Whether the call becomes a node. Lock held. */
static inline bool
ha_door_captures(const struct ha_door *door)
{
    return door->stream->front != NULL;
}

/* The rest of ha_door_open, for calls that don't just run: asks the rules of captures,
 * prepares, or refuses. Lock held; on failure given back. */
hipError_t ha_door_decide(struct ha_door *door, bool ask, bool prepare);

/* Takes the pool lock and finds the stream, for work that runs or is captured
 * (ha_door_captures).  On failure the lock is not held. */
static inline hipError_t
ha_door_open(struct ha_door *door)
{
    bool ask = false;
    bool prepare = door->prepare != NULL;
    if (ha_capture_is_open()) {
        ask = door->how == HA_RUN_SYNC;
    } else if (prepare && door->silent) {
        door->prepare(door);
        prepare = false;
    }
    hipError_t code = ha_capture_find_stream(door->handle, door->device, &door->stream);
    if (code != hipSuccess || (!ask && !prepare && !ha_door_captures(door))) {
        return code;
    }
    return ha_door_decide(door, ask, prepare);
}

/* Gives the lock back, for a call that becomes a node: the stream's front, with the
 * reference to its capture that ha_capture_... steal. */
struct ha_front *ha_door_front(struct ha_door *door);

/* Gives the lock back for a while, and takes it again.  The second one fails, and has
 * given the lock back, if work can't be submitted any more; whether the stream is
 * captured may have changed. */
void ha_door_leave(struct ha_door *door);
hipError_t ha_door_return(struct ha_door *door);
/* Instead of ha_door_return, for a call that failed meanwhile; the lock is not held. */
void ha_door_abandon(struct ha_door *door);

#endif
