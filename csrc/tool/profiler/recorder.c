/* SPDX-License-Identifier: MIT */
#include "tool/profiler/recorder.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/env.h"
#include "core/profiler.h"
#include "tool/events.h"
#include "tool/kernel_names.h"
#include "tool/name.h"
#include "tool/profiler/activities.h"
#include "tool/call_names.h"
#include "tool/profiler/call_note.h"
#include "tool/profiler/handed.h"
#include "tool/profiler/slice.h"

#define OWN_NAME "libhipadapt_tool"

enum {
    WATERMARK = 4096,
    DEFAULT_ROOM = 1 << 18, /* 32 MiB */
    RANGES_MAX = 48,        /* of a thread; deeper ones count as the last one */
    RANGE_BITS = 43,
    STREAM_BITS = 20,
};

/* What the beginning of something leaves for its end: a time of a call, or of work
 *
 *   1 | stream + 1, 0 for none (20 bits) | range (43 bits)
 */
#define USER_NONE UINT64_C(0)
#define USER_MUTED UINT64_C(1)
#define USER_WORK (UINT64_C(1) << 63)

enum context { CALLS, WORK, MARKERS, MEMORY, CONTEXTS };

static struct {
    pthread_mutex_t lock; /* of making it; not held within the SDK */
    atomic_bool wanted;
    atomic_bool there; /* last */
    uint64_t room;
    struct ha_collector *collector;
    rocprofiler_context_id_t contexts[CONTEXTS];
    _Atomic uint32_t epoch; /* starts */
    _Atomic uint64_t next_range;
    _Atomic(uint32_t (*)(void)) stacks; /* NULL: nobody tells them */
    atomic_bool wants_stacks;
} recorder = {.lock = PTHREAD_MUTEX_INITIALIZER, .next_range = 1};

/* What is noted of a thread. */
struct here {
    uint32_t epoch; /* when `ranges` were pushed */
    uint32_t thread;
    uint32_t depth;
    uint32_t deeper; /* pushes without room */
    struct {
        uint64_t number;
        bool user;
    } ranges[RANGES_MAX];
    uint64_t stream; /* that a call names, plus 1; where copies don't tell */
    uint64_t named;  /* the last one of this call, by AMD's number */
    uint64_t call;   /* correlation of `work` */
    uint32_t works;
    struct ha_trace_event work;
};

static _Thread_local struct here here;

static struct here *
here_now(void)
{
    struct here *now = &here;
    uint32_t epoch = atomic_load_explicit(&recorder.epoch, memory_order_relaxed);

    /* The first recording may be about to start: its epoch is not there yet. */
    if (__builtin_expect(now->epoch != epoch || now->thread == 0, 0)) {
        now->epoch = epoch;
        now->depth = now->deeper = 0;
        now->stream = 0;
        now->thread = (uint32_t)gettid();
    }
    return now;
}

static uint64_t
range_of(const struct here *now)
{
    return now->depth > 0 ? now->ranges[now->depth - 1].number : 0;
}

/* ---- calls ---- */

/* The event of a call has what it gave to a device. */
static void
set_note(struct ha_trace_event *event, const struct here *now)
{
    event->source_device = HA_DEVICE_NONE;
    if (now->call == event->correlation && now->works > 0) {
        const struct ha_trace_event *work = &now->work;
        event->device = work->device;
        event->stream = work->stream;
        event->bytes = work->bytes;
        event->object = work->object;
        event->address = work->address;
        event->source = work->source;
        memcpy(event->grid, work->grid, sizeof event->grid);
        memcpy(event->block, work->block, sizeof event->block);
        event->source_device = work->source_device;
        event->shared = work->shared;
        event->name = now->works;
    }
    event->ancestor = range_of(now);
}

/* Not before the call, which may launch nothing; what is noted doesn't use the place.
 */
static void
set_stack(struct ha_trace_event *event, uint32_t stack)
{
    if (ha_call_stack_is_address(event)) {
        event->address = stack;
    } else {
        event->shared = stack;
    }
}

