/* SPDX-License-Identifier: MIT */
#include "cpu/work/value.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/log.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/futex.h"
#include "cpu/memory/memory.h"
#include "cpu/queue/order.h"
#include "cpu/memory/shadow.h"
#include "cpu/queue/pool.h"

#define COMPARE_MAX 3u      /* hipStreamWaitValueNor */
#define IDLE_NS 1000000000u /* the watcher ends when there was nothing for so long */

struct batch {
    struct batch *next; /* on the watcher's list */
    struct ha_op *op;
    struct ha_value one;
    struct ha_value *values; /* owned, unless it is &one */
    unsigned count;
    unsigned done;
    const char *cancelled; /* pool lock; constant text, or NULL */
};

_Static_assert(sizeof(struct batch) <= HA_OP_PAYLOAD_BYTES, "fits an operation");

/* Pool lock. */
static struct {
    struct batch *first;
    bool running;      /* the thread lives */
    uint64_t since_ns; /* when something happened last */
    _Atomic uint32_t word;
} watcher;

void
ha_value_after_fork_child(void)
{
    watcher.first = NULL;
    watcher.running = false;
}

static _Atomic uint32_t fence_word;

static struct batch *
batch_of(struct ha_op *op)
{
    return (struct batch *)(void *)op->payload;
}

/* ---- one value ---- */

static uint64_t
value_load(const struct ha_value *value)
{
    return value->bytes == 4
               ? __atomic_load_n((uint32_t *)value->ptr, __ATOMIC_ACQUIRE)
               : __atomic_load_n((uint64_t *)value->ptr, __ATOMIC_ACQUIRE);
}

static void
value_store(const struct ha_value *value)
{
    ha_shadow_written((uintptr_t)value->ptr, value->bytes);
    if (value->bytes == 4) {
        __atomic_store_n((uint32_t *)value->ptr, (uint32_t)value->value,
                         __ATOMIC_RELEASE);
    } else {
        __atomic_store_n((uint64_t *)value->ptr, value->value, __ATOMIC_RELEASE);
    }
}

/* Whether a wait is over with that value in memory. */
static bool
condition_holds(const struct ha_value *value, uint64_t memory)
{
    const uint64_t all = value->bytes == 4 ? UINT32_MAX : UINT64_MAX;
    uint64_t found = memory & all & value->mask;
    switch (value->compare) {
    case 0: /* hipStreamWaitValueGte */
        return found >= value->value;
    case 1: /* hipStreamWaitValueEq */
        return found == value->value;
    case 2: /* hipStreamWaitValueAnd */
        return (found & value->value) != 0;
    default: /* hipStreamWaitValueNor */
        return (~(found | (value->value & value->mask)) & all) != 0;
    }
}

/* Does it; false if it has to wait. */
static bool
value_do(const struct ha_value *value)
{
    switch (value->kind) {
    case HA_VALUE_WRITE:
        value_store(value);
        return true;
    case HA_VALUE_WAIT:
        return condition_holds(value, value_load(value));
    case HA_VALUE_FENCE:
        /* An exchange rather than a fence, which ThreadSanitizer does not know. */
        atomic_exchange(&fence_word, 1);
        return true;
    }
    return true;
}

/* Whether its memory is still what it was when the call was made. */
static bool
is_there(const struct ha_value *value)
{
    struct ha_range range;
    return value->kind == HA_VALUE_FENCE ||
           (ha_memory_find(value->ptr, &range) && range.id == value->range_id &&
            range.access != HA_ACCESS_NONE &&
            (value->kind == HA_VALUE_WAIT || range.access == HA_ACCESS_WRITE));
}

hipError_t
ha_value_check(struct ha_value *value)
{
    struct ha_range range;
    if (value->kind == HA_VALUE_FENCE) {
        return hipSuccess;
    }
    if ((uintptr_t)value->ptr % value->bytes != 0) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'ptr' (%p) is not a multiple of %u", value->ptr,
                           value->bytes);
    }
    hipError_t code =
        value->kind == HA_VALUE_WRITE
            ? ha_memory_check_write("ptr", value->ptr, value->bytes, true, NULL)
            : ha_memory_check("ptr", value->ptr, value->bytes, true, NULL);
    if (code != hipSuccess) {
        return code;
    }
    if (value->kind == HA_VALUE_WAIT && value->compare > COMPARE_MAX) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'flags' is 0x%x, which is no comparison",
                           value->compare);
    }
    if (!ha_memory_find(value->ptr, &range)) {
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'ptr' (%p) was freed",
                           value->ptr);
    }
    value->range_id = range.id;
    return hipSuccess;
}

