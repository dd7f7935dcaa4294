/* SPDX-License-Identifier: MIT */
#include "cpu/work/launch.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/log.h"
#include "cpu/base/check_kinds.h"
#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/handle.h"
#include "cpu/check/kernel_name.h"
#include "cpu/check/summary.h"
#include "cpu/exec/blocks.h"
#include "cpu/exec/cooperative.h"
#include "cpu/exec/debug_event.h"
#include "cpu/exec/exec.h"
#include "cpu/exec/multi_grid.h"
#include "cpu/memory/check_access.h"
#include "cpu/memory/check_deed.h"
#include "cpu/memory/check_memory.h"
#include "cpu/memory/shadow.h"
#include "cpu/module/explain.h"
#include "cpu/module/module.h"
#include "cpu/queue/order.h"
#include "cpu/queue/pool.h"
#include "cpu/queue/ticket.h"
#include "cpu/work/check_numbers.h"
#include "cpu/work/launch_proof.h"

#define INLINE_ARGUMENTS 12
#define INLINE_BYTES 192
#define ARGUMENT_ALIGN 64u
#define WORTH_A_THREAD_NS 10000u /* of work before another thread is asked for help */
#define CALLER_MAX_NS 200000u    /* a waiting thread runs launches up to this itself */
#define MESSAGE_BYTES 512

/* Who runs a launch: that is found by the first thread when it begins. */
enum crew { CREW_UNKNOWN, CREW_ALL, CREW_ONE };

struct kernel_run {
    _Alignas(ARGUMENT_ALIGN) unsigned char bytes[INLINE_BYTES];
    struct ha_launch launch;
    struct ha_function *function;      /* owned reference */
    void *arguments[INLINE_ARGUMENTS]; /* launch.args points here or into `memory` */
    void *memory;                      /* owned: what does not fit here, or NULL */
    char *message;                     /* owned: what failed, or NULL */
    _Atomic uint32_t participants;
    uint32_t threads; /* that were planned */
    _Atomic int crew; /* enum crew */
};

_Static_assert(sizeof(struct kernel_run) <= HA_OP_PAYLOAD_BYTES, "fits an operation");

static struct kernel_run *
run_of(struct ha_op *op)
{
    return (struct kernel_run *)(void *)op->payload;
}

/* ---- running ---- */

static hipError_t
code_of_fault(int fault)
{
    switch ((enum ha_fault_kind)fault) {
    case HA_FAULT_NONE:
        return hipSuccess;
    case HA_FAULT_ADDRESS:
        return hipErrorIllegalAddress;
    case HA_FAULT_ASSERT:
        return hipErrorAssert;
    case HA_FAULT_TIMEOUT:
    case HA_FAULT_INTERRUPTED:
        return hipErrorLaunchTimeOut;
    case HA_FAULT_RESOURCE:
        return hipErrorOutOfMemory;
    case HA_FAULT_STACK:
    case HA_FAULT_MATH:
    case HA_FAULT_TRAP:
    case HA_FAULT_DIVERGED:
    case HA_FAULT_PEER: /* its multi has the code */
        break;
    }
    return hipErrorLaunchFailure;
}

static void
report_fault(struct ha_op *op, int fault)
{
    struct kernel_run *run = run_of(op);
    const char *text = run->launch.fault_text;
    /* Who cancels the launch from outside of it may be writing the text. */
    while (atomic_load_explicit(&run->launch.fault_ready, memory_order_acquire) == 0) {
        (void)sched_yield();
    }
    op->error = fault == HA_FAULT_PEER
                    ? (hipError_t)run->launch.cooperative->multi->code
                    : code_of_fault(fault);
    /* Whoever cancels a launch does not know what runs in it. */
    run->message = fault == HA_FAULT_TIMEOUT ? malloc(MESSAGE_BYTES) : NULL;
    if (run->message != NULL) {
        snprintf(run->message, MESSAGE_BYTES, "kernel '%s': %s",
                 run->function->kernel->name, text);
        text = run->message;
    }
    op->error_text = text;
    ha_debug_event_end(&run->launch, op->begin_ns, (int)op->error, text);
    ha_log(1, "%s: %s", ha_error_code_name(op->error), text);
}