/* The stack of a call that launches, where stacks are wanted; else 0. */
static uint32_t
stack_of(const rocprofiler_callback_tracing_record_t *record, const struct here *now)
{
    uint32_t (*source)(void) = atomic_load(&recorder.stacks);
    bool launched = now->call == record->correlation_id.internal && now->works > 0;

    if (source == NULL ||
        !(launched || (!ha_recorder_notes_work() &&
                       ha_call_launches(ha_call_name(record->operation))))) {
        return 0;
    }
    return source();
}

static void
on_call(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
        void *data)
{
    struct ha_collector *collector = data;
    const rocprofiler_callback_tracing_hip_api_data_t *call = record.payload;
    struct ha_ring *ring;

    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
        user->value = ha_events_muted() ? USER_MUTED : ha_events_now();
        here.named = 0;
        return;
    }
    if (user->value <= USER_MUTED) {
        return;
    }
    uint64_t end = ha_events_now();
    uint32_t stack = 0;
    if (atomic_load_explicit(&recorder.wants_stacks, memory_order_relaxed)) {
        stack = stack_of(&record, here_now());
    }
    struct ha_trace_event *event = ha_ring_reserve(collector, &ring);
    if (event != NULL) {
        ha_event_begin(event, &record);
        event->result = (int32_t)call->retval.uint64_t_retval;
        event->start = user->value;
        event->end = end;
        set_note(event, here_now());
        ha_call_note_set(event, &call->args);
        if (!ha_recorder_notes_work() &&
            ha_call_note(event->operation) != HA_NOTE_NONE) {
            event->stream = here.named;
        }
        set_stack(event, stack);
        ha_ring_commit(ring);
    }
}

/* ---- work ---- */

/* Counts a piece of work of the call that the thread is in; what its end has to know.
 */
static uint64_t
begin_work(struct here *now, uint64_t correlation)
{
    if (now->call != correlation) {
        now->call = correlation;
        now->works = 0;
    }
    now->works++;
    return USER_WORK | now->stream << RANGE_BITS | range_of(now);
}

static uint64_t
user_range(uint64_t user)
{
    return user & ((UINT64_C(1) << RANGE_BITS) - 1);
}

static void
set_stream(struct ha_trace_event *event, uint64_t user)
{
    uint64_t stream = (user & ~USER_WORK) >> RANGE_BITS;

    if (stream != 0) {
        event->stream = stream - 1;
    }
}

static void
on_kernel(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
          void *data)
{
    struct ha_collector *collector = data;
    const rocprofiler_callback_tracing_kernel_dispatch_data_t *kernel = record.payload;
    struct ha_ring *ring;

    if (record.operation == ROCPROFILER_KERNEL_DISPATCH_ENQUEUE) {
        if (record.phase != ROCPROFILER_CALLBACK_PHASE_ENTER) {
            return;
        }
        if (ha_events_muted()) {
            user->value = USER_MUTED;
            return;
        }
        struct here *now = here_now();
        user->value = begin_work(now, record.correlation_id.internal);
        if (now->works == 1) {
            now->work = (struct ha_trace_event){.source_device = HA_DEVICE_NONE};
            ha_event_set_shape(&now->work, &kernel->dispatch_info);
            set_stream(&now->work, user->value);
        }
        atomic_fetch_add(&collector->open, 1);
        return;
    }
    if (user->value <= USER_MUTED) {
        return;
    }
    struct ha_trace_event *event = ha_ring_reserve(collector, &ring);
    if (event != NULL) {
        ha_event_begin(event, &record);
        event->start = kernel->start_timestamp;
        event->end = kernel->end_timestamp;
        ha_event_set_shape(event, &kernel->dispatch_info);
        event->source = user_range(user->value);
        event->result = ha_sdk_work_status(kernel);
        event->bytes = ha_sdk_fill_bytes(kernel);
        event->address = ha_sdk_launch_form(kernel);
        set_stream(event, user->value);
        ha_ring_commit(ring);
    }
    atomic_fetch_sub(&collector->open, 1);
}

