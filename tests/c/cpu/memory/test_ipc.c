/* SPDX-License-Identifier: MIT */
/* Memory and events of two processes. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#include "peer_support.h"

#define BYTES 10000

/* ---- memory ---- */

static void
peer_memory(void)
{
    hipIpcMemHandle_t handle;
    unsigned char *ptr;
    unsigned char *again;
    unsigned char host[BYTES];
    hear(&handle, sizeof handle);
    OK(hipIpcOpenMemHandle((void **)&ptr, handle, hipIpcMemLazyEnablePeerAccess));
    OK(hipMemcpy(host, ptr, BYTES, hipMemcpyDeviceToHost));
    for (int i = 0; i < BYTES; i++) {
        CHECK(host[i] == (unsigned char)(i * 3));
    }
    CHECK_HIP(hipMemset(ptr, 0, BYTES + 1), hipErrorInvalidValue);
    OK(hipMemset(ptr, 0x42, BYTES));
    hipPointerAttribute_t attributes;
    OK(hipPointerGetAttributes(&attributes, ptr));
    CHECK(attributes.type == hipMemoryTypeDevice);
    /* Opened twice, closed twice. */
    OK(hipIpcOpenMemHandle((void **)&again, handle, 0));
    CHECK(again == ptr);
    OK(hipIpcCloseMemHandle(again));
    OK(hipMemset(ptr, 0x43, 1));
    CHECK_HIP(hipFree(ptr), hipErrorInvalidValue);
    CHECK_HIP(hipIpcCloseMemHandle(ptr + 1), hipErrorInvalidValue);
    /* Memory of somebody else can't be passed on. */
    hipIpcMemHandle_t onwards;
    CHECK_HIP(hipIpcGetMemHandle(&onwards, ptr), hipErrorInvalidValue);
    step('a');
    /* The owner has freed it and stays alive: what is open stays. */
    step('b');
    OK(hipMemset(ptr, 0x44, BYTES));
    OK(hipIpcCloseMemHandle(ptr));
    CHECK_HIP(hipIpcCloseMemHandle(ptr), hipErrorInvalidValue);
    CHECK_HIP(hipMemset(ptr, 0, 1), hipErrorInvalidValue);
    step('c');
}

static void
memory_of_two_processes(size_t size, unsigned char *neighbour)
{
    unsigned char host[BYTES];
    unsigned char *ptr;
    hipIpcMemHandle_t handle;
    hipIpcMemHandle_t twice;
    OK(hipMalloc((void **)&ptr, size));
    for (int i = 0; i < BYTES; i++) {
        host[i] = (unsigned char)(i * 3);
    }
    OK(hipMemset(neighbour, 9, BYTES));
    OK(hipMemcpy(ptr + size - BYTES, host, BYTES, hipMemcpyHostToDevice));
    OK(hipMemcpy(ptr, host, BYTES, hipMemcpyHostToDevice));
    OK(hipIpcGetMemHandle(&handle, ptr));
    OK(hipIpcGetMemHandle(&twice, ptr));
    CHECK(memcmp(&handle, &twice, sizeof handle) == 0);
    /* Its contents and its neighbours' are what they were. */
    OK(hipMemcpy(host, ptr + size - BYTES, BYTES, hipMemcpyDeviceToHost));
    for (int i = 0; i < BYTES; i++) {
        CHECK(host[i] == (unsigned char)(i * 3));
    }
    OK(hipMemcpy(host, neighbour, BYTES, hipMemcpyDeviceToHost));
    CHECK(host[0] == 9 && host[BYTES - 1] == 9);
    void *none;
    CHECK_HIP(hipIpcOpenMemHandle(&none, handle, 0), hipErrorInvalidContext);
    pid_t peer = start_peer(size == BYTES ? "memory" : "big");
    say(&handle, sizeof handle);
    step('a');
    OK(hipMemcpy(host, ptr, BYTES, hipMemcpyDeviceToHost));
    CHECK(host[0] == 0x43 && host[1] == 0x42 && host[BYTES - 1] == 0x42);
    OK(hipFree(ptr));
    step('b');
    step('c');
    end_peer(peer);
}

static void
test_small_memory_of_two_processes(void)
{
    unsigned char *neighbour;
    OK(hipMalloc((void **)&neighbour, BYTES));
    memory_of_two_processes(BYTES, neighbour);
    OK(hipFree(neighbour));
}

