/* SPDX-License-Identifier: MIT */
#include "cpu/submit/launch_multi.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/handle.h"
#include "cpu/exec/multi_grid.h"
#include "cpu/graph/capture.h"
#include "cpu/module/module.h"
#include "cpu/module/register.h"
#include "cpu/queue/device_fault.h"
#include "cpu/queue/event.h"
#include "cpu/queue/order.h"
#include "cpu/queue/pool.h"
#include "cpu/queue/stream.h"
#include "cpu/queue/ticket.h"
#include "cpu/submit/event.h"
#include "cpu/submit/launch.h"

struct grid {
    struct ha_launch_request request; /* `address` and `stream` are the program's */
    struct ha_device *device;         /* of the stream; borrowed */
    struct ha_function *function;     /* owned reference, or NULL */
    struct ha_ticket *ticket;         /* owned until the operation has it, or NULL */
    struct ha_stream *stream;         /* borrowed; valid with the pool lock */
    struct ha_op *op;                 /* these two are owned until submitted */
    struct ha_op *mark; /* makes later work of the stream wait for all grids */
    bool missing;       /* its kernel cannot run */
};

struct launch {
    uint32_t count;
    unsigned flags;
    struct ha_multi *multi; /* owned reference */
    struct grid grids[HA_DEVICE_MAX];
};

/* ---- checks ---- */

static hipError_t
fail_gone(uint32_t index, hipStream_t stream)
{
    return ha_cpu_fail(hipErrorInvalidValue,
                       "launch %u: stream %p is not a living stream", index,
                       (void *)stream);
}

/* The device of a stream, which no launch before it in the list may have. */
static hipError_t
stream_check(uint32_t index, hipStream_t stream, uint32_t *devices,
             struct ha_device **device)
{
    if ((uintptr_t)stream <= (uintptr_t)HA_STREAM_PER_THREAD) {
        return ha_cpu_fail(hipErrorInvalidResourceHandle,
                           "launch %u: default streams are not allowed", index);
    }
    hipError_t code = ha_stream_device(stream, device);
    if (code != hipSuccess) {
        return code == hipErrorContextIsDestroyed ? fail_gone(index, stream) : code;
    }
    if ((*devices >> (*device)->id & 1u) != 0) {
        return ha_cpu_fail(hipErrorInvalidDevice,
                           "launch %u: device %d is in the list twice", index,
                           (*device)->id);
    }
    *devices |= 1u << (*device)->id;
    return hipSuccess;
}

static hipError_t
grid_check(struct grid *grid, uint32_t index, hipError_t unknown, uint32_t *devices)
{
    hipError_t code = stream_check(index, grid->request.stream, devices, &grid->device);
    if (code == hipSuccess) {
        code = ha_function_resolve(grid->request.address, grid->device, unknown,
                                   &grid->function);
        grid->missing = code != hipSuccess;
    }
    if (code != hipSuccess) {
        return code;
    }
    if (grid->function->device != grid->device) {
        return ha_cpu_fail(hipErrorInvalidDevice,
                           "launch %u: kernel '%s' was loaded on device %d, the stream "
                           "is of device %d",
                           index, grid->function->kernel->name,
                           grid->function->device->id, grid->device->id);
    }
    return ha_launch_check(grid->function, &grid->request);
}

/* ---- cooperative launches ---- */

static const struct ha_op_class mark_class = {.name = "end of all grids",
                                              .flags = HA_OP_ALWAYS};

/* Fills in what kernels can ask about the grids. */
static void
describe(struct launch *launch)
{
    struct ha_multi *multi = launch->multi;
    for (uint32_t i = 0; i < launch->count; i++) {
        struct grid *grid = &launch->grids[i];
        uint64_t threads = 1;
        for (int axis = 0; axis < 3; axis++) {
            threads *= (uint64_t)grid->request.grid[axis] * grid->request.block[axis];
        }
        multi->grids[i].device = grid->device->id;
        multi->grids[i].first = multi->size;
        multi->size += threads;
        grid->request.multi = multi;
        grid->request.rank = i;
    }
}

/* Takes the pool lock and finds the streams; on failure the lock is not held. */
static hipError_t
streams_lock(struct launch *launch)
{
    ha_pool_lock();
    for (uint32_t i = 0; i < launch->count; i++) {
        struct grid *grid = &launch->grids[i];
        hipStream_t handle = grid->request.stream;
        grid->stream = ha_handle_peek(HA_HANDLE_STREAM, (uint64_t)(uintptr_t)handle);
        if (grid->stream == NULL) {
            ha_pool_unlock();
            return fail_gone(i, handle);
        }
        if (grid->stream->front != NULL) {
            return ha_capture_refuse(grid->stream->front,
                                     "launches on several devices can't be added to");
        }
        if (atomic_load_explicit(&grid->device->fault, memory_order_relaxed) != 0) {
            ha_pool_unlock();
            return ha_device_fail(grid->device);
        }
    }
    return hipSuccess;
}