static void
on_copy(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
        void *data)
{
    struct ha_collector *collector = data;
    struct ha_ring *ring;

    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
        if (ha_events_muted()) {
            user->value = USER_MUTED;
            return;
        }
        struct here *now = here_now();
        user->value = begin_work(now, record.correlation_id.internal);
        if (now->works == 1) {
            now->work = (struct ha_trace_event){.kind = HA_KIND_COPY};
            ha_event_set_copy(&now->work, record.payload);
            set_stream(&now->work, user->value);
        }
        atomic_fetch_add(&collector->open, 1);
        return;
    }
    if (user->value <= USER_MUTED) {
        return;
    }
    struct ha_trace_event *event = ha_ring_reserve(collector, &ring);
    if (event != NULL) {
        uint64_t range = user_range(user->value);
        ha_event_begin(event, &record);
        ha_event_set_copy(event, record.payload);
        event->result = ha_sdk_work_status(record.payload);
        set_stream(event, user->value);
        event->grid[0] = (uint32_t)range;
        event->grid[1] = (uint32_t)(range >> 32);
        ha_ring_commit(ring);
    }
    atomic_fetch_sub(&collector->open, 1);
}

/* The stream that a call names, by AMD's library, whose queues are not streams. */
static void
on_stream(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
          void *data)
{
    const rocprofiler_callback_tracing_hip_stream_data_t *stream = record.payload;
    const uint64_t mask = (UINT64_C(1) << STREAM_BITS) - 1;

    (void)user;
    (void)data;
    if (record.operation == ROCPROFILER_HIP_STREAM_SET) {
        struct here *now = here_now();
        bool begins = record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER;
        now->stream = begins ? (stream->stream_id.handle + 1) & mask : 0;
        now->named = begins ? stream->stream_id.handle : now->named;
    }
}

static void
on_memory(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
          void *data)
{
    struct ha_ring *ring;

    (void)user;
    if (record.phase != ROCPROFILER_CALLBACK_PHASE_EXIT) {
        return;
    }
    struct ha_trace_event *event = ha_ring_reserve(data, &ring);
    if (event != NULL) {
        ha_event_begin(event, &record);
        ha_event_set_memory(event, record.payload);
        ha_ring_commit(ring);
    }
}

/* ---- ranges ---- */

static uint64_t
push_range(struct here *now, bool user)
{
    if (now->depth == RANGES_MAX) {
        now->deeper++;
        return 0;
    }
    uint64_t number = atomic_fetch_add(&recorder.next_range, 1);
    now->ranges[now->depth].number = number;
    now->ranges[now->depth].user = user;
    now->depth++;
    return number;
}

/* Takes the innermost range of that sort away; 0: none. */
static uint64_t
pop_range(struct here *now, bool user)
{
    if (now->deeper > 0) {
        now->deeper--;
        return 0;
    }
    for (uint32_t i = now->depth; i > 0; i--) {
        if (now->ranges[i - 1].user == user) {
            uint64_t number = now->ranges[i - 1].number;
            now->depth--;
            memmove(&now->ranges[i - 1], &now->ranges[i],
                    (now->depth - (i - 1)) * sizeof now->ranges[0]);
            return number;
        }
    }
    return 0;
}

