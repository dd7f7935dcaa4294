/* SPDX-License-Identifier: MIT */
#include "cpu/queue/ipc_event.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/interrupt.h"
#include "cpu/base/shared_file.h"
#include "cpu/queue/pool.h"

#define RECORD_COUNT 64u
#define SLICE_NS 20000000 /* between looks at the other process and at interrupts */

struct page {
    _Atomic uint64_t newest;
    _Atomic int32_t recorder;
    int32_t unused;
    _Atomic uint32_t word;
    uint32_t also_unused;
    _Atomic uint64_t living;
    unsigned char gap[32];
    _Atomic uint64_t done[RECORD_COUNT];
};

_Static_assert(sizeof(_Atomic uint64_t) == 8 && offsetof(struct page, done) == 64,
               "the same in every process");
_Static_assert(sizeof(hipIpcEventHandle_t) == sizeof(struct ha_ipc_ticket),
               "a ticket is a handle");

struct ha_ipc_event {
    _Atomic uint32_t references;
    bool created; /* not opened */
    int file;     /* owned */
    struct ha_file_view view;
    struct page *page; /* in it */
};

/* Steals the file. */
static struct ha_ipc_event *
event_of_file(int file)
{
    struct ha_ipc_event *event = calloc(1, sizeof *event);
    if (event == NULL ||
        !ha_shared_file_map(file, 0, sizeof(struct page), &event->view)) {
        free(event);
        close(file);
        (void)ha_cpu_fail(hipErrorOutOfMemory, "no memory for another event");
        return NULL;
    }
    atomic_init(&event->references, 1);
    event->file = file;
    event->page = event->view.ptr;
    return event;
}

struct ha_ipc_event *
ha_ipc_event_new(void)
{
    int file = -1;
    int error = ha_shared_file_create(HA_SHARED_EVENT, sizeof(struct page), &file);
    if (error != 0) {
        (void)ha_cpu_fail(hipErrorOutOfMemory, "no file for another event: %s",
                          strerror(error));
        return NULL;
    }
    struct ha_ipc_event *event = event_of_file(file);
    if (event != NULL) {
        event->created = true;
        atomic_store(&event->page->living, 1);
    }
    return event;
}

void
ha_ipc_event_retire(struct ha_ipc_event *event)
{
    if (event->created) {
        atomic_store(&event->page->living, 0);
    }
}

void
ha_ipc_event_retain(struct ha_ipc_event *event)
{
    atomic_fetch_add(&event->references, 1);
}

void
ha_ipc_event_release(struct ha_ipc_event *event)
{
    if (atomic_fetch_sub(&event->references, 1) == 1) {
        ha_shared_file_unmap(&event->view);
        close(event->file);
        free(event);
    }
}

static const struct ha_shared_part whole = {
    .size = sizeof(struct page), .place = offsetof(struct page, living), .serial = 1};

hipError_t
ha_ipc_event_export(const struct ha_ipc_event *event, hipIpcEventHandle_t *handle)
{
    struct ha_ipc_ticket ticket;
    if (!ha_ticket_write(&ticket, HA_SHARED_EVENT, event->file, &whole)) {
        return ha_cpu_fail(hipErrorInvalidValue, "the file of the event is gone");
    }
    memcpy(handle, &ticket, sizeof ticket);
    return hipSuccess;
}

static hipError_t
not_there(const struct ha_ipc_ticket *ticket)
{
    return ha_cpu_fail(hipErrorInvalidValue,
                       "argument 'handle': process %d has destroyed the event, has "
                       "ended, or belongs to another user",
                       ticket->process);
}

hipError_t
ha_ipc_event_open(const hipIpcEventHandle_t *handle, struct ha_ipc_event **event)
{
    struct ha_ipc_ticket ticket;
    int file = -1;
    memcpy(&ticket, handle, sizeof ticket);
    switch (ha_ticket_open(&ticket, HA_SHARED_EVENT, &file)) {
    case HA_TICKET_BAD:
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'handle' is not from hipIpcGetEventHandle");
    case HA_TICKET_OWN:
        return ha_cpu_fail(hipErrorInvalidContext,
                           "argument 'handle' is for an event of this process");
    case HA_TICKET_GONE:
        return not_there(&ticket);
    case HA_TICKET_OPEN:
        break;
    }
    if (memcmp(&ticket.part, &whole, sizeof whole) != 0) {
        close(file);
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'handle' is not from hipIpcGetEventHandle");
    }
    if (!ha_ticket_is_valid(&ticket, file)) {
        close(file);
        return not_there(&ticket);
    }
    *event = event_of_file(file);
    return *event != NULL ? hipSuccess : hipErrorOutOfMemory;
}

