/* SPDX-License-Identifier: MIT */
#include "tool/verbose/writer.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/log.h"
#include "core/thread.h"
#include "tool/events.h"
#include "tool/verbose/kinds.h"
#include "tool/verbose/output.h"

#define NS_PER_MS UINT64_C(1000000)

enum {
    HOLD_MS = 15,
    TURN_MS = 5,
    TAKE_MAX = 1 << 15, /* events of a turn */
    WRITE_BYTES = 1 << 16,
    BACKLOG_BYTES = 1 << 20, /* lines that wait for a reader */
};

/* Events that wait for others that ended before them, in the order of their ends. */
struct held {
    struct ha_trace_event *events; /* owned */
    size_t from;
    size_t count;
    size_t room;
};

static struct {
    pthread_mutex_t lock; /* of what others ask for: down to `counts` */
    pthread_cond_t asked;
    pthread_cond_t answered;
    bool started;
    bool woken;
    bool ended;
    uint64_t requests; /* flushes */
    uint64_t replies;
    struct ha_line_output output; /* changed while the thread waits for its turn */
    bool timestamp;
    pthread_mutex_t turn; /* held by the thread while it works, and for a change */

    atomic_uint asleep;   /* 0 or 1 */
    atomic_bool directed; /* somebody has said where lines go */
    bool (*_Atomic more)(void);
    _Atomic uint64_t written;
    _Atomic uint64_t lost; /* besides the collector's */

    /* The thread's, or that of who holds `turn`. */
    struct ha_collector *collector;
    struct ha_line_form form;
    struct ha_line_text lines;
    struct held held;
    bool headed;
    bool broken;
} writer = {.lock = PTHREAD_MUTEX_INITIALIZER,
            .turn = PTHREAD_MUTEX_INITIALIZER,
            .output = {.fd = 1}};
static pthread_once_t writer_once = PTHREAD_ONCE_INIT;

/* ---- order ---- */

static int
by_end(const void *a, const void *b)
{
    const struct ha_trace_event *one = a, *other = b;

    if (one->end != other->end) {
        return one->end < other->end ? -1 : 1;
    }
    if (one->correlation != other->correlation) {
        return one->correlation < other->correlation ? -1 : 1;
    }
    return one->kind - other->kind; /* trackers of work stand behind it */
}

/* Puts sorted events among those that are held.  False: no memory. */
static bool
hold(struct held *held, const struct ha_trace_event *events, size_t count)
{
    size_t old = held->count - held->from, all = old + count;
    struct ha_trace_event *merged = held->events;

    if (old > 0) {
        memmove(held->events, held->events + held->from, old * sizeof *held->events);
    }
    held->from = 0;
    held->count = old;
    if (all > held->room) {
        merged = realloc(held->events, 2 * all * sizeof *merged);
        if (merged == NULL) {
            return false;
        }
        held->events = merged;
        held->room = 2 * all;
    }
    held->count = all;
    while (count > 0) { /* from behind, where there is room */
        bool ours = old > 0 && by_end(&merged[old - 1], &events[count - 1]) > 0;
        merged[--all] = ours ? merged[--old] : events[--count];
    }
    return true;
}

static void
free_texts(const struct ha_trace_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (ha_verbose_has_text(&events[i])) {
            free(ha_verbose_text(&events[i]));
        }
    }
}

static void
lose(const struct ha_trace_event *events, size_t count)
{
    free_texts(events, count);
    atomic_fetch_add(&writer.lost, count);
}

/* Whether there were any. */
static bool
take(void)
{
    size_t count = 0;
    struct ha_trace_event *events =
        ha_collector_take(writer.collector, TAKE_MAX, &count);

    if (events == NULL) {
        return false;
    }
    qsort(events, count, sizeof *events, by_end);
    if (!hold(&writer.held, events, count)) {
        lose(events, count);
    }
    free(events);
    return true;
}

/* ---- writing ---- */

/* Lines of results that wait. */
static uint64_t
count_waiting(void)
{
    const char *at = writer.lines.text, *end = at + writer.lines.used;
    uint64_t count = 0;

    while (at < end) {
        count += !ha_line_is_header(at, (size_t)(end - at));
        at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
    }
    return count;
}

/* Writes what is there, waiting `ms` at most. */
static enum ha_line_state
put(int ms)
{
    enum ha_line_state state = HA_LINES_BROKEN;

    if (!writer.broken) {
        state = ha_line_output_write(&writer.output, &writer.lines, ms);
    }
    if (state == HA_LINES_BROKEN) {
        writer.broken = true;
        atomic_fetch_add(&writer.lost, count_waiting());
        writer.lines.used = 0;
    }
    return state;
}

static void
head(void)
{
    if (!writer.headed) {
        writer.headed = ha_line_header(&writer.lines, &writer.form);
    }
}