/* Makes all operations, with room for what they will wait for: one operation of each
 * stream, and one of the default stream. Lock held. */
static bool
ops_make(struct launch *launch)
{
    bool marks = (launch->flags & hipCooperativeLaunchMultiDeviceNoPostSync) == 0;
    for (uint32_t i = 0; i < launch->count; i++) {
        struct grid *grid = &launch->grids[i];
        grid->op = ha_launch_op(grid->function, &grid->request);
        if (grid->op == NULL || !ha_op_reserve(grid->op, launch->count + 1)) {
            return false;
        }
        grid->op->ticket = grid->ticket;
        grid->ticket = NULL;
        if (marks && launch->count > 1) {
            grid->mark = ha_op_new(&mark_class);
            if (grid->mark == NULL || !ha_op_reserve(grid->mark, launch->count + 1)) {
                return false;
            }
        }
    }
    return true;
}

/* Lock held. */
static void
ops_drop(struct launch *launch)
{
    for (uint32_t i = 0; i < launch->count; i++) {
        struct grid *grid = &launch->grids[i];
        if (grid->op != NULL) {
            grid->op->class->finish(grid->op);
            ha_op_discard(grid->op);
        }
        if (grid->mark != NULL) {
            ha_op_discard(grid->mark);
        }
    }
}

/* Puts the operations into all streams; nothing can fail, and no other thread comes
 * between. Lock held. */
static void
ops_submit(struct launch *launch)
{
    uint64_t numbers[HA_DEVICE_MAX];
    struct grid *grids = launch->grids;
    bool waits = (launch->flags & hipCooperativeLaunchMultiDeviceNoPreSync) == 0;
    for (uint32_t i = 0; waits && i < launch->count; i++) {
        for (uint32_t j = 0; j < launch->count; j++) {
            struct ha_queue *other = &grids[j].stream->queue;
            if (j != i) {
                (void)ha_op_depend(grids[i].op, other, atomic_load(&other->submitted));
                ha_order_behind(&grids[i].stream->queue, other);
            }
        }
    }
    for (uint32_t i = 0; i < launch->count; i++) {
        numbers[i] = ha_stream_submit(grids[i].stream, grids[i].op, HA_SUBMIT_WAKE);
    }
    for (uint32_t i = 0; i < launch->count && grids[i].mark != NULL; i++) {
        for (uint32_t j = 0; j < launch->count; j++) {
            if (j != i) {
                (void)ha_op_depend(grids[i].mark, &grids[j].stream->queue, numbers[j]);
                ha_order_behind(&grids[i].stream->queue, &grids[j].stream->queue);
            }
        }
    }
    for (uint32_t i = 0; i < launch->count && grids[i].mark != NULL; i++) {
        (void)ha_stream_submit(grids[i].stream, grids[i].mark, HA_SUBMIT_WAKE);
    }
}

/* Slows a thread down that launches faster than the devices run. Lock held on entry and
 * return. */
static void
throttle(struct launch *launch)
{
    for (uint32_t i = 0; i < launch->count; i++) {
        ha_queue_retain(&launch->grids[i].stream->queue);
    }
    for (uint32_t i = 0; i < launch->count; i++) {
        ha_queue_throttle(&launch->grids[i].stream->queue);
    }
    for (uint32_t i = 0; i < launch->count; i++) {
        ha_queue_release(&launch->grids[i].stream->queue);
    }
}

/* Submits grids that were checked. */
static hipError_t
launch_submit(struct launch *launch)
{
    launch->multi = ha_multi_new(launch->count);
    if (launch->multi == NULL) {
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another launch");
    }
    describe(launch);
    ha_tickets_together(true);
    for (uint32_t i = 0; ha_activity_wants(HA_WANT_DISPATCH) && i < launch->count;
         i++) {
        struct grid *grid = &launch->grids[i];
        grid->ticket = ha_launch_ticket(grid->function, &grid->request);
    }
    ha_tickets_together(false);
    hipError_t code = streams_lock(launch);
    if (code != hipSuccess) {
        return code;
    }
    bool made = ops_make(launch);
    if (made) {
        ops_submit(launch);
        throttle(launch);
    } else {
        ops_drop(launch);
    }
    ha_pool_unlock();
    return made ? hipSuccess
                : ha_cpu_fail(hipErrorOutOfMemory, "no memory for another launch");
}

