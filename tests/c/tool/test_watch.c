/* SPDX-License-Identifier: MIT */
/* The watcher of debug streams, among threads that send and clients that come. */
/* sources: core tool */
/* product: profiler */
#include "check.h"
#include "tool/debug/stream.h"
#include "tool/debug/watch.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

typedef hipadapt_debug_stream_payload_debug_tensor_read_t payload_t;

enum {
    TENSOR = HIPADAPT_DEBUG_STREAM_EVENT_TYPE_DEBUG_TENSOR_READ,
    SENDERS = 4,
    EACH = 5000,
    DEVICES = 3,
    CLIENTS = 40,
};

static int file;  /* what stdout was when the watcher began */
static FILE *out; /* the same, to read */

/* A tensor of the sender's number and its own. */
static void
send_tensor(int device, int sender, int number)
{
    const float data[2] = {(float)sender, (float)number};
    uint64_t bytes = sizeof(payload_t) + sizeof data;

    if (!ha_debug_stream_admits(device, TENSOR, bytes)) {
        return;
    }
    payload_t *payload = calloc(1, bytes);
    CHECK(payload != NULL);
    strcpy(payload->prefix, "sent");
    strcpy(payload->tensor_dtype, "float32");
    payload->device = (uint32_t)device;
    payload->pipe = 1;
    payload->tensor_shape[0] = 2;
    payload->tensor_data_size = sizeof data;
    memcpy(payload->tensor_data, data, sizeof data);
    ha_debug_stream_send(device, TENSOR, payload, bytes);
}

static void *
send_many(void *sender)
{
    for (int i = 0; i < EACH; i++) {
        send_tensor(i % DEVICES, (int)(intptr_t)sender, i);
        if (i % 50 == 0) {
            usleep(500); /* clients come meanwhile */
        }
    }
    return NULL;
}

/* Lines in `out`, each of which is whole and comes behind the sender's last one. */
static int
count_lines(void)
{
    char line[512];
    int count = 0, last[SENDERS][DEVICES], device;
    float sender, number;

    memset(last, -1, sizeof last);
    rewind(out);
    for (; fgets(line, sizeof line, out) != NULL; count++) {
        CHECK_EQUAL(sscanf(line,
                           "sent: float32 2 device=%d min=%*s max=%*s mean=%*s nan=0 "
                           "inf=0 [%f %f]\n",
                           &device, &sender, &number),
                    3);
        int *before = &last[(int)sender][device];
        CHECK((int)number > *before);
        *before = (int)number;
    }
    return count;
}

static uint64_t
dropped(void)
{
    uint64_t all = 0;

    for (int i = 0; i < DEVICES; i++) {
        hipadapt_debug_stream_counts_t counts = {.size = sizeof counts};
        CHECK_EQUAL(hipadapt_debug_stream_count(i, &counts), 0);
        all += counts.full + counts.large + counts.closed + counts.failed;
    }
    return all;
}

/* Clients of the program's own come and go; how many events they got. */
static uint64_t
be_clients(void)
{
    hipadapt_debug_stream_event_header_t header;
    uint64_t came = 0;
    void *payload;

    for (int i = 0; i < CLIENTS; i++) {
        int fd = -1;
        CHECK_EQUAL(hipadapt_debug_stream_connect(i % DEVICES, &fd), 0);
        CHECK(fd >= 0);
        usleep(500);
        while (hipadapt_debug_stream_read_one_event(fd, &header, &payload) == 0) {
            free(payload);
            came++;
        }
        hipadapt_debug_stream_close(fd);
    }
    return came;
}

static void
test_all_is_printed_or_read_or_counted(void)
{
    pthread_t threads[SENDERS];

    for (intptr_t i = 0; i < SENDERS; i++) {
        CHECK_EQUAL(pthread_create(&threads[i], NULL, send_many, (void *)i), 0);
    }
    uint64_t came = be_clients();
    for (int i = 0; i < SENDERS; i++) {
        CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
    }
    ha_watch_end();
    CHECK_EQUAL((uint64_t)count_lines() + came + dropped(), SENDERS * EACH);
    CHECK(count_lines() > 0 && came > 0);
}

static void
test_devices_are_watched_again_behind_a_client(void)
{
    int before = count_lines(), fd;

    CHECK_EQUAL(hipadapt_debug_stream_connect(1, &fd), 0);
    send_tensor(1, 0, EACH);
    send_tensor(2, 0, EACH);
    hipadapt_debug_stream_close(fd);
    send_tensor(1, 1, EACH);
    ha_watch_end();
    CHECK_EQUAL(count_lines(), before + 2);
}

/* Closes what the watcher polls: there are no other epolls here.  How many. */
static int
close_connections(void)
{
    char link[64], target[64];
    int count = 0;

    for (int fd = 3; fd < 100; fd++) {
        (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t length = readlink(link, target, sizeof target - 1);
        if (length > 0 && memmem(target, (size_t)length, "eventpoll", 9) != NULL) {
            count += close(fd) == 0;
        }
    }
    return count;
}

static void
test_descriptors_that_the_program_closed_are_replaced(void)
{
    uint64_t lost = dropped(), before = (uint64_t)count_lines() + lost;

    CHECK(close_connections() >= 2); /* device 2 among them */
    for (int i = 0; i < 10; i++) {
        send_tensor(2, 2, EACH + i);
        usleep(2000);
    }
    ha_watch_end();
    CHECK_EQUAL((uint64_t)count_lines() + dropped(), before + 10);
    CHECK(dropped() - lost < 10);        /* what came just when the loss was noticed */
    CHECK_EQUAL(close_connections(), 1); /* a new one */
}

static void
test_forked_child_prints_its_own(void)
{
    int before = count_lines(), status;

    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        dup2(file, STDOUT_FILENO); /* its watcher has those of the child */
        send_tensor(0, 3, EACH);
        send_tensor(1, 3, EACH);
        exit(0); /* its watcher ends with it */
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    CHECK_EQUAL(count_lines(), before + 2);
    send_tensor(0, 3, EACH + 1);
    ha_watch_end();
    CHECK_EQUAL(count_lines(), before + 3);
}

int
main(void)
{
    char path[] = "/tmp/hipadapt_watch_XXXXXX";
    int own = dup(STDOUT_FILENO);

    file = mkostemp(path, O_APPEND);
    out = fopen(path, "r");
    CHECK(own >= 0 && file >= 0 && out != NULL);
    unlink(path);
    dup2(file, STDOUT_FILENO);
    setenv("HIPADAPT_DEBUG_STREAM_WATCH", "1", 1);
    setenv("HIPADAPT_DEBUG_STREAM_BUFFER_SIZE", "1000", 1);
    ha_watch_begin();
    ha_watch_begin();
    dup2(own, STDOUT_FILENO);
    RUN(test_all_is_printed_or_read_or_counted);
    RUN(test_devices_are_watched_again_behind_a_client);
    RUN(test_descriptors_that_the_program_closed_are_replaced);
    RUN(test_forked_child_prints_its_own);
    return 0;
}