/* Like peer_memory, for memory of which only a part is looked at. */
static void
peer_big(void)
{
    hipIpcMemHandle_t handle;
    unsigned char *ptr;
    size_t size;
    hear(&handle, sizeof handle);
    OK(hipIpcOpenMemHandle((void **)&ptr, handle, 0));
    OK(hipMemPtrGetInfo(ptr, &size));
    CHECK(size == ((size_t)5 << 20) + 123);
    OK(hipMemset(ptr, 0x42, BYTES));
    OK(hipMemset(ptr, 0x43, 1));
    step('a');
    step('b');
    OK(hipMemset(ptr, 1, size));
    OK(hipIpcCloseMemHandle(ptr));
    step('c');
}

static void
test_big_memory_of_two_processes(void)
{
    unsigned char *neighbour;
    OK(hipMalloc((void **)&neighbour, (size_t)1 << 20));
    memory_of_two_processes(((size_t)5 << 20) + 123, neighbour);
    OK(hipFree(neighbour));
}

/* Another thread keeps the device at work on memory that is being made shareable; no
 * result of it may be lost. */
#define WORDS ((size_t)4 << 20)
#define PASSES 300

static _Atomic int launched;

static void *
keep_adding(void *ptr)
{
    hipStream_t stream;
    hipModule_t module;
    hipFunction_t add = image_function(&module, "add");
    int one = 1;
    uint64_t count = WORDS;
    void *arguments[] = {&ptr, &one, &count};
    OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    for (int i = 0; i < PASSES; i++) {
        OK(hipModuleLaunchKernel(add, WORDS / 1024, 1, 1, 1024, 1, 1, 0, stream,
                                 arguments, NULL));
        launched++;
        if (i % 2 == 0) {
            OK(hipStreamSynchronize(stream));
        }
    }
    OK(hipStreamSynchronize(stream));
    OK(hipStreamDestroy(stream));
    OK(hipModuleUnload(module));
    return NULL;
}

static void
test_export_while_streams_work(void)
{
    void *ptr;
    pthread_t thread;
    hipIpcMemHandle_t handle;
    int *host = malloc(WORDS * sizeof *host);
    image_make();
    OK(hipMalloc(&ptr, WORDS * sizeof *host));
    OK(hipMemset(ptr, 0, WORDS * sizeof *host));
    CHECK(pthread_create(&thread, NULL, keep_adding, ptr) == 0);
    while (launched < 10) {
        usleep(100);
    }
    OK(hipIpcGetMemHandle(&handle, ptr));
    CHECK(launched < PASSES); /* else nothing was tested */
    CHECK(pthread_join(thread, NULL) == 0);
    OK(hipMemcpy(host, ptr, WORDS * sizeof *host, hipMemcpyDeviceToHost));
    for (size_t i = 0; i < WORDS; i++) {
        CHECK(host[i] == PASSES);
    }
    OK(hipFree(ptr));
    free(host);
}

/* ---- events ---- */

static void
peer_event(void)
{
    hipIpcEventHandle_t handle;
    hipIpcMemHandle_t memory;
    hipEvent_t event;
    hipEvent_t mine;
    hipIpcEventHandle_t reply;
    hipStream_t stream;
    int *ptr;
    int *value; /* pinned, or the copy would wait */
    float elapsed;
    hear(&handle, sizeof handle);
    hear(&memory, sizeof memory);
    OK(hipIpcOpenEventHandle(&event, handle));
    OK(hipIpcOpenMemHandle((void **)&ptr, memory, 0));
    OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    OK(hipEventQuery(event)); /* never recorded */
    CHECK_HIP(hipEventElapsedTime(&elapsed, event, event), hipErrorInvalidHandle);
    step('a');
    /* Recorded over there, behind a gate. */
    CHECK_HIP(hipEventQuery(event), hipErrorNotReady);
    OK(hipStreamWaitEvent(stream, event, 0));
    OK(hipHostMalloc((void **)&value, sizeof *value, 0));
    OK(hipMemcpyAsync(value, ptr, sizeof *value, hipMemcpyDeviceToHost, stream));
    OK(hipEventCreateWithFlags(&mine, hipEventInterprocess | hipEventDisableTiming));
    OK(hipEventRecord(mine, stream));
    OK(hipIpcGetEventHandle(&reply, mine));
    usleep(30000);
    CHECK_HIP(hipStreamQuery(stream), hipErrorNotReady);
    say(&reply, sizeof reply);
    step('b');
    OK(hipStreamSynchronize(stream));
    CHECK(*value == 77);
    OK(hipHostFree(value));
    OK(hipEventSynchronize(event));
    OK(hipEventQuery(event));
    /* Recorded here, waited for there. */
    OK(hipEventRecord(event, stream));
    step('c');
    OK(hipEventDestroy(event));
    CHECK_HIP(hipEventQuery(event), hipErrorInvalidHandle);
    OK(hipEventDestroy(mine));
    OK(hipIpcCloseMemHandle(ptr));
    OK(hipStreamDestroy(stream));
}

