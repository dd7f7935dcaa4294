/* SPDX-License-Identifier: MIT */
/* Random work on many streams of several devices, against a model that does the same
 * work in the order in which it was submitted.
 *
 * A *player* is a host thread with buffers of its own; it submits kernels, copies,
 * fills, graphs and host functions to any stream, and orders those that touch the same
 * buffer with events, and only where they are not ordered anyway.  What is ordered it
 * knows from *clocks*: clock[s][t] is the number of the player's newest operation on
 * stream t that everything submitted to stream s from now on comes after.
 *
 * HIPADAPT_SLOW_TESTS=1: a million operations. */
#include "cpu_support.h"

enum {
    DEVICES = 3,
    STREAMS = 16,
    BUFFERS = 12,
    EVENTS = 24,
    LENGTH = 192,
    PLAYERS = 8,
    CHECK_EVERY = 5000,
};

struct clock {
    unsigned at[STREAMS];
};

struct buffer {
    int *memory;
    int home; /* device, or -1: pinned host memory */
    int model[LENGTH];
    struct clock readers; /* newest reader on each stream, 0: none */
    int writer;           /* stream of the newest writer, or -1 */
    unsigned written;     /* its number */
    hipGraphExec_t exec[DEVICES];
};

struct event {
    hipEvent_t handle;
    struct clock clock; /* what is before it */
    bool recorded;
};

struct host_work {
    struct buffer *buffer;
    int value;
};

struct player {
    uint64_t random;
    struct buffer buffers[BUFFERS];
    struct event events[DEVICES][EVENTS];
    struct clock clock[STREAMS];
    unsigned submitted[STREAMS];
    long operations;
    long waits; /* among them */
    long goal;
};

static hipStream_t streams[STREAMS];
static hipFunction_t mul[DEVICES], add[DEVICES];

static int
device_of(int stream)
{
    return stream % DEVICES;
}

static unsigned
pick(struct player *player, unsigned below)
{
    return random_next(&player->random) % below;
}

static void
clock_join(struct clock *clock, const struct clock *other)
{
    for (int i = 0; i < STREAMS; i++) {
        if (clock->at[i] < other->at[i]) {
            clock->at[i] = other->at[i];
        }
    }
}

/* ---- order ---- */

static void
wait_event(struct player *player, int stream, const struct event *event)
{
    OK(hipStreamWaitEvent(streams[stream], event->handle, 0));
    clock_join(&player->clock[stream], &event->clock);
    player->operations++;
    player->waits++;
}

static struct event *
record(struct player *player, int stream)
{
    struct event *event = &player->events[device_of(stream)][pick(player, EVENTS)];
    OK(hipEventRecord(event->handle, streams[stream]));
    event->clock = player->clock[stream];
    event->clock.at[stream] = player->submitted[stream];
    event->recorded = true;
    player->operations++;
    return event;
}

/* What is submitted to `stream` next comes after operation `number` of `other`. */
static void
order(struct player *player, int stream, int other, unsigned number)
{
    if (other != stream && player->clock[stream].at[other] < number) {
        wait_event(player, stream, record(player, other));
    }
}

static void
before_read(struct player *player, int stream, const struct buffer *buffer)
{
    if (buffer->writer >= 0) {
        order(player, stream, buffer->writer, buffer->written);
    }
}

static void
before_write(struct player *player, int stream, const struct buffer *buffer)
{
    before_read(player, stream, buffer);
    for (int other = 0; other < STREAMS; other++) {
        order(player, stream, other, buffer->readers.at[other]);
    }
}

static unsigned
next_number(struct player *player, int stream)
{
    player->operations++;
    return ++player->submitted[stream];
}

static void
did_write(struct buffer *buffer, int stream, unsigned number)
{
    buffer->writer = stream;
    buffer->written = number;
    memset(&buffer->readers, 0, sizeof buffer->readers);
}

/* ---- operations ---- */

static void
model_mul(struct buffer *buffer, int value, unsigned length)
{
    for (unsigned i = 0; i < length; i++) {
        buffer->model[i] = (int)((unsigned)buffer->model[i] * 31u + (unsigned)value);
    }
}

static void
do_kernel(struct player *player, int stream)
{
    struct buffer *buffer = &player->buffers[pick(player, BUFFERS)];
    int value = (int)pick(player, 1000);
    uint64_t length = 1 + pick(player, LENGTH);
    void *params[] = {&buffer->memory, &value, &length};
    before_write(player, stream, buffer);
    OK(hipModuleLaunchKernel(mul[device_of(stream)], LENGTH / 32, 1, 1, 32, 1, 1, 0,
                             streams[stream], params, NULL));
    did_write(buffer, stream, next_number(player, stream));
    model_mul(buffer, value, (unsigned)length);
}

