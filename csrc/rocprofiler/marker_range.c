/* SPDX-License-Identifier: MIT */
#include "rocprofiler/marker_range.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "rocprofiler/lock.h"
#include "rocprofiler/marker_call.h"
#include "rocprofiler/sdk.h"

static const struct ha_marker_kinds kinds = {
    ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_RANGE_API,
    ROCPROFILER_BUFFER_TRACING_MARKER_CORE_RANGE_API,
    ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MARKER_CORE_RANGE_API,
};

struct range {
    struct range *next;
    uint64_t key; /* level, or identifier */
    struct ha_marker_call call;
    char message[];
};

static _Thread_local struct range *pushed; /* the innermost first */
static struct range *started;              /* under HA_LOCK_RANGES */

static pthread_key_t key; /* its value is `pushed`, for the end of the thread */
static bool key_there;

/* What a thread has not popped is never reported. */
static void
drop_all(void *data)
{
    struct range *range = data;

    while (range != NULL) {
        struct range *next = range->next;
        free(range);
        range = next;
    }
}

__attribute__((constructor)) static void
make_key(void)
{
    key_there = pthread_key_create(&key, drop_all) == 0;
}

/* A range that begins now; NULL where no context wants it. */
static struct range *
range_open(uint64_t number, int operation, const char *message)
{
    size_t bytes = message != NULL ? strlen(message) + 1 : 1;
    struct ha_marker_call call;

    if (!ha_marker_begin(&call, &kinds, operation)) {
        return NULL;
    }
    struct range *range = malloc(sizeof *range + bytes);
    if (range == NULL) {
        ha_log(1, "no memory to trace a range: it is left out");
        return NULL;
    }
    *range = (struct range){.key = number, .call = call};
    memcpy(range->message, message != NULL ? message : "", bytes);
    /* The same place in the union for each operation. */
    range->call.data.args.roctxThreadRangeA.message = range->message;
    ha_marker_open(&range->call);
    return range;
}

static void
range_close(struct range *range)
{
    ha_marker_close(&range->call);
    free(range);
}

void
ha_range_mark(const char *message)
{
    struct range *range =
        range_open(0, ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxMarkA, message);

    if (range != NULL) {
        range_close(range);
    }
}

void
ha_range_push(const char *message, int level)
{
    struct range *range =
        range_open((uint64_t)level,
                   ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxThreadRangeA, message);

    if (range != NULL) {
        range->next = pushed;
        pushed = range;
        if (key_there) {
            (void)pthread_setspecific(key, pushed);
        }
    }
}

void
ha_range_pop(int level)
{
    /* Ranges may have been pushed and popped while no context was active. */
    while (level >= 0 && pushed != NULL && pushed->key >= (uint64_t)level) {
        struct range *range = pushed;
        pushed = range->next;
        if (key_there) {
            (void)pthread_setspecific(key, pushed);
        }
        if (range->key == (uint64_t)level) {
            range_close(range);
        } else {
            free(range);
        }
    }
}

void
ha_range_start(const char *message, roctx_range_id_t id)
{
    struct range *range = range_open(
        id, ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxProcessRangeA, message);

    if (range != NULL) {
        ha_lock(HA_LOCK_RANGES);
        range->next = started;
        started = range;
        ha_unlock(HA_LOCK_RANGES);
    }
}

void
ha_range_stop(roctx_range_id_t id)
{
    struct range *found = NULL;

    ha_lock(HA_LOCK_RANGES);
    for (struct range **at = &started; *at != NULL; at = &(*at)->next) {
        if ((*at)->key == id) {
            found = *at;
            *at = found->next;
            break;
        }
    }
    ha_unlock(HA_LOCK_RANGES);
    if (found != NULL) {
        range_close(found);
    }
}

void
ha_range_thread_id(roctx_thread_id_t *tid)
{
    struct ha_marker_call call;

    if (ha_marker_begin(&call, &kinds,
                        ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxGetThreadId)) {
        call.data.args.roctxGetThreadId.tid = tid;
        ha_marker_open(&call);
        ha_marker_close(&call);
    }
}
