/* SPDX-License-Identifier: MIT */
/* Handles of what was freed: they open nothing, whatever lies in its place. */
#include <signal.h>

#include "cpu/base/shared_file.h"
#include "peer_support.h"

#define SMALL 1000
#define BIG ((size_t)3 << 20)
#define TRIES 400

/* What the other process is asked to open, and what it answers. */
struct request {
    hipIpcMemHandle_t handle;
    size_t size; /* 0 = the end */
};

struct reply {
    hipError_t code;
    unsigned char first, last;
};

/* Opens what it is told to; looks at the ends, fills it with 0x55, and closes it. */
static void
peer_memory(void)
{
    struct request request;
    for (hear(&request, sizeof request); request.size > 0;
         hear(&request, sizeof request)) {
        unsigned char *ptr = NULL;
        struct reply reply;
        memset(&reply, 0, sizeof reply);
        reply.code = hipIpcOpenMemHandle((void **)&ptr, request.handle, 0);
        if (reply.code == hipSuccess) {
            OK(hipMemcpy(&reply.first, ptr, 1, hipMemcpyDeviceToHost));
            OK(hipMemcpy(&reply.last, ptr + request.size - 1, 1,
                         hipMemcpyDeviceToHost));
            OK(hipMemset(ptr, 0x55, request.size));
            OK(hipIpcCloseMemHandle(ptr));
        }
        say(&reply, sizeof reply);
    }
}

static struct reply
ask(hipIpcMemHandle_t handle, size_t size)
{
    struct request request = {.handle = handle, .size = size};
    struct reply reply = {0};
    say(&request, sizeof request);
    if (size > 0) {
        hear(&reply, sizeof reply);
    }
    return reply;
}

static unsigned char *
filled(size_t size, int value, hipIpcMemHandle_t *handle)
{
    unsigned char *ptr;
    OK(hipMalloc((void **)&ptr, size));
    OK(hipMemset(ptr, value, size));
    OK(hipIpcGetMemHandle(handle, ptr));
    return ptr;
}

/* Memory that was freed, and given out again with the same address. */
static void
stale_memory(size_t size, bool again)
{
    hipIpcMemHandle_t old;
    hipIpcMemHandle_t new;
    unsigned char host;
    unsigned char *keep = filled(size, 9, &old); /* so that small ones share a file */
    unsigned char *first = filled(size, 1, &old);
    pid_t peer = start_peer("memory");
    struct reply reply = ask(old, size);
    CHECK(reply.code == hipSuccess && reply.first == 1 && reply.last == 1);

    OK(hipFree(first));
    CHECK(ask(old, size).code == hipErrorInvalidDevicePointer);

    unsigned char *second;
    OK(hipMalloc((void **)&second, size));
    CHECK(size == BIG || second == first);
    OK(hipMemset(second, 2, size));
    CHECK(ask(old, size).code == hipErrorInvalidDevicePointer);
    if (again) {
        OK(hipIpcGetMemHandle(&new, second));
        CHECK(memcmp(&new, &old, sizeof new) != 0);
        CHECK(ask(old, size).code == hipErrorInvalidDevicePointer);
        reply = ask(new, size);
        CHECK(reply.code == hipSuccess && reply.first == 2 && reply.last == 2);
    }
    OK(hipMemcpy(&host, second, 1, hipMemcpyDeviceToHost));
    CHECK(host == (again ? 0x55 : 2));
    OK(hipMemcpy(&host, keep, 1, hipMemcpyDeviceToHost));
    CHECK(host == 9);
    (void)ask(old, 0);
    end_peer(peer);
    OK(hipFree(second));
    OK(hipFree(keep));
}

static void
test_handle_of_freed_memory_opens_nothing(void)
{
    stale_memory(SMALL, false);
    stale_memory(BIG, false);
}

static void
test_handle_of_freed_memory_does_not_open_what_lies_there_now(void)
{
    stale_memory(SMALL, true);
    stale_memory(BIG, true);
}

static void
test_freeing_in_stream_order_and_reset_end_handles(void)
{
    hipIpcMemHandle_t freed;
    hipIpcMemHandle_t reset;
    void *first = filled(SMALL, 1, &freed);
    (void)filled(SMALL, 2, &reset);
    pid_t peer = start_peer("memory");
    OK(hipFreeAsync(first, NULL));
    OK(hipStreamSynchronize(NULL));
    CHECK(ask(freed, SMALL).code == hipErrorInvalidDevicePointer);
    CHECK(ask(reset, SMALL).code == hipSuccess);
    OK(hipDeviceReset());
    CHECK(ask(reset, SMALL).code == hipErrorInvalidDevicePointer);
    (void)ask(reset, 0);
    end_peer(peer);
}

