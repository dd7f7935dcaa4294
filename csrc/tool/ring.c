/* SPDX-License-Identifier: MIT */
#include "tool/ring.h"

#include <stdlib.h>
#include <string.h>

#include "tool/bell.h"

enum { SPARE_MAX = 64 };

struct ha_chunk {
    _Atomic(struct ha_chunk *) next; /* set by the writer when this one is full */
    _Atomic uint32_t used;           /* events that the reader may see */
    uint32_t taken;                  /* the reader's */
    uint32_t room;                   /* of `events` */
    bool through;                    /* the reader's: it counts as full no longer */
    struct ha_trace_event events[];
};

struct ha_ring {
    struct ha_collector *collector;
    struct ha_ring *next;  /* under the collector's lock */
    struct ha_chunk *head; /* the reader's */
    struct ha_chunk *tail; /* the writer's */
    _Atomic bool done;     /* its thread has ended */
};

/* The rings of a thread, by collector. */
struct thread {
    struct ha_ring *rings[HA_COLLECTORS_MAX];
};

static _Atomic(struct ha_collector *) collectors[HA_COLLECTORS_MAX];
static pthread_key_t own_key; /* struct thread *, freed at the end of the thread */
static pthread_once_t own_once = PTHREAD_ONCE_INIT;
static atomic_bool own_ready;
static atomic_bool forked;

/* ---- writing ---- */

static void
thread_ended(void *pointer)
{
    struct thread *thread = pointer;

    for (int i = 0; i < HA_COLLECTORS_MAX; i++) {
        if (thread->rings[i] != NULL) {
            atomic_store_explicit(&thread->rings[i]->done, true, memory_order_release);
        }
    }
    free(thread);
}

static void
own_init(void)
{
    if (pthread_key_create(&own_key, thread_ended) == 0) {
        atomic_store_explicit(&own_ready, true, memory_order_release);
    }
}

/* The rings of this thread; NULL where it has none. */
static struct thread *
own_find(void)
{
    return atomic_load_explicit(&own_ready, memory_order_acquire)
               ? pthread_getspecific(own_key)
               : NULL;
}

/* The same, made where there are none; NULL without memory. */
static struct thread *
own_make(void)
{
    (void)pthread_once(&own_once, own_init);
    struct thread *own = own_find();
    if (own != NULL || !atomic_load(&own_ready)) {
        return own;
    }
    own = calloc(1, sizeof *own);
    if (own != NULL && pthread_setspecific(own_key, own) != 0) {
        free(own);
        own = NULL;
    }
    return own;
}

/* A chunk that counts as in use; NULL beyond the limit and without memory. */
static struct ha_chunk *
chunk_new(struct ha_collector *collector)
{
    uint32_t room = atomic_load_explicit(&collector->room, memory_order_relaxed);
    struct ha_chunk *chunk = NULL;

    if (atomic_fetch_add(&collector->kept, room) + room >
        atomic_load_explicit(&collector->limit, memory_order_relaxed)) {
        atomic_fetch_sub(&collector->kept, room);
        return NULL;
    }
    pthread_mutex_lock(&collector->lock);
    if (collector->spare != NULL) {
        chunk = collector->spare;
        collector->spare = atomic_load_explicit(&chunk->next, memory_order_relaxed);
        collector->spare_count--;
    }
    pthread_mutex_unlock(&collector->lock);
    if (chunk != NULL && chunk->room != room) { /* of another limit */
        free(chunk);
        chunk = NULL;
    }
    if (chunk == NULL) {
        chunk = malloc(sizeof *chunk + room * sizeof *chunk->events);
    }
    if (chunk == NULL) {
        atomic_fetch_sub(&collector->kept, room);
        return NULL;
    }
    atomic_init(&chunk->next, NULL);
    atomic_init(&chunk->used, 0);
    chunk->taken = 0;
    chunk->room = room;
    chunk->through = false;
    return chunk;
}

/* Needs the collector's lock. */
static void
chunk_drop(struct ha_collector *collector, struct ha_chunk *chunk)
{
    atomic_fetch_sub(&collector->kept, chunk->room);
    if (collector->spare_count < SPARE_MAX) {
        atomic_store_explicit(&chunk->next, collector->spare, memory_order_relaxed);
        collector->spare = chunk;
        collector->spare_count++;
    } else {
        free(chunk);
    }
}

