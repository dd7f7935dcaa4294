/* SPDX-License-Identifier: MIT */
#include "tool/verbose/watch.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/loaded.h"
#include "tool/call_names.h"
#include "tool/events.h"
#include "tool/kernel_names.h"
#include "tool/name.h"
#include "tool/sdk.h"
#include "tool/verbose/kinds.h"
#include "tool/verbose/result.h"
#include "tool/verbose/tracker.h"
#include "tool/verbose/words.h"
#include "tool/verbose/writer.h"

enum {
    WATERMARK = 4096,
    ROOM = 1 << 17, /* 16 MiB */
    RECORD_MS = 20, /* in which AMD's library tells of an end */
};

enum context { WORK, CALLS, MARKERS, CONTEXTS };

/* What the beginning of something leaves for its end: a time, a text, or one of these.
 */
#define USER_NONE UINT64_C(0)
#define USER_MUTED UINT64_C(1)
#define USER_SEEN UINT64_C(2)

typedef const char *error_text_function(void);

static struct {
    pthread_mutex_t lock; /* of switching */
    atomic_bool there;
    atomic_uint wanted;
    struct ha_collector *collector;
    rocprofiler_context_id_t contexts[CONTEXTS];
    error_text_function *_Atomic error_text; /* of the runtime; NULL: it has none */
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local char *next_arguments;

static bool
wants(unsigned word)
{
    return (atomic_load_explicit(&watch.wanted, memory_order_relaxed) & word) != 0;
}

/* ---- work ---- */

/* Work that never ran took no time: it was over when that was known. */
static void
set_end(struct ha_trace_event *event)
{
    if (event->end == 0) {
        event->end = ha_events_now();
        event->result = HA_VERBOSE_CANCELLED;
    }
    if (event->result == HA_VERBOSE_CANCELLED) {
        event->start = event->end;
    }
}

/* With profile_exec every piece of work has a line; with error those that failed. */
static bool
has_line(const struct ha_trace_event *event)
{
    return wants(HA_VERBOSE_EXEC) || (wants(HA_VERBOSE_ERROR) && event->result > 0);
}

/* Work begins that the program launches; false: it is a tool's own. */
static bool
begin_work(rocprofiler_user_data_t *user, uint64_t stream, uint64_t correlation)
{
    if (ha_events_muted()) {
        user->value = USER_MUTED;
        return false;
    }
    user->value = USER_SEEN;
    atomic_fetch_add(&watch.collector->open, 1);
    if (wants(HA_VERBOSE_EXEC)) {
        ha_trackers_begin(stream, correlation);
    }
    return true;
}

/* After its own line, which stands before those of trackers. */
static void
end_work(const struct ha_trace_event *event)
{
    if (wants(HA_VERBOSE_EXEC)) {
        ha_trackers_end(event);
    }
    atomic_fetch_sub(&watch.collector->open, 1);
}

static void
begin_kernel(const rocprofiler_callback_tracing_record_t *record,
             rocprofiler_user_data_t *user)
{
    const rocprofiler_callback_tracing_kernel_dispatch_data_t *kernel = record->payload;
    char *text = next_arguments;

    next_arguments = NULL;
    if (!begin_work(user, kernel->dispatch_info.queue_id.handle,
                    record->correlation_id.internal)) {
        free(text);
    } else if (text != NULL) {
        user->value = (uintptr_t)text;
    }
}

static void
on_kernel(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
          void *data)
{
    const rocprofiler_callback_tracing_kernel_dispatch_data_t *kernel = record.payload;
    struct ha_trace_event event;

    (void)data;
    if (record.operation == ROCPROFILER_KERNEL_DISPATCH_ENQUEUE) {
        if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
            begin_kernel(&record, user);
        }
        return;
    }
    if (user->value <= USER_MUTED) {
        return;
    }
    ha_event_begin(&event, &record);
    event.start = kernel->start_timestamp;
    event.end = kernel->end_timestamp;
    ha_event_set_shape(&event, &kernel->dispatch_info);
    event.result = ha_sdk_work_status(kernel);
    event.bytes = ha_sdk_fill_bytes(kernel);
    event.address = user->value != USER_SEEN ? user->value : 0;
    set_end(&event);
    if (has_line(&event)) {
        ha_line_writer_put(&event);
    } else {
        free(ha_verbose_text(&event));
    }
    end_work(&event);
}

static void
on_copy(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
        void *data)
{
    struct ha_trace_event event;

    (void)data;
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
        (void)begin_work(user, ha_sdk_copy_stream(record.payload),
                         record.correlation_id.internal);
        return;
    }
    if (user->value <= USER_MUTED) {
        return;
    }
    ha_event_begin(&event, &record);
    ha_event_set_copy(&event, record.payload);
    event.result = ha_sdk_work_status(record.payload);
    set_end(&event);
    if (has_line(&event)) {
        ha_line_writer_put(&event);
    }
    end_work(&event);
}

