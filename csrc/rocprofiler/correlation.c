/* SPDX-License-Identifier: MIT */
#include "rocprofiler/correlation.h"

#include <stdlib.h>

#include "rocprofiler/buffer.h"
#include "rocprofiler/context.h"
#include "rocprofiler/sdk.h"
#include "rocprofiler/stamp.h"

/* Numbers are taken in blocks, so that threads don't meet at each call. */
#define BLOCK 64

static _Atomic uint64_t next_block = 1;
static _Thread_local uint64_t next_number, last_number;
static _Thread_local struct ha_scope *innermost;

void
ha_correlation_together(int begins)
{
    static _Thread_local struct ha_scope scope;
    static _Thread_local bool entered;

    if (begins && ha_scope_current() == NULL) {
        ha_scope_enter(&scope);
        entered = true;
    } else if (!begins && entered) {
        ha_scope_leave(&scope);
        entered = false;
    }
}

uint64_t
ha_correlation_number(void)
{
    if (next_number == last_number) {
        next_number =
            atomic_fetch_add_explicit(&next_block, BLOCK, memory_order_relaxed);
        last_number = next_number + BLOCK;
    }
    return next_number++;
}

struct ha_scope *
ha_scope_current(void)
{
    return innermost;
}

void
ha_scope_enter(struct ha_scope *scope)
{
    scope->outer = innermost;
    scope->internal = ha_correlation_number();
    scope->ancestor = innermost != NULL ? innermost->internal : 0;
    scope->shared = NULL;
    innermost = scope;
}

void
ha_correlation_retire(uint64_t internal)
{
    uint64_t mask = atomic_load_explicit(
        &ha_buffer_kinds_wanted[ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT],
        memory_order_acquire);
    if (mask == 0) {
        return;
    }
    rocprofiler_buffer_tracing_correlation_id_retirement_record_t record = {
        .size = sizeof record,
        .kind = ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT,
        .timestamp = ha_timestamp(),
        .internal_correlation_id = internal,
    };
    for (; mask != 0; mask &= mask - 1) {
        const struct ha_context *context = ha_contexts[__builtin_ctzll(mask)];
        ha_buffer_add(context->buffers[record.kind].buffer,
                      ROCPROFILER_BUFFER_CATEGORY_TRACING, record.kind, &record,
                      sizeof record);
    }
}

void
ha_scope_leave(struct ha_scope *scope)
{
    innermost = scope->outer;
    if (scope->shared != NULL) {
        ha_correlation_drop(scope->shared);
    } else {
        ha_correlation_retire(scope->internal);
    }
}

struct ha_correlation *
ha_correlation_hold(void)
{
    if (innermost != NULL && innermost->shared != NULL) {
        atomic_fetch_add(&innermost->shared->references, 1);
        return innermost->shared;
    }
    struct ha_correlation *made = malloc(sizeof *made);
    if (made == NULL) {
        return NULL;
    }
    made->internal = innermost != NULL ? innermost->internal : ha_correlation_number();
    atomic_init(&made->references, innermost != NULL ? 2 : 1);
    if (innermost != NULL) {
        innermost->shared = made;
    }
    return made;
}

void
ha_correlation_drop(struct ha_correlation *correlation)
{
    if (correlation != NULL && atomic_fetch_sub(&correlation->references, 1) == 1) {
        ha_correlation_retire(correlation->internal);
        free(correlation);
    }
}
