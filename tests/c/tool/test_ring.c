/* SPDX-License-Identifier: MIT */
/* Rings of events: many writers, one reader, and no lock of an interpreter. */
/* sources: core tool/ring tool/bell */
#include "check.h"
#include "tool/ring.h"

#include <sys/wait.h>
#include <unistd.h>

enum {
    THREADS = 8,
    EACH = HA_COLLECTORS_MAX / THREADS,
    EVENTS = 10000,
    ROUNDS = 100,
};

static struct ha_collector *made[HA_COLLECTORS_MAX];
static pthread_barrier_t start;

static void *
make_some(void *first)
{
    struct ha_collector **mine = first;

    pthread_barrier_wait(&start);
    for (int i = 0; i < EACH; i++) {
        mine[i] = ha_collector_new(1, 1, false);
    }
    return NULL;
}

static void
test_collectors_of_threads_have_numbers_of_their_own(void)
{
    pthread_t threads[THREADS];
    bool seen[HA_COLLECTORS_MAX] = {false};

    CHECK_EQUAL(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++) {
        CHECK_EQUAL(pthread_create(&threads[i], NULL, make_some, &made[i * EACH]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
    }

    CHECK(ha_collector_new(1, 1, false) == NULL);
    for (int i = 0; i < HA_COLLECTORS_MAX; i++) {
        CHECK(made[i] != NULL);
        CHECK(!seen[made[i]->number]);
        seen[made[i]->number] = true;
    }
    for (int i = 0; i < HA_COLLECTORS_MAX; i++) {
        ha_collector_drop(made[i]);
    }
    CHECK_EQUAL(pthread_barrier_destroy(&start), 0);
}

static bool
put(struct ha_collector *collector, uint64_t number)
{
    struct ha_ring *ring = NULL;
    struct ha_trace_event *event = ha_ring_reserve(collector, &ring);

    if (event == NULL) {
        return false;
    }
    *event = (struct ha_trace_event){.correlation = number};
    ha_ring_commit(ring);
    return true;
}

static void *
write_events(void *collector)
{
    for (uint64_t i = 1; i <= EVENTS; i++) {
        CHECK(put(collector, i));
    }
    return NULL;
}

static void
test_reader_has_all_events_of_a_thread_in_order(void)
{
    struct ha_collector *collector = ha_collector_new(64, UINT32_MAX, false);
    pthread_t writer;
    uint64_t last = 0;

    CHECK_EQUAL(pthread_create(&writer, NULL, write_events, collector), 0);
    while (last < EVENTS) {
        size_t count = 0;
        struct ha_trace_event *events = ha_collector_take(collector, 100, &count);
        for (size_t i = 0; i < count; i++) {
            CHECK_EQUAL(events[i].correlation, ++last);
        }
        free(events);
    }
    CHECK_EQUAL(pthread_join(writer, NULL), 0);
    ha_collector_drop(collector);
}

/* Writes as many events as there are offers; those that found no room are lost. */
static void *
offer_events(void *collector)
{
    for (uint64_t i = 1; i <= EVENTS; i++) {
        (void)put(collector, i);
    }
    return NULL;
}

/* The reader empties the only chunk there is, and the writer goes on in it. */
static void *
fill_and_take(void *argument)
{
    struct ha_collector *collector = argument;
    size_t count = 0;

    for (uint64_t i = 1; i <= ROUNDS; i++) {
        CHECK(put(collector, i));
        CHECK(put(collector, i) && !put(collector, i));
        struct ha_trace_event *events = ha_collector_take(collector, SIZE_MAX, &count);
        CHECK_EQUAL(count, 2);
        CHECK_EQUAL(events[0].correlation, i);
        free(events);
    }
    ha_collector_limit(collector, 1000);
    for (uint64_t i = 0; i < 500; i++) {
        CHECK(put(collector, i));
    }
    return NULL;
}

static void
test_room_for_two_is_used_again(void)
{
    struct ha_collector *collector = ha_collector_new(4096, 2, false);
    pthread_t writer; /* whose ring goes with it */

    CHECK_EQUAL(pthread_create(&writer, NULL, fill_and_take, collector), 0);
    CHECK_EQUAL(pthread_join(writer, NULL), 0);
    ha_collector_drop(collector);
}

static void
test_what_is_offered_is_taken_or_lost(void)
{
    struct ha_collector *collector = ha_collector_new(4096, 2, false);
    struct ha_collector_state state;
    pthread_t writers[THREADS];
    uint64_t taken = 0;
    size_t count = 1;

    for (int i = 0; i < THREADS; i++) {
        CHECK_EQUAL(pthread_create(&writers[i], NULL, offer_events, collector), 0);
    }
    do {
        free(ha_collector_take(collector, 100, &count));
        taken += count;
        ha_collector_look(collector, &state);
    } while (taken + state.lost < THREADS * EVENTS);
    for (int i = 0; i < THREADS; i++) {
        CHECK_EQUAL(pthread_join(writers[i], NULL), 0);
    }
    free(ha_collector_take(collector, 100, &count));
    ha_collector_look(collector, &state);
    CHECK_EQUAL(taken + count + state.lost, THREADS * EVENTS);
    ha_collector_drop(collector);
}

static void
test_events_beyond_the_limit_are_counted(void)
{
    struct ha_collector *collector = ha_collector_new(4, 8, false);
    struct ha_collector_state state;
    size_t count = 0;

    for (uint64_t i = 0; i < 11; i++) {
        CHECK_EQUAL(put(collector, i), i < 8);
    }

    ha_collector_look(collector, &state);
    CHECK_EQUAL(state.lost, 3);
    CHECK(state.due);
    CHECK_EQUAL(state.watermark, 4);
    CHECK_EQUAL(state.limit, 8);
    free(ha_collector_take(collector, SIZE_MAX, &count));
    CHECK_EQUAL(count, 8);
    ha_collector_look(collector, &state);
    CHECK(!state.due);
}

static void
test_collector_that_was_given_stays(void)
{
    struct ha_collector *collector = ha_collector_new(1, 1, false);
    size_t count = 0;

    ha_collector_give(collector);
    ha_collector_drop(collector);

    CHECK(put(collector, 7));
    free(ha_collector_take(collector, SIZE_MAX, &count));
    CHECK_EQUAL(count, 1);
}

static void
test_forked_child_has_no_room_and_does_not_wait(void)
{
    struct ha_collector *collector = ha_collector_new(1, 8, false);
    size_t count = 1;
    int status = -1;

    CHECK(put(collector, 1));
    pthread_mutex_lock(&collector->lock);
    pthread_mutex_lock(&collector->reading);
    pid_t child = fork();
    if (child == 0) {
        ha_rings_forked();
        CHECK(!put(collector, 2));
        CHECK(ha_collector_take(collector, SIZE_MAX, &count) == NULL);
        CHECK_EQUAL(count, 0);
        _exit(pthread_mutex_trylock(&collector->lock));
    }
    pthread_mutex_unlock(&collector->reading);
    pthread_mutex_unlock(&collector->lock);

    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
}

int
main(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        test_collectors_of_threads_have_numbers_of_their_own();
    }
    test_reader_has_all_events_of_a_thread_in_order();
    test_room_for_two_is_used_again();
    test_what_is_offered_is_taken_or_lost();
    test_events_beyond_the_limit_are_counted();
    test_collector_that_was_given_stays();
    test_forked_child_has_no_room_and_does_not_wait();
    return 0;
}
