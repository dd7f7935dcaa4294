/* SPDX-License-Identifier: MIT */
#include "tool/profiler/recording.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "core/log.h"
#include "tool/events.h"
#include "tool/profiler/about.h"
#include "tool/profiler/activities.h"
#include "tool/profiler/child.h"
#include "tool/profiler/clients.h"
#include "tool/profiler/device_counters.h"
#include "tool/profiler/distributed.h"
#include "tool/profiler/handed.h"
#include "tool/profiler/origin.h"
#include "tool/profiler/recorder.h"
#include "tool/profiler/writer.h"

#define SETTLE_NS UINT64_C(500000000)
#define SETTLE_STEP_NS 200000
#define CLOCK_STEP_NS 1000000 /* less is noise */

enum {
    TAKE_EVENTS = 1 << 14,
    TAKES = 4,
    PAIRS_MAX = 256,
    OWN_PAIRS_MAX = 8,
    TEXT_BYTES = 32,
    FAILURE_BYTES = 2304,
};

struct batch {
    struct batch *next;
    struct ha_trace_event *events; /* owned */
    size_t count;
};

struct ha_recording {
    struct ha_collector *collector; /* the recorder's */
    _Atomic uint64_t start;         /* of the window; UINT64_MAX: not yet */
    _Atomic uint64_t end;
    _Atomic uint64_t lost_before; /* events that the collector lost before the start */
    struct ha_collect_options options;
    char *url; /* owned; NULL: keeps events */
    bool cuda_names;
    char *distributed; /* owned; NULL: none */
    uint64_t opened;   /* Unix ns */
    struct ha_about about;
    struct ha_collect *collect; /* owned, as the next one; while it streams */
    struct ha_writer *writer;
    struct ha_collect_counts last;
    struct batch *first; /* owned */
    struct batch **end_of_list;
    uint64_t keep_max;
    uint64_t kept;
    uint64_t dropped; /* beyond keep_max */
    uint64_t events;
    uint64_t bytes;                  /* of the file, once it is complete */
    bool more;                       /* than the last look took */
    bool clients;                    /* they take part, and are to be told of the end */
    struct ha_child_items *children; /* owned */
    pthread_mutex_t lock;            /* of what follows */
    struct ha_trace_pair pairs[PAIRS_MAX]; /* texts are owned */
    size_t pair_count;
};

/* ---- metadata ---- */

enum ha_status
ha_recording_describe(struct ha_recording *recording, const char *key, const char *json)
{
    char *new_key = strdup(key), *new_value = strdup(json);
    enum ha_status status = HA_OK;
    size_t at = 0;

    pthread_mutex_lock(&recording->lock);
    while (at < recording->pair_count && strcmp(recording->pairs[at].key, key) != 0) {
        at++;
    }
    if (new_key == NULL || new_value == NULL || at == PAIRS_MAX) {
        status = ha_error_set(HA_ERROR_MEMORY,
                              "no room for metadata '%s'; a trace has %d entries", key,
                              PAIRS_MAX);
    } else {
        struct ha_trace_pair old = recording->pairs[at];
        recording->pairs[at] = (struct ha_trace_pair){new_key, new_value};
        recording->pair_count += at == recording->pair_count;
        new_key = (char *)(uintptr_t)old.key;
        new_value = (char *)(uintptr_t)old.value;
    }
    pthread_mutex_unlock(&recording->lock);
    free(new_key);
    free(new_value);
    return status;
}

/* What every trace says of itself; whoever knows better replaces it. */
static void
describe_origin(struct ha_recording *recording)
{
    const bool memory = (recording->options.activities & HA_ACTIVITIES_MEMORY) != 0;
    const bool stacks = (recording->options.activities & HA_ACTIVITIES_STACKS) != 0;
    const char *key, *value;
    char id[HA_ORIGIN_ID_BYTES];

    ha_origin_id(id);
    (void)ha_recording_describe(recording, "trace_id", id);
    (void)ha_recording_describe(recording, "with_stack", stacks ? "1" : "0");
    (void)ha_recording_describe(recording, "record_shapes", "0");
    (void)ha_recording_describe(recording, "profile_memory", memory ? "1" : "0");
    for (size_t i = 0; ha_origin_job(i, &key, &value); i++) {
        if (value[0] != '\0') {
            (void)ha_recording_describe(recording, key, value);
        }
    }
}

