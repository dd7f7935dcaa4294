/* SPDX-License-Identifier: MIT */
#include "tool/profiler/session.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "core/log.h"
#include "core/thread.h"
#include "tool/profiler/activities.h"
#include "tool/profiler/base_config.h"
#include "tool/profiler/bell.h"
#include "tool/profiler/clients.h"
#include "tool/profiler/machine.h"
#include "tool/profiler/on_demand.h"
#include "tool/profiler/origin.h"
#include "tool/profiler/recorder.h"
#include "tool/profiler/recording.h"
#include "tool/profiler/whole.h"

#define TICK_NS 10000000
#define STEP_WAIT_S 2
#define EXIT_WAIT_S 10

enum { KEEP_EVENTS = 1 << 23 };

/* Of the process.  `calling` comes before `lock`. */
static pthread_mutex_t calling = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static atomic_bool forked;
static _Atomic int64_t iteration = -1;
static atomic_bool counts_steps; /* the plan goes by iterations */

/* Under the lock. */
static struct {
    bool there; /* the thread, and the next two */
    int bell;
    int timer; /* timerfd */
    enum hipadapt_profile_state state;
    struct ha_recording *recording; /* the thread's; NULL in the idle state */
    struct ha_recording *saved;     /* `calling` owns it: a prepared one that is over */
    enum ha_status saved_status;
    char saved_message[512];
    bool preparing; /* somebody is about to open a recording */
    bool on_demand; /* `recording` is that of the plan */
    bool abandon;   /* it is to be dropped */
    bool planned;   /* `plan` is there: it waits, or its recording is there */
    struct ha_plan plan;
    uint64_t request;
    struct ha_recording_counts counts;
    char message[512];
    char url[1024];
    char trace_id[HA_CONFIG_ID_BYTES];
    uint32_t activities; /* of this recording, or the last one */
} session = {.bell = -1, .timer = -1};

/* ---- words ---- */

enum hipadapt_profile_result
ha_session_result(enum ha_status status)
{
    switch (status) {
    case HA_OK:
        return HIPADAPT_PROFILE_OK;
    case HA_ERROR_MEMORY:
        return HIPADAPT_PROFILE_MEMORY;
    case HA_ERROR_INVALID:
        return HIPADAPT_PROFILE_INVALID;
    case HA_ERROR_UNSUPPORTED:
        return HIPADAPT_PROFILE_UNSUPPORTED;
    case HA_ERROR_NOT_FOUND:
        return HIPADAPT_PROFILE_NOT_FOUND;
    default:
        return HIPADAPT_PROFILE_SYSTEM;
    }
}

static const char *
state_text(enum hipadapt_profile_state state)
{
    static const char *const texts[] = {
        "nothing is prepared",
        "a recording is warming up",
        "a recording is collecting",
        "a recording is being processed",
    };

    return texts[state];
}

static enum hipadapt_profile_result
wrong_state(const char *what)
{
    (void)ha_error_set(HA_ERROR_INVALID, "%s: %s%s", what, state_text(session.state),
                       session.on_demand ? ", of a request" : "");
    return HIPADAPT_PROFILE_STATE;
}

/* How the last recording ended; "" is well. */
static void
set_message(const char *text)
{
    (void)snprintf(session.message, sizeof session.message, "%s", text);
    if (session.on_demand || session.planned) {
        ha_log(text[0] != '\0' ? 1 : 2, "profile request %llu%s%s: %s",
               (unsigned long long)session.request,
               session.trace_id[0] != '\0' ? ", trace " : "", session.trace_id,
               text[0] != '\0' ? text : session.url);
    }
}

/* ---- the thread ---- */

/* Whether the thread has something to look at every few milliseconds. */
static bool
is_busy(void)
{
    return session.state != HIPADAPT_PROFILE_IDLE || session.planned;
}

static void
set_timer(bool on)
{
    struct itimerspec times = {{0, on ? TICK_NS : 0}, {0, on ? TICK_NS : 0}};

    (void)timerfd_settime(session.timer, 0, &times, NULL);
}

