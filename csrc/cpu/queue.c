/* SPDX-License-Identifier: MIT */
/* The states of queues and operations; cpu/pool.h has the words. */
#include "cpu/pool.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "cpu/device.h"
#include "cpu/futex.h"
#include "cpu/pool_state.h"
#include "cpu/runtime.h"

/* Beyond QUEUE_LENGTH_MAX submitting threads wait for half of it, but not for long: it
 * may be waiting for us. */
#ifdef HA_STRESS
#define OP_SLAB_COUNT 1
#define QUEUE_LENGTH_MAX 2u
#define THROTTLE_LIMIT_NS 1000000u
#else
#define OP_SLAB_COUNT 32
#define QUEUE_LENGTH_MAX 1024u
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

/* ---- operations ---- */

struct ha_op *
ha_op_new(const struct ha_op_class *class)
{
    struct ha_op *op = ha_pool.free_ops;
    if (op == NULL) {
        struct ha_op *slab = aligned_alloc(64, OP_SLAB_COUNT * sizeof *slab);
        if (slab == NULL) {
            return NULL;
        }
        for (size_t i = 0; i < OP_SLAB_COUNT; i++) {
            slab[i].next = i + 1 < OP_SLAB_COUNT ? &slab[i + 1] : NULL;
        }
        op = slab;
    }
    ha_pool.free_ops = op->next;
    memset(op, 0, offsetof(struct ha_op, dependencies_inline));
    op->class = class;
    op->dependencies = op->dependencies_inline;
    op->dependency_capacity = HA_OP_INLINE_DEPENDENCIES;
    return op;
}

static void
op_free(struct ha_op *op)
{
    if (op->dependencies != op->dependencies_inline) {
        free(op->dependencies);
    }
    op->next = ha_pool.free_ops;
    ha_pool.free_ops = op;
}

void
ha_op_discard(struct ha_op *op)
{
    while (op->dependency_count > 0) {
        ha_queue_release(op->dependencies[--op->dependency_count].queue);
    }
    op_free(op);
}