static void
test_events_of_two_processes(void)
{
    hipEvent_t event;
    hipEvent_t theirs;
    hipEvent_t plain;
    hipIpcEventHandle_t handle;
    hipIpcEventHandle_t reply;
    hipIpcMemHandle_t memory;
    hipStream_t stream;
    int *ptr;
    OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    OK(hipMalloc((void **)&ptr, sizeof *ptr));
    CHECK_HIP(hipEventCreateWithFlags(&event, hipEventInterprocess),
              hipErrorInvalidValue);
    OK(hipEventCreateWithFlags(&event, hipEventInterprocess | hipEventDisableTiming));
    OK(hipEventCreate(&plain));
    CHECK_HIP(hipIpcGetEventHandle(&handle, plain), hipErrorInvalidConfiguration);
    CHECK_HIP(hipIpcGetEventHandle(&handle, NULL), hipErrorInvalidHandle);
    CHECK_HIP(hipIpcGetEventHandle(NULL, event), hipErrorInvalidValue);
    OK(hipIpcGetEventHandle(&handle, event));
    CHECK_HIP(hipIpcOpenEventHandle(&theirs, handle), hipErrorInvalidContext);
    OK(hipIpcGetMemHandle(&memory, ptr));
    pid_t peer = start_peer("event");
    say(&handle, sizeof handle);
    say(&memory, sizeof memory);
    char heard;
    hear(&heard, 1);
    CHECK(heard == 'a');
    int value = 77;
    close_gate(stream);
    OK(hipMemcpyAsync(ptr, &value, sizeof value, hipMemcpyHostToDevice, stream));
    OK(hipEventRecord(event, stream));
    CHECK_HIP(hipEventQuery(event), hipErrorNotReady);
    say(&heard, 1);
    hear(&reply, sizeof reply);
    OK(hipIpcOpenEventHandle(&theirs, reply));
    CHECK_HIP(hipEventQuery(theirs), hipErrorNotReady);
    gate_open = 1;
    OK(hipEventSynchronize(theirs));
    OK(hipEventQuery(event));
    step('b');
    hear(&heard, 1);
    CHECK(heard == 'c');
    OK(hipEventSynchronize(event));
    OK(hipStreamWaitEvent(stream, event, 0));
    OK(hipStreamSynchronize(stream));
    say(&heard, 1);
    end_peer(peer);
    /* What they made is gone with them, but can still be asked. */
    OK(hipEventQuery(theirs));
    OK(hipEventDestroy(theirs));
    CHECK_HIP(hipIpcOpenEventHandle(&theirs, reply), hipErrorInvalidValue);
    OK(hipEventDestroy(event));
    OK(hipEventDestroy(plain));
    OK(hipStreamDestroy(stream));
    OK(hipFree(ptr));
}

/* Records behind a gate that never opens, and is killed. */
static void
peer_dies(void)
{
    hipIpcEventHandle_t handle;
    hipEvent_t event;
    hear(&handle, sizeof handle);
    OK(hipIpcOpenEventHandle(&event, handle));
    hipStream_t stream;
    OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    OK(hipLaunchHostFunc(stream, gate, NULL));
    OK(hipEventRecord(event, stream));
    step('a');
    pause();
}

