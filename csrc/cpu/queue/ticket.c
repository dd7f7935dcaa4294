/* SPDX-License-Identifier: MIT */
#include "cpu/queue/ticket.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/log.h"
#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/life.h"
#include "cpu/entry/runtime.h"
#include "cpu/memory/memory.h"
#include "cpu/module/module.h"
#include "cpu/queue/pool.h"
#include "cpu/work/copy.h"
#include "cpu/work/launch.h"

#define DRAIN_NS UINT64_C(2000000000)
#define UNLOAD_NS UINT64_C(1000000000)
#define POLL_NS 20000

_Atomic unsigned ha_activity_wanted;

static const struct ha_activity_sink *_Atomic current_sink;

static const struct ha_activity_sink *
sink(void)
{
    return atomic_load_explicit(&current_sink, memory_order_acquire);
}

/* ---- times: the profiler's clock also counts while the machine sleeps ---- */

static uint64_t
boot_time(uint64_t clock_ns)
{
    struct timespec now;

    if (clock_ns == 0) {
        return 0;
    }
    (void)clock_gettime(CLOCK_BOOTTIME, &now); /* can't fail for this clock */
    uint64_t boot = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
    return boot - (ha_clock_ns() - clock_ns);
}

/* ---- tickets ---- */

struct ha_ticket {
    struct ha_deferred deferred;
    void *tool;
    void (*end)(void *tool, uint64_t start, uint64_t end);
    uint64_t begin_ns;
    uint64_t end_ns;
    unsigned turn; /* whose count it is in */
};

_Static_assert(offsetof(struct ha_ticket, deferred) == 0, "cast in ticket_tell");

/* The profiler is told of an end after the operation's queue has gone on, so who waits
 * for the queue may be ahead of it.  Tickets that have ended and aren't told are
 * counted in turns: who waits for them begins another turn, and so doesn't wait for
 * those that come meanwhile. */
static _Atomic unsigned turn;
static _Atomic unsigned untold[2];
static _Thread_local bool telling;
static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER; /* one waits at a time */

static void
ticket_tell(struct ha_deferred *deferred)
{
    struct ha_ticket *ticket = (struct ha_ticket *)(void *)deferred;
    uint64_t end = boot_time(ticket->end_ns);
    uint64_t start = end - (ticket->end_ns - ticket->begin_ns);
    bool before = telling;

    telling = true;
    ticket->end(ticket->tool, start, end);
    telling = before;
    atomic_fetch_sub(&untold[ticket->turn], 1);
    free(ticket);
}

/* Waits until the profiler knows of all that has ended, for some time at most. */
static void
tickets_wait(uint64_t limit_ns)
{
    const struct timespec pause = {.tv_nsec = POLL_NS};
    uint64_t begin_ns = ha_clock_ns();

    if (telling || atomic_load(&untold[0]) + atomic_load(&untold[1]) == 0) {
        return; /* a profiler that waits in what it is told waits for itself */
    }
    pthread_mutex_lock(&turn_lock);
    unsigned old = atomic_load(&turn);
    atomic_store(&turn, !old);
    while (atomic_load(&untold[old]) != 0 && ha_clock_ns() - begin_ns < limit_ns) {
        (void)nanosleep(&pause, NULL);
    }
    pthread_mutex_unlock(&turn_lock);
}

void
ha_activity_after_fork_child(void)
{
    atomic_store(&untold[0], 0); /* they are told in the parent */
    atomic_store(&untold[1], 0);
    telling = false;
    (void)pthread_mutex_init(&turn_lock, NULL);
}

static void
ticket_count(struct ha_ticket *ticket)
{
    ticket->turn = atomic_load(&turn);
    atomic_fetch_add(&untold[ticket->turn], 1);
}

static struct ha_ticket *
ticket_new(void *tool, void (*end)(void *tool, uint64_t start, uint64_t end))
{
    struct ha_ticket *ticket = tool != NULL ? malloc(sizeof *ticket) : NULL;

    if (ticket != NULL) {
        *ticket = (struct ha_ticket){
            .deferred = {.destroy = ticket_tell}, .tool = tool, .end = end};
    } else if (tool != NULL) {
        end(tool, 0, 0);
    }
    return ticket;
}