static void
forget_plan(void)
{
    session.planned = false;
    session.on_demand = false;
    atomic_store(&counts_steps, false);
    (void)pthread_cond_broadcast(&changed);
}

/* The plan is over without a recording. */
static void
end_plan(const char *message)
{
    set_message(message);
    forget_plan();
}

/* The recording is over: it is kept for `save`, or dropped.  Dropping it stops the
 * contexts, so it is over before another one may begin. */
static void
end_recording(enum ha_status status, const char *message)
{
    struct ha_recording *over = session.recording;
    const char *url = ha_recording_url(over);
    bool keep = !session.on_demand && !session.abandon;

    session.counts = ha_recording_counts(over);
    if (status == HA_OK && url != NULL && !session.abandon) {
        (void)snprintf(session.url, sizeof session.url, "%s", url);
    }
    session.recording = NULL;
    set_message(message);
    if (keep) {
        session.saved = over;
        session.saved_status = status;
        (void)snprintf(session.saved_message, sizeof session.saved_message, "%s",
                       message);
    } else {
        session.state = HIPADAPT_PROFILE_PROCESSING;
        pthread_mutex_unlock(&lock);
        ha_recording_free(over);
        pthread_mutex_lock(&lock);
    }
    session.state = HIPADAPT_PROFILE_IDLE;
    session.abandon = false;
    if (session.on_demand) {
        forget_plan();
    }
    (void)pthread_cond_broadcast(&changed);
}

static void
warm_up(void)
{
    struct ha_recording *recording = NULL;

    pthread_mutex_unlock(&lock); /* the plan and its number don't change meanwhile */
    enum ha_status status =
        ha_on_demand_open(&session.plan.config, session.request, &recording);
    pthread_mutex_lock(&lock);
    if (status != HA_OK) {
        end_plan(ha_error_text());
        return;
    }
    if (session.abandon) { /* meanwhile */
        pthread_mutex_unlock(&lock);
        ha_recording_free(recording);
        pthread_mutex_lock(&lock);
        session.abandon = false;
        end_plan("cancelled");
        return;
    }
    session.recording = recording;
    session.activities = ha_recording_activities(recording);
    session.on_demand = true;
    session.state = HIPADAPT_PROFILE_WARMUP;
    (void)pthread_cond_broadcast(&changed);
}

/* Needs the lock; the SDK, which stops its contexts, waits for nobody within it. */
static void
begin_processing(void)
{
    ha_recording_stop(session.recording);
    session.state = HIPADAPT_PROFILE_PROCESSING;
}

/* What the plan says is done; needs the lock.  Any thread does the start and stop. */
static void
follow_plan(bool own_thread)
{
    bool warm = session.on_demand && session.state == HIPADAPT_PROFILE_WARMUP;
    bool started = session.on_demand && session.state == HIPADAPT_PROFILE_COLLECTING;

    if (!session.planned || session.state == HIPADAPT_PROFILE_PROCESSING) {
        return;
    }
    int64_t steps = atomic_load(&iteration);
    switch (ha_plan_next(&session.plan, steps, warm, started)) {
    case HA_PLAN_WARM_UP:
        if (own_thread) {
            warm_up();
        }
        break;
    case HA_PLAN_START:
        ha_recording_start(session.recording);
        ha_plan_started(&session.plan, steps);
        session.state = HIPADAPT_PROFILE_COLLECTING;
        break;
    case HA_PLAN_STOP:
        begin_processing();
        break;
    case HA_PLAN_GIVE_UP:
        end_plan(ha_error_text());
        break;
    default:
        break;
    }
}