static void
test_recorder_that_dies_is_noticed(void)
{
    hipEvent_t event;
    hipIpcEventHandle_t handle;
    hipStream_t stream;
    int status;
    OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    OK(hipEventCreateWithFlags(&event, hipEventInterprocess | hipEventDisableTiming));
    OK(hipIpcGetEventHandle(&handle, event));
    pid_t peer = start_peer("dies");
    say(&handle, sizeof handle);
    step('a');
    CHECK_HIP(hipEventQuery(event), hipErrorNotReady);
    OK(hipStreamWaitEvent(stream, event, 0));
    usleep(50000);
    CHECK_HIP(hipStreamQuery(stream), hipErrorNotReady);
    CHECK(kill(peer, SIGKILL) == 0 && waitpid(peer, &status, 0) == peer);
    CHECK_HIP(hipEventSynchronize(event), hipErrorUnknown);
    CHECK_HIP(hipStreamSynchronize(stream), hipErrorUnknown);
    OK(hipDeviceReset());
}

/* A stream that waits for another process does not keep the device from a reset. */
static void
test_reset_ends_waits(void)
{
    hipEvent_t event;
    hipIpcEventHandle_t handle;
    hipStream_t stream;
    OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    OK(hipEventCreateWithFlags(&event, hipEventInterprocess | hipEventDisableTiming));
    OK(hipIpcGetEventHandle(&handle, event));
    pid_t peer = start_peer("dies");
    say(&handle, sizeof handle);
    step('a');
    OK(hipStreamWaitEvent(stream, event, 0));
    OK(hipDeviceReset());
    int status;
    CHECK(kill(peer, SIGKILL) == 0 && waitpid(peer, &status, 0) == peer);
}

/* ---- what is no handle ---- */

static void
test_bad_handles(void)
{
    hipIpcMemHandle_t memory;
    hipIpcMemHandle_t good;
    hipIpcEventHandle_t event_handle;
    hipEvent_t event;
    void *ptr;
    char plain[16];
    uint64_t state = 11;
    memset(&memory, 0, sizeof memory);
    memset(&event_handle, 0, sizeof event_handle);
    CHECK_HIP(hipIpcOpenMemHandle(&ptr, memory, 0), hipErrorInvalidValue);
    CHECK_HIP(hipIpcOpenEventHandle(&event, event_handle), hipErrorInvalidValue);
    CHECK_HIP(hipIpcGetMemHandle(&memory, plain), hipErrorInvalidValue);
    CHECK_HIP(hipIpcGetMemHandle(&memory, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipIpcCloseMemHandle(NULL), hipErrorInvalidValue);
    OK(hipHostMalloc(&ptr, 100, 0));
    CHECK_HIP(hipIpcGetMemHandle(&memory, ptr), hipErrorInvalidValue);
    OK(hipHostFree(ptr));
    OK(hipMalloc(&ptr, 100));
    CHECK_HIP(hipIpcGetMemHandle(NULL, ptr), hipErrorInvalidValue);
    OK(hipIpcGetMemHandle(&good, ptr));
    CHECK_HIP(hipIpcOpenMemHandle(NULL, good, 0), hipErrorInvalidValue);
    CHECK_HIP(hipIpcOpenMemHandle(&ptr, good, 8), hipErrorInvalidValue);
    OK(hipFree(ptr));
    for (int i = 0; i < 20000; i++) {
        memory = good;
        for (int j = 0; j < 3; j++) {
            memory.reserved[random_next(&state) % 64] = (char)random_next(&state);
        }
        if (memcmp(&memory, &good, sizeof good) == 0) {
            continue;
        }
        CHECK_HIP(hipIpcOpenMemHandle(&ptr, memory, 0), hipErrorInvalidValue);
        memcpy(&event_handle, &memory, sizeof memory);
        CHECK_HIP(hipIpcOpenEventHandle(&event, event_handle), hipErrorInvalidValue);
    }
}

int
main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "peer") == 0) {
        line = 0;
        gate_open = 0;
        if (strcmp(argv[2], "memory") == 0) {
            peer_memory();
        } else if (strcmp(argv[2], "big") == 0) {
            peer_big();
        } else if (strcmp(argv[2], "event") == 0) {
            peer_event();
        } else if (strcmp(argv[2], "dies") == 0) {
            peer_dies();
        }
        return 0;
    }
    RUN(test_small_memory_of_two_processes);
    RUN(test_big_memory_of_two_processes);
    RUN(test_export_while_streams_work);
    RUN(test_events_of_two_processes);
    RUN(test_recorder_that_dies_is_noticed);
    RUN(test_reset_ends_waits);
    RUN(test_bad_handles);
    return 0;
}
