/* SPDX-License-Identifier: MIT */
#include "rocprofiler/activity.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "rocprofiler/activity_event.h"
#include "rocprofiler/agent.h"
#include "rocprofiler/buffer.h"
#include "rocprofiler/context.h"
#include "rocprofiler/correlation.h"
#include "rocprofiler/counting.h"
#include "rocprofiler/external.h"
#include "rocprofiler/host_function.h"
#include "rocprofiler/in_tool.h"
#include "rocprofiler/sdk.h"
#include "rocprofiler/stamp.h"
#include "rocprofiler/want.h"

/* What AMD's structs don't have; it stands behind the payload of a callback, and behind
 * a record, for tools that ask for it. */
struct tail {
    uint64_t stream; /* of a copy */
    uint64_t bytes;  /* that a launch fills */
    uint64_t status; /* enum ha_activity_status */
    uint64_t form;   /* of a launch: enum ha_activity_form, and what goes with it */
};

/* Work on the device, from when it is enqueued until it has ended. */
struct work {
    struct ha_correlation *correlation;
    uint64_t ancestor;
    uint64_t thread;
    struct ha_counts *counts; /* counting.h; NULL: isn't counted */
    unsigned watcher_count;
    int copy_operation;
    struct tail tail;
    union {
        rocprofiler_kernel_dispatch_info_t dispatch;
        rocprofiler_callback_tracing_memory_copy_data_t copy;
    } u;
    struct ha_watcher watchers[]; /* watcher_count */
};

static const struct ha_activity *_Atomic subscribed;
static _Atomic uint64_t next_dispatch = 1;

/* A new piece of work for those contexts of `mask` that want `operation`, or `first`,
 * which comes before it; NULL: no memory. */
static struct work *
work_new(uint64_t mask, int callback_kind, int buffer_kind, int operation, int first,
         rocprofiler_external_correlation_id_request_kind_t request)
{
    unsigned count = (unsigned)__builtin_popcountll(mask);
    const struct ha_scope *scope = ha_scope_current();
    struct work *work = malloc(sizeof *work + count * sizeof *work->watchers);

    if (work == NULL || (work->correlation = ha_correlation_hold()) == NULL) {
        ha_log(1, "no memory to trace an operation: it is left out");
        free(work);
        return NULL;
    }
    work->ancestor = scope != NULL ? scope->ancestor : 0;
    work->thread = ha_thread_id();
    work->counts = NULL;
    work->tail = (struct tail){0, 0, HA_ACTIVITY_DONE, 0};
    work->watcher_count = 0;
    for (; mask != 0; mask &= mask - 1) {
        unsigned number = (unsigned)__builtin_ctzll(mask);
        const struct ha_context *context = ha_contexts[number];
        struct ha_watcher *watcher = &work->watchers[work->watcher_count];
        watcher->context = (uint8_t)number;
        watcher->user.value = 0;
        watcher->callback = ha_wants_callback(context, callback_kind, operation) ||
                            ha_wants_callback(context, callback_kind, first);
        watcher->buffer = ha_wants_buffer(context, buffer_kind, operation);
        if (watcher->callback || watcher->buffer) {
            watcher->external =
                ha_external_id(number, request, operation, work->correlation->internal);
            work->watcher_count++;
        }
    }
    return work;
}

static void
work_free(struct work *work)
{
    ha_correlation_drop(work->correlation);
    free(work);
}

/* ---- what stands behind payloads and records ---- */

struct told_launch {
    rocprofiler_callback_tracing_kernel_dispatch_data_t data;
    struct tail tail;
};

struct launch_record {
    rocprofiler_buffer_tracing_kernel_dispatch_record_t record;
    struct tail tail;
};

struct told_copy {
    rocprofiler_callback_tracing_memory_copy_data_t data;
    struct tail tail;
};

struct copy_record {
    rocprofiler_buffer_tracing_memory_copy_record_t record;
    struct tail tail;
};

#define IS_BEHIND(type, first)                                                         \
    (offsetof(struct type, tail) == sizeof(((struct type *)NULL)->first))

