/* SPDX-License-Identifier: MIT */
#include "tool/debug/watch.h"

#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/env.h"
#include "core/log.h"
#include "core/thread.h"
#include "tool/debug/lines.h"
#include "tool/debug/sink.h"
#include "tool/debug/stream.h"
#include "tool/debug/summary.h"
#include "tool/forks.h"

enum {
    TENSOR = HIPADAPT_DEBUG_STREAM_EVENT_TYPE_DEBUG_TENSOR_READ,
    TURN = 64, /* events of one device in a row */
    STDERR_PIPE = 2,
};

struct watched {
    int fd;      /* -1: not connected */
    bool absent; /* a client of the program's is about to connect */
    bool leaves; /* the thread is to end the connection */
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t answered;
    bool on;
    int bell;       /* eventfd that wakes the thread; -1: there is none */
    int outputs[2]; /* ours; -1: closed */
    bool ending;    /* the thread is to print all and the last line */
    struct watched devices[HA_DEBUG_DEVICES_MAX];
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .answered = PTHREAD_COND_INITIALIZER,
           .bell = -1,
           .outputs = {-1, -1}};

/* The thread's own. */
static struct ha_lines lines;
static uint64_t printed;
static bool told; /* the last line */

static void
ring(void)
{
    const uint64_t one = 1;

    (void)!write(watch.bell, &one, sizeof one);
}

/* ---- the thread: events ---- */

static void
print(const hipadapt_debug_stream_payload_debug_tensor_read_t *tensor)
{
    char line[HA_SUMMARY_BYTES];
    size_t bytes = ha_summary_write(tensor, line);

    ha_lines_add(&lines, watch.outputs[tensor->pipe == STDERR_PIPE], line, bytes);
    printed++;
}

/* Prints events of a connection, so many at most; how many there were. */
static uint64_t
print_events(int fd, uint64_t most)
{
    hipadapt_debug_stream_event_header_t header;
    uint64_t count = 0;
    void *payload;

    for (; count < most; count++) {
        if (hipadapt_debug_stream_read_one_event(fd, &header, &payload) !=
            HIPADAPT_DEBUG_STREAM_SUCCESS) {
            break;
        }
        if (header.type == TENSOR) {
            print(payload);
        }
        free(payload);
    }
    return count;
}

/* Prints what waits now; senders may go on. */
static void
print_waiting(int device, int fd)
{
    hipadapt_debug_stream_counts_t counts = {.size = sizeof counts};

    if (fd >= 0) {
        (void)hipadapt_debug_stream_count(device, &counts);
        (void)print_events(fd, counts.queued);
    }
}

/* ---- the thread: the end ---- */

static void
tell_dropped(char *text, size_t room)
{
    uint64_t full = 0, large = 0, closed = 0, failed = 0;

    for (int i = 0; i < HA_DEBUG_DEVICES_MAX; i++) {
        hipadapt_debug_stream_counts_t counts = {.size = sizeof counts};
        (void)hipadapt_debug_stream_count(i, &counts);
        full += counts.full;
        large += counts.large;
        closed += counts.closed;
        failed += counts.failed;
    }
    uint64_t all = full + large + closed + failed;
    int used = snprintf(text, room, "%" PRIu64 " dropped", all);
    if (all > 0) {
        (void)snprintf(text + used, room - (size_t)used,
                       " (%" PRIu64 " without room, %" PRIu64 " too large, %" PRIu64
                       " without a client, %" PRIu64 " without memory)",
                       full, large, closed, failed);
    }
}

static void
tell_end(void)
{
    char line[HA_LINES_BYTES], dropped[256], lost[256] = "";

    ha_lines_flush(&lines);
    if (told) {
        return;
    }
    told = true;
    tell_dropped(dropped, sizeof dropped);
    if (lines.lost > 0) {
        (void)snprintf(lost, sizeof lost, ", %" PRIu64 " lines not written: %s",
                       lines.lost, strerror(lines.error));
    }
    int used = snprintf(line, sizeof line,
                        "hipadapt watch: %" PRIu64 " tensors of process %ld, %s%s\n",
                        printed, (long)getpid(), dropped, lost);
    ha_lines_add(&lines, watch.outputs[1], line, (size_t)used);
    ha_lines_flush(&lines);
}

