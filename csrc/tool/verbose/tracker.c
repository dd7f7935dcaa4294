/* SPDX-License-Identifier: MIT */
#include "tool/verbose/tracker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/env.h"
#include "tool/clock.h"
#include "tool/events.h"
#include "tool/table.h"
#include "tool/verbose/by_event.h"
#include "tool/verbose/kinds.h"
#include "tool/verbose/writer.h"

enum {
    WAIT_S = 600,       /* longer than a kernel may run */
    STREAMS_MAX = 1024, /* of which the idle ones are forgotten beyond this */
    UNKNOWN = -1,       /* as ha_sdk_work_status says it */
    DONE = 0,
    FAULT = 1,
};

/* What one call has given to a stream. */
struct timing {
    uint64_t correlation; /* 0: it goes by an event of HIP */
    uint32_t open;        /* pieces that have not ended */
    uint64_t start;       /* ns of CLOCK_BOOTTIME; 0: none has ended */
    uint64_t end;
    int32_t status;
    int device;
    bool exact; /* the duration is the device's */
};

struct stream {
    uint64_t id;
    struct timing newest;
    struct timing last;  /* of the newest tracker that has ended */
    char *info;          /* its text, owned */
    uint64_t registered; /* trackers so far */
    uint64_t ended;      /* the number of `last` */
    hipEvent_t previous; /* owned: of the tracker before */
    uint64_t turn;       /* of asking */
};

struct tracker {
    struct tracker *next;
    struct stream *stream;
    uint64_t number; /* of its stream, from 1 */
    struct timing timing;
    char *info;        /* owned */
    hipEvent_t event;  /* owned; NULL: it goes by records */
    uint64_t noted_at; /* when it was registered */
    bool sync;         /* somebody waits for it, and gives its text */
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    struct ha_table streams; /* of struct stream, by id + 1 */
    struct tracker *first;   /* in the order of registration */
    struct tracker **last;
    atomic_uint by_events; /* how many of them */
    struct ha_clock_bridge clock;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER, .last = &all.first};
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
init(void)
{
    pthread_condattr_t attributes;

    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&all.ended, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    all.clock = ha_clock_bridge_measure();
}

/* ---- streams; these need the lock ---- */

static struct stream *
find_stream(uint64_t id)
{
    const struct ha_table_entry *entry = ha_table_find(&all.streams, id + 1);

    return entry != NULL ? (struct stream *)(uintptr_t)entry->first : NULL;
}

static bool
is_idle(const struct stream *stream)
{
    return stream->newest.open == 0 && stream->registered == stream->ended &&
           stream->previous == NULL;
}

/* Programs that make streams again and again don't make this grow. */
static void
forget_idle(void)
{
    struct ha_table kept = {.entries = NULL};

    for (size_t i = 0; i < all.streams.room; i++) {
        const struct ha_table_entry *entry = &all.streams.entries[i];
        struct stream *stream = (struct stream *)(uintptr_t)entry->first;
        struct ha_table_entry *copy = NULL;
        if (entry->key != 0 && !is_idle(stream)) {
            copy = ha_table_put(&kept, entry->key);
        }
        if (copy != NULL) {
            copy->first = entry->first;
        } else if (entry->key != 0 && is_idle(stream)) {
            free(stream->info);
            free(stream);
        } /* else: no memory; trackers may have it still */
    }
    ha_table_free(&all.streams);
    all.streams = kept;
}

/* NULL: no memory. */
static struct stream *
need_stream(uint64_t id)
{
    struct stream *stream = find_stream(id);

    if (stream != NULL) {
        return stream;
    }
    if (all.streams.count >= STREAMS_MAX) {
        forget_idle();
    }
    stream = calloc(1, sizeof *stream);
    struct ha_table_entry *entry =
        stream != NULL ? ha_table_put(&all.streams, id + 1) : NULL;
    if (entry == NULL) {
        free(stream);
        return NULL;
    }
    stream->id = id;
    entry->first = (uintptr_t)stream;
    return stream;
}

/* ---- the end of a tracker; these need the lock ---- */

static void
put_line(const struct stream *stream, const struct timing *timing, const char *info,
         int how)
{
    const struct ha_trace_event event = {
        .kind = HA_VERBOSE_TRACKER,
        .operation = how,
        .phase = timing->correlation != 0,
        .result = timing->status,
        .correlation = timing->correlation,
        .start = timing->start,
        .end = timing->end,
        .device = timing->device,
        .source_device = HA_DEVICE_NONE,
        .stream = stream->id,
        .address = (uintptr_t)strdup(info),
    };

    ha_line_writer_put(&event);
}

/* Takes it out of the list, writes its line, and frees it. */
static void
finish(struct tracker **link)
{
    struct tracker *tracker = *link;
    struct stream *stream = tracker->stream;

    *link = tracker->next;
    all.last = tracker->next == NULL ? link : all.last;
    put_line(stream, &tracker->timing, tracker->info,
             tracker->sync ? HA_TRACKED_SYNC : HA_TRACKED_ASYNC);
    if (tracker->number > stream->ended) {
        stream->ended = tracker->number;
        stream->last = tracker->timing;
        free(stream->info);
        stream->info = tracker->info;
        tracker->info = NULL;
    }
    pthread_cond_broadcast(&all.ended);
    free(tracker->info);
    free(tracker);
}