/* Handles as somebody could write them who knows how, for other parts of the file. */
static void
test_made_up_handle_opens_nothing(void)
{
    hipIpcMemHandle_t handle;
    struct ha_ipc_ticket ticket;
    unsigned char *ptr = filled(SMALL, 1, &handle);
    unsigned char *neighbour;
    OK(hipMalloc((void **)&neighbour, SMALL));
    memcpy(&ticket, &handle, sizeof ticket);
    pid_t peer = start_peer("memory");
    const struct ha_shared_part good = ticket.part;
    for (int i = 0; i < 5; i++) {
        struct ha_shared_part part = good;
        if (i == 0) {
            part.serial++;
        } else if (i == 1) {
            part.place += sizeof(uint64_t);
        } else if (i == 2) {
            part.place = INT64_MAX - 7;
        } else if (i == 3) {
            part.place = UINT64_MAX - 7;
        } else {
            part.place = part.offset / sizeof(uint64_t) * sizeof(uint64_t);
        }
        CHECK(ha_ticket_write(&ticket, HA_SHARED_MEMORY, ticket.descriptor, &part));
        memcpy(&handle, &ticket, sizeof handle);
        CHECK(ask(handle, SMALL).code == hipErrorInvalidDevicePointer);
    }
    CHECK(ha_ticket_write(&ticket, HA_SHARED_MEMORY, ticket.descriptor, &good));
    memcpy(&handle, &ticket, sizeof handle);
    CHECK(ask(handle, SMALL).code == hipSuccess);
    (void)ask(handle, 0);
    end_peer(peer);
    OK(hipFree(neighbour));
    OK(hipFree(ptr));
}

/* Frees while the other process opens: it gets the memory or an error, and never what
 * comes into its place. */
static void
test_free_while_another_process_opens(void)
{
    hipIpcMemHandle_t kept;
    unsigned char *keep = filled(SMALL, 9, &kept);
    pid_t peer = start_peer("memory");
    for (int i = 0; i < TRIES; i++) {
        struct request request = {.size = SMALL};
        struct reply reply;
        unsigned char *next;
        unsigned char *ptr = filled(SMALL, 1, &request.handle);
        say(&request, sizeof request);
        for (volatile int wait = 0; wait < i * 50; wait++) {
        }
        OK(hipFree(ptr));
        OK(hipMalloc((void **)&next, SMALL));
        hear(&reply, sizeof reply);
        CHECK(reply.code == hipSuccess || reply.code == hipErrorInvalidDevicePointer);
        CHECK(ask(request.handle, SMALL).code == hipErrorInvalidDevicePointer);
        OK(hipFree(next));
    }
    CHECK(ask(kept, SMALL).code == hipSuccess);
    (void)ask(kept, 0);
    end_peer(peer);
    OK(hipFree(keep));
}

/* ---- events ---- */

static void
peer_event(void)
{
    hipIpcEventHandle_t handle;
    hipEvent_t event;
    char what;
    for (hear(&what, 1); what != 0; hear(&what, 1)) {
        hear(&handle, sizeof handle);
        hipError_t code = hipIpcOpenEventHandle(&event, handle);
        if (code == hipSuccess) {
            OK(hipEventQuery(event));
            OK(hipEventDestroy(event));
        }
        say(&code, sizeof code);
    }
}

static hipError_t
ask_event(hipIpcEventHandle_t handle)
{
    hipError_t code;
    say("e", 1);
    say(&handle, sizeof handle);
    hear(&code, sizeof code);
    return code;
}

