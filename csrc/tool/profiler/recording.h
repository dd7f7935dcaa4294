/* SPDX-License-Identifier: MIT */
/* One recording, from its warm-up to its trace.
 *
 * With a URL it *streams*: events become slices as they come, and a file grows.  Else
 * it keeps its events, and can be saved, several times and in several formats, when it
 * is complete.
 *
 * The window's start and end may be set by any thread; all else is done by one thread
 * at a time. */
#ifndef HA_TOOL_PROFILER_RECORDING_H
#define HA_TOOL_PROFILER_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "tool/profiler/collect.h"

struct ha_recording;

struct ha_recording_options {
    const char *url; /* NULL: keep events; else borrowed for ha_recording_new */
    uint32_t activities;
    uint64_t room;     /* events that wait for their reader; 0: as is usual */
    uint64_t keep_max; /* events that are kept; more are lost and counted */
    bool cuda_names;
    const char *distributed; /* JSON, borrowed as `url`; NULL: by the environment */
    uint64_t request;        /* its number; 0: none */
    uint32_t detail;         /* enum hipadapt_profile_detail, for clients */
    const char *counters;    /* of devices, between commas, borrowed; NULL: none */
};

/* What is known of it so far. */
struct ha_recording_counts {
    struct ha_collect_counts collect; /* of the last trace that was written */
    uint64_t events;                  /* that were taken */
    uint64_t lost;
    uint64_t bytes;    /* of the file, so far */
    const char *empty; /* why it has no kernel, a literal; NULL: it has, or need not */
};

/* Starts the contexts and opens the file.  HA_ERROR_INVALID: nobody writes that URL. */
enum ha_status ha_recording_new(const struct ha_recording_options *options,
                                struct ha_recording **recording);

/* Events count from now on, and until then.  No waiting. */
void ha_recording_start(struct ha_recording *recording);
void ha_recording_stop(struct ha_recording *recording);

/* An entry of the trace's metadata, copied; one of the same key goes.  Any thread. */
enum ha_status ha_recording_describe(struct ha_recording *recording, const char *key,
                                     const char *json);

/* Takes the events that are there, or many of them; after the stop all. */
enum ha_status ha_recording_take(struct ha_recording *recording);

/* Whether there was more to take, so that it should be done again at once. */
bool ha_recording_has_more(const struct ha_recording *recording);

/* After the stop: waits for what is on its way, for a moment, and completes the file.
 */
enum ha_status ha_recording_finish(struct ha_recording *recording);

/* Writes a trace of what was kept, after ha_recording_finish. */
enum ha_status ha_recording_save(struct ha_recording *recording, const char *url);

/* NULL: it keeps its events; else borrowed. */
const char *ha_recording_url(const struct ha_recording *recording);

/* enum ha_activities. */
uint32_t ha_recording_activities(const struct ha_recording *recording);

struct ha_recording_counts ha_recording_counts(const struct ha_recording *recording);

/* Drops all of it, and stops the contexts; a file that is not complete goes. */
void ha_recording_free(struct ha_recording *recording);

#endif