/* ---- by records ---- */

static void
widen(struct timing *timing, const struct ha_trace_event *event)
{
    if (timing->start == 0 || event->start < timing->start) {
        timing->start = event->start;
    }
    timing->end = event->end > timing->end ? event->end : timing->end;
    timing->status = event->result > timing->status ? event->result : timing->status;
    timing->device = event->device >= 0 ? event->device : event->source_device;
    timing->open -= timing->open > 0;
}

void
ha_trackers_begin(uint64_t id, uint64_t correlation)
{
    pthread_mutex_lock(&all.lock);
    struct stream *stream = need_stream(id);
    if (stream != NULL && stream->newest.correlation != correlation) {
        stream->newest = (struct timing){
            .correlation = correlation, .status = UNKNOWN, .exact = true};
    }
    if (stream != NULL) {
        stream->newest.open++;
    }
    pthread_mutex_unlock(&all.lock);
}

void
ha_trackers_end(const struct ha_trace_event *event)
{
    pthread_mutex_lock(&all.lock);
    struct stream *stream = find_stream(event->stream);
    if (stream != NULL && stream->newest.correlation == event->correlation) {
        widen(&stream->newest, event);
    }
    for (struct tracker **link = &all.first; *link != NULL;) {
        struct tracker *tracker = *link;
        bool ours = tracker->event == NULL && tracker->stream == stream &&
                    tracker->timing.correlation == event->correlation;
        if (ours) {
            widen(&tracker->timing, event);
        }
        if (ours && tracker->timing.open == 0) {
            finish(link);
        } else {
            link = &tracker->next;
        }
    }
    pthread_mutex_unlock(&all.lock);
}

/* ---- by events ---- */

/* Needs the lock.  The first tracker with an event of a stream that was not asked for
 * in this turn; NULL: none. */
static struct tracker **
next_by_event(uint64_t turn)
{
    for (struct tracker **link = &all.first; *link != NULL; link = &(*link)->next) {
        if ((*link)->event != NULL && (*link)->stream->turn != turn) {
            (*link)->stream->turn = turn;
            return link;
        }
    }
    return NULL;
}

/* The event was reached, or has failed. */
static void
set_times(struct tracker *tracker, hipEvent_t previous, hipError_t code)
{
    struct timing *timing = &tracker->timing;
    uint64_t now = ha_events_now(), elapsed = now - tracker->noted_at;

    timing->status = code == hipSuccess ? DONE : FAULT;
    if (code == hipErrorDeinitialized) { /* HIP has ended, which waits for work */
        timing->status = UNKNOWN;
    }
    timing->exact = code == hipSuccess && previous != NULL &&
                    ha_by_event_elapsed(previous, tracker->event, &elapsed);
    timing->end = now;
    timing->start = now - elapsed;
}

/* Asks for one event.  Only the thread of the lines takes trackers with events out of
 * the list, so they hold without the lock.  False: there is none to ask for. */
static bool
ask_one(uint64_t turn)
{
    pthread_mutex_lock(&all.lock);
    struct tracker **link = next_by_event(turn);
    struct tracker *tracker = link != NULL ? *link : NULL;
    pthread_mutex_unlock(&all.lock);
    if (tracker == NULL) {
        return false;
    }
    hipError_t code = ha_by_event_query(tracker->event);
    if (code == hipErrorNotReady) {
        return true;
    }
    struct stream *stream = tracker->stream;
    hipEvent_t previous = stream->previous;
    set_times(tracker, previous, code);
    stream->previous = tracker->event;
    ha_by_event_free(previous);
    pthread_mutex_lock(&all.lock);
    stream->turn = 0; /* its next one may have been reached too */
    for (link = &all.first; *link != tracker; link = &(*link)->next) {
    }
    atomic_fetch_sub(&all.by_events, 1);
    finish(link);
    pthread_mutex_unlock(&all.lock);
    return true;
}

/* Of the thread of the lines, in each of its turns. */
static bool
ask_all(void)
{
    static uint64_t turn;

    turn++;
    while (atomic_load(&all.by_events) > 0 && ask_one(turn)) {
    }
    return atomic_load(&all.by_events) > 0;
}

/* ---- registration ---- */

/* Needs the lock.  Adds a tracker that goes by records, or by the event; without either
 * the work has failed. */
static enum ha_status
add(uint64_t id, const char *info, bool records, hipEvent_t event, uint64_t noted_at)
{
    struct tracker *tracker = calloc(1, sizeof *tracker);
    char *copy = strdup(info);
    struct stream *stream = need_stream(id);

    if (tracker == NULL || copy == NULL || stream == NULL) {
        free(tracker);
        free(copy);
        return ha_error_set(HA_ERROR_MEMORY, "no memory for another tracker");
    }
    *tracker = (struct tracker){.stream = stream,
                                .number = ++stream->registered,
                                .timing = stream->newest,
                                .info = copy,
                                .event = event,
                                .noted_at = noted_at};
    *all.last = tracker;
    struct tracker **link = all.last;
    all.last = &tracker->next;
    if (!records) {
        tracker->timing =
            (struct timing){.status = FAULT, .start = noted_at, .end = noted_at};
    }
    if (event != NULL) {
        atomic_fetch_add(&all.by_events, 1);
    } else if (tracker->timing.open == 0) {
        finish(link); /* the work has ended */
    }
    return HA_OK;
}