_Static_assert(IS_BEHIND(told_launch, data) && IS_BEHIND(launch_record, record) &&
                   IS_BEHIND(told_copy, data) && IS_BEHIND(copy_record, record),
               "tail_of looks behind the size");

static struct tail
tail_of(const void *work)
{
    uint64_t bytes; /* each of them begins with its size */
    struct tail tail;

    memcpy(&bytes, work, sizeof bytes);
    memcpy(&tail, (const char *)work + bytes, sizeof tail);
    return tail;
}

uint64_t
hipadapt_rocprofiler_copy_stream(const void *copy)
{
    return tail_of(copy).stream;
}

uint64_t
hipadapt_rocprofiler_fill_bytes(const void *launch)
{
    return tail_of(launch).bytes;
}

uint64_t
hipadapt_rocprofiler_launch_form(const void *launch)
{
    return tail_of(launch).form;
}

int
hipadapt_rocprofiler_work_status(const void *work)
{
    return (int)tail_of(work).status;
}

/* ---- kernels ---- */

static void
tell_dispatch(struct work *work, int operation, rocprofiler_callback_phase_t phase,
              uint64_t start, uint64_t end)
{
    const int kind = ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH;

    for (unsigned i = 0; i < work->watcher_count; i++) {
        struct ha_watcher *watcher = &work->watchers[i];
        if (!ha_wants_callback(ha_contexts[watcher->context], kind, operation)) {
            continue;
        }
        struct told_launch told = {
            .data = {.size = sizeof told.data,
                     .start_timestamp = start,
                     .end_timestamp = end,
                     .dispatch_info = work->u.dispatch},
            .tail = work->tail,
        };
        rocprofiler_user_data_t copy = watcher->user;
        /* What the first phase leaves is there in the others. */
        rocprofiler_user_data_t *user =
            phase == ROCPROFILER_CALLBACK_PHASE_ENTER ? &watcher->user : &copy;
        ha_tell(watcher, user, work->correlation->internal, work->ancestor,
                work->thread, kind, operation, phase, &told.data);
    }
}

static void *
dispatch_begin(const struct ha_activity_dispatch *dispatch)
{
    const int callback = ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH;
    const int buffer = ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH;
    uint64_t mask = ha_kinds_mask(callback, buffer);
    bool counted = ha_counting_active();

    if ((mask == 0 && !counted) || ha_in_tool() > 0) {
        return NULL;
    }
    struct work *work =
        work_new(mask, callback, buffer, ROCPROFILER_KERNEL_DISPATCH_COMPLETE,
                 ROCPROFILER_KERNEL_DISPATCH_ENQUEUE,
                 ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_KERNEL_DISPATCH);
    if (work == NULL) {
        return NULL;
    }
    work->u.dispatch = (rocprofiler_kernel_dispatch_info_t){
        .size = offsetof(rocprofiler_kernel_dispatch_info_t, reserved_padding),
        .agent_id = ha_agent_of_device(dispatch->device),
        .queue_id = {dispatch->queue},
        .kernel_id = dispatch->kernel,
        .dispatch_id = atomic_fetch_add(&next_dispatch, 1),
        .private_segment_size = dispatch->local_bytes,
        .group_segment_size = dispatch->shared_bytes,
        .workgroup_size = {dispatch->block[0], dispatch->block[1], dispatch->block[2]},
        .grid_size = {dispatch->grid[0] * dispatch->block[0],
                      dispatch->grid[1] * dispatch->block[1],
                      dispatch->grid[2] * dispatch->block[2]},
    };
    work->tail.bytes = dispatch->filled_bytes;
    if (counted) {
        work->counts =
            ha_counting_begin(&work->u.dispatch, work->correlation->internal);
    }
    tell_dispatch(work, ROCPROFILER_KERNEL_DISPATCH_ENQUEUE,
                  ROCPROFILER_CALLBACK_PHASE_ENTER, 0, 0);
    /* Before the work can start, so that its end is never reported first. */
    tell_dispatch(work, ROCPROFILER_KERNEL_DISPATCH_ENQUEUE,
                  ROCPROFILER_CALLBACK_PHASE_EXIT, 0, 0);
    return work;
}