/* Begins the event of a marker; `event` is zero but for that. */
static void
set_marker(struct ha_trace_event *event, struct here *now,
           const rocprofiler_callback_tracing_record_t *record)
{
    const rocprofiler_callback_tracing_marker_api_data_t *data = record->payload;
    uint64_t outer = range_of(now);

    switch (record->operation) {
    case ROCPROFILER_MARKER_CORE_API_ID_roctxRangePushA:
        event->kind = HA_KIND_PUSH;
        event->object = push_range(now, false);
        event->source = outer;
        event->name = ha_name_of(ha_event_marker_text(record));
        break;
    case ROCPROFILER_MARKER_CORE_API_ID_roctxRangePop:
        event->kind = HA_KIND_POP;
        event->object = pop_range(now, false);
        break;
    case ROCPROFILER_MARKER_CORE_API_ID_roctxRangeStartA:
        event->kind = HA_KIND_START;
        event->object = data->retval.roctx_range_id_t_retval;
        event->name = ha_name_of(ha_event_marker_text(record));
        break;
    case ROCPROFILER_MARKER_CORE_API_ID_roctxRangeStop:
        event->kind = HA_KIND_STOP;
        event->object = data->args.roctxRangeStop.id;
        break;
    default:
        event->name = ha_name_of(ha_event_marker_text(record));
        break;
    }
}

static void
on_marker(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
          void *data)
{
    struct ha_trace_event made;
    struct ha_ring *ring;

    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
        user->value = ha_events_muted() ? USER_MUTED : ha_events_now();
        return;
    }
    if (user->value <= USER_MUTED) {
        return;
    }
    /* The thread's ranges have to be right where there is no room for the event, too.
     */
    ha_event_begin(&made, &record);
    made.start = user->value;
    made.end = ha_events_now();
    set_marker(&made, here_now(), &record);
    struct ha_trace_event *event = ha_ring_reserve(data, &ring);
    if (event != NULL) {
        *event = made;
        ha_ring_commit(ring);
    }
}

static enum ha_status
put_user(uint16_t kind, uint64_t range, uint64_t outer, uint64_t id)
{
    struct ha_ring *ring;
    struct ha_trace_event *event = ha_ring_reserve(recorder.collector, &ring);

    if (event != NULL) {
        uint64_t now = ha_events_now();
        *event = (struct ha_trace_event){
            .kind = kind,
            .thread = here.thread,
            .start = now,
            .end = now,
            .object = range,
            .source = outer,
            .external = id,
            .device = HA_DEVICE_NONE,
            .source_device = HA_DEVICE_NONE,
        };
        ha_ring_commit(ring);
    }
    return HA_OK;
}

enum ha_status
ha_recorder_push_user(uint64_t id)
{
    if (!atomic_load_explicit(&recorder.there, memory_order_acquire)) {
        return HA_OK;
    }
    struct here *now = here_now();
    uint64_t outer = range_of(now);
    return put_user(HA_KIND_PUSH, push_range(now, true), outer, id);
}

enum ha_status
ha_recorder_pop_user(void)
{
    if (!atomic_load_explicit(&recorder.there, memory_order_acquire)) {
        return HA_OK;
    }
    uint64_t range = pop_range(here_now(), true);
    return range != 0 ? put_user(HA_KIND_POP, range, 0, 0) : HA_OK;
}

/* ---- external correlation ---- */

static rocprofiler_thread_id_t
own_thread(void)
{
    return here_now()->thread;
}

/* Ids that came before the first recording; below those that the SDK has. */
static _Thread_local unsigned long unnoted;

static bool
takes_ids(void)
{
    return atomic_load_explicit(&recorder.there, memory_order_acquire) &&
           ha_sdk.push_external_correlation_id != NULL &&
           ha_sdk.pop_external_correlation_id != NULL;
}

enum ha_status
ha_recorder_push_external(uint64_t id)
{
    const rocprofiler_user_data_t value = {.value = id};

    if (!takes_ids()) {
        unnoted++;
        return HA_OK;
    }
    rocprofiler_thread_id_t thread = own_thread();
    (void)ha_sdk.push_external_correlation_id(recorder.contexts[CALLS], thread, value);
    if (ha_sdk.push_external_correlation_id(recorder.contexts[WORK], thread, value) !=
        ROCPROFILER_STATUS_SUCCESS) {
        return ha_error_set(HA_ERROR_MEMORY,
                            "the profiler's library has no room for another id");
    }
    return HA_OK;
}

