/* SPDX-License-Identifier: MIT */
#include "api/pending.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "api/api.h"
#include "api/generated/calls.h"
#include "api/keep.h"
#include "api/provider.h"

#define FEW_ITEMS 3

struct ha_pending_item {
    struct ha_pending_item *next;
    hipEvent_t event; /* from the pool; NULL: ask the stream */
    int device;       /* of the event */
    PyObject *held;   /* owned */
};

/* Items of one stream, oldest first.  The streams that HIP names by small numbers
 * differ by device or thread, so for them order says nothing and each item is asked. */
struct ha_pending_lane {
    struct ha_pending_lane *next;
    struct ha_pending_item *head, *tail;
    hipStream_t stream;
    bool gone; /* the stream was destroyed; its handle may be another's */
};

static atomic_uint fork_count;

void
ha_pending_forked(void)
{
    atomic_fetch_add(&fork_count, 1);
}

static bool
is_named(hipStream_t stream)
{
    return (uintptr_t)stream <= 2;
}

/* Guard held.  Takes all items off their lanes, in one list. */
static struct ha_pending_item *
take_all(struct ha_pending *pending)
{
    struct ha_pending_item *all = NULL;

    for (struct ha_pending_lane *lane = pending->lanes; lane != NULL;
         lane = lane->next) {
        if (lane->head != NULL) {
            lane->tail->next = all;
            all = lane->head;
            lane->head = lane->tail = NULL;
        }
    }
    return all;
}

/* All work is over: lets go of everything without asking. */
static void
let_go_of_all(struct ha_pending_item *all)
{
    while (all != NULL) {
        struct ha_pending_item *item = all;
        PyObject *held = item->held;
        all = item->next;
        PyMem_Free(item); /* its event ended with the device */
        Py_DECREF(held);
    }
}

/* After a fork the parent's events mean nothing here; the held objects are copies. */
static void
check_fork(struct ha_api *api)
{
    unsigned now = atomic_load(&fork_count);
    struct ha_pending *pending = &api->pending;
    struct ha_pending_item *all = NULL;

    if (HA_READ(pending->forks) == now) {
        return;
    }
    ha_guard_take(&pending->guard);
    if (pending->forks != now) {
        pending->pool_count = 0;
        pending->capture_count = 0;
        pending->busy = false;
        all = take_all(pending);
        /* Those too that a thread of the parent had off their list. */
        HA_PUBLISH(pending->count, 0);
        HA_PUBLISH(pending->forks, now);
    }
    ha_guard_give(&pending->guard);
    let_go_of_all(all);
}

/* Guard held; NULL without memory. */
static struct ha_pending_lane *
lane_of(struct ha_pending *pending, hipStream_t stream)
{
    for (struct ha_pending_lane *lane = pending->lanes; lane != NULL;
         lane = lane->next) {
        if (lane->stream == stream && !lane->gone) {
            return lane;
        }
    }
    struct ha_pending_lane *lane = PyMem_Calloc(1, sizeof *lane);
    if (lane != NULL) {
        lane->stream = stream;
        lane->next = pending->lanes;
        pending->lanes = lane;
    }
    return lane;
}

static hipEvent_t
pool_take(struct ha_pending *pending, int device)
{
    hipEvent_t event = NULL;

    ha_guard_take(&pending->guard);
    for (int i = pending->pool_count - 1; event == NULL && i >= 0; i--) {
        if (pending->pool[i].device == device) {
            event = pending->pool[i].event;
            pending->pool[i] = pending->pool[--pending->pool_count];
        }
    }
    ha_guard_give(&pending->guard);
    return event;
}

static void
pool_give(struct ha_pending *pending, hipEvent_t event, int device)
{
    if (event == NULL) {
        return;
    }
    ha_guard_take(&pending->guard);
    bool room = pending->pool_count < HA_PENDING_POOL;
    if (room) {
        pending->pool[pending->pool_count].event = event;
        pending->pool[pending->pool_count].device = device;
        pending->pool_count++;
    }
    ha_guard_give(&pending->guard);
    if (room) {
        return;
    }
    Py_BEGIN_ALLOW_THREADS
    ha_calls.hipEventDestroy(event);
    Py_END_ALLOW_THREADS
}

