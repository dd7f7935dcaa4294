/* SPDX-License-Identifier: MIT */
#include "cpu/queue/ticket.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include "core/clock.h"
#include "core/log.h"
#include "cpu/queue/pool.h"

#define POLL_NS 20000
#define OFFSET_CHANGE_NS UINT64_C(1000000)

enum { OFFSET_PAIRS = 8 };

/* ---- the sink ---- */

_Atomic unsigned ha_activity_wanted;

static const struct ha_activity_sink *_Atomic current_sink;

const struct ha_activity_sink *
ha_activity_current(void)
{
    return atomic_load_explicit(&current_sink, memory_order_acquire);
}

unsigned
ha_activity_set(const struct ha_activity_sink *sink, unsigned wanted)
{
    atomic_store(&current_sink, sink); /* first: who finds a bit set calls it */
    return atomic_exchange(&ha_activity_wanted, wanted);
}

/* Reads both clocks; a thread may be stopped between them, so the narrowest of some
 * pairs tells how far they are apart. */
static uint64_t
measure_offset(void)
{
    uint64_t narrowest = UINT64_MAX, offset = 0;

    for (int i = 0; i < OFFSET_PAIRS; i++) {
        struct timespec now;
        uint64_t before = ha_clock_ns();
        (void)clock_gettime(CLOCK_BOOTTIME, &now); /* can't fail for this clock */
        uint64_t width = ha_clock_ns() - before;
        if (width < narrowest) {
            narrowest = width;
            offset = (uint64_t)now.tv_sec * UINT64_C(1000000000) +
                     (uint64_t)now.tv_nsec - before - width / 2;
        }
    }
    return offset;
}

/* The profiler's clock also counts while the machine sleeps.  One offset serves until
 * that happens: work must not seem to start before its launch. */
static uint64_t
boot_time(uint64_t clock_ns)
{
    static _Atomic uint64_t known;
    struct timespec now;

    if (clock_ns == 0) {
        return 0;
    }
    (void)clock_gettime(CLOCK_BOOTTIME, &now); /* can't fail for this clock */
    uint64_t boot = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
    uint64_t offset = atomic_load(&known);
    uint64_t off_by = boot - ha_clock_ns() - offset + OFFSET_CHANGE_NS;
    if (off_by > 2 * OFFSET_CHANGE_NS) {
        offset = measure_offset();
        uint64_t moved = offset - atomic_load(&known) + OFFSET_CHANGE_NS;
        if (moved > 2 * OFFSET_CHANGE_NS) {
            atomic_store(&known, offset);
        } else {
            offset = atomic_load(&known);
        }
    }
    return clock_ns + offset;
}

/* ---- operations ---- */

typedef void ticket_ended(void *tool, uint64_t start, uint64_t end,
                          enum ha_activity_status status);

struct ha_ticket {
    struct ha_deferred deferred;
    void *tool; /* the sink's own ticket */
    ticket_ended *end;
    uint64_t begin_ns;
    uint64_t end_ns;
    uint64_t form; /* of a launch, or 0 */
    enum ha_activity_status status;
    unsigned turn; /* the count that it is in */
};

_Static_assert(offsetof(struct ha_ticket, deferred) == 0, "cast in ticket_close");

/* The sink hears of an end after the operation's queue has gone on, so a thread that
 * waits for the queue may be ahead of it.  Tickets that have ended and that the sink
 * has not heard of are counted in turns: a thread that waits for them begins another
 * turn, and so does not wait for those that come meanwhile. */
static _Atomic unsigned turn;
static _Atomic unsigned open_ends[2];
static _Thread_local bool in_sink;
static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER; /* one waits at a time */

static void
ticket_close(struct ha_deferred *deferred)
{
    struct ha_ticket *ticket = (struct ha_ticket *)(void *)deferred;
    uint64_t end = boot_time(ticket->end_ns);
    uint64_t start = end - (ticket->end_ns - ticket->begin_ns);
    bool before = in_sink;

    in_sink = true;
    if (ticket->form != 0) {
        ha_activity_current()->dispatch_form(ticket->tool, ticket->form);
    }
    ticket->end(ticket->tool, start, end, ticket->status);
    in_sink = before;
    atomic_fetch_sub(&open_ends[ticket->turn], 1);
    free(ticket);
}

void
ha_tickets_wait(uint64_t limit_ns)
{
    const struct timespec pause = {.tv_nsec = POLL_NS};
    uint64_t begin_ns = ha_clock_ns();

    if (in_sink || atomic_load(&open_ends[0]) + atomic_load(&open_ends[1]) == 0) {
        return; /* a tool that waits within the sink would wait for itself */
    }
    pthread_mutex_lock(&turn_lock);
    unsigned old = atomic_load(&turn);
    atomic_store(&turn, !old);
    while (atomic_load(&open_ends[old]) != 0 && ha_clock_ns() - begin_ns < limit_ns) {
        (void)nanosleep(&pause, NULL);
    }
    pthread_mutex_unlock(&turn_lock);
}