enum ha_status
ha_recorder_pop_external(void)
{
    rocprofiler_user_data_t value;

    if (takes_ids()) {
        rocprofiler_thread_id_t thread = own_thread();
        (void)ha_sdk.pop_external_correlation_id(recorder.contexts[CALLS], thread,
                                                 &value);
        if (ha_sdk.pop_external_correlation_id(recorder.contexts[WORK], thread,
                                               &value) == ROCPROFILER_STATUS_SUCCESS) {
            return HA_OK;
        }
    }
    if (unnoted == 0) {
        return ha_error_set(HA_ERROR_INVALID, "this thread has no id to pop");
    }
    unnoted--;
    return HA_OK;
}

/* ---- contexts ---- */

struct service {
    enum context context;
    rocprofiler_callback_tracing_kind_t kind;
    rocprofiler_callback_tracing_cb_t callback;
    bool theirs; /* for AMD's library only */
    bool needed;
};

static const struct service services[] = {
    {CALLS, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, on_call, false, true},
    {WORK, ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH, on_kernel, false, true},
    {WORK, ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY, on_copy, false, true},
    {WORK, ROCPROFILER_CALLBACK_TRACING_HIP_STREAM, on_stream, true, false},
    {MARKERS, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, on_marker, false, false},
    {MEMORY, ROCPROFILER_CALLBACK_TRACING_MEMORY_ALLOCATION, on_memory, false, false},
};

static enum ha_status
refused(const char *what, rocprofiler_status_t status)
{
    const char *text =
        ha_sdk.get_status_string != NULL ? ha_sdk.get_status_string(status) : NULL;

    return ha_error_set(HA_ERROR_UNSUPPORTED, "%s refuses %s: %s", ha_sdk.path, what,
                        text != NULL ? text : "no reason is given");
}

static enum ha_status
make_contexts(struct ha_collector *collector)
{
    const bool theirs = ha_sdk.finalize == NULL;

    for (int i = 0; i < CONTEXTS; i++) {
        recorder.contexts[i].handle = 0;
        rocprofiler_status_t status = ha_sdk.create_context(&recorder.contexts[i]);
        if (status != ROCPROFILER_STATUS_SUCCESS) {
            return refused("a context", status);
        }
    }
    ha_collector_give(collector);
    for (size_t i = 0; i < sizeof services / sizeof *services; i++) {
        const struct service *service = &services[i];
        if (service->theirs && !theirs) {
            continue;
        }
        rocprofiler_status_t status = ha_sdk.configure_callback_tracing_service(
            recorder.contexts[service->context], service->kind, NULL, 0,
            service->callback, collector);
        if (status != ROCPROFILER_STATUS_SUCCESS && service->needed) {
            return refused("to trace calls and work of HIP", status);
        }
    }
    return HA_OK;
}

enum ha_status
ha_recorder_configure(void)
{
    struct ha_collector *collector = recorder.collector;

    if (atomic_load(&recorder.there)) {
        return HA_OK;
    }
    if (collector == NULL) {
        uint64_t room = recorder.room != 0 ? recorder.room : DEFAULT_ROOM;
        collector = ha_collector_new(WATERMARK, room, false);
    }
    if (collector == NULL) {
        return ha_error_set(HA_ERROR_MEMORY, "no memory for events, or %d collectors",
                            HA_COLLECTORS_MAX);
    }
    recorder.collector = collector;
    enum ha_status status = make_contexts(collector);
    if (status == HA_OK) {
        (void)ha_kernel_names_begin();
        atomic_store_explicit(&recorder.there, true, memory_order_release);
    }
    return status;
}

bool
ha_recorder_wanted(void)
{
    const char *named = ha_env(HA_ENV_TOOL_LIBRARIES);

    return atomic_load(&recorder.wanted) || ha_profiler_own_wanted() ||
           (named != NULL && strstr(named, OWN_NAME) != NULL);
}

bool
ha_recorder_forced(void)
{
    return atomic_load(&recorder.wanted);
}