/* The program has closed the descriptor, and may have given its number away. */
static void
forget(int fd)
{
    pthread_mutex_lock(&watch.lock);
    for (int i = 0; i < HA_DEBUG_DEVICES_MAX; i++) {
        if (watch.devices[i].fd == fd) {
            hipadapt_debug_stream_close(fd);
            watch.devices[i].fd = -1; /* the next tensor connects again */
        }
    }
    pthread_mutex_unlock(&watch.lock);
}

/* Without the bell nobody can ask for anything. */
static void
give_up(void)
{
    pthread_mutex_lock(&watch.lock);
    watch.bell = -1;
    watch.ending = false;
    for (int i = 0; i < HA_DEBUG_DEVICES_MAX; i++) {
        watch.devices[i].leaves = false;
    }
    (void)pthread_cond_broadcast(&watch.answered);
    pthread_mutex_unlock(&watch.lock);
}

/* ---- the thread ---- */

/* Does what others wait for. */
static void
attend(void)
{
    struct watched devices[HA_DEBUG_DEVICES_MAX];

    pthread_mutex_lock(&watch.lock);
    bool ending = watch.ending;
    memcpy(devices, watch.devices, sizeof devices);
    pthread_mutex_unlock(&watch.lock);
    for (int i = 0; i < HA_DEBUG_DEVICES_MAX; i++) {
        if (ending || devices[i].leaves) {
            print_waiting(i, devices[i].fd);
        }
    }
    ha_lines_flush(&lines);
    if (ending) {
        tell_end();
    }
    pthread_mutex_lock(&watch.lock);
    for (int i = 0; i < HA_DEBUG_DEVICES_MAX; i++) {
        if (devices[i].leaves) {
            hipadapt_debug_stream_close(devices[i].fd);
            watch.devices[i].fd = -1;
            watch.devices[i].leaves = false;
        }
    }
    watch.ending = watch.ending && !ending;
    (void)pthread_cond_broadcast(&watch.answered);
    pthread_mutex_unlock(&watch.lock);
}

/* What there is to wait for; the bell is the first. */
static nfds_t
gather(struct pollfd *fds)
{
    nfds_t count = 1;

    fds[0] = (struct pollfd){watch.bell, POLLIN, 0};
    pthread_mutex_lock(&watch.lock);
    for (int i = 0; i < HA_DEBUG_DEVICES_MAX; i++) {
        if (watch.devices[i].fd >= 0) {
            fds[count++] = (struct pollfd){watch.devices[i].fd, POLLIN, 0};
        }
    }
    pthread_mutex_unlock(&watch.lock);
    return count;
}

static void *
run(void *unused)
{
    struct pollfd fds[1 + HA_DEBUG_DEVICES_MAX];
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", NULL);
    uint64_t rung;

    ha_log_own_thread();
    (void)uselocale(plain); /* a point is a point, whatever the program has chosen */
    do {
        nfds_t count = gather(fds);
        (void)poll(fds, count, -1);
        for (nfds_t i = 1; i < count; i++) {
            if (fds[i].revents != 0 && print_events(fds[i].fd, TURN) == 0) {
                forget(fds[i].fd);
            }
        }
        ha_lines_flush(&lines);
        if (fds[0].revents == POLLIN && read(fds[0].fd, &rung, sizeof rung) > 0) {
            attend();
        }
    } while ((fds[0].revents & POLLNVAL) == 0);
    give_up();
    freelocale(uselocale(LC_GLOBAL_LOCALE));
    return unused;
}

/* ---- others ---- */

static void
open_outputs(void)
{
    for (int i = 0; i < 2; i++) {
        if (watch.outputs[i] < 0) {
            watch.outputs[i] = fcntl(STDOUT_FILENO + i, F_DUPFD_CLOEXEC, 3);
        }
    }
}

