/* SPDX-License-Identifier: MIT */
#include "tool/debug/stream.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/env.h"
#include "tool/debug/queue.h"
#include "tool/include/hipadapt/debug_stream.h"

#define EXPORT __attribute__((visibility("default")))

typedef hipadapt_debug_stream_status_t status_t;

enum {
    OWN_TYPES = 0x1000,
    OWN_TYPE_COUNT = HIPADAPT_DEBUG_STREAM_EVENT_TYPE_KERNEL_ERROR - OWN_TYPES + 1,
    EVENTS_MOST = 1 << 24,
    TENSOR_BIT = 1,
    OWN_BIT = 2, /* of the first one */
};

_Static_assert(sizeof(hipadapt_debug_stream_event_header_t) == 64 &&
                   sizeof(hipadapt_debug_stream_payload_debug_tensor_read_t) == 1024,
               "the layout of the seed");

struct stream {
    pthread_mutex_t reading;
    pthread_mutex_t lock;
    _Atomic unsigned types; /* bits of what the client wants; 0: there is no client */
    _Atomic uint64_t room;  /* events of the queue */
    _Atomic uint64_t most;  /* bytes of the queue */
    bool rung;              /* the bell is readable */
    int fd;                 /* the client's */
    int bell;               /* ours */
    bool forked;            /* the parent's client has that descriptor */
    struct ha_debug_queue queue;
    uint64_t read;
    uint64_t gone; /* with their connection */
    _Atomic uint64_t dropped_full;
    _Atomic uint64_t dropped_large;
    _Atomic uint64_t dropped_closed;
    _Atomic uint64_t dropped_failed;
};

#define STREAM                                                                         \
    {.reading = PTHREAD_MUTEX_INITIALIZER,                                             \
     .lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP,                                    \
     .fd = -1,                                                                         \
     .bell = -1}
#define STREAMS_4 STREAM, STREAM, STREAM, STREAM
#define STREAMS_16 STREAMS_4, STREAMS_4, STREAMS_4, STREAMS_4

static struct stream streams[HA_DEBUG_DEVICES_MAX] = {STREAMS_16, STREAMS_16,
                                                      STREAMS_16, STREAMS_16};

static _Atomic(bool (*)(int device)) claimant;

static pthread_once_t over_once = PTHREAD_ONCE_INIT;
static int over = -1; /* eventfd: always readable */

static bool
is_device(int device)
{
    return device >= 0 && device < HA_DEBUG_DEVICES_MAX;
}

/* 0: there is no such type. */
static unsigned
bit_of(uint32_t type)
{
    if (type == HIPADAPT_DEBUG_STREAM_EVENT_TYPE_DEBUG_TENSOR_READ) {
        return TENSOR_BIT;
    }
    return type >= OWN_TYPES && type - OWN_TYPES < OWN_TYPE_COUNT
               ? (unsigned)OWN_BIT << (type - OWN_TYPES)
               : 0;
}

static void
count(_Atomic uint64_t *counter)
{
    (void)atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* ---- the bell ---- */

/* Lock held, as for the next. */
static void
ring(struct stream *stream)
{
    const uint64_t one = 1;

    stream->rung = true;
    (void)!write(stream->bell, &one, sizeof one);
}

static void
silence(struct stream *stream)
{
    uint64_t count_;

    stream->rung = false;
    (void)!read(stream->bell, &count_, sizeof count_);
}

static void
open_over(void)
{
    over = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
}

static bool
open_bell(struct stream *stream)
{
    struct epoll_event watched = {.events = EPOLLIN};

    (void)pthread_once(&over_once, open_over);
    stream->bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    stream->fd = stream->bell >= 0 ? epoll_create1(EPOLL_CLOEXEC) : -1;
    return stream->fd >= 0 &&
           epoll_ctl(stream->fd, EPOLL_CTL_ADD, stream->bell, &watched) == 0;
}

/* Whether the client's number is its stream's still: it may have closed it by itself,
 * and somebody else have got the number. */
static bool
still_there(const struct stream *stream)
{
    char path[40], line[128];
    int watched;
    bool found = false;

    (void)snprintf(path, sizeof path, "/proc/self/fdinfo/%d", stream->fd);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return fcntl(stream->fd, F_GETFD) >= 0 &&
               access("/proc/self/fdinfo", F_OK) != 0;
    }
    while (!found && fgets(line, sizeof line, file) != NULL) {
        found = sscanf(line, "tfd: %d", &watched) == 1 && watched == stream->bell;
    }
    fclose(file);
    return found;
}

/* ---- connections ---- */

static void
lock_both(struct stream *stream)
{
    pthread_mutex_lock(&stream->reading);
    pthread_mutex_lock(&stream->lock);
}

