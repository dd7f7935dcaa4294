/* SPDX-License-Identifier: MIT */
/* Threads that wait for queues: they help, sleep, and are slowed down here. */
#include "cpu/queue/pool.h"

#include "core/clock.h"
#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/futex.h"
#include "cpu/base/interrupt.h"
#include "cpu/exec/exec.h"
#include "cpu/queue/order.h"
#include "cpu/queue/pool_state.h"

/* Submitting threads wait for half of a queue that is too long, but not for long: it
 * may be waiting for us. */
#ifdef HA_STRESS
#define THROTTLE_LIMIT_NS 1000000u
#else
#define THROTTLE_LIMIT_NS 100000000u
#endif
#define HELP_DEPTH_MAX 64
#define WAIT_SLICE_NS 50000000u
#define WAIT_SPIN_COUNT 64u /* a few microseconds: most operations are short */

/* A thread that waits for operation `number`; on its stack, linked under the lock. */
struct ha_waiter {
    struct ha_waiter *next;
    uint64_t number;
    _Atomic uint32_t word;
};

void
ha_queue_wake_waiters(struct ha_queue *queue, uint64_t done)
{
    struct ha_waiter **link = &queue->waiters;
    while (*link != NULL) {
        struct ha_waiter *waiter = *link;
        if (waiter->number <= done) {
            *link = waiter->next;
            ha_pool_wake(&waiter->word);
        } else {
            link = &waiter->next;
        }
    }
}

/* Does a piece of the work that stands before the end of operation `number`, if a
 * waiting thread may do it; true if something was done. */
static bool
queue_help(struct ha_queue *queue, uint64_t number)
{
    for (int depth = 0; depth < HELP_DEPTH_MAX; depth++) {
        struct ha_op *op = queue->head;
        if (ha_exec_is_inside()) {
            return false;
        }
        if (queue->state == HA_QUEUE_BLOCKED) {
            number = op->dependencies[op->dependency_count - 1].number;
            queue = queue->blocked_on;
            continue;
        }
        if (op == NULL || !ha_op_waiter_may_run(op)) {
            return false;
        }
        if (queue->state == HA_QUEUE_READY) {
            ha_queue_unready(queue);
            ha_queue_step(queue, number);
            return true;
        }
        if (queue->state == HA_QUEUE_RUNNING && op->offered) {
            ha_op_join(op);
            return true;
        }
        return false;
    }
    return false;
}

/* Sleeps until operation `number` is done or the slice is over. Returns 0, ETIMEDOUT or
 * EINTR. */
static int
wait_slice(struct ha_queue *queue, uint64_t number, uint64_t slice_ns)
{
    struct ha_waiter waiter = {.next = queue->waiters, .number = number};
    queue->waiters = &waiter;
    ha_pool_unlock();
    int result = 0;
    if (!ha_futex_spin(&waiter.word, WAIT_SPIN_COUNT)) {
        result = ha_futex_sleep(&waiter.word, slice_ns);
    }
    ha_pool_lock();
    if (atomic_load_explicit(&waiter.word, memory_order_relaxed) != HA_FUTEX_DONE) {
        struct ha_waiter **link = &queue->waiters;
        while (*link != &waiter) {
            link = &(*link)->next;
        }
        *link = waiter.next;
    }
    return result;
}

/* As queue_help, for a thread that the program can call back meanwhile. */
static bool
queue_help_watched(struct ha_queue *queue, uint64_t number, bool interruptible)
{
    bool watched = interruptible && ha_interrupt_possible();
    if (!watched) {
        return queue_help(queue, number);
    }
    ha_exec_wait_begin(ha_interrupted);
    bool helped = queue_help(queue, number);
    ha_exec_wait_end();
    return helped;
}