/* Records the event behind the stream's work; destroys it where that fails, which is so
 * for a stream of another device, and for events that ended with a device reset. */
static hipEvent_t
record_event(hipEvent_t event, hipStream_t stream)
{
    if (event == NULL &&
        ha_calls.hipEventCreateWithFlags(&event, hipEventDisableTiming) != hipSuccess) {
        return NULL;
    }
    if (ha_calls.hipEventRecord(event, stream) != hipSuccess) {
        (void)ha_calls.hipEventDestroy(event);
        return NULL;
    }
    return event;
}

/* An event behind the work that is in the stream now, or NULL. */
static hipEvent_t
record(struct ha_pending *pending, hipStream_t stream, int *device)
{
    if (ha_calls.hipEventCreateWithFlags == NULL || ha_calls.hipEventRecord == NULL ||
        ha_calls.hipEventQuery == NULL || ha_calls.hipEventDestroy == NULL ||
        ha_calls.hipGetDevice == NULL || ha_calls.hipGetDevice(device) != hipSuccess) {
        return NULL;
    }
    hipEvent_t pooled = pool_take(pending, *device), event = NULL;
    Py_BEGIN_ALLOW_THREADS
    event = record_event(pooled, stream);
    if (event == NULL && pooled != NULL) {
        event = record_event(NULL, stream);
    }
    Py_END_ALLOW_THREADS
    return event;
}

bool
ha_stream_is_capturing(hipStream_t stream)
{
    hipStreamCaptureStatus status = hipStreamCaptureStatusNone;

    return stream != NULL && ha_calls.hipStreamIsCapturing != NULL &&
           ha_calls.hipStreamIsCapturing(stream, &status) == hipSuccess &&
           status == hipStreamCaptureStatusActive;
}

/* The graph that the stream's work becomes part of; NULL where HIP doesn't tell. */
static hipGraph_t
graph_of(hipStream_t stream)
{
    hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
    unsigned long long id = 0;
    hipGraph_t graph = NULL;
    const hipGraphNode_t *nodes = NULL;
    size_t count = 0;

    if (ha_calls.hipStreamGetCaptureInfo_v2 == NULL ||
        ha_calls.hipStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &nodes,
                                            &count) != hipSuccess) {
        return NULL;
    }
    return graph;
}

/* False without memory for the lane. */
static bool
append(struct ha_pending *pending, hipStream_t stream, struct ha_pending_item *item)
{
    ha_guard_take(&pending->guard);
    struct ha_pending_lane *lane = lane_of(pending, stream);
    if (lane != NULL) {
        if (lane->tail != NULL) {
            lane->tail->next = item;
        } else {
            lane->head = item;
        }
        lane->tail = item;
        HA_PUBLISH(pending->count, pending->count + 1);
    }
    ha_guard_give(&pending->guard);
    return lane != NULL;
}