/* A stream still has to pass the record, so that the event is not gone altogether. */
static void
test_handle_of_destroyed_event_opens_nothing(void)
{
    const unsigned flags = hipEventInterprocess | hipEventDisableTiming;
    hipIpcEventHandle_t handle;
    hipIpcEventHandle_t other;
    hipEvent_t event;
    hipStream_t stream;
    OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    OK(hipEventCreateWithFlags(&event, flags));
    OK(hipIpcGetEventHandle(&handle, event));
    pid_t peer = start_peer("event");
    CHECK(ask_event(handle) == hipSuccess);
    /* Destroying an opened one changes nothing. */
    CHECK(ask_event(handle) == hipSuccess);

    close_gate(stream);
    OK(hipEventRecord(event, stream));
    OK(hipEventDestroy(event));
    CHECK(ask_event(handle) == hipErrorInvalidValue);
    gate_open = 1;
    OK(hipStreamSynchronize(stream));
    CHECK(ask_event(handle) == hipErrorInvalidValue);

    OK(hipEventCreateWithFlags(&event, flags));
    OK(hipIpcGetEventHandle(&other, event));
    CHECK(ask_event(handle) == hipErrorInvalidValue);
    CHECK(ask_event(other) == hipSuccess);
    say("", 1);
    end_peer(peer);
    OK(hipEventDestroy(event));
    OK(hipStreamDestroy(stream));
}

/* ---- pools ---- */

static hipMemPool_t
shared_pool(hipMemPool_t *imported)
{
    hipMemPool_t pool;
    hipMemPoolProps props;
    int fd = -1;
    memset(&props, 0, sizeof props);
    props.allocType = hipMemAllocationTypePinned;
    props.handleTypes = hipMemHandleTypePosixFileDescriptor;
    props.location.type = hipMemLocationTypeDevice;
    OK(hipMemPoolCreate(&pool, &props));
    OK(hipMemPoolExportToShareableHandle(&fd, pool, hipMemHandleTypePosixFileDescriptor,
                                         0));
    OK(hipMemPoolImportFromShareableHandle(imported, (void *)(intptr_t)fd,
                                           hipMemHandleTypePosixFileDescriptor, 0));
    close(fd);
    return pool;
}

/* Freed memory stays with the pool and is given out again; and a span without memory
 * goes back to the machine. */
static void
stale_pointer(size_t size, uint64_t threshold)
{
    hipMemPool_t imported;
    hipMemPool_t pool = shared_pool(&imported);
    hipMemPoolPtrExportData old;
    hipMemPoolPtrExportData new;
    void *ptr;
    void *open;
    OK(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &threshold));
    OK(hipMallocFromPoolAsync(&ptr, size, pool, NULL));
    OK(hipMemPoolExportPointer(&old, ptr));
    OK(hipMemPoolImportPointer(&open, imported, &old));
    OK(hipFreeAsync(ptr, NULL));
    OK(hipStreamSynchronize(NULL));
    void *no = NULL;
    CHECK_HIP(hipMemPoolImportPointer(&no, imported, &old), hipErrorInvalidValue);
    OK(hipMallocFromPoolAsync(&ptr, size, pool, NULL));
    CHECK_HIP(hipMemPoolImportPointer(&no, imported, &old), hipErrorInvalidValue);
    OK(hipMemPoolExportPointer(&new, ptr));
    CHECK(memcmp(&new, &old, sizeof new) != 0);
    CHECK_HIP(hipMemPoolImportPointer(&no, imported, &old), hipErrorInvalidValue);
    CHECK(no == NULL);
    /* What was imported before stays. */
    OK(hipMemset(open, 1, size));
    OK(hipFree(open));
    OK(hipMemPoolImportPointer(&open, imported, &new));
    OK(hipMemset(open, 3, size));
    char byte = 0;
    OK(hipMemcpy(&byte, (char *)ptr + size - 1, 1, hipMemcpyDeviceToHost));
    CHECK(byte == 3);
    OK(hipFree(open));
    OK(hipFree(ptr));
    OK(hipMemPoolDestroy(imported));
    OK(hipMemPoolDestroy(pool));
}

static void
test_export_data_of_freed_pool_memory_imports_nothing(void)
{
    stale_pointer(SMALL, UINT64_MAX);
    stale_pointer(SMALL, 0);
    stale_pointer(BIG, UINT64_MAX);
    stale_pointer(BIG, 0);
}

int
main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "peer") == 0) {
        line = 0;
        if (strcmp(argv[2], "memory") == 0) {
            peer_memory();
        } else if (strcmp(argv[2], "event") == 0) {
            peer_event();
        }
        return 0;
    }
    RUN(test_handle_of_freed_memory_opens_nothing);
    RUN(test_handle_of_freed_memory_does_not_open_what_lies_there_now);
    RUN(test_freeing_in_stream_order_and_reset_end_handles);
    RUN(test_made_up_handle_opens_nothing);
    RUN(test_free_while_another_process_opens);
    RUN(test_handle_of_destroyed_event_opens_nothing);
    RUN(test_export_data_of_freed_pool_memory_imports_nothing);
    return 0;
}
