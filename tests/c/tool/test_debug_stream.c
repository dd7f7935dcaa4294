/* SPDX-License-Identifier: MIT */
/* Debug streams as a client has them: descriptors, order, bounds and counts. */
/* sources: core tool */
/* product: profiler */
#include "check.h"
#include "tool/debug/stream.h"
#include "tool/include/hipadapt/debug_stream.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TENSOR = HIPADAPT_DEBUG_STREAM_EVENT_TYPE_DEBUG_TENSOR_READ,
    PRINT = HIPADAPT_DEBUG_STREAM_EVENT_TYPE_KERNEL_PRINT,
    OK = HIPADAPT_DEBUG_STREAM_SUCCESS,
    EMPTY = HIPADAPT_DEBUG_STREAM_QUEUE_EMPTY,
    INVALID = HIPADAPT_DEBUG_STREAM_INVALID,
    NO_HANDLE = HIPADAPT_DEBUG_STREAM_INVALID_HANDLE,
    SENDERS = 4,
    EACH = 20000,
};

static void
send_one(int device, uint32_t type, uint64_t number, uint64_t bytes)
{
    if (ha_debug_stream_admits(device, type, bytes)) {
        uint64_t *payload = malloc(bytes);
        payload[0] = number;
        ha_debug_stream_send(device, type, payload, bytes);
    }
}

static void
send_tensor(uint64_t number)
{
    send_one(0, TENSOR, number, 16);
}

/* The number of the event; -1: none. */
static int64_t
read_number(int fd)
{
    hipadapt_debug_stream_event_header_t header;
    void *payload;
    int status = (int)hipadapt_debug_stream_read_one_event(fd, &header, &payload);

    if (status != OK) {
        CHECK_EQUAL(status, EMPTY);
        return -1;
    }
    for (size_t i = 0; i < sizeof header.reserved; i++) {
        CHECK_EQUAL(header.reserved[i], 0);
    }
    int64_t number = *(int64_t *)payload;
    free(payload);
    return number;
}

static bool
is_readable(int fd)
{
    struct pollfd asked = {.fd = fd, .events = POLLIN};

    return poll(&asked, 1, 0) == 1 && (asked.revents & POLLIN) != 0;
}

static hipadapt_debug_stream_counts_t
counts_of(int device)
{
    hipadapt_debug_stream_counts_t counts = {.size = sizeof counts};

    CHECK_EQUAL(hipadapt_debug_stream_count(device, &counts), OK);
    return counts;
}

static int
connected(void)
{
    int fd = -1;

    CHECK_EQUAL(hipadapt_debug_stream_connect(0, &fd), OK);
    CHECK(fd >= 0);
    return fd;
}

static void
test_descriptor_is_readable_exactly_while_events_wait(void)
{
    int fd = connected();

    for (int round = 0; round < 3; round++) {
        CHECK(!is_readable(fd));
        for (uint64_t i = 0; i < 200; i++) {
            send_tensor(i);
            CHECK(is_readable(fd));
        }
        for (int64_t i = 0; i < 200; i++) {
            CHECK(is_readable(fd));
            CHECK_EQUAL(read_number(fd), i);
        }
        CHECK(!is_readable(fd));
        CHECK_EQUAL(read_number(fd), -1);
    }
    hipadapt_debug_stream_close(fd);
}