static enum ha_status
force(void)
{
    enum ha_status status = ha_sdk_need();

    if (status != HA_OK) {
        return status;
    }
    atomic_store(&recorder.wanted, true);
    rocprofiler_status_t answer = ha_sdk.force_configure(rocprofiler_configure);
    if (atomic_load_explicit(&recorder.there, memory_order_acquire)) {
        return HA_OK;
    }
    if (answer == ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED) {
        return ha_error_set(
            HA_ERROR_UNSUPPORTED,
            "%s has been configured before, and takes no profiler afterwards: start the "
            "program with " OWN_NAME ".so in ROCP_TOOL_LIBRARIES",
            ha_sdk.path);
    }
    return answer != ROCPROFILER_STATUS_SUCCESS
               ? refused("a tool", answer)
               : ha_error_set(HA_ERROR_UNSUPPORTED,
                              "%s started no context for the profiler", ha_sdk.path);
}

enum ha_status
ha_recorder_need(uint64_t room)
{
    enum ha_status status = HA_OK;

    pthread_mutex_lock(&recorder.lock);
    if (!atomic_load_explicit(&recorder.there, memory_order_acquire)) {
        recorder.room = room;
        status = force();
    }
    if (status == HA_OK) {
        ha_collector_limit(recorder.collector, room != 0 ? room : DEFAULT_ROOM);
    }
    pthread_mutex_unlock(&recorder.lock);
    return status;
}

/* ---- on and off ---- */

uint64_t
ha_recorder_next_range(void)
{
    return atomic_load(&recorder.next_range);
}

static void
drop_events(struct ha_collector *collector)
{
    struct ha_trace_event *events;
    size_t count;

    while ((events = ha_collector_take(collector, WATERMARK, &count)) != NULL) {
        ha_handed_free(events, count);
        free(events);
    }
}

enum ha_status
ha_recorder_start(uint32_t activities)
{
    static const uint32_t of[CONTEXTS] = {
        [CALLS] = HA_ACTIVITIES_RUNTIME | HA_ACTIVITIES_SYNC |
                  HA_ACTIVITIES_GPU_ANNOTATION | /* how much work to wait for */
                  HA_ACTIVITIES_STACKS | HA_ACTIVITIES_QUEUE,
        [WORK] =
            HA_ACTIVITIES_WORK | HA_ACTIVITIES_GPU_ANNOTATION | HA_ACTIVITIES_QUEUE,
        [MARKERS] = HA_ACTIVITIES_USER_ANNOTATION | HA_ACTIVITIES_GPU_ANNOTATION,
        [MEMORY] = HA_ACTIVITIES_MEMORY,
    };

    drop_events(recorder.collector);
    atomic_store(&recorder.wants_stacks, (activities & HA_ACTIVITIES_STACKS) != 0);
    atomic_fetch_add(&recorder.epoch, 1);
    for (int i = 0; i < CONTEXTS; i++) {
        if ((activities & of[i]) == 0) {
            continue;
        }
        rocprofiler_status_t status = ha_sdk.start_context(recorder.contexts[i]);
        if (status != ROCPROFILER_STATUS_SUCCESS) {
            ha_recorder_stop();
            return refused("to start a context", status);
        }
    }
    return HA_OK;
}

void
ha_recorder_stop(void)
{
    for (int i = 0; i < CONTEXTS; i++) {
        (void)ha_sdk.stop_context(recorder.contexts[i]);
    }
}

void
ha_recorder_stacks_from(uint32_t (*source)(void))
{
    atomic_store(&recorder.stacks, source);
}

struct ha_collector *
ha_recorder_collector(void)
{
    return atomic_load_explicit(&recorder.there, memory_order_acquire)
               ? recorder.collector
               : NULL;
}

bool
ha_recorder_notes_work(void)
{
    return ha_sdk.finalize != NULL;
}

void
ha_recorder_forked(void)
{
    (void)pthread_mutex_init(&recorder.lock, NULL);
}