/* ---- batches ---- */

static hipError_t
value_read(const hipStreamBatchMemOpParams *params, struct ha_value *value)
{
    *value = (struct ha_value){.mask = UINT64_MAX};
    switch ((int)params->operation) {
    case hipStreamMemOpWaitValue32:
    case hipStreamMemOpWaitValue64:
        value->kind = HA_VALUE_WAIT;
        value->bytes = params->operation == hipStreamMemOpWaitValue32 ? 4 : 8;
        value->ptr = params->waitValue.address;
        value->value =
            value->bytes == 4 ? params->waitValue.value : params->waitValue.value64;
        value->compare = params->waitValue.flags;
        return hipSuccess;
    case hipStreamMemOpWriteValue32:
    case hipStreamMemOpWriteValue64:
        value->kind = HA_VALUE_WRITE;
        value->bytes = params->operation == hipStreamMemOpWriteValue32 ? 4 : 8;
        value->ptr = params->writeValue.address;
        value->value =
            value->bytes == 4 ? params->writeValue.value : params->writeValue.value64;
        return hipSuccess;
    case hipStreamMemOpBarrier:
    case hipStreamMemOpFlushRemoteWrites:
        value->kind = HA_VALUE_FENCE;
        return hipSuccess;
    default:
        return ha_cpu_fail(hipErrorInvalidValue, "%d is no hipStreamBatchMemOpType",
                           (int)params->operation);
    }
}

hipError_t
ha_values_read(const hipStreamBatchMemOpParams *params, unsigned count,
               struct ha_value *values)
{
    hipError_t code = hipSuccess;
    for (unsigned i = 0; i < count && code == hipSuccess; i++) {
        code = value_read(&params[i], &values[i]);
        if (code == hipSuccess) {
            code = ha_value_check(&values[i]);
        }
    }
    return code;
}

void
ha_value_write(const struct ha_value *value, hipStreamBatchMemOpParams *params)
{
    bool narrow = value->bytes == 4;
    memset(params, 0, sizeof *params);
    if (value->kind == HA_VALUE_FENCE) {
        params->operation = hipStreamMemOpBarrier;
    } else if (value->kind == HA_VALUE_WAIT) {
        params->waitValue.operation =
            narrow ? hipStreamMemOpWaitValue32 : hipStreamMemOpWaitValue64;
        params->waitValue.address = value->ptr;
        params->waitValue.value64 = value->value;
        params->waitValue.flags = value->compare;
    } else {
        params->writeValue.operation =
            narrow ? hipStreamMemOpWriteValue32 : hipStreamMemOpWriteValue64;
        params->writeValue.address = value->ptr;
        params->writeValue.value64 = value->value;
    }
}

/* Goes on until something has to be waited for; true at the end, and after a failure.
 */
static bool
batch_advance(struct batch *batch)
{
    while (batch->done < batch->count) {
        const struct ha_value *value = &batch->values[batch->done];
        if (!is_there(value)) {
            batch->op->error = hipErrorIllegalAddress;
            batch->op->error_text = "memory that a stream writes to or waits for was "
                                    "freed";
            return true;
        }
        if (!value_do(value)) {
            return false;
        }
        batch->done++;
    }
    return true;
}

/* ---- races ---- */

static bool
ends_wait(const void *wait, uint64_t value)
{
    return condition_holds(wait, value);
}

void
ha_values_order(struct ha_past **past, const struct ha_value *values, unsigned count)
{
    for (unsigned i = 0; ha_order_on() && i < count; i++) {
        const struct ha_value *value = &values[i];
        if (value->kind == HA_VALUE_WRITE) {
            ha_order_write(past, value->ptr, value->value);
        } else if (value->kind == HA_VALUE_WAIT) {
            ha_order_wait(past, value->ptr, ends_wait, value, sizeof *value);
        }
    }
}

void
ha_values_tell(struct ha_op *op, struct ha_past *past)
{
    const struct batch *batch = batch_of(op);
    struct ha_range range;

    for (unsigned i = 0; past != NULL && op->past == NULL && i < batch->count; i++) {
        const struct ha_value *value = &batch->values[i];
        if (value->kind == HA_VALUE_WRITE && ha_memory_find(value->ptr, &range) &&
            (range.kind == HA_MEMORY_HOST || range.kind == HA_MEMORY_REGISTERED ||
             range.kind == HA_MEMORY_MANAGED)) {
            op->past = ha_past_keep(past);
        }
    }
}

/* ---- the watcher ---- */