void
ha_ticket_end(struct ha_ticket *ticket, uint64_t begin_ns, uint64_t end_ns)
{
    if (ticket != NULL) {
        ticket->begin_ns = begin_ns;
        ticket->end_ns = begin_ns != 0 ? end_ns : 0;
        ticket_count(ticket);
        ha_pool_defer(&ticket->deferred);
    }
}

void
ha_ticket_drop(struct ha_ticket *ticket)
{
    if (ticket != NULL) {
        ticket_count(ticket);
        ticket_tell(&ticket->deferred);
    }
}

struct ha_ticket *
ha_ticket_launch(const struct ha_function *function,
                 const struct ha_launch_request *request)
{
    if (!ha_activity_wants(HA_WANT_DISPATCH)) {
        return NULL;
    }
    struct ha_activity_dispatch dispatch = {
        .device = function->device->id,
        .queue = (uint64_t)(uintptr_t)request->stream,
        .kernel = function->handle,
        .shared_bytes =
            function->kernel->shared_static + (uint32_t)request->shared_bytes,
    };
    memcpy(dispatch.grid, request->grid, sizeof dispatch.grid);
    memcpy(dispatch.block, request->block, sizeof dispatch.block);
    return ticket_new(sink()->dispatch_begin(&dispatch), sink()->dispatch_end);
}

/* The device that has the memory; -1: the host. */
static int
device_of(const void *address)
{
    struct ha_range range;

    if (!ha_memory_find(address, &range) || range.kind == HA_MEMORY_HOST ||
        range.kind == HA_MEMORY_REGISTERED) {
        return -1;
    }
    return range.device;
}

struct ha_ticket *
ha_ticket_copy(const struct ha_copy *copy, hipStream_t stream)
{
    size_t depth = copy->depth > 0 ? copy->depth : 1;

    if (!ha_activity_wants(HA_WANT_COPY)) {
        return NULL;
    }
    struct ha_activity_copy told = {
        .queue = (uint64_t)(uintptr_t)stream,
        .source_device = device_of(copy->src),
        .target_device = device_of(copy->dst),
        .bytes = copy->width * copy->height * depth,
        .source = copy->src,
        .target = copy->dst,
    };
    return ticket_new(sink()->copy_begin(&told), sink()->copy_end);
}

/* ---- what is over at once ---- */

void
ha_activity_memory(enum ha_activity_memory operation, int device, const void *address,
                   size_t bytes, uint64_t begin_ns)
{
    if (ha_activity_wants(HA_WANT_MEMORY)) {
        uint64_t end = boot_time(ha_clock_ns());
        sink()->memory(operation, device, address, bytes, boot_time(begin_ns), end);
    }
}

struct told_memory {
    struct ha_deferred deferred;
    enum ha_activity_memory operation;
    int device;
    const void *address;
    size_t bytes;
    uint64_t start;
    uint64_t end;
};

_Static_assert(offsetof(struct told_memory, deferred) == 0, "cast in memory_tell");

static void
memory_tell(struct ha_deferred *deferred)
{
    struct told_memory *told = (struct told_memory *)(void *)deferred;

    if (ha_activity_wants(HA_WANT_MEMORY)) {
        sink()->memory(told->operation, told->device, told->address, told->bytes,
                       told->start, told->end);
    }
    free(told);
}

void
ha_activity_memory_defer(enum ha_activity_memory operation, int device,
                         const void *address, size_t bytes, uint64_t begin_ns)
{
    if (!ha_activity_wants(HA_WANT_MEMORY)) {
        return;
    }
    struct told_memory *told = malloc(sizeof *told);
    if (told == NULL) {
        ha_log(1, "no memory to trace an allocation: it is left out");
        return;
    }
    *told = (struct told_memory){
        .deferred = {.destroy = memory_tell},
        .operation = operation,
        .device = device,
        .address = address,
        .bytes = bytes,
        .start = boot_time(begin_ns),
        .end = boot_time(ha_clock_ns()),
    };
    ha_pool_defer(&told->deferred);
}

void
ha_activity_stream(enum ha_activity_stream operation, hipStream_t stream)
{
    if (ha_activity_wants(HA_WANT_STREAM)) {
        sink()->stream(operation, (uint64_t)(uintptr_t)stream, stream);
    }
}