static void
do_copy(struct player *player, int stream)
{
    struct buffer *from = &player->buffers[pick(player, BUFFERS)];
    struct buffer *to = &player->buffers[pick(player, BUFFERS)];
    unsigned begin = pick(player, LENGTH);
    unsigned length = 1 + pick(player, LENGTH - begin);
    if (from == to) {
        return;
    }
    before_read(player, stream, from);
    before_write(player, stream, to);
    OK(hipMemcpyAsync(to->memory + begin, from->memory + begin, length * sizeof(int),
                      hipMemcpyDefault, streams[stream]));
    unsigned number = next_number(player, stream);
    did_write(to, stream, number);
    from->readers.at[stream] = number;
    memcpy(to->model + begin, from->model + begin, length * sizeof(int));
}

static void
do_fill(struct player *player, int stream)
{
    struct buffer *buffer = &player->buffers[pick(player, BUFFERS)];
    unsigned begin = pick(player, LENGTH);
    unsigned length = 1 + pick(player, LENGTH - begin);
    int value = (int)pick(player, 256);
    before_write(player, stream, buffer);
    OK(hipMemsetAsync(buffer->memory + begin, value, length * sizeof(int),
                      streams[stream]));
    did_write(buffer, stream, next_number(player, stream));
    memset(buffer->model + begin, value, length * sizeof(int));
}

/* Two kernels, one after the other. */
static void
do_graph(struct player *player, int stream)
{
    struct buffer *buffer = &player->buffers[pick(player, BUFFERS)];
    before_write(player, stream, buffer);
    OK(hipGraphLaunch(buffer->exec[device_of(stream)], streams[stream]));
    did_write(buffer, stream, next_number(player, stream));
    model_mul(buffer, 7, LENGTH);
    for (int i = 0; i < LENGTH; i++) {
        buffer->model[i] = (int)((unsigned)buffer->model[i] + 3u);
    }
}

static void
host_add(void *argument)
{
    struct host_work *work = argument;
    for (int i = 0; i < LENGTH; i++) {
        work->buffer->memory[i] =
            (int)((unsigned)work->buffer->memory[i] + (unsigned)work->value);
    }
    free(work);
}

static void
do_host(struct player *player, int stream)
{
    struct buffer *buffer = &player->buffers[BUFFERS - 1 - pick(player, 3)];
    struct host_work *work = malloc(sizeof *work);
    CHECK(work != NULL && buffer->home == -1);
    *work = (struct host_work){.buffer = buffer, .value = (int)pick(player, 100)};
    int value = work->value;
    before_write(player, stream, buffer);
    OK(hipLaunchHostFunc(streams[stream], host_add, work));
    did_write(buffer, stream, next_number(player, stream));
    for (int i = 0; i < LENGTH; i++) {
        buffer->model[i] = (int)((unsigned)buffer->model[i] + (unsigned)value);
    }
}

/* The host waits: what is submitted from now on comes after. */
static void
do_host_wait(struct player *player, int stream)
{
    struct clock seen = player->clock[stream];
    seen.at[stream] = player->submitted[stream];
    if (pick(player, 2) == 0) {
        OK(hipStreamSynchronize(streams[stream]));
    } else {
        OK(hipEventSynchronize(record(player, stream)->handle));
    }
    for (int i = 0; i < STREAMS; i++) {
        clock_join(&player->clock[i], &seen);
    }
    player->operations++;
}

static void
check_buffers(struct player *player)
{
    for (int device = 0; device < DEVICES; device++) {
        OK(hipSetDevice(device));
        OK(hipDeviceSynchronize());
    }
    for (int i = 0; i < BUFFERS; i++) {
        struct buffer *buffer = &player->buffers[i];
        int found[LENGTH];
        OK(hipMemcpy(found, buffer->memory, sizeof found, hipMemcpyDefault));
        if (memcmp(found, buffer->model, sizeof found) != 0) {
            fprintf(stderr, "buffer %d (device %d) differs after %ld operations\n", i,
                    buffer->home, player->operations);
            exit(1);
        }
    }
}

static void
step(struct player *player)
{
    int stream = (int)pick(player, STREAMS);
    OK(hipSetDevice(device_of(stream)));
    switch (pick(player, 20)) {
    case 0:
        do_fill(player, stream);
        break;
    case 1:
        do_graph(player, stream);
        break;
    case 2:
        do_host(player, stream);
        break;
    case 3: {
        int device = (int)pick(player, DEVICES);
        struct event *event = &player->events[device][pick(player, EVENTS)];
        if (event->recorded) {
            wait_event(player, stream, event);
        }
        break;
    }
    case 4:
        (void)record(player, stream);
        break;
    case 5:
        if (pick(player, 20) == 0) {
            do_host_wait(player, stream);
        }
        break;
    case 6:
    case 7:
    case 8:
    case 9:
    case 10:
    case 11:
        do_copy(player, stream);
        break;
    default:
        do_kernel(player, stream);
    }
}

/* ---- a player's life ---- */