/* How the lanes ran, for a profiler (abi/activity.h). */
static uint64_t
form_of(const struct ha_launch *launch)
{
    const struct ha_image_kernel *kernel = launch->kernel;
    uint64_t left = atomic_load_explicit(&launch->blocks_left, memory_order_relaxed);
    if (!launch->fast) {
        return HA_ACTIVITY_REFERENCE;
    }
    return (kernel->gang_width > 0 ? HA_ACTIVITY_GANGS : HA_ACTIVITY_ROWS) |
           (uint64_t)kernel->gang_width << HA_ACTIVITY_WIDTH_SHIFT |
           left << HA_ACTIVITY_BLOCKS_SHIFT;
}

static bool
fast_applies(const struct ha_image_kernel *kernel, const struct ha_grid *grid,
             bool cooperative)
{
    if (kernel->fast == NULL || ha_config()->reference ||
        ((kernel->flags & HA_KERNEL_GRID) != 0 && !cooperative)) {
        return false;
    }
    if (kernel->gang_width > 0) {
        bool one_row = grid->block_dim[1] == 1 && grid->block_dim[2] == 1;
        return (kernel->flags & HA_KERNEL_WARPS) == 0 || one_row ||
               grid->block_dim[0] % kernel->gang_width == 0;
    }
    return true;
}

/* For the summary, and for the names in findings. */
static void
count_check(const struct ha_launch *launch)
{
    if (ha_check_kinds() == 0) {
        return;
    }
    ha_summary_launch(launch->checked);
    if (launch->checked) {
        ha_kernel_name_add(launch->kernel->name);
    }
}

/* What it has accessed is compared with other work. */
static void
end_checks(struct ha_op *op)
{
    struct kernel_run *run = run_of(op);
    struct ha_deed *deed = op->deed;
    if (deed != NULL) {
        ha_deed_fill(deed, &run->launch);
    }
    ha_check_launch_end(&run->launch);
    ha_check_numbers_end(&run->launch);
    if (deed != NULL) {
        op->deed = NULL;
        ha_deed_end(deed);
        ha_deeds_settle();
    }
}

/* A launch that is proved runs as one without checks. */
static void
decide(struct ha_op *op)
{
    struct kernel_run *run = run_of(op);
    struct ha_launch *launch = &run->launch;
    const struct ha_proof *proof = launch->kernel->proof;
    enum crew crew = CREW_ALL;

    count_check(launch);
    if (launch->checked && launch->cooperative == NULL &&
        (op->deed == NULL || ha_order_alone(op)) &&
        ha_launch_prove(run->function, launch, NULL, NULL)) {
        const uint32_t *dim = launch->grid.block_dim;
        ha_summary_accesses(0, (uint64_t)proof->access_count * launch->block_count *
                                   dim[0] * dim[1] * dim[2]);
        launch->kernel = proof->plain;
        launch->checked = false;
        launch->fast = fast_applies(proof->plain, &launch->grid, false);
        ha_blocks_prepare(launch, run->threads);
    } else if (launch->checked) {
        crew = CREW_ONE;
    }
    atomic_store_explicit(&run->crew, (int)crew, memory_order_release);
}

/* Whether a thread that comes later takes part. */
static bool
may_join(struct kernel_run *run)
{
    int crew;

    while ((crew = atomic_load_explicit(&run->crew, memory_order_acquire)) ==
           CREW_UNKNOWN) {
        (void)sched_yield();
    }
    return crew == CREW_ALL;
}