static void
tell_kernel(const struct ha_function *function, uint64_t code_object, bool loaded)
{
    void *address;
    struct ha_activity_kernel kernel = {
        .id = function->handle,
        .code_object = code_object,
        .name = function->kernel->name,
        .argument_bytes = (uint32_t)function->packed_bytes,
        .argument_align = (uint32_t)function->packed_align,
        .shared_bytes = function->kernel->shared_static,
    };

    memcpy(&address, &function->kernel->reference, sizeof address);
    kernel.address = (uint64_t)(uintptr_t)address;
    sink()->kernel(&kernel, loaded);
}

/* Kernels come after their code object, and go before it. */
static void
tell_module(struct ha_module *module, bool loaded)
{
    char uri[96];
    struct ha_module_view view;

    ha_module_look(module, &view);
    (void)snprintf(uri, sizeof uri, "memory://%ld#offset=0x%llx&size=%zu",
                   (long)getpid(), (unsigned long long)view.load_base, view.load_size);
    struct ha_activity_code_object told = {
        .id = view.id,
        .device = view.device->id,
        .uri = uri,
        .load_base = view.load_base,
        .load_size = view.load_size,
        .memory_base = view.load_base,
        .memory_size = view.load_size,
    };
    if (loaded) {
        sink()->code_object(&told, 1);
    }
    for (uint32_t i = 0; i < view.function_count; i++) {
        tell_kernel(&view.functions[i], view.id, loaded);
    }
    if (!loaded) {
        sink()->code_object(&told, 0);
    }
}

void
ha_activity_module(struct ha_module *module, bool loaded)
{
    if (ha_activity_wants(HA_WANT_CODE)) {
        if (!loaded) {
            tickets_wait(UNLOAD_NS); /* the end of a kernel comes before its own */
        }
        tell_module(module, loaded);
    }
}

/* ---- the table ---- */

static void
tell_loaded(struct ha_module *module)
{
    tell_module(module, true);
}

static void
subscribe(const struct ha_activity_sink *wanted_sink, unsigned wanted)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    if (wanted_sink->size < sizeof *wanted_sink) {
        return; /* of another version */
    }
    pthread_mutex_lock(&lock);
    atomic_store(&current_sink, wanted_sink);
    unsigned before =
        atomic_exchange(&ha_activity_wanted, wanted & ~(unsigned)HA_WANT_CODE_AGAIN);
    pthread_mutex_unlock(&lock);
    if ((wanted & ~before & HA_WANT_CODE) != 0 || (wanted & HA_WANT_CODE_AGAIN) != 0) {
        ha_modules_each(tell_loaded);
    }
}

static void
drain(void)
{
    for (int id = 0; ha_life_is_ready() && id < ha_config()->device_count; id++) {
        (void)ha_pool_wait_device(ha_device_get(id), DRAIN_NS);
    }
    tickets_wait(DRAIN_NS);
}

static int
device_count(void)
{
    return ha_runtime_start_quietly() == hipSuccess ? ha_config()->device_count : 0;
}

static int
agent(int device, struct ha_activity_agent *told)
{
    static hipDeviceProp_t properties[HA_DEVICE_MAX];
    const struct ha_device *found =
        device_count() > device && device >= 0 ? ha_device_get(device) : NULL;

    if (found == NULL || told->size < sizeof *told) {
        return -1;
    }
    hipDeviceProp_t *known = &properties[device];
    ha_device_properties(found, known);
    *told = (struct ha_activity_agent){
        .size = sizeof *told,
        .device = device,
        .name = known->gcnArchName,
        .product = known->name,
        .workers = (unsigned)known->multiProcessorCount,
        .warp_size = (unsigned)known->warpSize,
        .max_threads_per_block = (unsigned)known->maxThreadsPerBlock,
        .shared_kib = (unsigned)(known->sharedMemPerBlock / 1024),
        .memory_bytes = known->totalGlobalMem,
    };
    for (int i = 0; i < 3; i++) {
        told->max_block[i] = (unsigned)known->maxThreadsDim[i];
        told->max_grid[i] = (unsigned)known->maxGridSize[i];
    }
    memcpy(told->uuid, known->uuid.bytes, sizeof told->uuid);
    return 0;
}

const struct ha_activity ha_activity_table = {
    .size = sizeof ha_activity_table,
    .subscribe = subscribe,
    .drain = drain,
    .device_count = device_count,
    .agent = agent,
};
