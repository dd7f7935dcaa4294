/* SPDX-License-Identifier: MIT */
#include "rocprofiler/external.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "rocprofiler/context.h"
#include "rocprofiler/in_tool.h"
#include "rocprofiler/lock.h"
#include "rocprofiler/names.h"
#include "rocprofiler/sdk.h"
#include "rocprofiler/stamp.h"

/* What was pushed for one thread in one context.  Never freed: threads keep pointers.
 */
struct stack {
    struct stack *next;
    uint64_t thread;
    unsigned context;
    _Atomic bool filled;
    _Atomic uint64_t top;
    uint64_t *values; /* under the lock */
    size_t count;
    size_t room;
};

static struct stack *stacks;
static _Atomic uint64_t contexts_with; /* bits: something was pushed at some time */

/* What a thread has found, by context, so that the lock is taken once.  Freed when the
 * thread ends. */
struct found {
    struct stack *own[HA_CONTEXTS_MAX];
    struct stack *of_main[HA_CONTEXTS_MAX];
};

static _Thread_local struct found *found_here;
static pthread_key_t found_key;
static bool found_key_there;

__attribute__((constructor)) static void
make_key(void)
{
    found_key_there = pthread_key_create(&found_key, free) == 0;
}

static struct found *
found_new(void)
{
    struct found *made = found_key_there ? calloc(1, sizeof *made) : NULL;

    if (made != NULL && pthread_setspecific(found_key, made) != 0) {
        free(made);
        made = NULL;
    }
    found_here = made;
    return made;
}

/* Needs the lock. */
static struct stack *
find_or_make(uint64_t thread, unsigned context, bool make)
{
    struct stack *stack = stacks;

    while (stack != NULL && (stack->thread != thread || stack->context != context)) {
        stack = stack->next;
    }
    if (stack == NULL && make) {
        stack = calloc(1, sizeof *stack);
        if (stack != NULL) {
            stack->thread = thread;
            stack->context = context;
            stack->next = stacks;
            stacks = stack;
        }
    }
    return stack;
}

static const struct stack *
cached(struct stack **place, uint64_t thread, unsigned context)
{
    if (*place == NULL) {
        ha_lock(HA_LOCK_EXTERNAL);
        *place = find_or_make(thread, context, true);
        ha_unlock(HA_LOCK_EXTERNAL);
    }
    return *place;
}

static rocprofiler_user_data_t
pushed(unsigned context)
{
    rocprofiler_user_data_t none = {0};

    if ((atomic_load_explicit(&contexts_with, memory_order_relaxed) >> context & 1) ==
        0) {
        return none;
    }
    struct found *found = found_here != NULL ? found_here : found_new();
    if (found == NULL) {
        return none;
    }
    const struct stack *stack = cached(&found->own[context], ha_thread_id(), context);
    if (stack == NULL || !atomic_load(&stack->filled)) {
        stack = cached(&found->of_main[context], (uint64_t)getpid(), context);
    }
    if (stack == NULL || !atomic_load(&stack->filled)) {
        return none;
    }
    return (rocprofiler_user_data_t){.value = atomic_load(&stack->top)};
}

rocprofiler_user_data_t
ha_external_id(unsigned number, rocprofiler_external_correlation_id_request_kind_t kind,
               int operation, uint64_t internal)
{
    const struct ha_request_service *service = &ha_contexts[number]->requests;
    rocprofiler_user_data_t value = {0};

    if (service->callback != NULL && (service->kinds >> kind & 1) != 0) {
        int answer = -1;
        ha_in_tool_enter();
        if (ha_context_told(ha_contexts[number])) {
            answer = service->callback(ha_thread_id(), ha_context_id(number), kind,
                                       operation, internal, &value, service->data);
        }
        ha_in_tool_leave();
        if (answer == 0) {
            return value;
        }
    }
    return pushed(number);
}

/* ---- functions of the interface ---- */

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_configure_external_correlation_id_request_service(
    rocprofiler_context_id_t context_id,
    const rocprofiler_external_correlation_id_request_kind_t *kinds, size_t kinds_count,
    rocprofiler_external_correlation_id_request_cb_t callback, void *callback_args)
{
    struct ha_context *context;
    rocprofiler_status_t status = ha_context_configurable(context_id, &context);
    uint32_t bits = kinds == NULL || kinds_count == 0 ? UINT32_MAX : 0;

    if (status != ROCPROFILER_STATUS_SUCCESS) {
        return status;
    }
    if (callback == NULL) {
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    }
    if (context->requests.callback != NULL) {
        return ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED;
    }
    for (size_t i = 0; bits != UINT32_MAX && i < kinds_count; i++) {
        if (kinds[i] <= ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_NONE ||
            kinds[i] >= ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_LAST) {
            return ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
        }
        bits |= UINT32_C(1) << kinds[i];
    }
    context->requests = (struct ha_request_service){
        .callback = callback,
        .data = callback_args,
        .kinds = bits & ~(UINT32_C(1) << ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_NONE),
    };
    return ROCPROFILER_STATUS_SUCCESS;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_query_external_correlation_id_request_kind_name(
    rocprofiler_external_correlation_id_request_kind_t kind, const char **name,
    uint64_t *name_len)
{
    return ha_name_answer(ha_request_kind_name((int)kind),
                          ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND, name, name_len);
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_push_external_correlation_id(
    rocprofiler_context_id_t context, rocprofiler_thread_id_t tid,
    rocprofiler_user_data_t external_correlation_id)
{
    rocprofiler_status_t status = ROCPROFILER_STATUS_SUCCESS;

    if (ha_context_find(context) == NULL) {
        return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
    }
    unsigned number = ha_context_number(context);
    ha_lock(HA_LOCK_EXTERNAL);
    struct stack *stack = find_or_make(tid, number, true);
    if (stack != NULL && stack->count == stack->room) {
        size_t room = stack->room == 0 ? 8 : 2 * stack->room;
        uint64_t *values = realloc(stack->values, room * sizeof *values);
        if (values != NULL) {
            stack->values = values;
            stack->room = room;
        }
    }
    if (stack == NULL || stack->count == stack->room) {
        status = ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    } else {
        stack->values[stack->count++] = external_correlation_id.value;
        atomic_store(&stack->top, external_correlation_id.value);
        atomic_store(&stack->filled, true);
        atomic_fetch_or(&contexts_with, UINT64_C(1) << number);
    }
    ha_unlock(HA_LOCK_EXTERNAL);
    return status;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_pop_external_correlation_id(
    rocprofiler_context_id_t context, rocprofiler_thread_id_t tid,
    rocprofiler_user_data_t *external_correlation_id)
{
    rocprofiler_status_t status = ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;

    if (ha_context_find(context) == NULL) {
        return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
    }
    ha_lock(HA_LOCK_EXTERNAL);
    struct stack *stack = find_or_make(tid, ha_context_number(context), false);
    if (stack != NULL && stack->count > 0) {
        stack->count--;
        if (external_correlation_id != NULL) {
            external_correlation_id->value = stack->values[stack->count];
        }
        atomic_store(&stack->top,
                     stack->count > 0 ? stack->values[stack->count - 1] : 0);
        atomic_store(&stack->filled, stack->count > 0);
        status = ROCPROFILER_STATUS_SUCCESS;
    }
    ha_unlock(HA_LOCK_EXTERNAL);
    return status;
}