static uint64_t
lost(const struct ha_recording *recording)
{
    uint64_t all = atomic_load(&recording->collector->lost);
    uint64_t before = atomic_load(&recording->lost_before);

    return recording->dropped + (all > before ? all - before : 0);
}

/* Why a trace has no kernel. */
static const char *
why_empty(const struct ha_recording *recording, const struct ha_collect_counts *counts)
{
    if (counts->kernels > 0 ||
        (recording->options.activities & HA_ACTIVITIES_KERNEL) == 0) {
        return NULL;
    }
    if (lost(recording) > 0) {
        return "no kernel: events were lost";
    }
    return counts->out_of_window > 0
               ? "no kernel started and ended in the window; others overlap it"
               : "no kernel was launched in the window";
}

/* Of a trace that is complete; 0 where it is no file. */
static uint64_t
file_bytes(const char *url)
{
    const char *path = ha_writer_path(url);
    struct stat info;

    return path != NULL && stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
}

/* How far the Unix clock was set meanwhile, ns; 0: it was not.  The trace goes on by
 * the time that the clock had at its beginning. */
static int64_t
clock_step(const struct ha_clock_bridge *before)
{
    struct ha_clock_bridge now = ha_clock_bridge_measure();
    int64_t step = now.offset - before->offset;

    if (step > -CLOCK_STEP_NS && step < CLOCK_STEP_NS) {
        return 0;
    }
    ha_log(1, "the clock was set by %" PRId64 " ms while a trace was recorded",
           step / 1000000);
    return step;
}

/* Metadata that a trace ends with. */
struct ending {
    struct ha_trace_pair pairs[OWN_PAIRS_MAX + PAIRS_MAX];
    char numbers[OWN_PAIRS_MAX][TEXT_BYTES];
    size_t count;
};

static void
add_number(struct ending *ending, const char *key, int64_t number)
{
    char *text = ending->numbers[ending->count];

    (void)snprintf(text, TEXT_BYTES, "%" PRId64, number);
    ending->pairs[ending->count++] = (struct ha_trace_pair){key, text};
}

/* Our own. */
static void
tell_counts(const struct ha_recording *recording, struct ending *ending)
{
    const struct ha_collect_counts *counts = &recording->last;
    const char *empty = why_empty(recording, counts);
    int64_t step = clock_step(&recording->options.clock);
    int32_t runtime = 0, driver = 0;

    add_number(ending, "moved_events", (int64_t)counts->moved);
    add_number(ending, "never_ran_events", (int64_t)counts->never_ran);
    add_number(ending, "unjoined_events", (int64_t)counts->unjoined);
    if (step != 0) {
        add_number(ending, "clock_step_ns", step);
    }
    if (recording->about.hip_runtime_version == 0) { /* HIP came after the start */
        ha_origin_hip(&runtime, &driver);
    }
    if (runtime != 0) {
        add_number(ending, "hip_runtime_version", runtime);
        add_number(ending, "hip_driver_version", driver);
    }
    if (recording->options.linked) {
        add_number(ending, "unlinked_events", (int64_t)counts->unlinked);
    }
    if (empty != NULL) {
        ending->pairs[ending->count++] = (struct ha_trace_pair){"no_kernels", empty};
    }
}

/* Ends the trace, with the user's metadata and ours. */
static enum ha_status
finish_writer(struct ha_recording *recording, struct ha_writer *writer, const char *url)
{
    const struct ha_collect_counts *counts = &recording->last;
    int64_t open = atomic_load(&recording->collector->open);
    uint64_t running = open > 0 ? (uint64_t)open : 0;
    struct ending ending = {.count = 0};
    struct ha_writer_result result = {
        .start =
            ha_clock_unix(&recording->options.clock, atomic_load(&recording->start)),
        .end = ha_clock_unix(&recording->options.clock, atomic_load(&recording->end)),
        .lost_events = lost(recording),
        .out_of_window_events = counts->out_of_window + running,
        .metadata = ending.pairs,
    };

    tell_counts(recording, &ending);
    pthread_mutex_lock(&recording->lock);
    memcpy(ending.pairs + ending.count, recording->pairs,
           recording->pair_count * sizeof *ending.pairs);
    result.metadata_count = ending.count + recording->pair_count;
    enum ha_status status = ha_writer_finish(writer, &result);
    recording->bytes = status == HA_OK ? file_bytes(url) : 0;
    pthread_mutex_unlock(&recording->lock);
    return status;
}