static void
add(const struct ha_trace_event *event)
{
    head();
    if (ha_line_event(&writer.lines, &writer.form, event)) {
        atomic_fetch_add(&writer.written, 1);
        free_texts(event, 1);
    } else {
        lose(event, 1);
    }
}

/* Lines for what has ended before `until`, as far as there is room for them. */
static enum ha_line_state
put_lines(uint64_t until, int ms)
{
    struct held *held = &writer.held;
    enum ha_line_state state = HA_LINES_DONE;

    while (held->from < held->count && held->events[held->from].end <= until &&
           writer.lines.used < BACKLOG_BYTES) {
        add(&held->events[held->from++]);
        if (writer.lines.used >= WRITE_BYTES) {
            state = put(state == HA_LINES_WAITS ? 0 : ms);
        }
    }
    return writer.lines.used > 0 ? put(state == HA_LINES_WAITS ? 0 : ms) : state;
}

/* Whether more may come from elsewhere. */
static bool
ask(void)
{
    bool (*more)(void) = atomic_load(&writer.more);

    return more != NULL && more();
}

/* What a turn has found. */
enum found {
    FOUND_NOTHING,
    FOUND_MORE,   /* some of it is held back, or came just now */
    FOUND_CLOSED, /* the output takes nothing just now */
};

/* `flush`: nothing is held back. */
static enum found
turn(bool flush)
{
    pthread_mutex_lock(&writer.turn);
    /* No more than the lines that are waiting: the rings have a bound. */
    bool room = writer.lines.used < BACKLOG_BYTES;
    uint64_t now = ha_events_now();
    bool busy = room && take();
    uint64_t until = flush ? UINT64_MAX : now - HOLD_MS * NS_PER_MS;
    enum ha_line_state state = put_lines(until, TURN_MS);
    busy |= writer.held.from < writer.held.count;
    pthread_mutex_unlock(&writer.turn);
    if (state == HA_LINES_WAITS) {
        return FOUND_CLOSED;
    }
    return busy ? FOUND_MORE : FOUND_NOTHING;
}

/* ---- the thread ---- */

static void
until_in(struct timespec *until, uint64_t ms)
{
    (void)clock_gettime(CLOCK_MONOTONIC, until);
    until->tv_sec += (time_t)(ms / 1000);
    until->tv_nsec += (long)(ms % 1000 * NS_PER_MS);
    if (until->tv_nsec >= 1000000000) {
        until->tv_sec++;
        until->tv_nsec -= 1000000000;
    }
}

/* Needs the lock.  Waits for the next turn: of events that come, or of a request. */
static void
rest(enum found found)
{
    struct timespec until;
    int code = 0;

    until_in(&until, TURN_MS);
    while (code == 0 && !writer.woken &&
           (found == FOUND_CLOSED || writer.requests == writer.replies)) {
        code = found != FOUND_NOTHING
                   ? pthread_cond_timedwait(&writer.asked, &writer.lock, &until)
                   : pthread_cond_wait(&writer.asked, &writer.lock);
    }
    writer.woken = false;
}

/* Before it sleeps it looks once more: who commits an event either sees that it sleeps,
 * or has committed it before. */
static enum found
look(void)
{
    bool more = ask();
    enum found found = turn(false);

    if (!more && found == FOUND_NOTHING) {
        (void)atomic_exchange(&writer.asleep, 1U);
        more = ask();
        found = turn(false);
    }
    return more && found == FOUND_NOTHING ? FOUND_MORE : found;
}

static void *
run(void *unused)
{
    ha_log_own_thread();
    for (;;) {
        pthread_mutex_lock(&writer.lock);
        uint64_t request = writer.requests;
        bool asked = request != writer.replies;
        pthread_mutex_unlock(&writer.lock);
        if (asked) {
            (void)ask();
        }
        enum found found = asked ? turn(true) : look();
        /* A request is done when a turn finds nothing. */
        pthread_mutex_lock(&writer.lock);
        if (asked && found == FOUND_NOTHING) {
            writer.replies = request;
            pthread_cond_broadcast(&writer.answered);
        } else if (!asked || found == FOUND_CLOSED) {
            rest(found);
        }
        atomic_store(&writer.asleep, 0U);
        pthread_mutex_unlock(&writer.lock);
    }
    return unused;
}