static hipError_t
wait_for(struct ha_queue *queue, uint64_t number, uint64_t limit_ns, bool interruptible)
{
    uint64_t begin_ns = limit_ns != 0 ? ha_clock_ns() : 0;
    while (!ha_queue_is_done(queue, number)) {
        if (queue_help_watched(queue, number, interruptible)) {
            continue;
        }
        uint64_t slice_ns = WAIT_SLICE_NS;
        if (limit_ns != 0) {
            uint64_t passed_ns = ha_clock_ns() - begin_ns;
            if (passed_ns >= limit_ns) {
                return hipErrorNotReady;
            }
            if (limit_ns - passed_ns < slice_ns) {
                slice_ns = limit_ns - passed_ns;
            }
        }
        int slept = wait_slice(queue, number, slice_ns);
        if (slept != 0 && interruptible && !ha_queue_is_done(queue, number)) {
            ha_pool_unlock();
            bool interrupted = ha_interrupted();
            ha_pool_lock();
            if (interrupted && !ha_queue_is_done(queue, number)) {
                return hipErrorNotReady;
            }
        }
    }
    return hipSuccess;
}

hipError_t
ha_queue_wait(struct ha_queue *queue, uint64_t number, uint64_t limit_ns)
{
    return wait_for(queue, number, limit_ns, true);
}

void
ha_queue_abandon(struct ha_queue *queue, uint64_t number)
{
    for (struct ha_op *op = queue->head; op != NULL; op = op->next) {
        if (op->number != number) {
            continue;
        }
        if (op != queue->head || queue->state != HA_QUEUE_RUNNING) {
            op->dropped = true;
            return;
        }
        break;
    }
    wait_for(queue, number, 0, false);
}

void
ha_queue_throttle(struct ha_queue *queue)
{
    if (!ha_queue_is_long(queue)) {
        return;
    }
    uint64_t submitted = atomic_load_explicit(&queue->submitted, memory_order_relaxed);
    uint64_t aim = submitted - queue->length_limit / 2;
    ha_queue_retain(queue);
    if (wait_for(queue, aim, THROTTLE_LIMIT_NS, false) != hipSuccess) {
        queue->length_limit *= 2;
    }
    ha_queue_release(queue);
}

/* A queue with work that was submitted up to `order`, and the last such operation that
 * is cheap to find; NULL if there is none. */
static struct ha_queue *
find_busy(struct ha_device *device, uint64_t order, uint64_t *number)
{
    for (struct ha_queue *queue = device->queues; queue != NULL;
         queue = queue->device_next) {
        if (queue->head == NULL || queue->head->order > order) {
            continue;
        }
        *number =
            queue->tail->order <= order ? queue->tail->number : queue->head->number;
        return queue;
    }
    return NULL;
}

hipError_t
ha_pool_wait_device(struct ha_device *device, uint64_t limit_ns)
{
    if (atomic_load_explicit(&device->busy, memory_order_acquire) == 0 &&
        !ha_order_on()) {
        return hipSuccess;
    }
    hipError_t code = hipSuccess;
    uint64_t begin_ns = ha_clock_ns();
    ha_pool_lock();
    struct ha_past *past = ha_order_of_device(device);
    uint64_t order = device->submitted;
    struct ha_queue *queue;
    uint64_t number;
    while (code == hipSuccess && (queue = find_busy(device, order, &number)) != NULL) {
        uint64_t left_ns = 0;
        if (limit_ns != 0) {
            uint64_t passed_ns = ha_clock_ns() - begin_ns;
            left_ns = passed_ns < limit_ns ? limit_ns - passed_ns : 1;
        }
        ha_queue_retain(queue);
        code = ha_queue_wait(queue, number, left_ns);
        ha_queue_release(queue);
    }
    if (code == hipSuccess) {
        ha_order_waited(past);
    } else {
        ha_past_release(past);
    }
    ha_pool_unlock();
    return code;
}

hipError_t
ha_pool_wait_all(void)
{
    for (int id = 0; id < ha_config()->device_count; id++) {
        hipError_t code = ha_pool_wait_device(ha_device_get(id), 0);
        if (code != hipSuccess) {
            return ha_cpu_fail(code, "interrupted; nothing was changed");
        }
    }
    return hipSuccess;
}