int
ha_pending_add(struct ha_api *api, hipStream_t stream, PyObject *held)
{
    struct ha_pending *pending = &api->pending;
    hipGraph_t graph = NULL;
    bool captured = false;

    check_fork(api);
    Py_BEGIN_ALLOW_THREADS
    captured = ha_stream_is_capturing(stream);
    if (captured) {
        graph = graph_of(stream);
    }
    Py_END_ALLOW_THREADS
    if (captured) {
        return ha_keep_object(api, graph, held);
    }
    struct ha_pending_item *item = PyMem_Malloc(sizeof *item);
    if (item != NULL) {
        item->next = NULL;
        item->held = held;
        item->device = 0;
        item->event = record(pending, stream, &item->device);
    }
    /* `held` is not released on failure on purpose: the stream may still use its
     * memory.
     */
    if (item == NULL || !append(pending, stream, item)) {
        PyMem_Free(item);
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

/* The program does not hear of the answer, so what it does next is not ordered by it.
 */
static void
ask_for_ourselves(bool begins)
{
    const struct ha_provider *provider = ha_provider_loaded();

    if (provider != NULL && provider->own_questions != NULL) {
        provider->own_questions(begins);
    }
}

/* Whether the stream has passed the item.  Without the GIL.  An event or stream that is
 * there no more ended with its device or was destroyed after its work. */
static hipError_t
ask(struct ha_pending_item *item, hipStream_t stream)
{
    hipError_t status = hipErrorNotReady;

    ask_for_ourselves(true);
    if (item->event != NULL) {
        status = ha_calls.hipEventQuery(item->event);
    } else if (ha_calls.hipStreamQuery != NULL) {
        status = ha_calls.hipStreamQuery(stream);
    }
    ask_for_ourselves(false);
    if (status == hipErrorInvalidHandle || status == hipErrorContextIsDestroyed) {
        item->event = NULL;
        status = hipSuccess;
    }
    return status;
}

static void
drop(struct ha_pending *pending, struct ha_pending_item *item)
{
    PyObject *held = item->held;

    pool_give(pending, item->event, item->device);
    PyMem_Free(item);
    ha_guard_take(&pending->guard);
    if (pending->count > 0) { /* else a fork has forgotten it */
        HA_PUBLISH(pending->count, pending->count - 1);
    }
    ha_guard_give(&pending->guard);
    Py_DECREF(held);
}

/* Takes the lane's items off. */
static struct ha_pending_item *
take_items(struct ha_pending *pending, struct ha_pending_lane *lane)
{
    ha_guard_take(&pending->guard);
    struct ha_pending_item *items = lane->head;
    lane->head = lane->tail = NULL;
    ha_guard_give(&pending->guard);
    return items;
}

/* Puts them back before those that came meanwhile. */
static void
put_back(struct ha_pending *pending, struct ha_pending_lane *lane,
         struct ha_pending_item *left)
{
    struct ha_pending_item *last = left;

    while (last->next != NULL) {
        last = last->next;
    }
    ha_guard_take(&pending->guard);
    last->next = lane->head;
    lane->tail = lane->tail != NULL ? lane->tail : last;
    lane->head = left;
    ha_guard_give(&pending->guard);
}

/* Takes the lane's items off, asks for the oldest ones, and puts back what is not done.
 * Returns how many were done. */
static int
reap_lane(struct ha_pending *pending, struct ha_pending_lane *lane, int limit)
{
    struct ha_pending_item *items = take_items(pending, lane);
    struct ha_pending_item *left = NULL, **end = &left;
    hipStream_t stream = lane->stream;
    bool ordered = !is_named(stream);
    int done = 0;

    while (items != NULL && done < limit) {
        struct ha_pending_item *item = items;
        hipError_t status;
        Py_BEGIN_ALLOW_THREADS
        status = ask(item, stream);
        Py_END_ALLOW_THREADS
        items = item->next;
        if (status == hipSuccess) {
            item->next = NULL;
            drop(pending, item);
            done++;
            continue;
        }
        *end = item;
        end = &item->next;
        if (status == hipErrorNotReady) {
            HA_PUBLISH(pending->waits, true);
        }
        if (status == hipErrorNotReady && ordered) {
            break;
        }
    }
    *end = items;
    if (left != NULL) {
        put_back(pending, lane, left);
    }
    return done;
}

/* Guard held.  Lanes of destroyed streams go when they are empty; others stay, for they
 * fill again.
 */
static void
sweep(struct ha_pending *pending)
{
    struct ha_pending_lane **link = &pending->lanes;

    while (*link != NULL) {
        struct ha_pending_lane *lane = *link;
        if (lane->gone && lane->head == NULL) {
            *link = lane->next;
            PyMem_Free(lane);
        } else {
            link = &lane->next;
        }
    }
}

/* Guard held. */
static void
end_capture(struct ha_pending *pending, hipStream_t stream)
{
    for (int i = pending->capture_count - 1; i >= 0; i--) {
        if (pending->captures[i] == stream) {
            pending->captures[i] = pending->captures[--pending->capture_count];
        }
    }
}

void
ha_pending_capture(struct ha_api *api, hipStream_t stream, bool begins)
{
    struct ha_pending *pending = &api->pending;

    ha_guard_take(&pending->guard);
    if (!begins) {
        end_capture(pending, stream);
    } else if (pending->capture_count < HA_PENDING_CAPTURES) {
        pending->captures[pending->capture_count++] = stream;
    }
    ha_guard_give(&pending->guard);
}

/* The capture that was begun last; false where there is none. */
static bool
last_capture(struct ha_pending *pending, hipStream_t *stream)
{
    ha_guard_take(&pending->guard);
    bool any = pending->capture_count > 0;
    if (any) {
        *stream = pending->captures[pending->capture_count - 1];
    }
    ha_guard_give(&pending->guard);
    return any;
}

/* A capture may have ended without our being told. */
static bool
captures_go_on(struct ha_pending *pending)
{
    hipStream_t stream = NULL;

    while (last_capture(pending, &stream)) {
        bool goes_on = false;
        Py_BEGIN_ALLOW_THREADS
        goes_on = ha_stream_is_capturing(stream);
        Py_END_ALLOW_THREADS
        if (goes_on) {
            return true;
        }
        ha_guard_take(&pending->guard);
        end_capture(pending, stream);
        ha_guard_give(&pending->guard);
    }
    return false;
}

/* Letting go runs Python code, which may come back here, and other threads may want to
 * reap: one does it.  Lanes go only at the end of that.  The first one, or NULL where
 * another thread is at it. */
static bool
begin_reaping(struct ha_pending *pending, struct ha_pending_lane **lanes)
{
    ha_guard_take(&pending->guard);
    bool ours = !pending->busy;
    if (ours) {
        pending->busy = true;
        HA_PUBLISH(pending->waits, false);
        *lanes = pending->lanes;
    }
    ha_guard_give(&pending->guard);
    return ours;
}

static void
end_reaping(struct ha_pending *pending)
{
    ha_guard_take(&pending->guard);
    sweep(pending);
    pending->busy = false;
    ha_guard_give(&pending->guard);
}

void
ha_pending_reap(struct ha_api *api, bool few)
{
    struct ha_pending *pending = &api->pending;
    struct ha_pending_lane *lanes = NULL;
    int limit = few ? FEW_ITEMS : INT_MAX;

    check_fork(api);
    if (!ha_pending_any(pending) || ha_calls.hipEventQuery == NULL ||
        captures_go_on(pending) || !begin_reaping(pending, &lanes)) {
        return;
    }
    for (struct ha_pending_lane *lane = lanes; lane != NULL && limit > 0;
         lane = lane->next) {
        limit -= reap_lane(pending, lane, limit);
    }
    end_reaping(pending);
}

void
ha_pending_forget_stream(struct ha_api *api, hipStream_t stream)
{
    struct ha_pending *pending = &api->pending;

    ha_guard_take(&pending->guard);
    end_capture(pending, stream);
    for (struct ha_pending_lane *lane = pending->lanes; lane != NULL;
         lane = lane->next) {
        if (lane->stream == stream && !is_named(stream)) {
            lane->gone = true;
        }
    }
    ha_guard_give(&pending->guard);
}

void
ha_pending_abandon(struct ha_api *api)
{
    struct ha_pending *pending = &api->pending;

    ha_guard_take(&pending->guard);
    pending->lanes = NULL;
    HA_PUBLISH(pending->count, 0);
    pending->pool_count = 0;
    ha_guard_give(&pending->guard);
}

int
ha_pending_traverse(struct ha_pending *pending, visitproc visit, void *arg)
{
    for (struct ha_pending_lane *lane = pending->lanes; lane != NULL;
         lane = lane->next) {
        for (struct ha_pending_item *item = lane->head; item != NULL;
             item = item->next) {
            Py_VISIT(item->held);
        }
    }
    return 0;
}