static void
unlock_both(struct stream *stream)
{
    pthread_mutex_unlock(&stream->lock);
    pthread_mutex_unlock(&stream->reading);
}

/* Who polls looks, and finds the stream closed.  The bell alone doesn't do: it is gone
 * from the set before a thread that it wakes can look. */
static void
close_readable(int fd)
{
    struct epoll_event watched = {.events = EPOLLIN};

    (void)epoll_ctl(fd, EPOLL_CTL_ADD, over, &watched);
    (void)close(fd);
}

/* Both locks held. */
static void
disconnect(struct stream *stream)
{
    atomic_store(&stream->types, 0);
    stream->gone += ha_debug_queue_close(&stream->queue);
    if (stream->bell >= 0) {
        if (stream->fd >= 0 && still_there(stream)) {
            close_readable(stream->fd);
        }
        (void)close(stream->bell);
    }
    stream->fd = stream->bell = -1;
}

/* Both locks held. */
static status_t
connect_locked(struct stream *stream, unsigned types)
{
    long room = ha_env_long(HA_ENV_DEBUG_STREAM_EVENTS, 1, EVENTS_MOST);
    long most = ha_env_long(HA_ENV_DEBUG_STREAM_BYTES, 1, LONG_MAX);

    if (stream->bell >= 0) {
        if (still_there(stream)) {
            return HIPADAPT_DEBUG_STREAM_INVALID;
        }
        disconnect(stream);
    }
    if (!open_bell(stream) ||
        !ha_debug_queue_open(&stream->queue, (uint64_t)room, (uint64_t)most)) {
        disconnect(stream);
        return HIPADAPT_DEBUG_STREAM_RESOURCE;
    }
    atomic_store(&stream->most, (uint64_t)most);
    atomic_store(&stream->room, (uint64_t)room);
    stream->rung = false;
    stream->forked = false;
    atomic_store(&stream->types, types);
    return HIPADAPT_DEBUG_STREAM_SUCCESS;
}

hipadapt_debug_stream_status_t
ha_debug_stream_connect(int device, const uint32_t *types, size_t type_count, int *fd)
{
    unsigned wanted = TENSOR_BIT;

    if (!is_device(device)) {
        return HIPADAPT_DEBUG_STREAM_INVALID;
    }
    for (size_t i = 0; i < type_count; i++) {
        unsigned bit = bit_of(types[i]);
        if (bit == 0) {
            return HIPADAPT_DEBUG_STREAM_INVALID;
        }
        wanted |= bit;
    }
    struct stream *stream = &streams[device];
    lock_both(stream);
    status_t status = connect_locked(stream, wanted);
    if (status == HIPADAPT_DEBUG_STREAM_SUCCESS) {
        *fd = stream->fd;
    }
    unlock_both(stream);
    return status;
}

/* The client's stream with `reading` held, which keeps the connection; or NULL and why.
 */
static struct stream *
read_lock(int fd, status_t *status)
{
    *status = HIPADAPT_DEBUG_STREAM_INVALID_HANDLE;
    for (int i = 0; fd >= 0 && i < HA_DEBUG_DEVICES_MAX; i++) {
        struct stream *stream = &streams[i];
        pthread_mutex_lock(&stream->reading);
        if (stream->fd == fd && !stream->forked) {
            return stream;
        }
        if (stream->fd == fd) {
            *status = HIPADAPT_DEBUG_STREAM_INVALID;
        }
        pthread_mutex_unlock(&stream->reading);
    }
    return NULL;
}

EXPORT void
hipadapt_debug_stream_close(int stream_fd)
{
    status_t status;
    struct stream *stream = read_lock(stream_fd, &status);

    if (stream != NULL) {
        pthread_mutex_lock(&stream->lock);
        disconnect(stream);
        unlock_both(stream);
    }
}

/* ---- events ---- */

/* The next batch; where there is none, the bell falls silent.  `reading` held. */
static void
need_batch(struct stream *stream)
{
    if (!ha_debug_queue_batch_is_empty(&stream->queue)) {
        return;
    }
    pthread_mutex_lock(&stream->lock);
    if (!ha_debug_queue_move(&stream->queue) && stream->rung) {
        silence(stream);
    }
    pthread_mutex_unlock(&stream->lock);
}