/* One look at the recording; needs the lock, which is not held while it works. */
static void
look(void)
{
    struct ha_recording *recording = session.recording;
    bool processing = session.state == HIPADAPT_PROFILE_PROCESSING;

    if (recording == NULL && session.abandon) {
        session.abandon = false;
        end_plan("cancelled");
    }
    if (recording == NULL) {
        return;
    }
    if (session.abandon) {
        end_recording(HA_OK, "cancelled");
        return;
    }
    pthread_mutex_unlock(&lock);
    if (!processing) {
        ha_clients_look(); /* nobody waits for clients of a request */
    }
    enum ha_status status =
        processing ? ha_recording_finish(recording) : ha_recording_take(recording);
    pthread_mutex_lock(&lock);
    session.counts = ha_recording_counts(recording);
    if (status != HA_OK && !processing &&
        session.state != HIPADAPT_PROFILE_PROCESSING) {
        begin_processing(); /* a file that can't be written: no more is recorded */
    }
    if (processing) {
        end_recording(status, status == HA_OK ? "" : ha_error_text());
    }
}

static void *
run(void *unused)
{
    struct pollfd fds[] = {{session.bell, POLLIN, 0}, {session.timer, POLLIN, 0}};
    bool busy = false, more = false;

    ha_log_own_thread();
    for (;;) {
        (void)poll(fds, 2, more ? 0 : -1);
        for (int i = 0; i < 2; i++) {
            if (fds[i].revents != 0) {
                ha_bell_hear(fds[i].fd);
            }
        }
        pthread_mutex_lock(&lock);
        follow_plan(true);
        do {
            look();
        } while (session.state == HIPADAPT_PROFILE_PROCESSING);
        more = session.recording != NULL && ha_recording_has_more(session.recording);
        if (busy != is_busy()) {
            busy = !busy;
            set_timer(busy);
        }
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

/* ---- the program's end ---- */

/* Waits until what was recorded is a trace, but not for ever; needs the lock. */
static void
wait_at_exit(void)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += EXIT_WAIT_S;
    ha_bell_ring(session.bell);
    while ((session.state == HIPADAPT_PROFILE_PROCESSING || session.abandon) &&
           pthread_cond_timedwait(&changed, &lock, &until) == 0) {
    }
}

void
ha_session_end(void)
{
    char url[sizeof session.url] = "";

    if (atomic_load(&forked)) {
        return;
    }
    pthread_mutex_lock(&lock);
    enum hipadapt_profile_state state = session.state;
    const char *own =
        session.recording != NULL ? ha_recording_url(session.recording) : NULL;
    (void)snprintf(url, sizeof url, "%s", own != NULL ? own : "a trace without a file");
    if (state == HIPADAPT_PROFILE_COLLECTING) {
        begin_processing();
    }
    session.abandon = state == HIPADAPT_PROFILE_WARMUP; /* its temporary goes */
    wait_at_exit();
    if (session.state == HIPADAPT_PROFILE_PROCESSING) {
        ha_log(1, "the program ended while %s was written, which is not there", url);
    } else if (state == HIPADAPT_PROFILE_COLLECTING) {
        ha_log(1, "the program ended while %s was recorded, which ends there%s%s", url,
               session.message[0] != '\0' ? ": " : "", session.message);
    } else if (state == HIPADAPT_PROFILE_WARMUP) {
        ha_log(1, "the program ended before %s began, which is not there", url);
    } else if (session.planned) {
        ha_log(1, "the program ended before profile request %llu began",
               (unsigned long long)session.request);
        session.planned = false;
    }
    pthread_mutex_unlock(&lock);
}

/* The thread, with what it waits for; needs the lock. */
static enum ha_status
need_thread(void)
{
    pthread_t thread;
    enum ha_status status = HA_OK;

    ha_origin_learn_job();
    if (session.there) {
        return status;
    }
    session.bell = ha_bell_open();
    session.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (session.bell < 0 || session.timer < 0) {
        status = ha_error_set(HA_ERROR_SYSTEM, "no descriptor for the profiler: %s",
                              strerror(errno));
    } else {
        status = ha_thread_start(&thread, "hipadapt-profile", run, NULL);
    }
    if (status != HA_OK) {
        (void)close(session.bell);
        (void)close(session.timer);
        return status;
    }
    (void)pthread_detach(thread);
    (void)atexit(ha_session_end); /* without it a recording is cut off */
    session.there = true;
    return HA_OK;
}

/* ---- the program's calls ---- */

int
ha_session_is_forked(void)
{
    bool is = atomic_load(&forked);

    if (is) {
        (void)ha_error_set(HA_ERROR_UNSUPPORTED,
                           "the profiler is the parent process's: nothing is recorded "
                           "in a forked child");
    }
    return is;
}

/* Waits for the end of processing, or of all, with the lock. */
static void
wait_for_end(void)
{
    while (session.state == HIPADAPT_PROFILE_PROCESSING || session.abandon) {
        (void)pthread_cond_wait(&changed, &lock);
    }
}

/* Drops what there is of a plan, and with `all` the prepared recording as well. */
static void
drop(bool all)
{
    bool mine = session.recording != NULL && !session.on_demand;

    if (session.planned || (all && mine)) {
        session.abandon = true; /* the thread may be opening it just now */
        ha_bell_ring(session.bell);
    }
    wait_for_end();
}

static void
forget_saved(void)
{
    struct ha_recording *saved = session.saved;

    session.saved = NULL;
    pthread_mutex_unlock(&lock);
    ha_recording_free(saved);
    pthread_mutex_lock(&lock);
}

/* Opens a recording, with both locks; the second one not while it opens. */
static enum hipadapt_profile_result
open_prepared(const struct ha_recording_options *options)
{
    struct ha_recording *recording = NULL;

    pthread_mutex_unlock(&lock);
    enum ha_status status = ha_recording_new(options, &recording);
    pthread_mutex_lock(&lock);
    if (status != HA_OK) {
        session.state = HIPADAPT_PROFILE_IDLE;
        return ha_session_result(status);
    }
    session.recording = recording;
    session.activities = ha_recording_activities(recording);
    session.state = HIPADAPT_PROFILE_WARMUP;
    session.counts = (struct ha_recording_counts){.events = 0};
    session.message[0] = session.trace_id[0] = '\0';
    ha_bell_ring(session.bell);
    return HIPADAPT_PROFILE_OK;
}

enum hipadapt_profile_result
ha_session_prepare(const struct hipadapt_profile_options *options, uint32_t activities)
{
    const struct ha_recording_options wanted = {
        .url = options->url,
        .activities = activities,
        .room = options->buffer_events,
        .keep_max = options->keep_events != 0 ? options->keep_events : KEEP_EVENTS,
        .cuda_names = options->cuda_names != 0,
        .distributed = options->distributed,
        .detail = options->detail,
        .counters = options->counters,
    };
    enum hipadapt_profile_result result;

    pthread_mutex_lock(&calling);
    pthread_mutex_lock(&lock);
    enum ha_status status = need_thread();
    session.preparing = true; /* no plan comes while the lock isn't held */
    drop(false);
    if (status != HA_OK) {
        result = ha_session_result(status);
    } else if (session.state != HIPADAPT_PROFILE_IDLE) {
        (void)wrong_state("hipadapt_profile_prepare");
        result = HIPADAPT_PROFILE_BUSY;
    } else {
        forget_saved();
        result = open_prepared(&wanted);
    }
    session.preparing = false;
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&calling);
    ha_clients_settle();
    return result;
}

