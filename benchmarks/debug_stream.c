/* SPDX-License-Identifier: MIT */
/* Tensors from a thread that sends to one that reads: by a debug stream, and by what
 * the system has for the same.
 *
 *     debug_stream stream|seqpacket|pipe EVENTS BYTES
 *
 * prints one line: microseconds that the sender needed for an event, events a second
 * until the last one was read, how many were lost, and the kilobytes that the process
 * grew by at most.  A system's channel has no loss: its sender waits.  Where tensors
 * are larger than a page the sender of the stream waits, too, for room: what is asked
 * is the memory. */
#include "tool/debug/stream.h"
#include "tool/include/hipadapt/debug_stream.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

typedef hipadapt_debug_stream_payload_debug_tensor_read_t payload_t;

enum {
    TENSOR = HIPADAPT_DEBUG_STREAM_EVENT_TYPE_DEBUG_TENSOR_READ,
    PAGE = 4096,
};

static uint64_t event_count, tensor_bytes;
static char *tensor; /* what is sent */
static int ends[2] = {-1, -1};
static atomic_bool over;
static double sender_us;

static double
now_us(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void
fail(const char *what)
{
    perror(what);
    exit(1);
}

/* As csrc/tool/debug/sink.c does for a kernel. */
static payload_t *
payload_of(uint64_t number)
{
    payload_t *payload = malloc(sizeof *payload + tensor_bytes);

    if (payload == NULL) {
        fail("malloc");
    }
    memset(payload, 0, sizeof *payload);
    (void)strncpy(payload->prefix, "weights", sizeof payload->prefix - 1);
    (void)strncpy(payload->tensor_dtype, "float32", sizeof payload->tensor_dtype - 1);
    payload->tensor_shape[0] = tensor_bytes / 4;
    payload->tensor_data_size = tensor_bytes;
    memcpy(payload->tensor_data, tensor, tensor_bytes);
    memcpy(payload->tensor_data, &number, sizeof number);
    return payload;
}

static uint64_t
number_of(const payload_t *payload)
{
    uint64_t number;

    memcpy(&number, payload->tensor_data, sizeof number);
    return number;
}

/* ---- the debug stream ---- */

static void
wait_for_room(uint64_t bytes)
{
    hipadapt_debug_stream_counts_t counts = {.size = sizeof counts};
    const uint64_t most = strtoull(getenv("HIPADAPT_DEBUG_STREAM_BUFFER_BYTES"), NULL, 10);

    do {
        if (counts.bytes > 0) {
            (void)sched_yield();
        }
        (void)hipadapt_debug_stream_count(0, &counts);
    } while (counts.bytes + bytes > most);
}

static void
stream_send(uint64_t number)
{
    uint64_t bytes = sizeof(payload_t) + tensor_bytes;

    if (tensor_bytes > PAGE) {
        wait_for_room(bytes);
    }
    if (ha_debug_stream_admits(0, TENSOR, bytes)) {
        ha_debug_stream_send(0, TENSOR, payload_of(number), bytes);
    }
}

static payload_t *
stream_read(void)
{
    hipadapt_debug_stream_event_header_t header;
    void *payload;

    for (;;) {
        bool last = atomic_load(&over);
        if (hipadapt_debug_stream_read_one_event(ends[0], &header, &payload) ==
            HIPADAPT_DEBUG_STREAM_SUCCESS) {
            return payload;
        }
        if (last) {
            return NULL;
        }
        struct pollfd asked = {.fd = ends[0], .events = POLLIN};
        (void)poll(&asked, 1, 10);
    }
}

/* ---- channels of the system ---- */

static void
channel_send(uint64_t number)
{
    payload_t *payload = payload_of(number);
    size_t left = sizeof *payload + tensor_bytes;
    const char *at = (const char *)payload;

    while (left > 0) {
        ssize_t wrote = write(ends[1], at, left);
        if (wrote < 0 && errno != EINTR) {
            fail("write");
        }
        at += wrote > 0 ? wrote : 0;
        left -= wrote > 0 ? (size_t)wrote : 0;
    }
    free(payload);
}

static payload_t *
channel_read(void)
{
    size_t left = sizeof(payload_t) + tensor_bytes;
    payload_t *payload = malloc(left);
    char *at = (char *)payload;

    while (payload != NULL && left > 0) {
        ssize_t got = read(ends[0], at, left);
        if (got == 0) {
            free(payload);
            return NULL;
        }
        if (got < 0 && errno != EINTR) {
            fail("read");
        }
        at += got > 0 ? got : 0;
        left -= got > 0 ? (size_t)got : 0;
    }
    return payload;
}

/* ---- both ---- */

static const struct way {
    const char *name;
    void (*send)(uint64_t number);
    payload_t *(*read)(void);
} ways[] = {
    {"stream", stream_send, stream_read},
    {"seqpacket", channel_send, channel_read},
    {"pipe", channel_send, channel_read},
};

static const struct way *
open_way(const char *name)
{
    const struct way *way = ways;

    while (way < ways + sizeof ways / sizeof *ways && strcmp(way->name, name) != 0) {
        way++;
    }
    if (way == ways) {
        if (hipadapt_debug_stream_connect(0, &ends[0]) != 0) {
            fail("connect");
        }
    } else if (way == ways + 1) {
        if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0) {
            fail("socketpair");
        }
    } else if (way != ways + 2 || pipe(ends) != 0) {
        fail(name);
    }
    return way;
}

static void *
send_all(void *way)
{
    double begin = now_us();

    for (uint64_t i = 0; i < event_count; i++) {
        ((const struct way *)way)->send(i);
    }
    sender_us = now_us() - begin;
    atomic_store(&over, true);
    if (ends[1] >= 0) {
        (void)close(ends[1]);
    }
    return NULL;
}

/* getrusage would tell what the parent had. */
static long
most_KB(void)
{
    char text[256];
    long KB = 0;
    FILE *file = fopen("/proc/self/status", "r");

    while (file != NULL && fgets(text, sizeof text, file) != NULL) {
        if (strncmp(text, "VmHWM:", 6) == 0) {
            KB = strtol(text + 6, NULL, 10);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return KB;
}

int
main(int argc, char **argv)
{
    pthread_t thread;
    payload_t *payload;
    uint64_t came = 0;

    if (argc != 4) {
        return 2;
    }
    event_count = strtoull(argv[2], NULL, 10);
    tensor_bytes = strtoull(argv[3], NULL, 10);
    tensor = malloc(tensor_bytes);
    if (tensor == NULL) {
        fail("malloc");
    }
    memset(tensor, 7, tensor_bytes);
    const struct way *way = open_way(argv[1]);
    long before_KB = most_KB();
    double begin = now_us();
    if (pthread_create(&thread, NULL, send_all, (void *)way) != 0) {
        fail("pthread_create");
    }
    for (uint64_t next = 0; (payload = way->read()) != NULL; came++) {
        if (number_of(payload) < next ||
            memcmp(payload->tensor_data + sizeof next, tensor + sizeof next,
                   tensor_bytes - sizeof next) != 0) {
            (void)fprintf(stderr, "an event out of order, or of other data\n");
            return 1;
        }
        next = number_of(payload) + 1;
        free(payload);
    }
    double whole_us = now_us() - begin;
    (void)pthread_join(thread, NULL);
    printf("%.4f %.0f %llu %ld\n", sender_us / (double)event_count,
           (double)came / whole_us * 1e6, (unsigned long long)(event_count - came),
           most_KB() - before_KB);
    return 0;
}