static void
on_host_function(const struct ha_host_function *function)
{
    struct ha_trace_event event = {
        .kind = HA_VERBOSE_HOST,
        .result = function->status,
        .thread = (uint32_t)function->thread,
        .correlation = function->correlation,
        .ancestor = function->ancestor,
        .start = function->start,
        .end = function->end,
        .device = HA_DEVICE_NONE,
        .source_device = (int16_t)function->device,
        .stream = function->stream,
        .address = function->function,
    };

    set_end(&event);
    if (has_line(&event)) {
        ha_line_writer_put(&event);
    }
}

/* ---- calls ---- */

static char *
error_text(void)
{
    error_text_function *function = atomic_load(&watch.error_text);
    const char *text = function != NULL ? function() : NULL;

    return text != NULL && text[0] != '\0' ? strdup(text) : NULL;
}

static void
on_call(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
        void *data)
{
    const rocprofiler_callback_tracing_hip_api_data_t *call = record.payload;
    struct ha_trace_event event;

    (void)data;
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
        user->value = ha_events_muted() ? USER_MUTED : ha_events_now();
        return;
    }
    int32_t result = (int32_t)call->retval.uint64_t_retval;
    if (user->value <= USER_MUTED || !ha_result_is_failure(record.operation, result) ||
        !wants(ha_result_is_refusal(result) ? HA_VERBOSE_CHECK : HA_VERBOSE_ERROR)) {
        return;
    }
    ha_event_begin(&event, &record);
    event.result = result;
    event.start = user->value;
    event.end = ha_events_now();
    event.address = (uintptr_t)error_text();
    ha_line_writer_put(&event);
}

/* ---- compilations and loads ---- */

/* What the CPU device's marks say: "call: subject (outcome)". */
static const struct {
    const char *call;
    int what;
} makers[] = {
    {"hiprtcCompileProgram: ", HA_CREATE_PROGRAM},
    {"module load: ", HA_CREATE_MODULE},
};

static const struct {
    const char *text;
    int outcome;
} outcomes[] = {
    {" (cached)", HA_CREATED_HIT},
    {" (compiled)", HA_CREATED_MISS},
    {" (loaded)", HA_CREATED_MISS}, /* nothing keeps what a load makes */
    {" (failed)", HA_CREATED_FAILED},
};

static _Thread_local uint64_t creation_start;

/* Which of `makers` a text is of; -1: none. */
static int
maker_of(const char *text)
{
    for (int i = 0; i < (int)(sizeof makers / sizeof *makers); i++) {
        if (strncmp(text, makers[i].call, strlen(makers[i].call)) == 0) {
            return i;
        }
    }
    return -1;
}

/* The name between the call and the outcome. */
static uint32_t
name_of(const char *from, const char *to)
{
    char *text = strndup(from, (size_t)(to - from));
    uint32_t name = text != NULL ? ha_name_of(text) : 0;

    free(text);
    return name;
}

static void
set_creation(struct ha_trace_event *event, const char *text, int maker, size_t tail)
{
    const char *subject = text + strlen(makers[maker].call);
    unsigned long device;

    event->operation = makers[maker].what;
    event->name = name_of(subject, text + strlen(text) - tail);
    if (makers[maker].what == HA_CREATE_MODULE && strncmp(subject, "device ", 7) == 0 &&
        (device = strtoul(subject + 7, NULL, 10)) < 1024) {
        event->device = (int32_t)device;
    }
}

static void
on_creation_mark(const rocprofiler_callback_tracing_record_t *record, const char *text)
{
    int maker = maker_of(text);
    size_t bytes = strlen(text);

    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes && maker >= 0; i++) {
        size_t tail = strlen(outcomes[i].text);
        if (bytes < tail || strcmp(text + bytes - tail, outcomes[i].text) != 0) {
            continue;
        }
        struct ha_trace_event event;
        ha_event_begin(&event, record);
        event.kind = HA_VERBOSE_CREATION;
        event.result = outcomes[i].outcome;
        event.end = ha_events_now();
        event.start = creation_start != 0 ? creation_start : event.end;
        set_creation(&event, text, maker, tail);
        creation_start = 0;
        ha_line_writer_put(&event);
        return;
    }
}

static void
on_marker(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
          void *data)
{
    const char *text = ha_event_marker_text(&record);

    (void)user;
    (void)data;
    if (record.phase != ROCPROFILER_CALLBACK_PHASE_ENTER || text == NULL ||
        ha_events_muted()) {
        return;
    }
    if (record.operation == ROCPROFILER_MARKER_CORE_API_ID_roctxMarkA) {
        on_creation_mark(&record, text);
    } else if (maker_of(text) >= 0) {
        creation_start = ha_events_now();
    }
}

/* ---- contexts ---- */

static const struct service {
    enum context context;
    rocprofiler_callback_tracing_kind_t kind;
    rocprofiler_callback_tracing_cb_t callback;
    bool needed;
} services[] = {
    {WORK, ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH, on_kernel, true},
    {WORK, ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY, on_copy, true},
    {CALLS, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, on_call, true},
    {MARKERS, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, on_marker, false},
};