enum hipadapt_profile_result
ha_session_start(void)
{
    enum hipadapt_profile_result result = HIPADAPT_PROFILE_OK;

    pthread_mutex_lock(&lock);
    if (session.state != HIPADAPT_PROFILE_WARMUP || session.on_demand) {
        result = wrong_state("hipadapt_profile_start");
    } else {
        ha_recording_start(session.recording);
        session.state = HIPADAPT_PROFILE_COLLECTING;
    }
    pthread_mutex_unlock(&lock);
    ha_clients_settle();
    return result;
}

enum hipadapt_profile_result
ha_session_stop(void)
{
    enum hipadapt_profile_result result = HIPADAPT_PROFILE_OK;

    pthread_mutex_lock(&lock);
    if (session.state != HIPADAPT_PROFILE_COLLECTING || session.on_demand) {
        result = wrong_state("hipadapt_profile_stop");
    } else {
        begin_processing();
        ha_bell_ring(session.bell);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

/* The trace of a recording that streams is there, or isn't. */
static enum hipadapt_profile_result
streamed(const char *url)
{
    const char *own = ha_recording_url(session.saved);

    if (url != NULL && strcmp(url, own) != 0) {
        (void)ha_error_set(HA_ERROR_INVALID,
                           "hipadapt_profile_save: the trace went to %s, and nothing "
                           "was kept",
                           own);
        return HIPADAPT_PROFILE_INVALID;
    }
    return ha_session_result(
        session.saved_status == HA_OK
            ? HA_OK
            : ha_error_set(session.saved_status, "%s", session.saved_message));
}

static enum hipadapt_profile_result
save_kept(const char *url)
{
    struct ha_recording *saved = session.saved;

    if (url == NULL) {
        (void)ha_error_set(HA_ERROR_INVALID,
                           "hipadapt_profile_save: argument 'url' must not be NULL: "
                           "prepare had none");
        return HIPADAPT_PROFILE_INVALID;
    }
    pthread_mutex_unlock(&lock);
    enum ha_status status = ha_recording_save(saved, url);
    pthread_mutex_lock(&lock);
    if (session.recording == NULL) {
        session.counts = ha_recording_counts(saved);
    }
    if (status == HA_OK) {
        (void)snprintf(session.url, sizeof session.url, "%s", url);
    }
    return ha_session_result(status);
}

enum hipadapt_profile_result
ha_session_save(const char *url)
{
    enum hipadapt_profile_result result;

    pthread_mutex_lock(&calling);
    pthread_mutex_lock(&lock);
    if (!session.on_demand) {
        wait_for_end();
    }
    if (session.saved == NULL || (session.recording != NULL && !session.on_demand)) {
        result = wrong_state("hipadapt_profile_save");
    } else if (ha_recording_url(session.saved) != NULL) {
        result = streamed(url);
    } else {
        result = save_kept(url);
    }
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&calling);
    return result;
}

enum hipadapt_profile_result
ha_session_cancel(void)
{
    pthread_mutex_lock(&calling);
    pthread_mutex_lock(&lock);
    drop(true);
    forget_saved();
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&calling);
    return HIPADAPT_PROFILE_OK;
}