/* ---- start ---- */

static enum ha_status
to_writer(void *context, const struct ha_slice *slice)
{
    return ha_writer_slice(context, slice);
}

/* A writer, and a collection that feeds it. */
static enum ha_status
open_trace(struct ha_recording *recording, const char *url, struct ha_writer **writer,
           struct ha_collect **collect)
{
    uint64_t start = atomic_load(&recording->start);
    struct ha_writer_info info = {
        .start = start != UINT64_MAX ? ha_clock_unix(&recording->options.clock, start)
                                     : recording->opened,
        .span_name = "hipadapt.profile",
        .clock_offset = recording->options.clock.offset,
        .clock_error = recording->options.clock.error,
        .cuda_names = recording->cuda_names,
    };

    ha_about_tell(&recording->about, &info);
    info.distributed = recording->distributed;
    enum ha_status status = ha_writer_open(url, &info, writer);
    if (status != HA_OK) {
        return status == HA_ERROR_UNSUPPORTED ? HA_ERROR_INVALID : status;
    }
    recording->options.slice = to_writer;
    recording->options.context = *writer;
    *collect = ha_collect_new(&recording->options);
    if (*collect == NULL) {
        ha_writer_abandon(*writer);
        *writer = NULL;
        return ha_error_set(HA_ERROR_MEMORY, "no memory for a trace");
    }
    return HA_OK;
}

static void
prepare_clients(struct ha_recording *recording,
                const struct ha_recording_options *options)
{
    const struct hipadapt_profile_setup setup = {
        .size = sizeof setup,
        .request = options->request,
        .detail = options->detail,
        .activities = options->activities & HA_ACTIVITIES_CPU_OP,
    };

    recording->clients = true;
    recording->options.linked = ha_clients_prepare(&setup, &recording->options.clock);
}

static enum ha_status
note_rank(struct ha_recording *recording, const char *given)
{
    char text[HA_DISTRIBUTED_BYTES];

    if (given == NULL) {
        if (!ha_distributed_text(text)) {
            return HA_OK;
        }
        given = text;
    }
    recording->distributed = strdup(given);
    return recording->distributed != NULL
               ? HA_OK
               : ha_error_set(HA_ERROR_MEMORY, "no memory for a trace");
}

static enum ha_status
begin(struct ha_recording *recording, const struct ha_recording_options *options)
{
    recording->options.activities = options->activities;
    recording->options.clock = ha_clock_bridge_measure();
    recording->opened = ha_clock_unix(&recording->options.clock, ha_events_now());
    recording->cuda_names = options->cuda_names;
    recording->keep_max = options->keep_max;
    recording->end_of_list = &recording->first;
    recording->options.first_range = ha_recorder_next_range();
    ha_about_fill(&recording->about);
    describe_origin(recording);
    prepare_clients(recording, options);
    /* Before the contexts, so that its own time is not in the trace. */
    if (options->url != NULL) {
        recording->url = strdup(options->url);
        enum ha_status status =
            recording->url == NULL
                ? ha_error_set(HA_ERROR_MEMORY, "no memory for a trace")
                : open_trace(recording, options->url, &recording->writer,
                             &recording->collect);
        if (status != HA_OK) {
            return status;
        }
    }
    return ha_recorder_start(options->activities);
}

enum ha_status
ha_recording_new(const struct ha_recording_options *options,
                 struct ha_recording **recording)
{
    enum ha_status status = ha_recorder_need(options->room);

    if (status != HA_OK) {
        return status;
    }
    struct ha_recording *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return ha_error_set(HA_ERROR_MEMORY, "no memory for a trace");
    }
    (void)pthread_mutex_init(&made->lock, NULL);
    made->collector = ha_recorder_collector();
    atomic_init(&made->start, UINT64_MAX);
    atomic_init(&made->end, UINT64_MAX);
    status = note_rank(made, options->distributed);
    if (status == HA_OK) {
        status = ha_device_counters_prepare(options->counters);
    }
    if (status == HA_OK) {
        status = begin(made, options);
    }
    if (status != HA_OK) {
        ha_recording_free(made);
        return status;
    }
    *recording = made;
    return HA_OK;
}