bool
ha_op_depend(struct ha_op *op, struct ha_queue *queue, uint64_t number)
{
    if (ha_queue_is_done(queue, number)) {
        return true;
    }
    if (op->dependency_count == op->dependency_capacity) {
        uint32_t capacity = op->dependency_capacity * 2;
        struct ha_dependency *grown = malloc(capacity * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        memcpy(grown, op->dependencies, op->dependency_count * sizeof *grown);
        if (op->dependencies != op->dependencies_inline) {
            free(op->dependencies);
        }
        op->dependencies = grown;
        op->dependency_capacity = capacity;
    }
    ha_queue_retain(queue);
    op->dependencies[op->dependency_count++] =
        (struct ha_dependency){.queue = queue, .number = number};
    return true;
}

static void
offer_add(struct ha_op *op)
{
    op->offered = true;
    op->offer_previous = NULL;
    op->offer_next = ha_pool.offers;
    if (ha_pool.offers != NULL) {
        ha_pool.offers->offer_previous = op;
    }
    ha_pool.offers = op;
}

static void
offer_remove(struct ha_op *op)
{
    if (!op->offered) {
        return;
    }
    op->offered = false;
    if (op->offer_previous != NULL) {
        op->offer_previous->offer_next = op->offer_next;
    } else {
        ha_pool.offers = op->offer_next;
    }
    if (op->offer_next != NULL) {
        op->offer_next->offer_previous = op->offer_previous;
    }
}

static void
running_add(struct ha_op *op)
{
    op->running = true;
    op->running_previous = NULL;
    op->running_next = ha_pool.running;
    if (ha_pool.running != NULL) {
        ha_pool.running->running_previous = op;
    }
    ha_pool.running = op;
    ha_pool_want_timer();
}

static void
running_remove(struct ha_op *op)
{
    if (!op->running) {
        return;
    }
    op->running = false;
    if (op->running_previous != NULL) {
        op->running_previous->running_next = op->running_next;
    } else {
        ha_pool.running = op->running_next;
    }
    if (op->running_next != NULL) {
        op->running_next->running_previous = op->running_previous;
    }
}

/* ---- ready queues ---- */

static unsigned
ready_list(const struct ha_queue *queue)
{
    return (unsigned)(queue->priority - HA_PRIORITY_HIGH);
}

static void
ready_add(struct ha_queue *queue)
{
    unsigned list = ready_list(queue);
    queue->ready_next = NULL;
    queue->ready_previous = ha_pool.ready_last[list];
    if (ha_pool.ready_last[list] != NULL) {
        ha_pool.ready_last[list]->ready_next = queue;
    } else {
        ha_pool.ready_first[list] = queue;
    }
    ha_pool.ready_last[list] = queue;
}

static void
ready_remove(struct ha_queue *queue)
{
    unsigned list = ready_list(queue);
    if (queue->ready_previous != NULL) {
        queue->ready_previous->ready_next = queue->ready_next;
    } else {
        ha_pool.ready_first[list] = queue->ready_next;
    }
    if (queue->ready_next != NULL) {
        queue->ready_next->ready_previous = queue->ready_previous;
    } else {
        ha_pool.ready_last[list] = queue->ready_previous;
    }
}

bool
ha_queue_any_ready(void)
{
    for (unsigned list = 0; list < HA_PRIORITY_COUNT; list++) {
        if (ha_pool.ready_first[list] != NULL) {
            return true;
        }
    }
    return false;
}

struct ha_queue *
ha_queue_take(void)
{
    for (unsigned list = 0; list < HA_PRIORITY_COUNT; list++) {
        struct ha_queue *queue = ha_pool.ready_first[list];
        if (queue != NULL) {
            ready_remove(queue);
            return queue;
        }
    }
    return NULL;
}

/* ---- queues ---- */

void
ha_queue_init(struct ha_queue *queue, struct ha_device *device, bool blocking,
              int priority)
{
    *queue = (struct ha_queue){
        .device = device,
        .blocking = blocking,
        .priority = priority,
        .references = 1,
        .length_limit = QUEUE_LENGTH_MAX,
        .device_next = device->queues,
    };
    if (device->queues != NULL) {
        device->queues->device_previous = queue;
    }
    device->queues = queue;
}

void
ha_queue_retain(struct ha_queue *queue)
{
    queue->references++;
}

void
ha_queue_release(struct ha_queue *queue)
{
    if (--queue->references > 0) {
        return;
    }
    if (queue->device_previous != NULL) {
        queue->device_previous->device_next = queue->device_next;
    } else {
        queue->device->queues = queue->device_next;
    }
    if (queue->device_next != NULL) {
        queue->device_next->device_previous = queue->device_previous;
    }
    if (queue->release != NULL) {
        queue->release(queue);
    }
}

bool
ha_queue_is_done(struct ha_queue *queue, uint64_t number)
{
    return atomic_load_explicit(&queue->done, memory_order_acquire) >= number;
}

static void
blocked_add(struct ha_queue *queue, struct ha_queue *on)
{
    queue->state = HA_QUEUE_BLOCKED;
    queue->blocked_on = on;
    queue->blocked_previous = NULL;
    queue->blocked_next = on->blocked;
    if (on->blocked != NULL) {
        on->blocked->blocked_previous = queue;
    }
    on->blocked = queue;
}

static void
blocked_remove(struct ha_queue *queue)
{
    if (queue->blocked_previous != NULL) {
        queue->blocked_previous->blocked_next = queue->blocked_next;
    } else {
        queue->blocked_on->blocked = queue->blocked_next;
    }
    if (queue->blocked_next != NULL) {
        queue->blocked_next->blocked_previous = queue->blocked_previous;
    }
    queue->blocked_on = NULL;
}

/* Finds the state of a queue that is neither RUNNING nor on a list. READY is left to
 * the caller to act on. May free the queue when it became idle. */
static enum ha_queue_state
queue_settle(struct ha_queue *queue)
{
    struct ha_op *op = queue->head;
    if (op == NULL) {
        struct ha_device *device = queue->device;
        queue->state = HA_QUEUE_IDLE;
        queue->length_limit = QUEUE_LENGTH_MAX;
        if (queue->blocking) {
            device->busy_blocking--;
        }
        atomic_fetch_sub_explicit(&device->busy, 1, memory_order_release);
        ha_queue_release(queue);
        return HA_QUEUE_IDLE;
    }
    while (op->dependency_count > 0) {
        struct ha_dependency *last = &op->dependencies[op->dependency_count - 1];
        if (!ha_queue_is_done(last->queue, last->number)) {
            blocked_add(queue, last->queue);
            return HA_QUEUE_BLOCKED;
        }
        op->dependency_count--;
        ha_queue_release(last->queue);
    }
    queue->state = HA_QUEUE_READY;
    return HA_QUEUE_READY;
}

static void
queue_advance(struct ha_queue *queue)
{
    if (queue_settle(queue) == HA_QUEUE_READY) {
        ready_add(queue);
        ha_pool_want_worker();
    }
}

static void
waiters_wake(struct ha_queue *queue, uint64_t done)
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

/* The first operation of its queue is over. */
static void
op_complete(struct ha_op *op)
{
    struct ha_queue *queue = op->queue;
    running_remove(op);
    offer_remove(op);
    op->end_ns = ha_clock_ns();
    if (op->error != hipSuccess) {
        ha_device_set_fault(queue->device, op->error, op->error_text);
    }
    if (op->class->finish != NULL) {
        op->class->finish(op);
    }
    queue->head = op->next;
    if (queue->head == NULL) {
        queue->tail = NULL;
    }
    queue->length--;
    op->done = true;
    atomic_store_explicit(&queue->done, op->number, memory_order_release);
    if (queue->waiters != NULL) {
        waiters_wake(queue, op->number);
    }
    struct ha_queue *blocked = queue->blocked;
    while (blocked != NULL) {
        struct ha_queue *next = blocked->blocked_next;
        struct ha_op *first = blocked->head;
        struct ha_dependency *last = &first->dependencies[first->dependency_count - 1];
        if (last->number <= op->number) {
            blocked_remove(blocked);
            queue_advance(blocked);
        }
        blocked = next;
    }
    queue_advance(queue);
}

/* A thread comes back from run() or cancel(). */
static void
op_leave(struct ha_op *op, bool finished)
{
    op->users--;
    if (finished) {
        op_complete(op);
    } else {
        offer_remove(op);
    }
    if (op->done && op->users == 0) {
        op_free(op);
    }
}

static bool
op_run_unlocked(struct ha_op *op)
{
    bool sleeps = (op->class->flags & HA_OP_BLOCKING) != 0;
    op->users++;
    if (sleeps) {
        ha_pool.worker_sleeping++;
        if (ha_queue_any_ready() || ha_pool.offers != NULL) {
            ha_pool_want_worker();
        }
    }
    ha_pool_unlock();
    bool finished = op->class->run(op);
    ha_pool_lock();
    if (sleeps) {
        ha_pool.worker_sleeping--;
    }
    return finished;
}

void
ha_queue_step(struct ha_queue *queue)
{
    struct ha_op *op = queue->head;
    const struct ha_op_class *class = op->class;
    int fault = atomic_load_explicit(&queue->device->fault, memory_order_relaxed);
    queue->state = HA_QUEUE_RUNNING;
    op->begin_ns = ha_clock_ns();
    if (fault != 0 && (class->flags & HA_OP_ALWAYS) == 0) {
        op->error = (hipError_t)fault;
        op->dropped = true;
    }
    if (op->dropped || class->run == NULL) {
        op->users++;
        op_leave(op, true);
        return;
    }
    if ((class->flags & HA_OP_TIMED) != 0) {
        running_add(op);
    }
    if (op->helpers > 0) {
        offer_add(op);
        ha_pool_want_worker();
    }
    bool finished = op_run_unlocked(op);
    op_leave(op, finished);
}

void
ha_op_join(struct ha_op *op)
{
    op->helpers--;
    if (op->helpers == 0) {
        offer_remove(op);
    }
    if (ha_pool.offers != NULL || ha_queue_any_ready()) {
        ha_pool_want_worker();
    }
    bool finished = op_run_unlocked(op);
    op_leave(op, finished);
}

void
ha_op_cancel(struct ha_op *op, const char *text)
{
    op->cancelled = true;
    op->users++;
    ha_pool_unlock();
    op->class->cancel(op, text);
    ha_pool_lock();
    op->users--;
    if (op->done && op->users == 0) {
        op_free(op);
    }
}

uint64_t
ha_queue_submit(struct ha_queue *queue, struct ha_op *op, enum ha_submit how)
{
    uint64_t number = atomic_load_explicit(&queue->submitted, memory_order_relaxed) + 1;
    op->queue = queue;
    op->number = number;
    op->order = ++queue->device->submitted;
    op->next = NULL;
    queue->length++;
    atomic_store_explicit(&queue->submitted, number, memory_order_release);
    if (queue->head != NULL) {
        queue->tail->next = op;
        queue->tail = op;
        return number;
    }
    queue->head = op;
    queue->tail = op;
    ha_queue_retain(queue);
    if (queue->blocking) {
        queue->device->busy_blocking++;
    }
    atomic_fetch_add_explicit(&queue->device->busy, 1, memory_order_relaxed);
    if (queue_settle(queue) == HA_QUEUE_READY) {
        if (how == HA_SUBMIT_RUN && op->caller) {
            ha_queue_step(queue);
        } else {
            ready_add(queue);
            ha_pool_want_worker();
        }
    }
    return number;
}

/* ---- waiting ---- */

/* Does a piece of the work that stands before operations of `queue`, if a waiting
 * thread may do it; true if something was done. */
static bool
queue_help(struct ha_queue *queue)
{
    for (int depth = 0; depth < HELP_DEPTH_MAX; depth++) {
        struct ha_op *op = queue->head;
        if (queue->state == HA_QUEUE_BLOCKED) {
            queue = queue->blocked_on;
            continue;
        }
        if (op == NULL || !op->caller) {
            return false;
        }
        if (queue->state == HA_QUEUE_READY) {
            ready_remove(queue);
            ha_queue_step(queue);
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

static hipError_t
wait_for(struct ha_queue *queue, uint64_t number, uint64_t limit_ns, bool interruptible)
{
    uint64_t begin_ns = limit_ns != 0 ? ha_clock_ns() : 0;
    while (!ha_queue_is_done(queue, number)) {
        if (queue_help(queue)) {
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
            bool interrupted = ha_runtime_interrupted();
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
    if (queue->length <= queue->length_limit) {
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
    if (atomic_load_explicit(&device->busy, memory_order_acquire) == 0) {
        return hipSuccess;
    }
    hipError_t code = hipSuccess;
    uint64_t begin_ns = ha_clock_ns();
    ha_pool_lock();
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
    ha_pool_unlock();
    return code;
}