/* A step at which the recording begins waits for its warm-up. */
static void
wait_for_warm_up(void)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += STEP_WAIT_S;
    while (session.planned && session.recording == NULL &&
           session.plan.start_step >= 0 &&
           atomic_load(&iteration) >=
               session.plan.start_step - session.plan.config.warmup_iterations) {
        ha_bell_ring(session.bell);
        if (pthread_cond_timedwait(&changed, &lock, &until) != 0) {
            return;
        }
    }
}

enum hipadapt_profile_result
ha_session_step(void)
{
    int64_t now = atomic_fetch_add(&iteration, 1) + 1;

    if (!atomic_load(&counts_steps)) {
        ha_clients_step(now);
        return HIPADAPT_PROFILE_OK;
    }
    pthread_mutex_lock(&lock);
    follow_plan(false);
    wait_for_warm_up();
    follow_plan(false);
    if (session.state == HIPADAPT_PROFILE_PROCESSING) {
        ha_bell_ring(session.bell);
    }
    pthread_mutex_unlock(&lock);
    ha_clients_settle(); /* the first step is recorded with its clients */
    ha_clients_step(now);
    return HIPADAPT_PROFILE_OK;
}

enum hipadapt_profile_result
ha_session_describe(const char *key, const char *json)
{
    enum hipadapt_profile_result result;

    pthread_mutex_lock(&calling);
    pthread_mutex_lock(&lock);
    struct ha_recording *recording =
        session.recording != NULL ? session.recording : session.saved;
    result = recording == NULL
                 ? wrong_state("hipadapt_profile_add_metadata")
                 : ha_session_result(ha_recording_describe(recording, key, json));
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&calling);
    return result;
}