static struct ha_ring *
ring_new(struct ha_collector *collector)
{
    struct thread *own = own_make();
    if (own == NULL) {
        return NULL;
    }
    struct ha_ring *ring = calloc(1, sizeof *ring);
    struct ha_chunk *chunk = ring != NULL ? chunk_new(collector) : NULL;
    if (chunk == NULL) {
        free(ring);
        return NULL;
    }
    ring->collector = collector;
    ring->head = ring->tail = chunk;
    pthread_mutex_lock(&collector->lock);
    ring->next = collector->rings;
    collector->rings = ring;
    pthread_mutex_unlock(&collector->lock);
    own->rings[collector->number] = ring;
    return ring;
}

/* Another chunk behind a full one. */
static struct ha_chunk *
ring_grow(struct ha_ring *ring)
{
    struct ha_collector *collector = ring->collector;
    struct ha_chunk *chunk = chunk_new(collector);

    if (chunk != NULL) {
        atomic_store_explicit(&ring->tail->next, chunk, memory_order_release);
        ring->tail = chunk;
    }
    return chunk;
}

struct ha_trace_event *
ha_ring_reserve(struct ha_collector *collector, struct ha_ring **found)
{
    const struct thread *own = own_find();
    struct ha_ring *ring = own != NULL ? own->rings[collector->number] : NULL;

    if (atomic_load_explicit(&forked, memory_order_relaxed)) {
        return NULL;
    }
    if (ring == NULL) {
        ring = ring_new(collector);
    }
    struct ha_chunk *chunk = ring != NULL ? ring->tail : NULL;
    if (chunk != NULL &&
        atomic_load_explicit(&chunk->used, memory_order_acquire) == chunk->room) {
        chunk = ring_grow(ring);
    }
    if (chunk == NULL) {
        atomic_fetch_add(&collector->lost, 1);
        ha_bell_wake();
        return NULL;
    }
    *found = ring;
    /* What the reader has emptied it has read before. */
    return &chunk->events[atomic_load_explicit(&chunk->used, memory_order_acquire)];
}

void
ha_ring_commit(struct ha_ring *ring)
{
    struct ha_chunk *chunk = ring->tail;
    struct ha_collector *collector = ring->collector;
    uint32_t used = atomic_load_explicit(&chunk->used, memory_order_relaxed) + 1;

    if (used < chunk->room) {
        atomic_store_explicit(&chunk->used, used, memory_order_release);
        return;
    }
    /* Before the reader can take them off again. */
    uint64_t full = atomic_fetch_add(&collector->full, chunk->room) + chunk->room;
    atomic_store_explicit(&chunk->used, used, memory_order_release);
    if (full >= collector->watermark) {
        ha_bell_wake();
    }
}

/* ---- reading ---- */

static struct ha_ring *
first_ring(struct ha_collector *collector)
{
    pthread_mutex_lock(&collector->lock);
    struct ha_ring *ring = collector->rings;
    pthread_mutex_unlock(&collector->lock);
    return ring;
}

static size_t
count_events(struct ha_ring *ring)
{
    size_t count = 0;

    for (; ring != NULL; ring = ring->next) {
        for (const struct ha_chunk *chunk = ring->head; chunk != NULL;
             chunk = atomic_load_explicit(&chunk->next, memory_order_acquire)) {
            count +=
                atomic_load_explicit(&chunk->used, memory_order_acquire) - chunk->taken;
        }
    }
    return count;
}

/* Every event of the chunk was taken.  The last one of its ring is emptied, so that the
 * writer goes on where there is no room for another. */
static void
chunk_through(struct ha_collector *collector, struct ha_chunk *chunk, bool last)
{
    if (!chunk->through) {
        chunk->through = true;
        atomic_fetch_sub(&collector->full, chunk->room);
    }
    if (last) {
        chunk->taken = 0;
        chunk->through = false;
        atomic_store_explicit(&chunk->used, 0, memory_order_release);
    }
}

/* Copies up to `max` events of a ring and lets go of chunks that are through.  A chunk
 * with another behind it is written no more, whether it is full or not. */
static size_t
take_ring(struct ha_ring *ring, struct ha_trace_event *events, size_t max)
{
    struct ha_collector *collector = ring->collector;
    size_t count = 0;

    for (;;) {
        struct ha_chunk *chunk = ring->head;
        struct ha_chunk *next =
            atomic_load_explicit(&chunk->next, memory_order_acquire);
        uint32_t used = atomic_load_explicit(&chunk->used, memory_order_acquire);
        size_t here = used - chunk->taken;
        here = here < max - count ? here : max - count;
        memcpy(events + count, chunk->events + chunk->taken, here * sizeof *events);
        chunk->taken += (uint32_t)here;
        count += here;
        if (chunk->taken == chunk->room) {
            chunk_through(collector, chunk, next == NULL);
        }
        if (next == NULL || chunk->taken < used) {
            return count;
        }
        ring->head = next;
        pthread_mutex_lock(&collector->lock);
        chunk_drop(collector, chunk);
        pthread_mutex_unlock(&collector->lock);
    }
}