/* ---- records ---- */

uint64_t
ha_ipc_event_record(struct ha_ipc_event *event)
{
    atomic_store(&event->page->recorder, (int32_t)getpid());
    return atomic_fetch_add(&event->page->newest, 1) + 1;
}

void
ha_ipc_event_pass(struct ha_ipc_event *event, uint64_t number)
{
    _Atomic uint64_t *done = &event->page->done[number % RECORD_COUNT];
    uint64_t before = atomic_load(done);
    while (before < number && !atomic_compare_exchange_weak(done, &before, number)) {
    }
    atomic_fetch_add(&event->page->word, 1);
    syscall(SYS_futex, &event->page->word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

uint64_t
ha_ipc_event_newest(const struct ha_ipc_event *event)
{
    return atomic_load(&event->page->newest);
}

bool
ha_ipc_event_is_done(const struct ha_ipc_event *event, uint64_t number)
{
    return atomic_load(&event->page->done[number % RECORD_COUNT]) >= number;
}

/* ---- waiting ---- */

/* Sleeps until something is done, for a slice at most. */
static void
sleep_slice(struct ha_ipc_event *event, uint64_t number)
{
    const struct timespec slice = {.tv_sec = 0, .tv_nsec = SLICE_NS};
    uint32_t word = atomic_load(&event->page->word);
    if (!ha_ipc_event_is_done(event, number)) {
        syscall(SYS_futex, &event->page->word, FUTEX_WAIT, word, &slice, NULL, 0);
    }
}

/* Whether the process that would have to pass the record is gone. */
static bool
is_orphan(const struct ha_ipc_event *event, uint64_t number)
{
    int32_t recorder = atomic_load(&event->page->recorder);
    if (recorder <= 0 || recorder == (int32_t)getpid() || kill(recorder, 0) == 0 ||
        errno != ESRCH) {
        return false;
    }
    return !ha_ipc_event_is_done(event, number);
}

static const char orphan_text[] =
    "the process that recorded the event has ended before its stream got there";

hipError_t
ha_ipc_event_wait(struct ha_ipc_event *event, uint64_t number)
{
    while (!ha_ipc_event_is_done(event, number)) {
        sleep_slice(event, number);
        if (ha_ipc_event_is_done(event, number)) {
            break;
        }
        if (is_orphan(event, number)) {
            return ha_cpu_fail(hipErrorUnknown, "%s", orphan_text);
        }
        if (ha_interrupted()) {
            return ha_cpu_fail(hipErrorNotReady, "interrupted");
        }
    }
    return hipSuccess;
}

struct waiting {
    struct ha_ipc_event *event; /* owned reference */
    uint64_t number;
    _Atomic(const char *) cancelled;
};

_Static_assert(sizeof(struct waiting) <= HA_OP_PAYLOAD_BYTES, "fits an operation");

static bool
waiting_run(struct ha_op *op)
{
    struct waiting *waiting = (void *)op->payload;
    const struct ha_device *device = op->queue->device;
    while (!ha_ipc_event_is_done(waiting->event, waiting->number)) {
        const char *cancelled = atomic_load(&waiting->cancelled);
        int fault = atomic_load_explicit(&device->fault, memory_order_acquire);
        if (cancelled != NULL || fault != 0) {
            op->error = fault != 0 ? (hipError_t)fault : hipErrorLaunchFailure;
            op->error_text = cancelled;
            return true;
        }
        if (is_orphan(waiting->event, waiting->number)) {
            op->error = hipErrorUnknown;
            op->error_text = orphan_text;
            return true;
        }
        sleep_slice(waiting->event, waiting->number);
    }
    return true;
}

static void
waiting_finish(struct ha_op *op)
{
    struct waiting *waiting = (void *)op->payload;
    ha_ipc_event_release(waiting->event);
}

static void
waiting_cancel(struct ha_op *op, const char *text)
{
    struct waiting *waiting = (void *)op->payload;
    atomic_store(&waiting->cancelled, text);
}

static const struct ha_op_class waiting_class = {
    .name = "wait for another process",
    .flags = HA_OP_BLOCKING | HA_OP_ENDLESS,
    .run = waiting_run,
    .finish = waiting_finish,
    .cancel = waiting_cancel,
};

struct ha_op *
ha_ipc_event_op(struct ha_ipc_event *event, uint64_t number)
{
    struct ha_op *op = ha_op_new(&waiting_class);
    if (op != NULL) {
        struct waiting *waiting = (void *)op->payload;
        ha_ipc_event_retain(event);
        waiting->event = event;
        waiting->number = number;
        atomic_init(&waiting->cancelled, NULL);
    }
    return op;
}