static void
dispatch_form(void *ticket, uint64_t form)
{
    struct work *work = ticket;

    work->tail.form = form;
}

static void
dispatch_end(void *ticket, uint64_t start, uint64_t end, enum ha_activity_status status)
{
    struct work *work = ticket;

    work->tail.status = status;
    if (work->counts != NULL) {
        ha_counting_end(work->counts, start, end);
    }
    tell_dispatch(work, ROCPROFILER_KERNEL_DISPATCH_COMPLETE,
                  ROCPROFILER_CALLBACK_PHASE_NONE, start, end);
    for (unsigned i = 0; i < work->watcher_count; i++) {
        const struct ha_watcher *watcher = &work->watchers[i];
        if (!watcher->buffer) {
            continue;
        }
        struct launch_record told = {
            .tail = work->tail,
            .record = {
                .size = sizeof told.record,
                .kind = ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH,
                .operation = ROCPROFILER_KERNEL_DISPATCH_COMPLETE,
                .correlation_id = {work->correlation->internal, watcher->external},
                .thread_id = work->thread,
                .start_timestamp = start,
                .end_timestamp = end,
                .dispatch_info = work->u.dispatch,
            }};
        ha_buffer_add(ha_contexts[watcher->context]->buffers[told.record.kind].buffer,
                      ROCPROFILER_BUFFER_CATEGORY_TRACING, told.record.kind, &told,
                      sizeof told);
    }
    work_free(work);
}

/* ---- copies ---- */

static int
copy_operation(const struct ha_activity_copy *copy)
{
    bool from_host = copy->source_device < 0, to_host = copy->target_device < 0;

    if (from_host) {
        return to_host ? ROCPROFILER_MEMORY_COPY_HOST_TO_HOST
                       : ROCPROFILER_MEMORY_COPY_HOST_TO_DEVICE;
    }
    return to_host ? ROCPROFILER_MEMORY_COPY_DEVICE_TO_HOST
                   : ROCPROFILER_MEMORY_COPY_DEVICE_TO_DEVICE;
}

static void
tell_copy(struct work *work, rocprofiler_callback_phase_t phase)
{
    int operation = work->copy_operation;

    for (unsigned i = 0; i < work->watcher_count; i++) {
        struct ha_watcher *watcher = &work->watchers[i];
        if (watcher->callback) {
            struct told_copy told = {work->u.copy, work->tail};
            ha_tell(watcher, &watcher->user, work->correlation->internal,
                    work->ancestor, work->thread,
                    ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY, operation, phase,
                    &told.data);
        }
    }
}

static void *
copy_begin(const struct ha_activity_copy *copy)
{
    const int callback = ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY;
    const int buffer = ROCPROFILER_BUFFER_TRACING_MEMORY_COPY;
    uint64_t mask = ha_kinds_mask(callback, buffer);

    if (mask == 0 || ha_in_tool() > 0) {
        return NULL;
    }
    int operation = copy_operation(copy);
    struct work *work = work_new(mask, callback, buffer, operation, operation,
                                 ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MEMORY_COPY);
    if (work == NULL) {
        return NULL;
    }
    work->copy_operation = operation;
    work->tail.stream = copy->queue;
    work->u.copy = (rocprofiler_callback_tracing_memory_copy_data_t){
        .size = sizeof work->u.copy,
        .dst_agent_id = ha_agent_of_device(copy->target_device),
        .src_agent_id = ha_agent_of_device(copy->source_device),
        .bytes = copy->bytes,
        .dst_address = {.ptr = copy->target},
        .src_address = {.ptr = copy->source},
    };
    tell_copy(work, ROCPROFILER_CALLBACK_PHASE_ENTER);
    return work;
}