static hipGraphExec_t
make_graph(const struct buffer *buffer, int device)
{
    hipGraph_t graph;
    hipGraphNode_t first, second;
    hipGraphExec_t exec;
    int seven = 7, three = 3;
    uint64_t length = LENGTH;
    void *mul_args[] = {(void *)&buffer->memory, &seven, &length};
    void *add_args[] = {(void *)&buffer->memory, &three, &length};
    hipKernelNodeParams params = {.func = mul[device],
                                  .gridDim = {LENGTH / 32, 1, 1},
                                  .blockDim = {32, 1, 1},
                                  .kernelParams = mul_args};
    OK(hipSetDevice(device));
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphAddKernelNode(&first, graph, NULL, 0, &params));
    params.func = add[device];
    params.kernelParams = add_args;
    OK(hipGraphAddKernelNode(&second, graph, &first, 1, &params));
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    OK(hipGraphDestroy(graph));
    return exec;
}

static struct player *
player_new(uint64_t seed, long goal)
{
    struct player *player = calloc(1, sizeof *player);
    CHECK(player != NULL);
    player->random = seed;
    player->goal = goal;
    for (int i = 0; i < BUFFERS; i++) {
        struct buffer *buffer = &player->buffers[i];
        size_t bytes = sizeof buffer->model;
        buffer->writer = -1;
        buffer->home = i < BUFFERS - 3 ? i % DEVICES : -1;
        OK(hipSetDevice(buffer->home < 0 ? 0 : buffer->home));
        OK(buffer->home < 0 ? hipHostMalloc((void **)&buffer->memory, bytes, 0)
                            : hipMalloc((void **)&buffer->memory, bytes));
        OK(hipMemset(buffer->memory, 0, bytes));
        OK(hipDeviceSynchronize());
        for (int device = 0; device < DEVICES; device++) {
            buffer->exec[device] = make_graph(buffer, device);
        }
    }
    for (int device = 0; device < DEVICES; device++) {
        OK(hipSetDevice(device));
        for (int i = 0; i < EVENTS; i++) {
            OK(hipEventCreateWithFlags(&player->events[device][i].handle,
                                       i % 2 ? hipEventDisableTiming : 0));
        }
    }
    return player;
}

static void
player_free(struct player *player)
{
    for (int i = 0; i < BUFFERS; i++) {
        struct buffer *buffer = &player->buffers[i];
        for (int device = 0; device < DEVICES; device++) {
            OK(hipGraphExecDestroy(buffer->exec[device]));
        }
        OK(buffer->home < 0 ? hipHostFree(buffer->memory) : hipFree(buffer->memory));
    }
    for (int device = 0; device < DEVICES; device++) {
        for (int i = 0; i < EVENTS; i++) {
            OK(hipEventDestroy(player->events[device][i].handle));
        }
    }
    free(player);
}

static void *
play(void *argument)
{
    struct player *player = argument;
    long checked = 0;
    while (player->operations < player->goal) {
        step(player);
        if (player->operations - checked >= CHECK_EVERY) {
            check_buffers(player);
            checked = player->operations;
        }
    }
    check_buffers(player);
    return NULL;
}

static void
test_one_thread_agrees_with_the_model(void)
{
    struct player *player = player_new(1, scaled(1000000, CAN_END_KERNELS ? 25 : 100));
    (void)play(player);
    CHECK(player->waits > player->goal / 20);
    printf("%ld operations, %ld of them waits\n", player->operations, player->waits);
    player_free(player);
}

static void
test_threads_that_share_streams_agree_with_the_model(void)
{
    pthread_t threads[PLAYERS];
    struct player *players[PLAYERS];
    long goal = scaled(200000, CAN_END_KERNELS ? 40 : 200);
    for (int i = 0; i < PLAYERS; i++) {
        players[i] = player_new(100 + (uint64_t)i, goal);
    }
    for (int i = 0; i < PLAYERS; i++) {
        CHECK(pthread_create(&threads[i], NULL, play, players[i]) == 0);
    }
    for (int i = 0; i < PLAYERS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    for (int i = 0; i < PLAYERS; i++) {
        player_free(players[i]);
    }
}

int
main(void)
{
    CHECK(setenv("HIPADAPT_CPU_DEVICES", "3", 1) == 0);
    CHECK(setenv("HIPADAPT_CPU_THREADS", "4", 0) == 0);
    for (int device = 0; device < DEVICES; device++) {
        hipModule_t module;
        OK(hipSetDevice(device));
        mul[device] = image_function(&module, "mul");
        OK(hipModuleGetFunction(&add[device], module, "add"));
    }
    for (int i = 0; i < STREAMS; i++) {
        OK(hipSetDevice(device_of(i)));
        OK(hipStreamCreateWithFlags(&streams[i],
                                    i % 3 ? hipStreamNonBlocking : hipStreamDefault));
    }
    RUN(test_one_thread_agrees_with_the_model);
    RUN(test_threads_that_share_streams_agree_with_the_model);
    for (int i = 0; i < STREAMS; i++) {
        OK(hipStreamDestroy(streams[i]));
    }
    return 0;
}
