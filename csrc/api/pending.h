/* SPDX-License-Identifier: MIT */
/* Memory of asynchronous calls, held until the stream has passed them.
 *
 * After an asynchronous call that uses host memory, an event is recorded behind it and
 * what keeps the memory is put into the *lane* of that stream.  Later calls look
 * whether the event has happened (*reaping*) and let go; nothing here ever waits for a
 * stream.  Where no event can be recorded, the whole stream is asked instead.
 *
 * All functions need the GIL.  A guard (adapters/together.h) guards the lists; it is
 * not held around the provider's calls and where objects are let go of, with the items
 * in question taken off their list meanwhile.  A forked child forgets its parent's
 * items without asking the provider. */
#ifndef HA_API_PENDING_H
#define HA_API_PENDING_H

#include <Python.h>

#include <stdbool.h>

#include "abi/hip.h"
#include "adapters/together.h"

#define HA_PENDING_POOL 64
#define HA_PENDING_CAPTURES 8

struct ha_api;
struct ha_pending_item;
struct ha_pending_lane;

/* All of it: guard. */
struct ha_pending {
    struct ha_guard guard;
    struct ha_pending_lane *lanes; /* owned */
    Py_ssize_t count;              /* items in all lanes */
    bool busy;                     /* a thread is reaping */
    bool waits;                    /* the last reaping met work that goes on */
    hipStream_t captures[HA_PENDING_CAPTURES]; /* streams that were told to capture */
    int capture_count;
    unsigned forks; /* value of the fork counter that the items belong to */
    int pool_count;
    struct {
        hipEvent_t event; /* owned, free for use */
        int device;
    } pool[HA_PENDING_POOL];
};

/* Whether there is something to reap. */
static inline bool
ha_pending_any(struct ha_pending *pending)
{
    return HA_READ(pending->count) > 0;
}

/* Keeps `held` (stolen) until the work that is in `stream` now is done; where that work
 * is being captured, as long as its graph (api/keep.h).  -1 with an exception; then
 * `held` is kept for good, because the memory may be in use. */
int ha_pending_add(struct ha_api *api, hipStream_t stream, PyObject *held);

/* Lets go of what is done: everywhere, or at most a few items (`few`). */
void ha_pending_reap(struct ha_api *api, bool few);

/* The stream's handle may be used for another stream from now on. */
void ha_pending_forget_stream(struct ha_api *api, hipStream_t stream);

/* A stream begins or ends a capture.  While one goes on nothing is reaped, for HIP lets
 * nobody ask for events then. */
void ha_pending_capture(struct ha_api *api, hipStream_t stream, bool begins);

/* Whether work of the stream is being captured now; asks HIP, without the GIL. */
bool ha_stream_is_capturing(hipStream_t stream);

/* The process ends with work in flight: items are left alone for good. */
void ha_pending_abandon(struct ha_api *api);

int ha_pending_traverse(struct ha_pending *pending, visitproc visit, void *arg);

/* The fork counter; the hook is registered by api/state.c. */
void ha_pending_forked(void);

#endif