/* Frees rings whose threads have ended and whose events were taken. */
static void
drop_rings(struct ha_collector *collector)
{
    pthread_mutex_lock(&collector->lock);
    for (struct ha_ring **link = &collector->rings; *link != NULL;) {
        struct ha_ring *ring = *link;
        bool done = atomic_load_explicit(&ring->done, memory_order_acquire);
        struct ha_chunk *chunk = ring->head;
        if (done && atomic_load(&chunk->next) == NULL &&
            chunk->taken == atomic_load(&chunk->used)) {
            chunk_drop(collector, chunk);
            *link = ring->next;
            free(ring);
        } else {
            link = &ring->next;
        }
    }
    pthread_mutex_unlock(&collector->lock);
}

struct ha_trace_event *
ha_collector_take(struct ha_collector *collector, size_t max, size_t *taken)
{
    struct ha_trace_event *events = NULL;
    size_t count = 0;

    *taken = 0;
    if (atomic_load(&forked)) {
        return NULL;
    }
    pthread_mutex_lock(&collector->reading);
    struct ha_ring *rings = first_ring(collector);
    size_t there = count_events(rings);
    there = there < max ? there : max;
    if (there > 0) {
        events = malloc(there * sizeof *events);
        *taken = there;
    }
    /* Rings that come meanwhile stand before `rings`. */
    for (struct ha_ring *ring = rings; ring != NULL && events != NULL && count < there;
         ring = ring->next) {
        count += take_ring(ring, events + count, there - count);
    }
    if (events != NULL) {
        *taken = count;
    }
    drop_rings(collector);
    pthread_mutex_unlock(&collector->reading);
    return events;
}

/* ---- collectors ---- */

static uint32_t
least(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

static void
collector_free(struct ha_collector *collector)
{
    (void)pthread_mutex_destroy(&collector->reading);
    (void)pthread_mutex_destroy(&collector->lock);
    free(collector);
}

/* False: all of them are taken. */
static bool
take_number(struct ha_collector *collector)
{
    for (unsigned i = 0; i < HA_COLLECTORS_MAX; i++) {
        struct ha_collector *none = NULL;
        collector->number = i;
        if (atomic_compare_exchange_strong(&collectors[i], &none, collector)) {
            return true;
        }
    }
    return false;
}

struct ha_collector *
ha_collector_new(uint32_t watermark, uint64_t limit, bool arguments)
{
    struct ha_collector *collector = calloc(1, sizeof *collector);

    if (collector == NULL) {
        return NULL;
    }
    if (pthread_mutex_init(&collector->lock, NULL) != 0) {
        free(collector);
        return NULL;
    }
    if (pthread_mutex_init(&collector->reading, NULL) != 0) {
        pthread_mutex_destroy(&collector->lock);
        free(collector);
        return NULL;
    }
    collector->arguments = arguments;
    collector->watermark = watermark;
    ha_collector_limit(collector, limit);
    if (!take_number(collector)) {
        collector_free(collector);
        return NULL;
    }
    return collector;
}

void
ha_collector_limit(struct ha_collector *collector, uint64_t limit)
{
    uint32_t mark = collector->watermark;

    atomic_store(&collector->limit, limit);
    atomic_store(&collector->room,
                 least(mark < limit ? mark : limit, HA_CHUNK_EVENTS_MAX));
}

void
ha_collector_give(struct ha_collector *collector)
{
    collector->given = true;
}

void
ha_collector_drop(struct ha_collector *collector)
{
    if (collector->given) {
        return;
    }
    atomic_store(&collectors[collector->number], NULL);
    collector_free(collector);
}

void
ha_collector_look(struct ha_collector *collector, struct ha_collector_state *state)
{
    *state = (struct ha_collector_state){
        .arguments = collector->arguments,
        .due = atomic_load(&collector->full) >= collector->watermark,
        .watermark = collector->watermark,
        .limit = atomic_load(&collector->limit),
        .lost = atomic_load(&collector->lost),
        .open = atomic_load(&collector->open),
    };
}

void
ha_rings_forked(void)
{
    atomic_store(&forked, true);
    for (unsigned i = 0; i < HA_COLLECTORS_MAX; i++) {
        struct ha_collector *collector = atomic_load(&collectors[i]);
        if (collector != NULL) {
            (void)pthread_mutex_init(&collector->lock, NULL);
            (void)pthread_mutex_init(&collector->reading, NULL);
        }
    }
}