static bool
kernel_run(struct ha_op *op)
{
    struct kernel_run *run = run_of(op);
    uint32_t participants =
        atomic_fetch_add_explicit(&run->participants, 1, memory_order_relaxed) + 1;
    if (participants == 1) {
        decide(op);
        if ((run->launch.kernel->flags & HA_KERNEL_SHADOWED) == 0) {
            ha_shadow_forget(); /* nobody knows what it writes */
        }
    } else if (!may_join(run)) {
        return false;
    }
    ha_debug_event_begin(&run->launch, op->begin_ns);
    if (run->launch.checked && run->launch.checks == NULL) {
        ha_check_launch_begin(&run->launch);
        ha_check_numbers_begin(&run->launch, run->function);
    }
    if (!ha_exec_run(&run->launch)) {
        return false;
    }
    end_checks(op);
    ha_ticket_form(op->ticket, form_of(&run->launch));
    int fault = atomic_load_explicit(&run->launch.fault, memory_order_acquire);
    if (fault != HA_FAULT_NONE) {
        report_fault(op, fault);
        return true;
    }
    ha_debug_event_end(&run->launch, op->begin_ns, 0, NULL);
    participants = atomic_load_explicit(&run->participants, memory_order_relaxed);
    uint64_t spent_ns = (ha_clock_ns() - op->begin_ns) * participants;
    uint64_t block_ns = spent_ns / run->launch.block_count + 1;
    atomic_store_explicit(&run->function->block_ns,
                          block_ns < UINT32_MAX ? (uint32_t)block_ns : UINT32_MAX,
                          memory_order_relaxed);
    return true;
}

static void
kernel_finish(struct ha_op *op)
{
    struct kernel_run *run = run_of(op);
    struct ha_cooperative *cooperative = run->launch.cooperative;
    if (cooperative != NULL && cooperative->multi != NULL) {
        ha_multi_leave(cooperative->multi, cooperative->rank, (int)op->error,
                       op->error_text);
    }
    free(run->memory);
    free(run->message);
    ha_cooperative_free(cooperative);
    ha_function_release(run->function);
}

static void
kernel_cancel(struct ha_op *op, const char *text)
{
    ha_exec_cancel(&run_of(op)->launch, text);
}

static const struct ha_op_class kernel_class = {
    .name = "kernel",
    .flags = HA_OP_PARALLEL | HA_OP_TIMED | HA_OP_KERNEL,
    .run = kernel_run,
    .finish = kernel_finish,
    .cancel = kernel_cancel,
};

/* Grids wait for each other in their threads, so each gets some of its own. */
static const struct ha_op_class grid_class = {
    .name = "kernel on several devices",
    .flags = HA_OP_PARALLEL | HA_OP_TIMED | HA_OP_KERNEL | HA_OP_BLOCKING,
    .run = kernel_run,
    .finish = kernel_finish,
    .cancel = kernel_cancel,
};

/* ---- arguments ---- */

struct packed {
    const unsigned char *bytes; /* borrowed from the caller */
    size_t size;
};

/* Reads the list of `extra`: pairs of a key and a value up to the end key. */
static hipError_t
extra_read(void **extra, struct packed *packed)
{
    const size_t *size = NULL;
    for (size_t i = 0;; i += 2) {
        uintptr_t key = (uintptr_t)extra[i];
        if (key == HIP_LAUNCH_PARAM_END) {
            break;
        }
        if (key == HIP_LAUNCH_PARAM_BUFFER_POINTER) {
            packed->bytes = extra[i + 1];
        } else if (key == HIP_LAUNCH_PARAM_BUFFER_SIZE) {
            size = extra[i + 1];
        } else {
            return ha_cpu_fail(hipErrorInvalidValue,
                               "argument 'extra': entry %zu (%p) is no "
                               "HIP_LAUNCH_PARAM key",
                               i, extra[i]);
        }
    }
    if (size == NULL || (packed->bytes == NULL && *size != 0)) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'extra' lacks the buffer pointer or the size");
    }
    packed->size = *size;
    return hipSuccess;
}

const unsigned char *
ha_launch_packed(void **extra)
{
    struct packed packed = {.bytes = NULL};
    return extra_read(extra, &packed) == hipSuccess ? packed.bytes : NULL;
}

