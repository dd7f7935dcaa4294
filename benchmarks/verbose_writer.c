/* SPDX-License-Identifier: MIT */
/* How fast verbose lines are written: events of kernels, as the profiler's library
 * gives them, through the rings and the thread that writes.
 *
 *     verbose_writer FILE LINES
 *
 * prints the seconds from the first event to the last line.  Events come as fast as
 * there is room for them. */
#include "tool/events.h"
#include "tool/name.h"
#include "tool/ring.h"
#include "tool/verbose/kinds.h"
#include "tool/verbose/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    WATERMARK = 4096,
    ROOM = 1 << 17,
    FLUSH_MS = 60000,
    LOOK_EVENTS = 1024,
    NAMES = 100
};

static double
now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void
need(enum ha_status status)
{
    if (status != HA_OK) {
        fprintf(stderr, "verbose_writer: %s\n", ha_error_text());
        exit(1);
    }
}

/* As a program waits for its device: no event is lost. */
static void
wait_for_room(uint64_t made)
{
    const struct timespec pause = {.tv_nsec = 100000};

    while (made - ha_line_writer_count().written > ROOM / 2) {
        (void)nanosleep(&pause, NULL);
    }
}

static void
make_names(void)
{
    char text[64];

    for (unsigned i = 0; i < NAMES; i++) {
        (void)snprintf(text, sizeof text, "void scale<float, %u>(float*, int)", i);
        ha_kernel_name_set(1 + i, ha_name_of(text));
    }
}

static void
make(uint64_t i)
{
    uint64_t at = ha_events_now();
    const struct ha_trace_event event = {
        .kind = HA_VERBOSE_KERNEL,
        .object = 1 + i % NAMES,
        .correlation = i + 1,
        .thread = 4711,
        .device = 0,
        .stream = i % 4,
        .start = at - 2821,
        .end = at,
        .grid = {262144, 1, 1},
        .block = {256, 1, 1},
        .shared = 4096,
    };

    ha_line_writer_put(&event);
}

int
main(int count, char **words)
{
    if (count != 3) {
        fprintf(stderr, "verbose_writer FILE LINES\n");
        return 2;
    }
    uint64_t lines = strtoull(words[2], NULL, 10);
    struct ha_collector *collector = ha_collector_new(WATERMARK, ROOM, false);
    if (collector == NULL) {
        need(ha_error_set(HA_ERROR_MEMORY, "no memory"));
    }
    make_names();
    need(ha_line_writer_to(words[1], false));
    need(ha_line_writer_start(collector));
    double begin = now();
    for (uint64_t i = 0; i < lines; i++) {
        if (i % LOOK_EVENTS == 0) {
            wait_for_room(i);
        }
        make(i);
    }
    if (!ha_line_writer_flush(FLUSH_MS)) {
        need(ha_error_set(HA_ERROR_SYSTEM, "the lines are not written in time"));
    }
    if (ha_line_writer_count().lost > 0) {
        need(ha_error_set(HA_ERROR_SYSTEM, "lines were lost"));
    }
    printf("%.6f\n", now() - begin);
    return 0;
}