static void
copy_end(void *ticket, uint64_t start, uint64_t end, enum ha_activity_status status)
{
    struct work *work = ticket;
    int operation = work->copy_operation;

    work->tail.status = status;
    work->u.copy.start_timestamp = start;
    work->u.copy.end_timestamp = end;
    tell_copy(work, ROCPROFILER_CALLBACK_PHASE_EXIT);
    for (unsigned i = 0; i < work->watcher_count; i++) {
        const struct ha_watcher *watcher = &work->watchers[i];
        if (!watcher->buffer) {
            continue;
        }
        struct copy_record told = {
            .record =
                {
                    .size = sizeof told.record,
                    .kind = ROCPROFILER_BUFFER_TRACING_MEMORY_COPY,
                    .operation = (rocprofiler_memory_copy_operation_t)operation,
                    .correlation_id = {work->correlation->internal, watcher->external},
                    .thread_id = work->thread,
                    .start_timestamp = start,
                    .end_timestamp = end,
                    .dst_agent_id = work->u.copy.dst_agent_id,
                    .src_agent_id = work->u.copy.src_agent_id,
                    .bytes = work->u.copy.bytes,
                    .dst_address = work->u.copy.dst_address,
                    .src_address = work->u.copy.src_address,
                },
            .tail = work->tail,
        };
        ha_buffer_add(ha_contexts[watcher->context]->buffers[told.record.kind].buffer,
                      ROCPROFILER_BUFFER_CATEGORY_TRACING, told.record.kind, &told,
                      sizeof told);
    }
    work_free(work);
}

/* ---- subscription ---- */

static const struct ha_activity_sink sink = {
    .size = sizeof sink,
    .dispatch_begin = dispatch_begin,
    .dispatch_end = dispatch_end,
    .dispatch_form = dispatch_form,
    .copy_begin = copy_begin,
    .copy_end = copy_end,
    .memory = ha_activity_memory,
    .code_object = ha_activity_code_object,
    .kernel = ha_activity_kernel,
    .stream = ha_activity_stream,
    .host_begin = ha_host_function_begin,
    .host_end = ha_host_function_end,
    .together = ha_correlation_together,
};

/* Active contexts that want code objects, and got no report of the present ones. */
static uint64_t
untold(void)
{
    static _Atomic uint64_t told;
    uint64_t active = ha_kinds_mask(ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT, 0);

    return active & ~atomic_fetch_or(&told, active);
}

static unsigned
needed(void)
{
    return ha_activity_needed() | (ha_host_functions_wanted() ? HA_WANT_HOST : 0U);
}

/* Once more where another thread has switched a context meanwhile: the last word is
 * right. */
static void
subscribe(const struct ha_activity *activity)
{
    uint64_t contexts = untold();
    unsigned wanted = needed(), now;

    ha_activity_replay(contexts);
    activity->subscribe(&sink, wanted | (contexts != 0 ? HA_WANT_CODE_AGAIN : 0));
    ha_activity_replay(0);
    while ((now = needed()) != wanted) {
        wanted = now;
        activity->subscribe(&sink, wanted);
    }
}

void
ha_activity_subscribe(const struct ha_activity *activity)
{
    atomic_store(&subscribed, activity);
    subscribe(activity);
}

void
ha_activity_switched(void)
{
    const struct ha_activity *activity = atomic_load(&subscribed);

    if (activity != NULL) {
        subscribe(activity);
    }
}

void
ha_activity_drain(void)
{
    const struct ha_activity *activity = atomic_load(&subscribed);

    if (activity != NULL && activity->drain != NULL) {
        activity->drain();
    }
}

void
hipadapt_rocprofiler_settle(uint64_t limit_ns)
{
    const struct ha_activity *activity = atomic_load(&subscribed);

    if (activity != NULL &&
        activity->size >= offsetof(struct ha_activity, settle) + sizeof(void *)) {
        activity->settle(limit_ns);
    }
}

void
hipadapt_rocprofiler_host_functions(void (*told)(const struct ha_host_function *))
{
    ha_host_functions_observe(told);
    ha_activity_switched();
}