static hipError_t
arguments_check(const struct ha_function *function,
                const struct ha_launch_request *request, struct packed *packed)
{
    const struct ha_image_kernel *kernel = function->kernel;
    if (request->params != NULL && request->extra != NULL) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "both 'kernelParams' and 'extra' are given");
    }
    if (request->extra != NULL) {
        hipError_t code = extra_read(request->extra, packed);
        if (code != hipSuccess) {
            return code;
        }
        size_t align = function->packed_align > 8 ? function->packed_align : 8;
        size_t most = (function->packed_bytes + align - 1) / align * align;
        if (packed->size < function->packed_bytes || packed->size > most) {
            return ha_cpu_fail(
                hipErrorInvalidValue,
                "argument 'extra' holds %zu bytes, but the %u arguments of "
                "kernel '%s' take %zu bytes",
                packed->size, kernel->arg_count, kernel->name, function->packed_bytes);
        }
        return hipSuccess;
    }
    if (kernel->arg_count == 0) {
        return hipSuccess;
    }
    if (request->params == NULL) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "kernel '%s' has %u arguments, but none are given",
                           kernel->name, kernel->arg_count);
    }
    for (uint32_t i = 0; i < kernel->arg_count; i++) {
        if (request->params[i] == NULL) {
            return ha_cpu_fail(hipErrorInvalidValue,
                               "argument %u of kernel '%s' has no address", i,
                               kernel->name);
        }
    }
    return hipSuccess;
}

/* Copies the argument values into the operation; false without memory. */
static bool
arguments_copy(struct kernel_run *run, const struct ha_function *function,
               const struct ha_launch_request *request, const struct packed *packed)
{
    const struct ha_image_kernel *kernel = function->kernel;
    unsigned char *bytes = run->bytes;
    void **addresses = run->arguments;
    run->memory = NULL;
    if (kernel->arg_count > INLINE_ARGUMENTS || function->packed_bytes > INLINE_BYTES ||
        function->packed_align > ARGUMENT_ALIGN) {
        size_t align = function->packed_align > ARGUMENT_ALIGN ? function->packed_align
                                                               : ARGUMENT_ALIGN;
        size_t room = (function->packed_bytes + align - 1) / align * align;
        size_t total = room + kernel->arg_count * sizeof *addresses;
        run->memory = aligned_alloc(align, (total + align - 1) / align * align);
        if (run->memory == NULL) {
            return false;
        }
        bytes = run->memory;
        addresses = (void **)(void *)(bytes + room);
    }
    for (uint32_t i = 0; i < kernel->arg_count; i++) {
        const struct ha_image_arg *arg = &kernel->args[i];
        const void *value =
            request->extra != NULL ? packed->bytes + arg->offset : request->params[i];
        addresses[i] = bytes + arg->offset;
        memcpy(addresses[i], value, arg->size);
    }
    run->launch.args = addresses;
    return true;
}

/* ---- checks ---- */

static hipError_t
shape_check(const struct ha_function *function, const struct ha_launch_request *request)
{
    static const uint32_t grid_limits[3] = {HA_MAX_GRID_X, HA_MAX_GRID_Y,
                                            HA_MAX_GRID_Z};
    static const uint32_t block_limits[3] = {HA_MAX_BLOCK_X, HA_MAX_BLOCK_Y,
                                             HA_MAX_BLOCK_Z};
    static const char axes[3] = {'x', 'y', 'z'};
    const struct ha_image_kernel *kernel = function->kernel;
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        if (request->grid[i] == 0 || request->grid[i] > grid_limits[i]) {
            return ha_cpu_fail(hipErrorInvalidConfiguration,
                               "grid dimension %c is %u; it must be 1 to %u", axes[i],
                               request->grid[i], grid_limits[i]);
        }
        if (request->block[i] == 0 || request->block[i] > block_limits[i]) {
            return ha_cpu_fail(hipErrorInvalidConfiguration,
                               "block dimension %c is %u; it must be 1 to %u", axes[i],
                               request->block[i], block_limits[i]);
        }
        if ((uint64_t)request->grid[i] * request->block[i] > UINT32_MAX) {
            return ha_cpu_fail(hipErrorInvalidConfiguration,
                               "%u blocks of %u threads in dimension %c are more than "
                               "%u threads",
                               request->grid[i], request->block[i], axes[i],
                               UINT32_MAX);
        }
        threads *= request->block[i];
    }
    uint32_t limit =
        kernel->max_threads != 0 && kernel->max_threads < HA_MAX_BLOCK_THREADS
            ? kernel->max_threads
            : HA_MAX_BLOCK_THREADS;
    if (threads > limit) {
        return ha_cpu_fail(hipErrorInvalidConfiguration,
                           "a block of %llu threads is too big for kernel '%s', which "
                           "takes %u",
                           (unsigned long long)threads, kernel->name, limit);
    }
    if (request->shared_bytes > HA_MAX_SHARED_BYTES ||
        kernel->shared_static + request->shared_bytes > HA_MAX_SHARED_BYTES) {
        return ha_cpu_fail(
            hipErrorInvalidValue,
            "%u static and %zu dynamic bytes of shared memory for kernel "
            "'%s' are more than %u",
            kernel->shared_static, request->shared_bytes, kernel->name,
            HA_MAX_SHARED_BYTES);
    }
    return hipSuccess;
}