static enum ha_status
refused(const char *what)
{
    return ha_error_set(HA_ERROR_UNSUPPORTED, "%s refuses %s for verbose lines",
                        ha_sdk.path, what);
}

static enum ha_status
make_contexts(struct ha_collector *collector)
{
    for (int i = 0; i < CONTEXTS; i++) {
        watch.contexts[i].handle = 0;
        if (ha_sdk.create_context(&watch.contexts[i]) != ROCPROFILER_STATUS_SUCCESS) {
            return refused("a context");
        }
    }
    ha_collector_give(collector);
    for (size_t i = 0; i < sizeof services / sizeof *services; i++) {
        const struct service *service = &services[i];
        if (ha_sdk.configure_callback_tracing_service(
                watch.contexts[service->context], service->kind, NULL, 0,
                service->callback, collector) != ROCPROFILER_STATUS_SUCCESS &&
            service->needed) {
            return refused("to trace calls and work of HIP");
        }
    }
    return HA_OK;
}

struct ha_collector *
ha_verbose_watch_collector(void)
{
    pthread_mutex_lock(&watch.lock);
    if (watch.collector == NULL) {
        watch.collector = ha_collector_new(WATERMARK, ROOM, false);
    }
    pthread_mutex_unlock(&watch.lock);
    return watch.collector;
}

enum ha_status
ha_verbose_watch_configure(void)
{
    if (atomic_load(&watch.there)) {
        return HA_OK;
    }
    struct ha_collector *collector = ha_verbose_watch_collector();
    if (collector == NULL) {
        return ha_error_set(HA_ERROR_MEMORY, "no memory for events of verbose lines");
    }
    enum ha_status status = make_contexts(collector);
    if (status == HA_OK) {
        atomic_store(&watch.there, true);
    }
    return status;
}

static int
find_error_text(void *library, const char *path, void *data)
{
    void *symbol = dlsym(library, "hipadaptGetErrorText");
    error_text_function *function;

    (void)path;
    (void)data;
    memcpy(&function, &symbol, sizeof function);
    if (symbol != NULL) {
        atomic_store(&watch.error_text, function);
    }
    return symbol == NULL;
}

static enum ha_status
switch_context(enum context context, bool on)
{
    int active = 0;

    if (ha_sdk.context_is_active != NULL) {
        (void)ha_sdk.context_is_active(watch.contexts[context], &active);
    }
    if (on == (active != 0)) {
        return HA_OK;
    }
    if (!on) {
        (void)ha_sdk.stop_context(watch.contexts[context]);
        return HA_OK;
    }
    return ha_sdk.start_context(watch.contexts[context]) == ROCPROFILER_STATUS_SUCCESS
               ? HA_OK
               : refused("to start a context");
}

enum ha_status
ha_verbose_watch_switch(unsigned wanted)
{
    static const unsigned of[CONTEXTS] = {
        [WORK] = HA_VERBOSE_EXEC | HA_VERBOSE_ERROR,
        [CALLS] = HA_VERBOSE_ERROR | HA_VERBOSE_CHECK,
        [MARKERS] = HA_VERBOSE_CREATE,
    };
    enum ha_status status = HA_OK;

    pthread_mutex_lock(&watch.lock);
    if ((wanted & of[CALLS]) != 0) {
        ha_loaded_each(find_error_text, NULL);
    }
    atomic_store(&watch.wanted, wanted);
    for (int i = 0; i < CONTEXTS && status == HA_OK; i++) {
        status = switch_context((enum context)i, (wanted & of[i]) != 0);
    }
    if (ha_sdk.host_functions != NULL) {
        ha_sdk.host_functions((wanted & of[WORK]) != 0 ? on_host_function : NULL);
    }
    pthread_mutex_unlock(&watch.lock);
    return status;
}

void
ha_verbose_watch_wait(unsigned ms)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    for (unsigned i = 0; i < ms; i++) {
        if (watch.collector == NULL || atomic_load(&watch.collector->open) <= 0) {
            return;
        }
        (void)nanosleep(&pause, NULL);
    }
}

void
ha_verbose_watch_settle(unsigned ms)
{
    if (ha_sdk.settle != NULL) {
        ha_sdk.settle(ms * UINT64_C(1000000));
    } else { /* this waits for what is running, too */
        ha_verbose_watch_wait(ms < RECORD_MS ? ms : RECORD_MS);
    }
}

bool
ha_verbose_watch_is_there(void)
{
    return atomic_load(&watch.there);
}

bool
ha_verbose_watch_sees_work(void)
{
    return wants(HA_VERBOSE_EXEC);
}

bool
ha_verbose_watch_wants_arguments(void)
{
    return wants(HA_VERBOSE_EXEC);
}

void
ha_verbose_watch_arguments(char *text)
{
    free(next_arguments);
    next_arguments = text;
}

void
ha_verbose_watch_forked(void)
{
    (void)pthread_mutex_init(&watch.lock, NULL);
    atomic_store(&watch.wanted, 0);
}
