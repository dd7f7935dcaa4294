/* SPDX-License-Identifier: MIT */
#include "cpu/queue/order.h"

#include <stdatomic.h>

#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/thread.h"
#include "cpu/check/stack.h"
#include "cpu/queue/pool.h"

/* ---- looking, once the lock is given back ---- */

static void settle(struct ha_deferred *self);

static struct ha_deferred settling = {.destroy = settle};
static _Atomic bool is_due; /* `settling` is on the pool's list */

static void
settle(struct ha_deferred *self)
{
    (void)self;
    atomic_store(&is_due, false); /* first, so that what is put now is seen, or due */
    ha_deeds_settle();
}

static void
settle_soon(void)
{
    if (!atomic_exchange(&is_due, true)) {
        ha_pool_defer(&settling);
    }
}

/* ---- calls ---- */

void
ha_order_call(void)
{
    if (ha_order_on()) {
        (void)ha_check_stack_take();
    }
}

struct ha_doer
ha_order_caller(int device)
{
    const char *name = ha_thread_self()->function;

    return (struct ha_doer){.device = device,
                            .call = ha_text_keep(name != NULL ? name : "HIP"),
                            .stack = ha_check_stack_text(ha_check_stack_taken())};
}

/* ---- whether there is an order at all ---- */

static unsigned queues;     /* made so far: the first is that of the default stream */
static atomic_bool several; /* of them work side by side */

void
ha_order_queue(bool blocking)
{
    queues++;
    if (queues > 2 || !blocking) {
        atomic_store_explicit(&several, true, memory_order_relaxed);
    }
}

bool
ha_order_alone(const struct ha_op *op)
{
    return !op->node && ha_config()->device_count == 1 &&
           !atomic_load_explicit(&several, memory_order_relaxed);
}

/* ---- lines of queues ---- */

/* NULL: no memory. */
static struct ha_line *
line_of(struct ha_queue *queue)
{
    if (queue->line == NULL) {
        queue->line = ha_line_new(queue->device->id,
                                  queue->blocking && queue != queue->device->legacy
                                      ? HA_LINE_BLOCKING
                                      : HA_LINE_STREAM);
    }
    return queue->line;
}

void
ha_order_learn(struct ha_queue *queue, struct ha_past *past)
{
    if (ha_order_on() && past != NULL && line_of(queue) != NULL) {
        ha_line_learn(queue->line, past);
    }
}

void
ha_order_behind(struct ha_queue *queue, const struct ha_queue *other)
{
    if (ha_order_on() && other->line != NULL) {
        ha_order_learn(queue, ha_line_past(other->line));
    }
}

void
ha_order_by_rules(struct ha_queue *queue)
{
    struct ha_device *device = queue->device;

    if (!ha_order_on() || !queue->blocking) {
        return;
    }
    if (queue != device->legacy) {
        ha_order_behind(queue, device->legacy);
        return;
    }
    struct ha_past *past = ha_lines_past(device->id, true);
    ha_order_learn(queue, past);
    ha_past_release(past);
}

struct ha_past *
ha_order_past(struct ha_queue *queue)
{
    if (!ha_order_on()) {
        return NULL;
    }
    ha_order_by_rules(queue);
    return queue->line != NULL ? ha_past_keep(ha_line_past(queue->line)) : NULL;
}

void
ha_order_leave(struct ha_queue *queue)
{
    if (queue->line != NULL) {
        ha_line_close(queue->line);
        queue->line = NULL;
    }
}

/* ---- operations ---- */

/* Whether the line is behind a wait that is open; it learns what ended the others. */
static bool
is_open(struct ha_line *line)
{
    struct ha_past *past = ha_past_keep(ha_line_past(line));
    bool open = ha_past_is_open(&past);

    ha_line_learn(line, past);
    ha_past_release(past);
    return open;
}

/* The next operation of the queue is the deed's.  False: it was dropped. */
static bool
step(struct ha_queue *queue, struct ha_deed *deed)
{
    struct ha_line *line = line_of(queue);

    if (line == NULL || is_open(line)) {
        ha_deed_drop(deed);
        return false;
    }
    uint64_t number = ha_line_step(line);
    return ha_deed_submit(deed, ha_line_past(line), ha_line_id(line), number);
}

void
ha_order_submit(struct ha_queue *queue, struct ha_op *op)
{
    if (op->deed != NULL && !op->placed && !step(queue, op->deed)) {
        op->deed = NULL;
    }
    if ((op->class->flags & HA_OP_HOST) != 0 && op->past == NULL && !op->placed) {
        op->past = ha_order_past(queue);
    }
    op->placed = true;
    if (op->deed != NULL && op->known) {
        ha_order_end(op);
    }
}

void
ha_order_at_once(struct ha_queue *queue, struct ha_deed *deed)
{
    if (deed == NULL) {
        return;
    }
    ha_order_by_rules(queue);
    if (step(queue, deed)) {
        ha_deed_end(deed);
        settle_soon();
    }
}

void
ha_order_node(const struct ha_queue *queue, struct ha_op *op, struct ha_past **past)
{
    op->node = true;
    if (op->deed != NULL && ha_past_is_open(past)) {
        ha_deed_drop(op->deed);
        op->deed = NULL;
    }
    if (op->deed != NULL) {
        uint32_t line = 0;
        uint64_t number = ha_line_of_node(queue->device->id, past, &line);
        if (!ha_deed_submit(op->deed, *past, line, number)) {
            op->deed = NULL;
        }
    }
    if ((op->class->flags & HA_OP_HOST) != 0) {
        op->past = ha_past_keep(*past);
    }
    op->placed = true;
}

void
ha_order_end(struct ha_op *op)
{
    if (op->deed != NULL && op->placed) {
        ha_deed_end(op->deed);
        settle_soon();
    } else {
        ha_deed_drop(op->deed);
    }
    op->deed = NULL;
    ha_past_release(op->past);
    op->past = NULL;
}

/* ---- the host ---- */

void
ha_order_waited(struct ha_past *past)
{
    if (past != NULL) {
        ha_deeds_waited(past);
        ha_lines_waited(past);
        ha_past_release(past);
        settle_soon();
    }
}

static _Thread_local bool own_questions;

void
hipadaptOwnQuestions(int begins)
{
    own_questions = begins != 0;
}

void
ha_order_answered(struct ha_past *past)
{
    if (own_questions) {
        ha_past_release(past);
    } else {
        ha_order_waited(past);
    }
}

void
ha_order_waited_unlocked(struct ha_past *past)
{
    if (past != NULL) {
        ha_pool_lock();
        ha_order_waited(past);
        ha_pool_unlock();
    }
}

struct ha_past *
ha_order_of_device(const struct ha_device *device)
{
    return ha_order_on() ? ha_lines_past(device->id, false) : NULL;
}

void
ha_order_forget(const void *begin, size_t bytes)
{
    if (ha_order_on()) {
        ha_deeds_forget((uintptr_t)begin, bytes);
        settle_soon();
    }
}

void
ha_order_begin(void)
{
    ha_pool_lock();
    ha_order_waited(ha_past_keep(ha_past_everything()));
    ha_pool_unlock();
}

void
ha_order_after_fork_child(void)
{
    atomic_store(&is_due, false);
    ha_order_values_after_fork_child();
    ha_lines_after_fork_child();
    ha_deeds_after_fork_child();
}
