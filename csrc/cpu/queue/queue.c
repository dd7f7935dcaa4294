/* SPDX-License-Identifier: MIT */
/* The states of queues and operations; cpu/queue/pool.h has the words. */
#include "cpu/queue/pool.h"

#include "core/clock.h"
#include "cpu/base/device.h"
#include "cpu/exec/exec.h"
#include "cpu/queue/device_fault.h"
#include "cpu/queue/order.h"
#include "cpu/queue/pool_state.h"
#include "cpu/queue/ticket.h"

/* Beyond it submitting threads are slowed down. */
#ifdef HA_STRESS
#define QUEUE_LENGTH_MAX 2u
#else
#define QUEUE_LENGTH_MAX 1024u
#endif
#define STAY_NS 50000u /* a worker is with one queue while others are ready */

/* A thread that runs the operations of a queue, one after the other. */
struct stay {
    uint64_t last; /* number up to which a waiting thread helps; 0: a worker */
    uint64_t begin_ns;
    uint64_t now_ns;     /* when the newest operation was over */
    bool held;           /* ready for kernels: ha_exec_hold */
    uint64_t held_order; /* the newest operation at that time */
};

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

void
ha_queue_unready(struct ha_queue *queue)
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
            ha_queue_unready(queue);
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
    ha_order_queue(blocking);
    device->queues = queue;
}