EXPORT hipadapt_debug_stream_status_t
hipadapt_debug_stream_read_one_event(int stream_fd,
                                     hipadapt_debug_stream_event_header_t *header,
                                     void **payload)
{
    struct ha_debug_item item;
    status_t status;

    if (header == NULL || payload == NULL) {
        return HIPADAPT_DEBUG_STREAM_INVALID;
    }
    struct stream *stream = read_lock(stream_fd, &status);
    if (stream == NULL) {
        return status;
    }
    need_batch(stream);
    bool taken = ha_debug_queue_take(&stream->queue, &item);
    stream->read += taken;
    need_batch(stream); /* nothing left: who polls must not be told otherwise */
    pthread_mutex_unlock(&stream->reading);
    if (!taken) {
        return HIPADAPT_DEBUG_STREAM_QUEUE_EMPTY;
    }
    *header = (hipadapt_debug_stream_event_header_t){.data_size = item.bytes,
                                                     .type = item.type};
    *payload = item.payload;
    return HIPADAPT_DEBUG_STREAM_SUCCESS;
}

void
ha_debug_streams_claimed_by(bool (*claim)(int device))
{
    atomic_store(&claimant, claim);
}

/* What the client wants; there may be one only now. */
static unsigned
types_of(int device, uint32_t type)
{
    unsigned types = atomic_load_explicit(&streams[device].types, memory_order_acquire);
    bool (*claim)(int) = atomic_load(&claimant);

    if (types == 0 && claim != NULL && bit_of(type) == TENSOR_BIT && claim(device)) {
        return TENSOR_BIT;
    }
    return types;
}

bool
ha_debug_stream_admits(int device, uint32_t type, uint64_t bytes)
{
    struct stream *stream = &streams[device];
    unsigned types = types_of(device, type);

    if ((types & bit_of(type)) == 0) {
        if (types == 0) {
            count(&stream->dropped_closed);
        }
        return false;
    }
    if (bytes > atomic_load_explicit(&stream->most, memory_order_relaxed)) {
        count(&stream->dropped_large);
        return false;
    }
    if (atomic_load_explicit(&stream->queue.waiting, memory_order_relaxed) >=
        atomic_load_explicit(&stream->room, memory_order_relaxed)) {
        count(&stream->dropped_full);
        return false;
    }
    return true;
}

unsigned
ha_debug_stream_wants(int device)
{
    return atomic_load_explicit(&streams[device].types, memory_order_acquire) / OWN_BIT;
}

/* Lock held; where the event is dropped, its counter. */
static _Atomic uint64_t *
send_locked(struct stream *stream, const struct ha_debug_item *item)
{
    if ((atomic_load(&stream->types) & bit_of(item->type)) == 0) {
        return &stream->dropped_closed;
    }
    if (item->payload == NULL) {
        return &stream->dropped_failed;
    }
    if (item->bytes > stream->queue.bytes_most) {
        return &stream->dropped_large;
    }
    if (!ha_debug_queue_put(&stream->queue, item)) {
        return &stream->dropped_full;
    }
    if (!stream->rung) {
        ring(stream);
    }
    return NULL;
}

void
ha_debug_stream_send(int device, uint32_t type, void *payload, uint64_t bytes)
{
    struct stream *stream = &streams[device];
    const struct ha_debug_item item = {payload, bytes, type};

    pthread_mutex_lock(&stream->lock);
    _Atomic uint64_t *dropped = send_locked(stream, &item);
    pthread_mutex_unlock(&stream->lock);
    if (dropped != NULL) {
        count(dropped);
        free(payload);
    }
}

void
ha_debug_stream_drop(int device, bool full)
{
    struct stream *stream = &streams[device];

    count(full ? &stream->dropped_full : &stream->dropped_failed);
}

EXPORT hipadapt_debug_stream_status_t
hipadapt_debug_stream_count(int device, hipadapt_debug_stream_counts_t *counts)
{
    if (!is_device(device) || counts == NULL || counts->size < sizeof *counts) {
        return HIPADAPT_DEBUG_STREAM_INVALID;
    }
    struct stream *stream = &streams[device];
    lock_both(stream);
    counts->queued = atomic_load(&stream->queue.waiting);
    counts->bytes = atomic_load(&stream->queue.bytes);
    counts->read = stream->read;
    counts->full = atomic_load(&stream->dropped_full);
    counts->large = atomic_load(&stream->dropped_large);
    counts->closed = atomic_load(&stream->dropped_closed) + stream->gone;
    counts->failed = atomic_load(&stream->dropped_failed);
    unlock_both(stream);
    return HIPADAPT_DEBUG_STREAM_SUCCESS;
}

/* The child keeps the numbers, to know them again, and nothing else: what another
 * thread of the parent was changing is left as it is. */
void
ha_debug_streams_forked(void)
{
    for (int i = 0; i < HA_DEBUG_DEVICES_MAX; i++) {
        struct stream *stream = &streams[i];
        int fd = stream->fd;
        if (stream->bell >= 0) {
            (void)close(stream->bell);
        }
        *stream = (struct stream)STREAM;
        stream->fd = fd;
        stream->forked = fd >= 0;
    }
}