/* All blocks of a cooperative launch have to find room at once. */
static hipError_t
room_check(const struct ha_function *function, const struct ha_launch_request *request)
{
    uint32_t threads = request->block[0] * request->block[1] * request->block[2];
    uint64_t blocks = (uint64_t)request->grid[0] * request->grid[1] * request->grid[2];
    uint64_t room = (uint64_t)ha_launch_blocks_per_processor(function, threads,
                                                             request->shared_bytes) *
                    ha_config()->thread_count;
    if (blocks > room) { /* the limits of the shape keep it below 2^63 */
        return ha_cpu_fail(hipErrorCooperativeLaunchTooLarge,
                           "a cooperative launch of kernel '%s' may have %llu blocks, "
                           "not %ux%ux%u",
                           function->kernel->name, (unsigned long long)room,
                           request->grid[0], request->grid[1], request->grid[2]);
    }
    return hipSuccess;
}

/* Decides how many threads are asked for help, and whether a waiting thread may run it.
 */
static void
plan_threads(struct ha_op *op, const struct ha_function *function, uint64_t blocks)
{
    uint32_t block_ns = atomic_load_explicit(&function->block_ns, memory_order_relaxed);
    uint64_t helpers = ha_config()->thread_count - 1;
    if (helpers > blocks - 1) {
        helpers = blocks - 1;
    }
    if (block_ns != 0) {
        uint64_t total_ns;
        if (__builtin_mul_overflow(blocks, (uint64_t)block_ns, &total_ns)) {
            total_ns = UINT64_MAX;
        }
        op->caller = total_ns <= CALLER_MAX_NS;
        if (helpers > total_ns / WORTH_A_THREAD_NS) {
            helpers = total_ns / WORTH_A_THREAD_NS;
        }
    }
    op->helpers = (uint32_t)helpers;
}

/* The same for one of several grids, which share the threads. */
static void
share_threads(struct ha_op *op, const struct ha_multi *multi)
{
    uint32_t share = ha_config()->thread_count / multi->count;
    uint32_t most = share > 1 ? share - 1 : 0;
    op->caller = false; /* it would wait here for what waiting threads don't run */
    op->helpers = op->helpers < most ? op->helpers : most;
}

hipError_t
ha_launch_check(const struct ha_function *function,
                const struct ha_launch_request *request)
{
    struct packed packed = {.bytes = NULL};
    hipError_t code = shape_check(function, request);
    if (code == hipSuccess && request->cooperative) {
        code = room_check(function, request);
    }
    return code != hipSuccess ? code : arguments_check(function, request, &packed);
}

/* The program asked for what this image can't do. */
static void
tell_unguarded(struct ha_function *function)
{
    if (!atomic_exchange_explicit(&function->told, true, memory_order_relaxed)) {
        ha_log(1,
               "kernel '%s' was compiled without HIPADAPT_CPU_GUARD=1: accesses to "
               "memory that HIP does not know are not found",
               function->kernel->name);
    }
}

