/* SPDX-License-Identifier: MIT */
/* Contexts: the services that tools have asked for, and what is wanted because of them.
 *
 * Contexts are never freed and stand in one array, so one that was found stays.
 * The *configuration* (which services a context has) is written within a tool's
 * `initialize` and only read afterwards; what changes later are `active` and the bits
 * of ha_op_wanted and of its like, which are atomics: a call of HIP takes no lock.
 *
 * Files of this room, from below: client, context, buffer, correlation, activity and
 * counting, tables; then context_switch, client_end, client_start, register. */
#ifndef HA_ROCPROFILER_CONTEXT_H
#define HA_ROCPROFILER_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rocprofiler/generated/op_numbers.h"
#include "rocprofiler/sdk.h"

enum {
    HA_CONTEXTS_MAX = 64, /* bits of a word */
    HA_CALLBACK_KINDS = ROCPROFILER_CALLBACK_TRACING_LAST,
    HA_BUFFER_KINDS = ROCPROFILER_BUFFER_TRACING_LAST,
    HA_OPERATION_WORDS = (HA_OP_RUNTIME_COUNT + 63) / 64,
};

struct ha_buffer;
struct ha_client;

/* Operations of a kind, as bits by number. */
struct ha_operations {
    uint64_t words[HA_OPERATION_WORDS];
};

struct ha_callback_service {
    bool there;
    rocprofiler_callback_tracing_cb_t callback;
    void *data;
    struct ha_operations operations;
};

struct ha_buffer_service {
    struct ha_buffer *buffer; /* NULL: none */
    struct ha_operations operations;
};

struct ha_request_service {
    rocprofiler_external_correlation_id_request_cb_t callback; /* NULL: none */
    void *data;
    uint32_t kinds; /* bits */
};

struct ha_context {
    struct ha_client *client;
    atomic_bool active;
    atomic_bool dropped; /* its tool failed or has ended: nothing is reported to it */
    struct ha_callback_service callbacks[HA_CALLBACK_KINDS];
    struct ha_buffer_service buffers[HA_BUFFER_KINDS];
    struct ha_request_service requests;
    struct ha_counting *counting; /* counting.h; NULL: none */
};

extern struct ha_context *ha_contexts[HA_CONTEXTS_MAX];
extern _Atomic unsigned ha_context_count;

/* Bit i: context i is active and wants the operation, of HIP (HA_OP_*), as callback or
 * record. */
extern _Atomic uint64_t ha_op_wanted[HA_OP_COUNT];

/* Bit i: context i is active and wants the kind. */
extern _Atomic uint64_t ha_callback_kinds_wanted[HA_CALLBACK_KINDS];
extern _Atomic uint64_t ha_buffer_kinds_wanted[HA_BUFFER_KINDS];

/* Bit i: context i is active and wants HIP_STREAM_SET. */
extern _Atomic uint64_t ha_stream_set_wanted;

static inline bool
ha_operation_in(const struct ha_operations *operations, unsigned number)
{
    return number / 64 < HA_OPERATION_WORDS &&
           (operations->words[number / 64] >> (number % 64) & 1) != 0;
}

static inline bool
ha_context_told(const struct ha_context *context)
{
    return !atomic_load_explicit(&context->dropped, memory_order_relaxed);
}

/* The context, or NULL. */
struct ha_context *ha_context_find(rocprofiler_context_id_t id);
unsigned ha_context_number(rocprofiler_context_id_t id);
rocprofiler_context_id_t ha_context_id(unsigned number);

/* A context that is being configured now, by the tool whose `initialize` runs on this
 * thread: else the status that says why not. */
rocprofiler_status_t ha_context_configurable(rocprofiler_context_id_t id,
                                             struct ha_context **context);

/* After a service was added to a context, which may be active already. */
void ha_contexts_recount(void);

/* The same, under HA_LOCK_CONTEXTS. */
void ha_contexts_recount_locked(void);

/* Sets wanted[op] for each operation (HA_OP_*) that some context has asked for, active
 * or not. */
void ha_ops_configured(bool wanted[HA_OP_COUNT]);

/* What producers have to call now: HA_WANT_* of abi/activity.h.  What only stopped
 * contexts have asked for costs a program nothing, but for code objects. */
unsigned ha_activity_needed(void);

/* Whether the context, active or not, has asked for an operation of a kind. */
static inline bool
ha_wants_callback(const struct ha_context *context, int kind, int operation)
{
    return context->callbacks[kind].there &&
           ha_operation_in(&context->callbacks[kind].operations, (unsigned)operation);
}

static inline bool
ha_wants_buffer(const struct ha_context *context, int kind, int operation)
{
    return context->buffers[kind].buffer != NULL &&
           ha_operation_in(&context->buffers[kind].operations, (unsigned)operation);
}

static inline bool
ha_wants_stream_set(const struct ha_context *context)
{
    return ha_wants_callback(context, ROCPROFILER_CALLBACK_TRACING_HIP_STREAM,
                             ROCPROFILER_HIP_STREAM_SET);
}

#endif