void
ha_queue_set_priority(struct ha_queue *queue, int priority)
{
    if (queue->state == HA_QUEUE_READY) {
        ha_queue_unready(queue);
        queue->priority = priority;
        ready_add(queue);
    } else {
        queue->priority = priority;
    }
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
    ha_order_leave(queue);
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

bool
ha_op_waiter_may_run(const struct ha_op *op)
{
    return op->caller || ha_pool.worker_count == 0;
}

/* Whether the thread may go on with the queue, which is READY. Nobody has to be woken
 * for the next operation then. */
static bool
may_stay(const struct ha_queue *queue, const struct stay *stay)
{
    const struct ha_op *op = queue->head;
    if (stay->last != 0) {
        return ha_op_waiter_may_run(op) && op->number <= stay->last;
    }
    for (unsigned list = 0; list < ready_list(queue); list++) {
        if (ha_pool.ready_first[list] != NULL) {
            return false;
        }
    }
    return !ha_pool.stop &&
           ha_pool.worker_count <= ha_pool.worker_limit + ha_pool.worker_sleeping &&
           (stay->now_ns - stay->begin_ns < STAY_NS || !ha_queue_any_ready());
}

/* True if the thread that `stay` (may be NULL) is about goes on with the queue. */
static bool
queue_advance(struct ha_queue *queue, const struct stay *stay)
{
    if (queue_settle(queue) != HA_QUEUE_READY) {
        return false;
    }
    if (stay != NULL && may_stay(queue, stay)) {
        return true;
    }
    ready_add(queue);
    ha_pool_want_worker();
    return false;
}

static enum ha_activity_status
status_of(const struct ha_op *op)
{
    if (op->dropped) {
        return HA_ACTIVITY_CANCELLED;
    }
    if (op->error == hipSuccess) {
        return HA_ACTIVITY_DONE;
    }
    return op->error == hipErrorLaunchTimeOut ? HA_ACTIVITY_TIMEOUT : HA_ACTIVITY_FAULT;
}

/* The first operation of its queue is over. Answers as queue_advance does. */
static bool
op_complete(struct ha_op *op, struct stay *stay)
{
    struct ha_queue *queue = op->queue;
    ha_op_unwatch(op);
    ha_op_withdraw(op);
    op->end_ns = ha_clock_ns();
    if (stay != NULL) {
        stay->now_ns = op->end_ns;
    }
    if (op->error != hipSuccess) {
        ha_device_set_fault(queue->device, op->error, op->error_text);
    }
    if (op->ticket != NULL) {
        ha_ticket_end(op->ticket, op->begin_ns, op->end_ns, status_of(op));
        op->ticket = NULL;
    }
    if (op->deed != NULL || op->past != NULL) {
        ha_order_end(op);
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
        ha_queue_wake_waiters(queue, op->number);
    }
    struct ha_queue *blocked = queue->blocked;
    while (blocked != NULL) {
        struct ha_queue *next = blocked->blocked_next;
        struct ha_op *first = blocked->head;
        struct ha_dependency *last = &first->dependencies[first->dependency_count - 1];
        if (last->number <= op->number) {
            blocked_remove(blocked);
            queue_advance(blocked, NULL);
        }
        blocked = next;
    }
    return queue_advance(queue, stay);
}

/* A thread comes back from run() or cancel(). Answers as queue_advance does. */
static bool
op_leave(struct ha_op *op, bool finished, struct stay *stay)
{
    bool goes_on = false;
    op->users--;
    if (finished) {
        goes_on = op_complete(op, stay);
    } else {
        ha_op_withdraw(op);
    }
    if (op->done && op->users == 0) {
        ha_op_free(op);
    }
    return goes_on;
}

static bool
is_kernel(const struct ha_op *op)
{
    return (op->class->flags & HA_OP_KERNEL) != 0;
}

/* Decides whether the thread gets ready for several kernels at once, and what has to be
 * done about that before (`hold`) and after (`release`) the operation. A request that
 * came after the last time gets its own look at the signal handlers. */
static void
plan_hold(struct ha_op *op, struct stay *stay, bool *hold, bool *release)
{
    bool more = op->next != NULL && is_kernel(op->next);
    *hold = is_kernel(op) && (stay->held ? op->order > stay->held_order : more);
    if (*hold) {
        stay->held = true;
        stay->held_order = op->queue->device->submitted;
    }
    *release = stay->held && !more;
}

static bool
op_run_unlocked(struct ha_op *op, struct stay *stay)
{
    bool sleeps = (op->class->flags & HA_OP_BLOCKING) != 0;
    bool hold = false;
    bool release = false;
    op->users++;
    if (sleeps) {
        ha_pool.worker_sleeping++;
        if (ha_queue_any_ready() || ha_pool.offers != NULL) {
            ha_pool_want_worker();
        }
    }
    if (stay != NULL) {
        plan_hold(op, stay, &hold, &release);
    }
    ha_pool_unlock();
    if (hold) {
        ha_exec_hold();
    } else if (stay != NULL && stay->held && !is_kernel(op)) {
        ha_exec_release();
        stay->held = false;
        release = false;
    }
    bool finished = op->class->run(op);
    if (release) {
        ha_exec_release();
        stay->held = false;
    }
    ha_pool_lock();
    if (sleeps) {
        ha_pool.worker_sleeping--;
    }
    return finished;
}

/* Runs the first operation; true if the thread goes on with the queue. */
static bool
queue_step_once(struct ha_queue *queue, struct stay *stay)
{
    struct ha_op *op = queue->head;
    const struct ha_op_class *class = op->class;
    int fault = atomic_load_explicit(&queue->device->fault, memory_order_relaxed);
    queue->state = HA_QUEUE_RUNNING;
    op->begin_ns = stay->now_ns;
    if (fault != 0 && (class->flags & HA_OP_ALWAYS) == 0) {
        op->error = (hipError_t)fault;
        op->dropped = true;
    }
    if (op->dropped || class->run == NULL) {
        op->users++;
        return op_leave(op, true, stay);
    }
    if ((class->flags & (HA_OP_TIMED | HA_OP_ENDLESS)) != 0) {
        ha_op_watch(op);
    }
    if (queue->threads_max != 0 && op->helpers >= queue->threads_max) {
        op->helpers = queue->threads_max - 1;
    }
    if (op->helpers > 0) {
        ha_op_offer(op);
        ha_pool_want_worker();
    }
    bool finished = op_run_unlocked(op, stay);
    return op_leave(op, finished, stay);
}

void
ha_queue_step(struct ha_queue *queue, uint64_t last)
{
    uint64_t now_ns = ha_clock_ns();
    struct stay stay = {.last = last, .begin_ns = now_ns, .now_ns = now_ns};
    while (queue_step_once(queue, &stay)) {
    }
    if (stay.held) {
        ha_exec_release();
    }
}

void
ha_op_join(struct ha_op *op)
{
    op->helpers--;
    if (op->helpers == 0) {
        ha_op_withdraw(op);
    }
    if (ha_pool.offers != NULL || ha_queue_any_ready()) {
        ha_pool_want_worker();
    }
    bool finished = op_run_unlocked(op, NULL);
    op_leave(op, finished, NULL);
}

void
ha_op_end(struct ha_op *op)
{
    op->users++;
    op_leave(op, true, NULL);
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
        ha_op_free(op);
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
    if (ha_order_on() || op->deed != NULL) {
        ha_order_submit(queue, op);
    }
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
        if (how == HA_SUBMIT_RUN && op->caller && !ha_exec_is_inside()) {
            ha_queue_step(queue, number);
        } else {
            ready_add(queue);
            ha_pool_want_worker();
        }
    }
    return number;
}