static void
test_select_and_epoll_see_it(void)
{
    int fd = connected(), duplicate = fcntl(fd, F_DUPFD_CLOEXEC, 100);
    int level = epoll_create1(0), edge = epoll_create1(0);
    struct epoll_event at_level = {.events = EPOLLIN},
                       at_edge = {.events = EPOLLIN | EPOLLET}, seen;
    struct timeval at_once = {0, 0};
    fd_set set;

    CHECK_EQUAL(epoll_ctl(level, EPOLL_CTL_ADD, fd, &at_level), 0);
    CHECK_EQUAL(epoll_ctl(edge, EPOLL_CTL_ADD, duplicate, &at_edge), 0);
    CHECK_EQUAL(epoll_wait(level, &seen, 1, 0), 0);
    send_tensor(1);
    send_tensor(2);
    FD_ZERO(&set);
    FD_SET(fd, &set);
    CHECK_EQUAL(select(fd + 1, &set, NULL, NULL, &at_once), 1);
    CHECK_EQUAL(epoll_wait(edge, &seen, 1, 0), 1);
    CHECK_EQUAL(epoll_wait(edge, &seen, 1, 0), 0); /* no change since */
    CHECK_EQUAL(epoll_wait(level, &seen, 1, 0), 1);
    CHECK_EQUAL(read_number(fd), 1);
    CHECK_EQUAL(epoll_wait(level, &seen, 1, 0), 1);
    CHECK_EQUAL(read_number(fd), 2);
    CHECK_EQUAL(epoll_wait(level, &seen, 1, 0), 0);
    CHECK(!is_readable(duplicate));
    send_tensor(3);
    CHECK_EQUAL(epoll_wait(edge, &seen, 1, 0), 1); /* empty in between: a change */
    CHECK_EQUAL(epoll_wait(level, &seen, 1, 0), 1);
    close(duplicate);
    close(edge);
    close(level);
    hipadapt_debug_stream_close(fd);
}

static void
test_client_that_reads_the_descriptor_takes_nothing(void)
{
    int fd = connected();
    uint64_t word = 1;

    send_tensor(7);
    CHECK(read(fd, &word, sizeof word) < 0);
    CHECK(write(fd, &word, sizeof word) < 0);
    CHECK(is_readable(fd));
    CHECK_EQUAL(read_number(fd), 7);
    CHECK(!is_readable(fd));
    hipadapt_debug_stream_close(fd);
}

static void
test_wrong_calls_are_refused(void)
{
    hipadapt_debug_stream_event_header_t header;
    const uint32_t none[] = {2}, beyond[] = {0x1000, 0x1004};
    void *payload;
    int fd = connected(), other = -7, pipes[2];

    CHECK_EQUAL(hipadapt_debug_stream_connect(0, &other), INVALID);
    CHECK_EQUAL(hipadapt_debug_stream_connect(-1, &other), INVALID);
    CHECK_EQUAL(hipadapt_debug_stream_connect(64, &other), INVALID);
    CHECK_EQUAL(hipadapt_debug_stream_connect(1, NULL), INVALID);
    CHECK_EQUAL(hipadapt_debug_stream_connect_types(1, none, 1, &other), INVALID);
    CHECK_EQUAL(hipadapt_debug_stream_connect_types(1, beyond, 2, &other), INVALID);
    CHECK_EQUAL(hipadapt_debug_stream_connect_types(1, NULL, 1, &other), INVALID);
    CHECK_EQUAL(other, -7);
    CHECK_EQUAL(hipadapt_debug_stream_read_one_event(fd, NULL, &payload), INVALID);
    CHECK_EQUAL(hipadapt_debug_stream_read_one_event(fd, &header, NULL), INVALID);
    CHECK_EQUAL(hipadapt_debug_stream_read_one_event(-1, &header, &payload), NO_HANDLE);
    CHECK_EQUAL(pipe(pipes), 0);
    CHECK_EQUAL(hipadapt_debug_stream_read_one_event(pipes[0], &header, &payload),
                NO_HANDLE);
    hipadapt_debug_stream_close(pipes[0]);
    hipadapt_debug_stream_close(-1);
    CHECK(fcntl(pipes[0], F_GETFD) >= 0); /* it is none of ours */
    hipadapt_debug_stream_close(fd);
    CHECK(fcntl(fd, F_GETFD) < 0);
    CHECK_EQUAL(hipadapt_debug_stream_read_one_event(fd, &header, &payload), NO_HANDLE);
    hipadapt_debug_stream_close(fd);
    close(pipes[0]);
    close(pipes[1]);
}