struct ha_op *
ha_launch_op(struct ha_function *function, const struct ha_launch_request *request)
{
    struct packed packed = {.bytes = NULL};
    bool one_of_several = request->multi != NULL && request->multi->count > 1;
    struct ha_op *op = ha_op_new(one_of_several ? &grid_class : &kernel_class);
    if (op == NULL) {
        return NULL;
    }
    struct kernel_run *run = run_of(op);
    if (ha_config()->guard && (function->kernel->flags & HA_KERNEL_GUARDED) == 0) {
        tell_unguarded(function);
    }
    if (ha_config()->explain) {
        ha_function_explain(function);
    }
    if ((request->extra != NULL && extra_read(request->extra, &packed) != hipSuccess) ||
        !arguments_copy(run, function, request, &packed)) {
        ha_op_discard(op);
        return NULL;
    }
    struct ha_launch *launch = &run->launch;
    launch->kernel = function->kernel;
    memcpy(launch->grid.grid_dim, request->grid, sizeof request->grid);
    memcpy(launch->grid.block_dim, request->block, sizeof request->block);
    launch->shared_dynamic_bytes = (uint32_t)request->shared_bytes;
    launch->warp_size = ha_config()->warp_size;
    launch->stack_bytes =
        atomic_load_explicit(&function->device->stack_bytes, memory_order_relaxed);
    launch->fast = fast_applies(function->kernel, &launch->grid, request->cooperative);
    launch->block_count =
        (uint64_t)request->grid[0] * request->grid[1] * request->grid[2];
    plan_threads(op, function, launch->block_count);
    if (one_of_several) {
        share_threads(op, request->multi);
    }
    launch->checks = NULL;
    launch->numbers = NULL;
    launch->shadowed = false;
    launch->accesses = 0;
    launch->checked = ha_check_launch_wanted(function->kernel);
    launch->frees = launch->checked ? ha_checked_frees() : 0;
    if (launch->checked && (request->cooperative || !ha_launch_may_prove(function))) {
        op->helpers = 0; /* so that what is found does not depend on threads */
        op->caller = false;
    }
    run->threads = op->helpers + 1;
    ha_exec_prepare(launch, run->threads);
    launch->device = (uint32_t)function->device->id;
    if (launch->checked && ha_order_on()) {
        op->deed = ha_deed_of_launch(
            launch, request->multi != NULL ? request->multi->number : 0);
    }
    launch->cooperative = NULL;
    if (request->cooperative) {
        launch->cooperative = ha_cooperative_new(op->helpers + 1);
        if (launch->cooperative == NULL) {
            free(run->memory);
            ha_op_discard(op);
            return NULL;
        }
    }
    if (request->multi != NULL) {
        ha_multi_retain(request->multi);
        launch->cooperative->multi = request->multi;
        launch->cooperative->rank = request->rank;
    }
    run->function = function;
    run->message = NULL;
    atomic_init(&run->participants, 0);
    atomic_init(&run->crew, CREW_UNKNOWN);
    ha_handle_retain(function->handle);
    return op;
}

struct ha_ticket *
ha_launch_ticket(const struct ha_function *function,
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
    return ha_ticket_dispatch(&dispatch);
}

/* ---- occupancy ---- */

uint32_t
ha_launch_blocks_per_processor(const struct ha_function *function, uint32_t threads,
                               size_t shared_bytes)
{
    const struct ha_image_kernel *kernel = function->kernel;
    if (threads == 0 || threads > kernel->max_threads ||
        shared_bytes > HA_MAX_SHARED_BYTES) {
        return 0;
    }
    size_t shared = kernel->shared_static + shared_bytes;
    if (shared > HA_MAX_SHARED_BYTES) {
        return 0;
    }
    uint32_t blocks = HA_MAX_THREADS_PER_PROCESSOR / threads;
    if (blocks > HA_MAX_BLOCKS_PER_PROCESSOR) {
        blocks = HA_MAX_BLOCKS_PER_PROCESSOR;
    }
    if (shared > 0 && blocks > HA_MAX_SHARED_BYTES / shared) {
        blocks = (uint32_t)(HA_MAX_SHARED_BYTES / shared);
    }
    return blocks;
}

uint32_t
ha_launch_best_block(const struct ha_function *function, size_t shared_bytes,
                     uint32_t limit)
{
    uint32_t most = function->kernel->max_threads;
    uint32_t warp = ha_config()->warp_size;
    uint32_t best = 0;
    uint32_t best_busy = 0;
    if (limit != 0 && limit < most) {
        most = limit;
    }
    for (uint32_t threads = warp; threads <= most; threads += warp) {
        uint32_t busy =
            threads * ha_launch_blocks_per_processor(function, threads, shared_bytes);
        if (busy > 0 && busy >= best_busy) {
            best = threads;
            best_busy = busy;
        }
    }
    if (best == 0 && ha_launch_blocks_per_processor(function, most, shared_bytes) > 0) {
        best = most;
    }
    return best;
}