void
ha_ticket_after_fork_child(void)
{
    atomic_store(&open_ends[0], 0); /* they end in the parent */
    atomic_store(&open_ends[1], 0);
    in_sink = false;
    (void)pthread_mutex_init(&turn_lock, NULL);
}

static void
ticket_count(struct ha_ticket *ticket)
{
    ticket->turn = atomic_load(&turn);
    atomic_fetch_add(&open_ends[ticket->turn], 1);
}

static struct ha_ticket *
ticket_new(void *tool, ticket_ended *end)
{
    struct ha_ticket *ticket = tool != NULL ? malloc(sizeof *ticket) : NULL;

    if (ticket != NULL) {
        *ticket = (struct ha_ticket){
            .deferred = {.destroy = ticket_close}, .tool = tool, .end = end};
    } else if (tool != NULL) {
        end(tool, 0, 0, HA_ACTIVITY_CANCELLED);
    }
    return ticket;
}

struct ha_ticket *
ha_ticket_dispatch(const struct ha_activity_dispatch *dispatch)
{
    const struct ha_activity_sink *sink = ha_activity_current();

    return ticket_new(sink->dispatch_begin(dispatch), sink->dispatch_end);
}

struct ha_ticket *
ha_ticket_copy(const struct ha_activity_copy *copy)
{
    const struct ha_activity_sink *sink = ha_activity_current();

    return ticket_new(sink->copy_begin(copy), sink->copy_end);
}

struct ha_ticket *
ha_ticket_host(const struct ha_activity_host *host)
{
    const struct ha_activity_sink *sink = ha_activity_current();

    return ticket_new(sink->host_begin(host), sink->host_end);
}

void
ha_ticket_form(struct ha_ticket *ticket, uint64_t form)
{
    if (ticket != NULL) {
        ticket->form = form;
    }
}

void
ha_tickets_together(bool begins)
{
    const struct ha_activity_sink *sink = ha_activity_current();

    if (sink != NULL) {
        sink->together(begins);
    }
}

void
ha_ticket_end(struct ha_ticket *ticket, uint64_t begin_ns, uint64_t end_ns,
              enum ha_activity_status status)
{
    if (ticket != NULL) {
        ticket->begin_ns = begin_ns;
        ticket->status = status;
        ticket->end_ns = begin_ns != 0 ? end_ns : 0;
        ticket_count(ticket);
        ha_pool_defer(&ticket->deferred);
    }
}

void
ha_ticket_drop(struct ha_ticket *ticket)
{
    if (ticket != NULL) {
        ticket->status = HA_ACTIVITY_CANCELLED;
        ticket_count(ticket);
        ticket_close(&ticket->deferred);
    }
}

/* ---- what is over at once ---- */

void
ha_activity_memory(enum ha_activity_memory operation, int device, const void *address,
                   size_t bytes, uint64_t begin_ns)
{
    if (ha_activity_wants(HA_WANT_MEMORY)) {
        uint64_t end = boot_time(ha_clock_ns());
        ha_activity_current()->memory(operation, device, address, bytes,
                                      boot_time(begin_ns), end);
    }
}

struct memory_report {
    struct ha_deferred deferred;
    enum ha_activity_memory operation;
    int device;
    const void *address;
    size_t bytes;
    uint64_t start;
    uint64_t end;
};

_Static_assert(offsetof(struct memory_report, deferred) == 0, "cast in memory_report");

static void
memory_report(struct ha_deferred *deferred)
{
    struct memory_report *report = (struct memory_report *)(void *)deferred;

    if (ha_activity_wants(HA_WANT_MEMORY)) {
        ha_activity_current()->memory(report->operation, report->device,
                                      report->address, report->bytes, report->start,
                                      report->end);
    }
    free(report);
}

void
ha_activity_memory_defer(enum ha_activity_memory operation, int device,
                         const void *address, size_t bytes, uint64_t begin_ns)
{
    if (!ha_activity_wants(HA_WANT_MEMORY)) {
        return;
    }
    struct memory_report *report = malloc(sizeof *report);
    if (report == NULL) {
        ha_log(1, "no memory to trace an allocation: it is left out");
        return;
    }
    *report = (struct memory_report){
        .deferred = {.destroy = memory_report},
        .operation = operation,
        .device = device,
        .address = address,
        .bytes = bytes,
        .start = boot_time(begin_ns),
        .end = boot_time(ha_clock_ns()),
    };
    ha_pool_defer(&report->deferred);
}

void
ha_activity_stream(enum ha_activity_stream operation, hipStream_t stream)
{
    if (ha_activity_wants(HA_WANT_STREAM)) {
        ha_activity_current()->stream(operation, (uint64_t)(uintptr_t)stream, stream);
    }
}