void
ha_recording_start(struct ha_recording *recording)
{
    atomic_store(&recording->lost_before, atomic_load(&recording->collector->lost));
    atomic_store(&recording->start, ha_events_now());
    ha_device_counters_start(recording->collector);
    ha_clients_start();
}

void
ha_recording_stop(struct ha_recording *recording)
{
    ha_device_counters_stop(recording->collector);
    atomic_store(&recording->end, ha_events_now());
    ha_recorder_stop();
    ha_clients_stop();
}

/* ---- events ---- */

/* Of what was over before the window, only what later events refer to is kept, with no
 * more memory than it needs. */
static size_t
drop_warmup(struct ha_trace_event **events, size_t count)
{
    struct ha_trace_event *list = *events;
    size_t left = 0;

    for (size_t i = 0; i < count; i++) {
        if (list[i].kind == HA_KIND_MEMORY || list[i].kind >= HA_KIND_PUSH) {
            list[left++] = list[i];
        }
    }
    struct ha_trace_event *less =
        left > 0 && left < count ? realloc(list, left * sizeof *list) : NULL;
    *events = less != NULL ? less : list;
    return left;
}

/* Steals the events. */
static void
keep(struct ha_recording *recording, struct ha_trace_event *events, size_t count)
{
    struct batch *batch = NULL;

    if (count > 0 && recording->kept + count <= recording->keep_max) {
        batch = malloc(sizeof *batch);
    }
    if (batch == NULL) {
        recording->dropped += count;
        ha_handed_free(events, count);
        free(events);
        return;
    }
    *batch = (struct batch){NULL, events, count};
    *recording->end_of_list = batch;
    recording->end_of_list = &batch->next;
    recording->kept += count;
}

static struct ha_window
window_of(const struct ha_recording *recording)
{
    return (struct ha_window){atomic_load(&recording->start),
                              atomic_load(&recording->end)};
}

enum ha_status
ha_recording_take(struct ha_recording *recording)
{
    enum ha_status status = HA_OK;
    struct ha_trace_event *events;
    size_t count;

    ha_device_counters_sample(recording->collector);
    /* A program that makes events faster than they are written must not keep the
     * caller from looking at anything else. */
    int left = TAKES;
    while (status == HA_OK && left > 0 &&
           (events = ha_collector_take(recording->collector, TAKE_EVENTS, &count)) !=
               NULL) {
        /* Read afterwards: what was taken before a start is over before it. */
        const struct ha_window window = window_of(recording);
        bool warmup = window.start == UINT64_MAX;
        left -= window.end == UINT64_MAX; /* after the end no more come */
        recording->events += warmup ? 0 : count;
        if (recording->collect == NULL) {
            count = warmup ? drop_warmup(&events, count) : count;
            keep(recording, events, count);
            continue;
        }
        status = ha_collect_events(recording->collect, events, count, &window);
        ha_handed_free(events, count);
        free(events);
    }
    recording->more = left == 0;
    if (recording->collect != NULL) {
        recording->last = ha_collect_counts(recording->collect);
    }
    return status;
}

bool
ha_recording_has_more(const struct ha_recording *recording)
{
    return recording->more;
}

/* Work that has ended may be told of a little later. */
static enum ha_status
settle(struct ha_recording *recording)
{
    const struct timespec pause = {.tv_nsec = SETTLE_STEP_NS};
    uint64_t until = ha_events_now() + SETTLE_NS;
    enum ha_status status = HA_OK;

    while (status == HA_OK && atomic_load(&recording->collector->open) > 0 &&
           ha_events_now() < until) {
        (void)nanosleep(&pause, NULL);
        status = ha_recording_take(recording);
    }
    return status == HA_OK ? ha_recording_take(recording) : status;
}

static void
describe(void *recording, const char *key, const char *json)
{
    (void)ha_recording_describe(recording, key, json);
}

/* Behind the numbers of HIP's devices. */
static int32_t
devices_end(const struct ha_about *about)
{
    int64_t end = 0;

    for (size_t d = 0; d < about->device_count; d++) {
        int64_t next = (int64_t)about->devices[d].id + 1;
        end = next > end ? next : end;
    }
    return (int32_t)end;
}