/* Lock held. */
static bool
need_thread(void)
{
    pthread_t thread;

    if (watch.bell >= 0) {
        return true;
    }
    open_outputs();
    watch.bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (watch.bell < 0) {
        return false;
    }
    if (ha_thread_start(&thread, "hipadapt-watch", run, NULL) != HA_OK) {
        (void)close(watch.bell);
        watch.bell = -1;
        return false;
    }
    (void)pthread_detach(thread);
    return true;
}

/* A sender found a device without a client; true: it has one now. */
static bool
claim(int device)
{
    struct watched *watched = &watch.devices[device];

    pthread_mutex_lock(&watch.lock);
    if (watched->fd < 0 && !watched->absent && need_thread()) {
        int fd;
        if (ha_debug_stream_connect(device, NULL, 0, &fd) ==
            HIPADAPT_DEBUG_STREAM_SUCCESS) {
            watched->fd = fd;
            ring();
        }
    }
    bool there = watched->fd >= 0;
    pthread_mutex_unlock(&watch.lock);
    return there;
}

void
ha_watch_begin(void)
{
    if (!ha_env_is_on(HA_ENV_DEBUG_STREAM_WATCH) || ha_forks_watch() != HA_OK) {
        return;
    }
    pthread_mutex_lock(&watch.lock);
    if (!watch.on) {
        for (int i = 0; i < HA_DEBUG_DEVICES_MAX; i++) {
            watch.devices[i].fd = -1;
        }
        (void)ha_log_enabled(1); /* the thread goes by what one of the program's saw */
        watch.on = need_thread();
        if (watch.on) {
            ha_debug_streams_claimed_by(claim);
        } else {
            ha_log(0, "HIPADAPT_DEBUG_STREAM_WATCH: no thread or descriptor is left");
        }
    }
    pthread_mutex_unlock(&watch.lock);
    ha_debug_sink_give();
}

bool
ha_watch_leave(int device)
{
    if (device < 0 || device >= HA_DEBUG_DEVICES_MAX) {
        return false;
    }
    struct watched *watched = &watch.devices[device];
    pthread_mutex_lock(&watch.lock);
    bool leaves = watch.on && watched->fd >= 0 && !watched->absent;
    if (leaves) {
        watched->absent = watched->leaves = true;
        ring();
        while (watched->leaves) {
            (void)pthread_cond_wait(&watch.answered, &watch.lock);
        }
    }
    pthread_mutex_unlock(&watch.lock);
    return leaves;
}

void
ha_watch_return(int device)
{
    pthread_mutex_lock(&watch.lock);
    watch.devices[device].absent = false;
    pthread_mutex_unlock(&watch.lock);
}

/* The last of all: devices have ended by now, and what they sent waits. */
__attribute__((destructor)) void
ha_watch_end(void)
{
    pthread_mutex_lock(&watch.lock);
    if (watch.bell >= 0) {
        watch.ending = true;
        ring();
        while (watch.ending) {
            (void)pthread_cond_wait(&watch.answered, &watch.lock);
        }
    }
    pthread_mutex_unlock(&watch.lock);
}

void
ha_watch_forked(void)
{
    (void)pthread_mutex_init(&watch.lock, NULL);
    (void)pthread_cond_init(&watch.answered, NULL);
    if (watch.bell >= 0) {
        (void)close(watch.bell);
        watch.bell = -1;
    }
    for (int i = 0; i < 2; i++) {
        if (watch.outputs[i] >= 0) {
            (void)close(watch.outputs[i]);
            watch.outputs[i] = -1;
        }
    }
    for (int i = 0; i < HA_DEBUG_DEVICES_MAX; i++) {
        watch.devices[i] = (struct watched){.fd = -1};
    }
    watch.ending = false;
    lines = (struct ha_lines){.fd = -1};
    printed = 0;
    told = false;
}