/* Looks at a batch; true if it is over. */
static bool
batch_look(struct batch *batch)
{
    const struct ha_device *device = batch->op->queue->device;
    int fault = atomic_load_explicit(&device->fault, memory_order_relaxed);
    if (fault != 0 || batch->cancelled != NULL) {
        batch->op->error = fault != 0 ? (hipError_t)fault : hipErrorLaunchFailure;
        batch->op->error_text = batch->cancelled;
        return true;
    }
    return batch_advance(batch);
}

/* Ends what is over; true if there was any. */
static bool
look_at_all(void)
{
    bool any = false;
    struct batch **link = &watcher.first;
    while (*link != NULL) {
        struct batch *batch = *link;
        if (batch_look(batch)) {
            *link = batch->next;
            ha_op_end(batch->op);
            any = true;
        } else {
            link = &batch->next;
        }
    }
    return any;
}

/* The longer nothing happens, the less often it looks. */
static uint64_t
pause_ns(uint64_t quiet_ns)
{
    if (watcher.first == NULL) {
        return IDLE_NS;
    }
    return quiet_ns < 1000000u ? 20000u : quiet_ns < 100000000u ? 200000u : 1000000u;
}

static void *
watcher_main(void *argument)
{
    (void)argument;
    ha_log_own_thread();
    ha_pool_lock();
    for (;;) {
        /* What ends may have written what another one waits for. */
        while (look_at_all()) {
            watcher.since_ns = ha_clock_ns();
        }
        uint64_t quiet_ns = ha_clock_ns() - watcher.since_ns;
        if (watcher.first == NULL && quiet_ns >= IDLE_NS) {
            break;
        }
        uint64_t limit_ns = pause_ns(quiet_ns);
        atomic_store_explicit(&watcher.word, HA_FUTEX_OPEN, memory_order_relaxed);
        ha_pool_unlock();
        ha_futex_sleep(&watcher.word, limit_ns);
        ha_pool_lock();
    }
    watcher.running = false;
    ha_pool_unlock();
    return NULL;
}

/* There is no thread: everybody that counts on it fails. Pool lock held. */
static void
watcher_fail(void)
{
    watcher.running = false;
    while (watcher.first != NULL) {
        struct batch *batch = watcher.first;
        watcher.first = batch->next;
        batch->op->error = hipErrorOutOfMemory;
        batch->op->error_text = "no thread that waits for values in memory";
        ha_op_end(batch->op);
    }
}

static void
batch_list(struct batch *batch)
{
    ha_pool_lock();
    bool start = !watcher.running;
    batch->next = watcher.first;
    watcher.first = batch;
    watcher.running = true;
    watcher.since_ns = ha_clock_ns();
    ha_pool_wake(&watcher.word);
    ha_pool_unlock();
    if (start && ha_pool_start_thread(watcher_main) != 0) {
        ha_pool_lock();
        watcher_fail();
        ha_pool_unlock();
    }
}

/* ---- operations ---- */

static bool
batch_run(struct ha_op *op)
{
    struct batch *batch = batch_of(op);
    ha_order_waited_unlocked(op->past);
    op->past = NULL;
    bool over = batch_advance(batch);
    if (!over) {
        batch_list(batch);
    }
    return over;
}

static void
batch_finish(struct ha_op *op)
{
    struct batch *batch = batch_of(op);
    if (batch->values != &batch->one) {
        free(batch->values);
    }
    if (watcher.first != NULL) {
        ha_pool_wake(&watcher.word);
    }
}

static void
batch_cancel(struct ha_op *op, const char *text)
{
    ha_pool_lock();
    batch_of(op)->cancelled = text;
    ha_pool_wake(&watcher.word);
    ha_pool_unlock();
}

static const struct ha_op_class batch_class = {
    .name = "value",
    .flags = HA_OP_ENDLESS,
    .run = batch_run,
    .finish = batch_finish,
    .cancel = batch_cancel,
};

struct ha_op *
ha_value_op(const struct ha_value *values, unsigned count)
{
    struct ha_op *op = ha_op_new(&batch_class);
    if (op == NULL) {
        return NULL;
    }
    struct batch *batch = batch_of(op);
    *batch = (struct batch){.op = op, .values = &batch->one, .count = count};
    if (count > 1) {
        batch->values = malloc(count * sizeof *values);
        if (batch->values == NULL) {
            ha_op_discard(op);
            return NULL;
        }
    }
    if (count > 0) {
        memcpy(batch->values, values, count * sizeof *values);
    }
    op->caller = true;
    return op;
}