hipError_t
ha_submit_together(struct ha_device *device, const struct ha_launch_list *list,
                   hipError_t unknown)
{
    struct launch started = {.count = list->count, .flags = list->flags};
    struct launch *launch = &started;
    hipError_t code = hipSuccess;
    uint32_t devices = 0;
    for (uint32_t i = 0; i < launch->count && code == hipSuccess; i++) {
        launch->grids[i].request = list->requests[i];
        launch->grids[i].device = device;
        code = grid_check(&launch->grids[i], i, unknown, &devices);
    }
    if (code == hipSuccess) {
        code = launch_submit(launch);
    }
    for (uint32_t i = 0; i < launch->count; i++) {
        const struct ha_launch_request *request = &launch->grids[i].request;
        /* No grid runs without the others, so each device lacks its own. */
        for (uint32_t j = 0; launch->grids[i].missing && j < launch->count; j++) {
            (void)ha_submit_missing(device, launch->grids[j].request.stream,
                                    request->address, code);
        }
    }
    for (uint32_t i = 0; i < launch->count; i++) {
        ha_ticket_drop(launch->grids[i].ticket);
        if (launch->grids[i].function != NULL) {
            ha_function_leave(launch->grids[i].function);
        }
    }
    if (launch->multi != NULL) {
        ha_multi_release(launch->multi);
    }
    return code;
}

/* ---- independent launches ---- */

/* Later work of each stream starts only when all streams have passed this point. */
static hipError_t
meet(const struct ha_launch_list *list)
{
    uint32_t count = list->count;
    hipEvent_t events[HA_DEVICE_MAX] = {NULL};
    hipError_t code = hipSuccess;
    for (uint32_t i = 0; i < count && code == hipSuccess; i++) {
        struct ha_device *device = NULL;
        code = ha_stream_device(list->requests[i].stream, &device);
        if (code == hipSuccess) {
            code = ha_event_create(device, hipEventDisableTiming, &events[i]);
        }
        if (code == hipSuccess) {
            code = ha_submit_record(events[i], list->requests[i].stream, device,
                                    HA_EVENT_INTERNAL);
        }
    }
    for (uint32_t i = 0; i < count * count && code == hipSuccess; i++) {
        uint32_t waits = i / count;
        struct ha_device *device = NULL;
        code = ha_stream_device(list->requests[waits].stream, &device);
        if (code == hipSuccess && waits != i % count) {
            code = ha_submit_event_wait(list->requests[waits].stream, events[i % count],
                                        device, HA_EVENT_INTERNAL);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (events[i] != NULL) {
            (void)ha_event_destroy(events[i]);
        }
    }
    return code;
}

/* Finds all kernels of the list before any is launched. */
static hipError_t
kernels_check(const struct ha_launch_list *list, struct ha_device *device)
{
    uint32_t count = list->count;
    hipError_t code = hipSuccess;
    for (uint32_t i = 0; i < count && code == hipSuccess; i++) {
        struct ha_device *found = device;
        struct ha_function *function;
        code = ha_stream_device(list->requests[i].stream, &found);
        if (code != hipSuccess) {
            return code;
        }
        code = ha_function_resolve(list->requests[i].address, found,
                                   hipErrorInvalidDeviceFunction, &function);
        if (code == hipSuccess) {
            ha_function_leave(function);
        }
        for (uint32_t j = 0; code != hipSuccess && j < count; j++) {
            (void)ha_submit_missing(device, list->requests[j].stream,
                                    list->requests[i].address, code);
        }
    }
    return code;
}

hipError_t
ha_submit_apart(struct ha_device *device, const struct ha_launch_list *list)
{
    hipError_t code = hipSuccess;
    uint32_t devices = 0;
    for (uint32_t i = 0; i < list->count && code == hipSuccess; i++) {
        struct ha_device *found = device;
        code = stream_check(i, list->requests[i].stream, &devices, &found);
    }
    if (code == hipSuccess) {
        code = kernels_check(list, device);
    }
    if (code == hipSuccess &&
        (list->flags & hipCooperativeLaunchMultiDeviceNoPreSync) == 0) {
        code = meet(list);
    }
    for (uint32_t i = 0; i < list->count && code == hipSuccess; i++) {
        const struct ha_launch_request *request = &list->requests[i];
        struct ha_device *found = device;
        code = ha_stream_device(request->stream, &found);
        if (code == hipSuccess) {
            code = ha_submit_launch_address(found, request->address,
                                            hipErrorInvalidDeviceFunction, request);
        }
    }
    if (code == hipSuccess &&
        (list->flags & hipCooperativeLaunchMultiDeviceNoPostSync) == 0) {
        code = meet(list);
    }
    return code;
}