static enum hipadapt_profile_result
refuse_busy(void)
{
    if (session.planned && session.recording == NULL) {
        (void)ha_error_set(HA_ERROR_INVALID, "another profile request is pending");
    } else {
        (void)ha_error_set(HA_ERROR_INVALID, "the profiler is busy: %s",
                           ha_whole_records()
                               ? "HIPADAPT_PROFILE records the whole program"
                               : state_text(session.state));
    }
    return HIPADAPT_PROFILE_BUSY;
}

static enum hipadapt_profile_result
accept_request(const struct ha_config *config, uint64_t *number)
{
    struct ha_plan plan;

    if (session.planned || session.preparing ||
        session.state != HIPADAPT_PROFILE_IDLE) {
        return refuse_busy();
    }
    enum ha_status status = need_thread();
    if (status == HA_OK) {
        status = ha_plan_make(&plan, config, atomic_load(&iteration));
    }
    if (status != HA_OK) {
        return ha_session_result(status);
    }
    session.plan = plan;
    session.planned = true;
    session.message[0] = '\0';
    (void)snprintf(session.trace_id, sizeof session.trace_id, "%s", config->trace_id);
    session.counts = (struct ha_recording_counts){.events = 0};
    atomic_store(&counts_steps, plan.by_iteration);
    session.request++;
    if (number != NULL) {
        *number = session.request;
    }
    ha_bell_ring(session.bell);
    return HIPADAPT_PROFILE_OK;
}

enum hipadapt_profile_result
ha_session_request(const char *text, uint64_t *number)
{
    struct ha_config config;

    ha_base_config_read(&config);
    enum ha_status status = ha_config_parse(&config, text);
    return status == HA_OK ? ha_session_plan(&config, number)
                           : ha_session_result(status);
}

enum hipadapt_profile_result
ha_session_plan(const struct ha_config *config, uint64_t *number)
{
    pthread_mutex_lock(&lock);
    enum hipadapt_profile_result result = accept_request(config, number);
    pthread_mutex_unlock(&lock);
    return result;
}

const char *
ha_session_why_empty(void)
{
    pthread_mutex_lock(&lock);
    const char *reason = session.counts.empty;
    pthread_mutex_unlock(&lock);
    return reason;
}

void
ha_session_give_up(uint64_t number)
{
    pthread_mutex_lock(&lock);
    if (session.planned && session.request == number &&
        session.state != HIPADAPT_PROFILE_PROCESSING) {
        session.abandon = true;
        ha_bell_ring(session.bell);
    }
    pthread_mutex_unlock(&lock);
}

enum hipadapt_profile_result
ha_session_status(struct hipadapt_profile_status *status)
{
    pthread_mutex_lock(&lock);
    const struct ha_recording_counts *counts = &session.counts;
    *status = (struct hipadapt_profile_status){
        .size = sizeof *status,
        .state = (int)session.state,
        .on_demand = session.on_demand,
        .request = session.request,
        .request_waits = session.planned && session.recording == NULL,
        .step = atomic_load(&iteration),
        .events = counts->events,
        .kernels = counts->collect.kernels,
        .lost_events = counts->lost,
        .out_of_window_events = counts->collect.out_of_window,
        .bytes = counts->bytes,
    };
    memcpy(status->message, session.message, sizeof session.message);
    memcpy(status->url, session.url, sizeof session.url);
    memcpy(status->trace_id, session.trace_id, sizeof session.trace_id);
    ha_activities_list(session.activities, status->activities,
                       sizeof status->activities);
    pthread_mutex_unlock(&lock);
    return HIPADAPT_PROFILE_OK;
}

void
ha_session_forked(void)
{
    atomic_store(&forked, true);
    (void)pthread_mutex_init(&calling, NULL);
    (void)pthread_mutex_init(&lock, NULL);
    (void)pthread_cond_init(&changed, NULL);
}