static void
test_events_of_others_times_are_dropped(void)
{
    hipadapt_debug_stream_counts_t before = counts_of(0);

    send_tensor(1);
    int fd = connected();
    CHECK_EQUAL(read_number(fd), -1);
    send_tensor(2);
    send_tensor(3);
    CHECK_EQUAL(read_number(fd), 2);
    hipadapt_debug_stream_close(fd);
    send_tensor(4);
    fd = connected();
    CHECK_EQUAL(read_number(fd), -1); /* 3 went with its connection */
    hipadapt_debug_stream_close(fd);
    hipadapt_debug_stream_counts_t counts = counts_of(0);
    CHECK_EQUAL(counts.closed - before.closed, 3);
    CHECK_EQUAL(counts.read - before.read, 1);
}

static void
test_kinds_of_ours_come_to_who_asks(void)
{
    const uint32_t print[] = {PRINT};
    int fd = connected();
    hipadapt_debug_stream_counts_t before = counts_of(0);

    send_one(0, PRINT, 1, 16);
    CHECK_EQUAL(read_number(fd), -1);
    CHECK_EQUAL(counts_of(0).closed, before.closed); /* nobody misses it */
    hipadapt_debug_stream_close(fd);
    /* No device that could send them is here. */
    CHECK_EQUAL(hipadapt_debug_stream_connect_types(0, print, 1, &fd),
                HIPADAPT_DEBUG_STREAM_NOT_SUPPORTED);
    CHECK_EQUAL(ha_debug_stream_connect(0, print, 1, &fd), OK);
    CHECK_EQUAL(ha_debug_stream_wants(0), 1);
    send_one(0, PRINT, 2, 16);
    send_one(0, HIPADAPT_DEBUG_STREAM_EVENT_TYPE_KERNEL_END, 3, 16);
    send_tensor(4);
    CHECK_EQUAL(read_number(fd), 2);
    CHECK_EQUAL(read_number(fd), 4);
    hipadapt_debug_stream_close(fd);
}

static void
test_new_event_is_dropped_where_the_queue_is_full(void)
{
    setenv("HIPADAPT_DEBUG_STREAM_BUFFER_SIZE", "100", 1);
    setenv("HIPADAPT_DEBUG_STREAM_BUFFER_BYTES", "4000", 1);
    int fd = connected();
    hipadapt_debug_stream_counts_t before = counts_of(0);

    for (uint64_t i = 0; i < 150; i++) {
        send_tensor(i);
    }
    CHECK_EQUAL(counts_of(0).queued, 100);
    CHECK_EQUAL(counts_of(0).bytes, 1600);
    CHECK_EQUAL(counts_of(0).full - before.full, 50);
    CHECK_EQUAL(read_number(fd), 0);
    send_tensor(150); /* there is room at once, although events are read in batches */
    CHECK_EQUAL(counts_of(0).full - before.full, 50);
    for (int64_t i = 1; i < 100; i++) {
        CHECK_EQUAL(read_number(fd), i);
    }
    CHECK_EQUAL(read_number(fd), 150);
    CHECK_EQUAL(read_number(fd), -1);

    send_one(0, TENSOR, 1, 3000);
    send_one(0, TENSOR, 2, 1001); /* has no room now */
    send_one(0, TENSOR, 3, 1000);
    send_one(0, TENSOR, 4, 4001); /* never has */
    CHECK_EQUAL(counts_of(0).full - before.full, 51);
    CHECK_EQUAL(counts_of(0).large - before.large, 1);
    ha_debug_stream_send(0, TENSOR, NULL, 16);
    CHECK_EQUAL(counts_of(0).failed - before.failed, 1);
    CHECK_EQUAL(read_number(fd), 1);
    CHECK_EQUAL(read_number(fd), 3);
    CHECK_EQUAL(read_number(fd), -1);
    hipadapt_debug_stream_close(fd);
    unsetenv("HIPADAPT_DEBUG_STREAM_BUFFER_SIZE");
    unsetenv("HIPADAPT_DEBUG_STREAM_BUFFER_BYTES");
}