static void
writer_init(void)
{
    pthread_condattr_t attributes;

    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&writer.asked, &attributes);
    (void)pthread_cond_init(&writer.answered, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

enum ha_status
ha_line_writer_start(struct ha_collector *collector)
{
    enum ha_status status = HA_OK;
    pthread_t thread;

    (void)pthread_once(&writer_once, writer_init);
    pthread_mutex_lock(&writer.lock);
    if (!writer.started) {
        writer.collector = collector;
        writer.form.clock = ha_clock_bridge_measure();
        status = ha_thread_start(&thread, "hipadapt-lines", run, NULL);
        writer.started = status == HA_OK;
        if (writer.started) {
            (void)pthread_detach(thread);
        }
    }
    pthread_mutex_unlock(&writer.lock);
    return status;
}

void
ha_line_writer_wake(void)
{
    /* It reads and writes, so that it comes before the thread's own write or after. */
    if (atomic_fetch_or(&writer.asleep, 0U) != 0) {
        pthread_mutex_lock(&writer.lock);
        writer.woken = true;
        pthread_cond_signal(&writer.asked);
        pthread_mutex_unlock(&writer.lock);
    }
}

void
ha_line_writer_put(const struct ha_trace_event *made)
{
    struct ha_ring *ring;
    struct ha_trace_event *event = ha_ring_reserve(writer.collector, &ring);

    if (event == NULL) {
        free_texts(made, 1);
        return;
    }
    *event = *made;
    ha_ring_commit(ring);
    ha_line_writer_wake();
}

void
ha_line_writer_lose(uint64_t count)
{
    atomic_fetch_add(&writer.lost, count);
}

void
ha_line_writer_ask(bool (*more)(void))
{
    atomic_store(&writer.more, more);
}

/* ---- others ---- */

bool
ha_line_writer_flush(unsigned ms)
{
    struct timespec until;
    int code = 0;

    (void)pthread_once(&writer_once, writer_init);
    until_in(&until, ms);
    pthread_mutex_lock(&writer.lock);
    uint64_t request = writer.started ? ++writer.requests : 0;
    pthread_cond_signal(&writer.asked);
    while (writer.replies < request && code == 0) {
        code = pthread_cond_timedwait(&writer.answered, &writer.lock, &until);
    }
    bool done = writer.replies >= request;
    pthread_mutex_unlock(&writer.lock);
    return done;
}

enum ha_status
ha_line_writer_to(const char *path, bool timestamp)
{
    struct ha_line_output output;

    ha_line_output_standard(&output);
    enum ha_status status = path != NULL ? ha_line_output_open(&output, path) : HA_OK;
    if (status != HA_OK) {
        return status;
    }
    (void)ha_line_writer_flush(1000);
    pthread_mutex_lock(&writer.turn);
    atomic_store(&writer.directed, true);
    bool same = path == NULL && writer.output.fd == output.fd && !writer.broken;
    /* A header line names the columns of those that follow. */
    writer.headed = writer.headed && same && writer.form.timestamp == timestamp;
    ha_line_output_close(&writer.output);
    writer.output = output;
    writer.form.timestamp = timestamp;
    writer.broken = false;
    pthread_mutex_unlock(&writer.turn);
    return HA_OK;
}

enum ha_status
ha_line_writer_first(const char *path, bool timestamp)
{
    return atomic_load(&writer.directed) ? HA_OK : ha_line_writer_to(path, timestamp);
}

struct ha_line_counts
ha_line_writer_count(void)
{
    struct ha_collector_state state = {.lost = 0};

    if (writer.collector != NULL) {
        ha_collector_look(writer.collector, &state);
    }
    uint64_t lost = atomic_load(&writer.lost) + state.lost;
    uint64_t made = atomic_load(&writer.written);
    return (struct ha_line_counts){made, lost};
}

/* What has not become a line by now never will. */
static void
drop_rest(void)
{
    struct held *held = &writer.held;
    struct ha_trace_event *events;
    size_t count;

    lose(held->events + held->from, held->count - held->from);
    held->from = held->count;
    while ((events = ha_collector_take(writer.collector, TAKE_MAX, &count)) != NULL) {
        lose(events, count);
        free(events);
    }
}

void
ha_line_writer_end(unsigned ms)
{
    struct ha_line_counts counts;

    if (!writer.started) {
        return;
    }
    (void)ha_line_writer_flush(ms);
    pthread_mutex_lock(&writer.turn);
    drop_rest();
    counts = ha_line_writer_count();
    counts.lost += count_waiting();
    if (counts.lost > 0 && !writer.ended) {
        writer.ended = true;
        ha_log(1, "HIPADAPT_VERBOSE: %llu lines were lost",
               (unsigned long long)counts.lost);
        head();
        (void)ha_line_lost(&writer.lines, counts.lost);
        (void)put(TURN_MS);
    }
    pthread_mutex_unlock(&writer.turn);
}

void
ha_line_writer_forked(void)
{
    (void)pthread_mutex_init(&writer.lock, NULL);
    (void)pthread_mutex_init(&writer.turn, NULL);
    writer_init();
    writer.started = false;
    writer.collector = NULL; /* rings of a child take nothing */
}
