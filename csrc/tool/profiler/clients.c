/* SPDX-License-Identifier: MIT */
#include "tool/profiler/clients.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/log.h"
#include "core/thread.h"
#include "tool/profiler/handed.h"
#include "tool/text.h"

enum { WAIT_S = 1, FINISH_WAIT_S = 10, FAILURE_BYTES = 2048 };

/* In the order in which they are called. */
enum function { PREPARE, START, STEP, STOP, COLLECT, CANCEL, FUNCTIONS };

#define BIT(function) (1u << (function))
#define ALL (BIT(FUNCTIONS) - 1)
#define PROMPT (BIT(PREPARE) | BIT(START))

static const char *const function_names[FUNCTIONS] = {
    "prepare", "start", "step", "stop", "collect", "cancel",
};

struct place {
    uint64_t handle; /* 0: free */
    struct ha_client_table table;
    bool takes_part; /* in the recording */
    bool prepared;   /* its prepare was called: a cancel is due */
    bool left_out;   /* of the recording */
    bool late;       /* it was waited for in vain, and still runs */
    bool leaving;    /* unregistered */
    bool collects;   /* its items are taken */
    unsigned todo;   /* bits of functions */
    int running;     /* function, or -1 */
    int64_t iteration;
    int64_t offset; /* of its clock to that of events */
    struct hipadapt_profile_setup setup;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static pthread_cond_t changed;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct place places[HA_CLIENTS_MAX];
static struct timespec prompt_until; /* of PROMPT functions; CLOCK_MONOTONIC */
static uint64_t last_number;
static struct ha_child_items *collected; /* the recording's, while children collect */
static char failures[FAILURE_BYTES];     /* `"a","b"` */

/* Without the lock. */
static _Atomic uint64_t open_handles[HA_CLIENTS_MAX]; /* 0: no operations are taken */
static _Atomic uint64_t registered;
static _Atomic uint64_t handing; /* threads that hand an operation over */
static _Thread_local struct place *own;

static void
init(void)
{
    pthread_condattr_t attributes;

    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

/* Operations of the client are taken from now on; 0: of none. */
static void
set_open(const struct place *place, uint64_t handle)
{
    atomic_store(&open_handles[place - places], handle);
}

/* ---- what goes wrong ---- */

/* Leaves the client out of the recording; needs the lock. */
static void
leave_out(struct place *place)
{
    place->left_out = true;
    set_open(place, 0);
    place->todo = place->prepared ? BIT(CANCEL) : 0;
}

/* Keeps the sentence for the trace, and logs it; needs the lock. */
static void
note(const struct place *place, const char *text)
{
    char line[2 * HA_CLIENT_NAME_BYTES + 128];
    size_t used = strlen(failures);

    (void)snprintf(line, sizeof line, "'%s' %s", place->table.name, text);
    ha_log(1, "profile: client %s", line);
    if (used + HA_JSON_GROWTH * strlen(line) + 16 < sizeof failures) {
        char *to = failures + used;
        if (used > 0) {
            *to++ = ',';
        }
        *ha_text_quoted(to, line, strlen(line)) = '\0';
    }
}

static void
note_failure(struct place *place, enum function function, int answer)
{
    char text[64];

    (void)snprintf(text, sizeof text, "failed in %s with %d", function_names[function],
                   answer);
    note(place, text);
    if (function <= START) {
        leave_out(place);
    }
}

static void
note_late(struct place *place, int seconds)
{
    char text[96];

    (void)snprintf(text, sizeof text, "was left out: %s took more than %d s",
                   function_names[place->running >= 0 ? place->running : PREPARE],
                   seconds);
    place->late = true;
    note(place, text);
    leave_out(place);
}

/* ---- the thread of a client ---- */

static int
call(const struct place *place, enum function function, int64_t iteration)
{
    const struct ha_client_table *table = &place->table;
    void *context = table->context;

    switch (function) {
    case PREPARE:
        return table->prepare != NULL ? table->prepare(context, &place->setup) : 0;
    case START:
        return table->start != NULL ? table->start(context) : 0;
    case STEP:
        return table->step != NULL ? table->step(context, iteration) : 0;
    case STOP:
        return table->stop != NULL ? table->stop(context) : 0;
    case COLLECT:
        return table->collect != NULL ? table->collect(context) : 0;
    default:
        if (table->cancel != NULL) {
            table->cancel(context);
        }
        return 0;
    }
}

/* Calls the next function, with the lock, which is not held meanwhile. */
static void
run_next(struct place *place)
{
    enum function function = (enum function)__builtin_ctz(place->todo);
    int64_t iteration = place->iteration;

    place->todo &= ~BIT(function);
    place->running = (int)function;
    place->prepared = function != CANCEL;
    place->collects = function == COLLECT;
    pthread_mutex_unlock(&lock);
    int answer = call(place, function, iteration);
    pthread_mutex_lock(&lock);
    place->running = -1;
    place->collects = false;
    if (place->late) {
        place->late = false;
    } else if (answer != 0) {
        note_failure(place, function, answer);
    }
    (void)pthread_cond_broadcast(&changed);
}

static void *
run(void *data)
{
    struct place *place = data;

    ha_log_own_thread();
    own = place;
    pthread_mutex_lock(&lock);
    while (!place->leaving) {
        if (place->todo != 0) {
            run_next(place);
        } else {
            (void)pthread_cond_wait(&changed, &lock);
        }
    }
    pthread_mutex_unlock(&lock);
    if (place->table.release != NULL) {
        place->table.release(place->table.context);
    }
    pthread_mutex_lock(&lock);
    place->handle = 0;
    atomic_fetch_sub(&registered, 1);
    (void)pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* ---- waiting ---- */

/* Whether one of these functions of its is to be waited for. */
static bool
is_busy(const struct place *place, unsigned functions)
{
    unsigned running = place->running >= 0 ? BIT(place->running) : 0;

    return place->handle != 0 && place != own && !place->late && !place->leaving &&
           ((place->todo | running) & functions) != 0;
}

static struct timespec
from_now(int seconds)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += seconds;
    return until;
}

static bool
any_busy(unsigned functions)
{
    bool busy = false;

    for (int i = 0; i < HA_CLIENTS_MAX; i++) {
        busy = busy || is_busy(&places[i], functions);
    }
    return busy;
}

/* Waits for these functions of all, with the lock; who is late is left out.  A time
 * that is over waits for nobody; `seconds` is what they had. */
static void
settle_until(unsigned functions, const struct timespec *until, int seconds)
{
    while (any_busy(functions)) {
        if (pthread_cond_timedwait(&changed, &lock, until) == 0) {
            continue;
        }
        for (int i = 0; i < HA_CLIENTS_MAX; i++) {
            if (is_busy(&places[i], functions)) {
                note_late(&places[i], seconds);
            }
        }
        return;
    }
}

static void
settle(unsigned functions, int seconds)
{
    const struct timespec until = from_now(seconds);

    settle_until(functions, &until, seconds);
}

static bool
is_over(const struct timespec *until)
{
    const struct timespec now = from_now(0);

    return now.tv_sec > until->tv_sec ||
           (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec);
}

void
ha_clients_settle(void)
{
    if (atomic_load(&registered) > 0) {
        pthread_mutex_lock(&lock);
        settle_until(PROMPT, &prompt_until, WAIT_S);
        pthread_mutex_unlock(&lock);
    }
}

void
ha_clients_look(void)
{
    if (atomic_load(&registered) > 0) {
        pthread_mutex_lock(&lock);
        if (is_over(&prompt_until)) {
            settle_until(PROMPT, &prompt_until, WAIT_S);
        }
        pthread_mutex_unlock(&lock);
    }
}

/* ---- registration ---- */

enum hipadapt_profile_result
ha_clients_add(const struct ha_client_table *table, uint64_t *handle)
{
    enum hipadapt_profile_result result = HIPADAPT_PROFILE_OK;
    enum ha_status status = HA_OK;
    pthread_t thread;
    unsigned at = 0;

    (void)pthread_once(&once, init);
    pthread_mutex_lock(&lock);
    while (at < HA_CLIENTS_MAX && places[at].handle != 0) {
        at++;
    }
    if (at == HA_CLIENTS_MAX) {
        status = ha_error_set(HA_ERROR_MEMORY, "%d clients are registered already",
                              HA_CLIENTS_MAX);
    } else {
        places[at] = (struct place){
            .handle = ++last_number * HA_CLIENTS_MAX + at,
            .table = *table,
            .running = -1,
        };
        status = ha_thread_start(&thread, "hipadapt-client", run, &places[at]);
    }
    if (status == HA_OK) {
        (void)pthread_detach(thread);
        atomic_fetch_add(&registered, 1);
        *handle = places[at].handle;
    } else {
        if (at < HA_CLIENTS_MAX) {
            places[at].handle = 0;
        }
        result = status == HA_ERROR_MEMORY ? HIPADAPT_PROFILE_MEMORY
                                           : HIPADAPT_PROFILE_SYSTEM;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

/* The place of a handle, or NULL with the text set; needs the lock. */
static struct place *
find(uint64_t handle)
{
    struct place *place = &places[handle % HA_CLIENTS_MAX];

    if (handle == 0 || place->handle != handle || place->leaving) {
        (void)ha_error_set(HA_ERROR_INVALID,
                           "argument 'handle': %llu is not registered",
                           (unsigned long long)handle);
        return NULL;
    }
    return place;
}

/* Waits until the thread has gone, with the lock. */
static enum hipadapt_profile_result
wait_until_gone(const struct place *place, uint64_t handle)
{
    const struct timespec until = from_now(WAIT_S);

    while (place->handle == handle) {
        if (pthread_cond_timedwait(&changed, &lock, &until) != 0) {
            (void)ha_error_set(HA_ERROR_TIMEOUT,
                               "a function of client '%s' still runs, and is its last",
                               place->table.name);
            return HIPADAPT_PROFILE_BUSY;
        }
    }
    return HIPADAPT_PROFILE_OK;
}

/* After a close: nobody who saw it open is still at it. */
static void
wait_for_handing(void)
{
    while (atomic_load(&handing) > 0) {
        (void)sched_yield();
    }
}

enum hipadapt_profile_result
ha_clients_remove(uint64_t handle)
{
    enum hipadapt_profile_result result = HIPADAPT_PROFILE_INVALID;

    pthread_mutex_lock(&lock);
    struct place *place = find(handle);
    if (place != NULL) {
        place->leaving = true;
        set_open(place, 0);
        (void)pthread_cond_broadcast(&changed);
        result = place == own ? HIPADAPT_PROFILE_OK : wait_until_gone(place, handle);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

/* ---- handing over ---- */

enum hipadapt_profile_result
ha_clients_hand_over(uint64_t handle, const struct hipadapt_profile_event *event)
{
    enum hipadapt_profile_result result = HIPADAPT_PROFILE_OK;
    struct place *place = &places[handle % HA_CLIENTS_MAX];

    /* The count and the look are one step for who closes and then waits. */
    atomic_fetch_add(&handing, 1);
    if (handle == 0 || atomic_load(&open_handles[place - places]) != handle) {
        (void)ha_error_set(HA_ERROR_INVALID, "nothing is recorded with this client");
        result = HIPADAPT_PROFILE_STATE;
    } else {
        uint64_t offset = (uint64_t)place->offset;
        ha_handed_put(event->name, event->start + offset, event->end + offset,
                      event->thread != 0 ? event->thread : (uint32_t)gettid(),
                      event->external, event->args);
    }
    atomic_fetch_sub(&handing, 1);
    return result;
}

struct ha_child_items *
ha_clients_take(uint64_t handle, struct ha_child *child)
{
    struct place *place = &places[handle % HA_CLIENTS_MAX];

    pthread_mutex_lock(&lock);
    if (handle == 0 || place->handle != handle || !place->collects || place->late ||
        collected == NULL) {
        pthread_mutex_unlock(&lock);
        (void)ha_error_set(HA_ERROR_INVALID, "this child does not collect just now");
        return NULL;
    }
    *child =
        (struct ha_child){(unsigned)(place - places), place->table.name, place->offset};
    return collected;
}

void
ha_clients_give(void)
{
    pthread_mutex_unlock(&lock);
}

/* ---- a recording ---- */

/* From the client's clock to that of events. */
static int64_t
offset_of(const struct ha_client_table *table, const struct ha_clock_bridge *bridge)
{
    if (table->clock == CLOCK_REALTIME) {
        return -bridge->offset;
    }
    return table->clock == CLOCK_BOOTTIME ? 0
                                          : -ha_clock_bridge_to(table->clock).offset;
}

static void
prepare(struct place *place, const struct hipadapt_profile_setup *setup,
        const struct ha_clock_bridge *bridge)
{
    place->left_out = place->prepared = false;
    place->takes_part = true;
    if (place->late) {
        note(place, "is left out: a function of before has not returned");
        place->left_out = true;
        return;
    }
    place->setup = *setup;
    place->offset = offset_of(&place->table, bridge);
    place->todo |= BIT(PREPARE);
    if (!place->table.is_child) {
        set_open(place, place->handle);
    }
}

bool
ha_clients_prepare(const struct hipadapt_profile_setup *setup,
                   const struct ha_clock_bridge *bridge)
{
    bool clients = false;

    if (atomic_load(&registered) == 0) {
        return false;
    }
    pthread_mutex_lock(&lock);
    settle(ALL, WAIT_S); /* a cancel of before */
    failures[0] = '\0';
    for (int i = 0; i < HA_CLIENTS_MAX; i++) {
        struct place *place = &places[i];
        if (place->handle != 0 && !place->leaving) {
            prepare(place, setup, bridge);
            clients = clients || !place->table.is_child;
        }
    }
    prompt_until = from_now(WAIT_S);
    (void)pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return clients;
}

/* Notes the function for all that take part; needs the lock. */
static void
tell(enum function function)
{
    for (int i = 0; i < HA_CLIENTS_MAX; i++) {
        struct place *place = &places[i];
        if (place->handle != 0 && place->takes_part && !place->left_out &&
            (function != COLLECT || place->table.is_child)) {
            place->todo |= BIT(function);
        }
    }
    (void)pthread_cond_broadcast(&changed);
}

static void
lock_and_tell(enum function function)
{
    if (atomic_load(&registered) > 0) {
        pthread_mutex_lock(&lock);
        tell(function);
        prompt_until = function == START ? from_now(WAIT_S) : prompt_until;
        pthread_mutex_unlock(&lock);
    }
}

void
ha_clients_start(void)
{
    lock_and_tell(START);
}

void
ha_clients_stop(void)
{
    lock_and_tell(STOP);
}

void
ha_clients_step(int64_t iteration)
{
    if (atomic_load(&registered) == 0) {
        return;
    }
    pthread_mutex_lock(&lock);
    for (int i = 0; i < HA_CLIENTS_MAX; i++) {
        places[i].iteration = iteration;
    }
    tell(STEP);
    pthread_mutex_unlock(&lock);
}

/* The recording is over for all; needs the lock. */
static void
close_all(void)
{
    for (int i = 0; i < HA_CLIENTS_MAX; i++) {
        set_open(&places[i], 0);
        places[i].takes_part = false;
    }
}

void
ha_clients_finish(struct ha_child_items *items)
{
    if (atomic_load(&registered) > 0) {
        pthread_mutex_lock(&lock);
        settle_until(PROMPT, &prompt_until, WAIT_S);
        settle(ALL, FINISH_WAIT_S);
        collected = items;
        tell(COLLECT);
        settle(ALL, FINISH_WAIT_S);
        collected = NULL;
        close_all();
        pthread_mutex_unlock(&lock);
    }
    wait_for_handing();
}

void
ha_clients_cancel(void)
{
    if (atomic_load(&registered) == 0) {
        return;
    }
    pthread_mutex_lock(&lock);
    for (int i = 0; i < HA_CLIENTS_MAX; i++) {
        if (places[i].takes_part && !places[i].left_out) {
            leave_out(&places[i]);
        }
    }
    close_all();
    (void)pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    wait_for_handing();
}

void
ha_clients_failures(char *text, size_t bytes)
{
    pthread_mutex_lock(&lock);
    if (failures[0] == '\0') {
        text[0] = '\0';
    } else {
        (void)snprintf(text, bytes, "[%s]", failures);
    }
    failures[0] = '\0';
    pthread_mutex_unlock(&lock);
}

bool
ha_clients_refuse(const char *function)
{
    if (own != NULL) {
        (void)ha_error_set(HA_ERROR_INVALID, "%s: a client's function can't call it",
                           function);
    }
    return own != NULL;
}

void
ha_clients_forked(void)
{
    (void)pthread_mutex_init(&lock, NULL);
    init();
    for (int i = 0; i < HA_CLIENTS_MAX; i++) {
        places[i] = (struct place){.running = -1};
        set_open(&places[i], 0);
    }
    collected = NULL;
    failures[0] = '\0';
    atomic_store(&registered, 0);
    atomic_store(&handing, 0);
    own = NULL;
}