static void
test_number_that_the_client_closed_is_another_ones(void)
{
    int fd = connected();

    send_tensor(1);
    close(fd);
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    CHECK_EQUAL(file, fd);
    send_tensor(2);
    int again = connected(); /* the old client has gone */
    CHECK(again != fd);
    CHECK_EQUAL(read_number(again), -1);
    hipadapt_debug_stream_close(fd);
    CHECK(fcntl(file, F_GETFD) >= 0);
    close(file);
    hipadapt_debug_stream_close(again);
}

static void
test_numbers_above_1023(void)
{
    struct rlimit files;
    int held[1100], count = 0;

    CHECK_EQUAL(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = files.rlim_max < 2000 ? files.rlim_max : 2000;
    CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &files), 0);
    while (count < 1100 && (held[count] = open("/dev/null", O_RDONLY)) >= 0) {
        count++;
    }
    int fd = -1;
    if (count == 1100) {
        fd = connected();
        CHECK(fd > 1023);
        send_tensor(5);
        CHECK(is_readable(fd));
        CHECK_EQUAL(read_number(fd), 5);
        hipadapt_debug_stream_close(fd);
    } else { /* and without any left */
        CHECK_EQUAL(hipadapt_debug_stream_connect(0, &fd),
                    HIPADAPT_DEBUG_STREAM_RESOURCE);
    }
    while (count > 0) {
        close(held[--count]);
    }
    hipadapt_debug_stream_close(connected());
}

static void *
wait_until_readable(void *fd)
{
    struct pollfd asked = {.fd = *(int *)fd, .events = POLLIN};

    CHECK_EQUAL(poll(&asked, 1, 20000), 1);
    return NULL;
}

static void
test_close_wakes_who_polls(void)
{
    pthread_t thread;
    int fd = connected(), duplicate = fcntl(fd, F_DUPFD_CLOEXEC, 0);

    CHECK(!is_readable(duplicate));
    CHECK_EQUAL(pthread_create(&thread, NULL, wait_until_readable, &fd), 0);
    usleep(20000);
    hipadapt_debug_stream_close(fd);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK(is_readable(duplicate)); /* however late it looks */
    close(duplicate);
}