/* Clients hand over the last of what they have, children all. */
static void
finish_clients(struct ha_recording *recording)
{
    char failures[FAILURE_BYTES];

    recording->children = ha_child_items_new(devices_end(&recording->about));
    ha_clients_finish(recording->children);
    recording->clients = false;
    if (recording->children != NULL) {
        recording->dropped += ha_child_items_lost(recording->children);
        ha_child_items_describe(recording->children, describe, recording);
    }
    ha_clients_failures(failures, sizeof failures);
    if (failures[0] != '\0') {
        describe(recording, "client_failures", failures);
    }
}

/* The last slices of a trace. */
static enum ha_status
end_collect(struct ha_recording *recording, struct ha_collect *collect,
            struct ha_writer *writer, const struct ha_window *window)
{
    enum ha_status status = ha_collect_end(collect, window);

    recording->last = ha_collect_counts(collect);
    if (status == HA_OK && recording->children != NULL) {
        status = ha_child_items_write(recording->children, writer, &recording->options,
                                      window, &recording->last);
    }
    return status;
}

enum ha_status
ha_recording_finish(struct ha_recording *recording)
{
    const struct ha_window window = window_of(recording);
    enum ha_status status = settle(recording);

    finish_clients(recording);
    if (status == HA_OK) {
        status = ha_recording_take(recording);
    }
    if (recording->collect == NULL) {
        return status;
    }
    recording->last = ha_collect_counts(recording->collect);
    if (status == HA_OK) {
        status = end_collect(recording, recording->collect, recording->writer, &window);
    }
    ha_collect_free(recording->collect);
    recording->collect = NULL;
    if (status == HA_OK) {
        status = finish_writer(recording, recording->writer, recording->url);
    } else {
        ha_writer_abandon(recording->writer);
    }
    recording->writer = NULL;
    return status;
}

enum ha_status
ha_recording_save(struct ha_recording *recording, const char *url)
{
    const struct ha_window window = window_of(recording);
    struct ha_writer *writer = NULL;
    struct ha_collect *collect = NULL;
    enum ha_status status = open_trace(recording, url, &writer, &collect);

    if (status != HA_OK) {
        return status;
    }
    for (const struct batch *batch = recording->first; batch != NULL && status == HA_OK;
         batch = batch->next) {
        status = ha_collect_events(collect, batch->events, batch->count, &window);
    }
    if (status == HA_OK) {
        status = end_collect(recording, collect, writer, &window);
    }
    ha_collect_free(collect);
    if (status != HA_OK) {
        ha_writer_abandon(writer);
        return status;
    }
    return finish_writer(recording, writer, url);
}

/* ---- what is known, and the end ---- */

const char *
ha_recording_url(const struct ha_recording *recording)
{
    return recording->url;
}

uint32_t
ha_recording_activities(const struct ha_recording *recording)
{
    return recording->options.activities;
}

struct ha_recording_counts
ha_recording_counts(const struct ha_recording *recording)
{
    return (struct ha_recording_counts){
        .collect = recording->last,
        .events = recording->events,
        .lost = lost(recording),
        .bytes = recording->writer != NULL ? ha_writer_bytes(recording->writer)
                                           : recording->bytes,
        .empty = why_empty(recording, &recording->last),
    };
}

void
ha_recording_free(struct ha_recording *recording)
{
    if (recording == NULL) {
        return;
    }
    if (atomic_load(&recording->end) == UINT64_MAX) {
        ha_device_counters_stop(recording->collector);
        ha_recorder_stop();
    }
    if (recording->clients) {
        ha_clients_cancel();
    }
    ha_child_items_free(recording->children);
    ha_collect_free(recording->collect);
    ha_writer_abandon(recording->writer);
    while (recording->first != NULL) {
        struct batch *next = recording->first->next;
        ha_handed_free(recording->first->events, recording->first->count);
        free(recording->first->events);
        free(recording->first);
        recording->first = next;
    }
    for (size_t i = 0; i < recording->pair_count; i++) {
        free((char *)(uintptr_t)recording->pairs[i].key);
        free((char *)(uintptr_t)recording->pairs[i].value);
    }
    (void)pthread_mutex_destroy(&recording->lock);
    free(recording->url);
    free(recording->distributed);
    free(recording);
}