static bool
wants_events(void)
{
    const char *by = ha_env(HA_ENV_VERBOSE_TRACKERS);

    return by != NULL && strcmp(by, "events") == 0;
}

enum ha_status
ha_tracker_register(hipStream_t handle, hipEvent_t event, const char *info,
                    bool records)
{
    uint64_t id = (uintptr_t)handle, now = ha_events_now();
    enum ha_status status = ha_by_event_need();
    hipEvent_t own = NULL;

    (void)pthread_once(&once, init);
    if (status == HA_OK) {
        status = ha_by_event_check(handle, event);
    }
    if (status != HA_OK) {
        return status;
    }
    pthread_mutex_lock(&all.lock);
    const struct stream *stream = find_stream(id);
    records =
        records && stream != NULL && stream->newest.correlation != 0 && !wants_events();
    status = records ? add(id, info, true, NULL, now) : HA_OK;
    pthread_mutex_unlock(&all.lock);
    if (records || status != HA_OK) {
        return status;
    }
    (void)ha_by_event_record(handle, &own);
    ha_line_writer_ask(ask_all);
    pthread_mutex_lock(&all.lock);
    status = add(id, info, false, own, now);
    pthread_mutex_unlock(&all.lock);
    if (status != HA_OK) {
        ha_by_event_free(own);
    }
    ha_line_writer_wake();
    return status;
}

/* ---- questions ---- */

static double
unix_ms(uint64_t boot)
{
    return (double)ha_clock_unix(&all.clock, boot) / 1e6;
}

/* Needs the lock.  Its line, if it is not made yet, is that of the caller. */
static bool
take_line(const struct stream *stream, uint64_t number, const char *info)
{
    for (struct tracker *tracker = all.first; tracker != NULL;
         tracker = tracker->next) {
        char *copy;
        if (tracker->stream == stream && tracker->number == number && !tracker->sync &&
            (copy = strdup(info)) != NULL) {
            free(tracker->info);
            tracker->info = copy;
            tracker->sync = true;
            return true;
        }
    }
    return false;
}

enum hipadapt_verbose_result
ha_tracker_check(hipStream_t handle, const char *info, double *start_ms)
{
    struct timespec until;
    int code = 0;

    (void)pthread_once(&once, init);
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += WAIT_S;
    pthread_mutex_lock(&all.lock);
    struct stream *stream = find_stream((uintptr_t)handle);
    uint64_t number = stream != NULL ? stream->registered : 0;
    bool taken = number > 0 && take_line(stream, number, info);
    while (number > 0 && stream->ended < number && code == 0) {
        code = pthread_cond_timedwait(&all.ended, &all.lock, &until);
    }
    if (number > 0 && code == 0) {
        if (!taken) {
            put_line(stream, &stream->last, info, HA_TRACKED_SYNC);
        }
        if (start_ms != NULL) {
            *start_ms = unix_ms(stream->last.start);
        }
    }
    pthread_mutex_unlock(&all.lock);
    if (number == 0) {
        return HIPADAPT_VERBOSE_NONE;
    }
    return code == 0 ? HIPADAPT_VERBOSE_OK : HIPADAPT_VERBOSE_TIMEOUT;
}

enum hipadapt_verbose_result
ha_tracker_timing(hipStream_t handle, struct hipadapt_verbose_timing *timing)
{
    (void)pthread_once(&once, init);
    pthread_mutex_lock(&all.lock);
    const struct stream *stream = find_stream((uintptr_t)handle);
    bool there = stream != NULL && stream->ended > 0;
    if (there) {
        const struct timing *last = &stream->last;
        timing->start_ms = unix_ms(last->start);
        timing->end_ms = unix_ms(last->end);
        timing->duration_ms = (double)(last->end - last->start) / 1e6;
        timing->profiler_enabled = last->correlation != 0;
        timing->timing_stat = last->exact;
        (void)snprintf(timing->info, sizeof timing->info, "%s", stream->info);
    }
    pthread_mutex_unlock(&all.lock);
    return there ? HIPADAPT_VERBOSE_OK : HIPADAPT_VERBOSE_NONE;
}

/* ---- the end ---- */

void
ha_trackers_stop(void)
{
    uint64_t count = 0;

    ha_line_writer_ask(NULL);
    pthread_mutex_lock(&all.lock);
    for (const struct tracker *tracker = all.first; tracker != NULL;
         tracker = tracker->next) {
        count++;
    }
    pthread_mutex_unlock(&all.lock);
    ha_line_writer_lose(count);
}

void
ha_trackers_forked(void)
{
    (void)pthread_mutex_init(&all.lock, NULL);
    init();
}