static void
test_forked_child_takes_nothing_from_its_parent(void)
{
    hipadapt_debug_stream_event_header_t header;
    void *payload;
    int fd = connected(), status;

    send_tensor(1);
    pid_t child = fork();
    if (child == 0) {
        ha_debug_streams_forked();
        CHECK_EQUAL(hipadapt_debug_stream_read_one_event(fd, &header, &payload),
                    INVALID);
        send_tensor(2);
        hipadapt_debug_stream_close(fd);
        int own = connected();
        CHECK_EQUAL(read_number(own), -1);
        send_tensor(3);
        CHECK_EQUAL(read_number(own), 3);
        hipadapt_debug_stream_close(own);
        _exit(0);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    CHECK(is_readable(fd));
    CHECK_EQUAL(read_number(fd), 1);
    CHECK(!is_readable(fd));
    hipadapt_debug_stream_close(fd);
}

/* ---- many senders ---- */

static _Atomic int senders_left;

static void *
send_many(void *number)
{
    uint64_t first = (uint64_t)(uintptr_t)number << 32;

    for (uint64_t i = 0; i < EACH; i++) {
        send_tensor(first + i);
    }
    (void)atomic_fetch_sub(&senders_left, 1);
    return NULL;
}

/* Reads half as fast as is sent, polling; returns how many came. */
static uint64_t
read_all(int fd)
{
    int64_t last[SENDERS];
    uint64_t came = 0;

    memset(last, -1, sizeof last);
    for (;;) {
        bool over = atomic_load(&senders_left) == 0;
        struct pollfd asked = {.fd = fd, .events = POLLIN};
        if (poll(&asked, 1, over ? 0 : 10) == 0 && over) {
            return came;
        }
        int64_t number = read_number(fd);
        if (number >= 0) {
            CHECK((number & 0xffffffff) > last[number >> 32]); /* in order */
            last[number >> 32] = number & 0xffffffff;
            came++;
        }
    }
}

static void
test_every_event_is_read_or_counted(void)
{
    setenv("HIPADAPT_DEBUG_STREAM_BUFFER_SIZE", "300", 1);
    pthread_t threads[SENDERS];
    int fd = connected();
    hipadapt_debug_stream_counts_t before = counts_of(0);

    atomic_store(&senders_left, SENDERS);
    for (uintptr_t i = 0; i < SENDERS; i++) {
        CHECK_EQUAL(pthread_create(&threads[i], NULL, send_many, (void *)i), 0);
    }
    uint64_t came = read_all(fd);
    for (int i = 0; i < SENDERS; i++) {
        CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
    }
    hipadapt_debug_stream_counts_t counts = counts_of(0);
    CHECK_EQUAL(counts.queued, 0);
    CHECK_EQUAL(counts.bytes, 0);
    CHECK_EQUAL(counts.read - before.read, came);
    CHECK_EQUAL(came + counts.full - before.full, SENDERS * EACH);
    CHECK(!is_readable(fd));
    hipadapt_debug_stream_close(fd);
    unsetenv("HIPADAPT_DEBUG_STREAM_BUFFER_SIZE");
}

/* ---- a reader at half speed ---- */

enum { MILLION = 1000000, ROOM = 65536 };

static _Atomic uint64_t tried; /* to be sent */

/* Alone, so that the queue can only get shorter between a look and the event. */
static void *
send_a_million(void *unused)
{
    uint64_t full = counts_of(0).full;

    for (uint64_t i = 0; i < MILLION; i++) {
        bool has_room = counts_of(0).queued < ROOM;
        send_tensor(i);
        (void)atomic_fetch_add(&tried, 1);
        uint64_t now = counts_of(0).full;
        CHECK(now == full || (now == full + 1 && !has_room));
        full = now;
    }
    return unused;
}

static void
test_reader_at_half_speed_gets_all_that_has_room(void)
{
    pthread_t thread;
    int fd = connected();
    hipadapt_debug_stream_counts_t before = counts_of(0);
    uint64_t came = 0, sent;
    int64_t last = -1, number = -1;

    CHECK_EQUAL(pthread_create(&thread, NULL, send_a_million, NULL), 0);
    do {
        sent = atomic_load(&tried);
        if (sent < MILLION && came >= sent / 2) {
            usleep(100);
            continue;
        }
        number = read_number(fd);
        CHECK(number > last || number < 0);
        last = number >= 0 ? number : last;
        came += number >= 0;
    } while (sent < MILLION || number >= 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    uint64_t full = counts_of(0).full - before.full;
    CHECK_EQUAL(came + full, MILLION);
    CHECK_EQUAL(counts_of(0).read - before.read, came);
    CHECK(came >= ROOM && full > 0);
    CHECK(!is_readable(fd));
    hipadapt_debug_stream_close(fd);
}

int
main(void)
{
    RUN(test_descriptor_is_readable_exactly_while_events_wait);
    RUN(test_select_and_epoll_see_it);
    RUN(test_client_that_reads_the_descriptor_takes_nothing);
    RUN(test_wrong_calls_are_refused);
    RUN(test_events_of_others_times_are_dropped);
    RUN(test_kinds_of_ours_come_to_who_asks);
    RUN(test_new_event_is_dropped_where_the_queue_is_full);
    RUN(test_number_that_the_client_closed_is_another_ones);
    RUN(test_numbers_above_1023);
    RUN(test_close_wakes_who_polls);
    RUN(test_forked_child_takes_nothing_from_its_parent);
    RUN(test_every_event_is_read_or_counted);
    RUN(test_reader_at_half_speed_gets_all_that_has_room);
    return 0;
}
