/* SPDX-License-Identifier: MIT */
/* What the check of races learns of the order of operations (cpu/check/past.h): it
 * follows the calls of the program, and not what is done when it looks.
 *
 * The queue of a stream has a line.  What an operation follows besides, by an event or
 * the rules of default streams, is learned by the line before the operation is
 * submitted.  An operation that touches memory brings a deed (cpu/check/deed.h).  Nodes
 * of graphs have pasts of their own, since a track orders more than the graph does. All
 * host threads are one: what any of them has waited for is known to what comes later.
 *
 * Locks: the pool lock is held, unless it says so.  Where races are not checked,
 * nothing here costs more than a load. */
#ifndef HA_CPU_QUEUE_ORDER_H
#define HA_CPU_QUEUE_ORDER_H

#include "abi/check.h"
#include "cpu/base/check_kinds.h"
#include "cpu/base/export.h"
#include "cpu/check/deed.h"

struct ha_device;
struct ha_op;
struct ha_queue;

static inline bool
ha_order_on(void)
{
    return (ha_check_kinds() & (uint32_t)HA_CHECK_RACE) != 0;
}

/* In a call of HIP that touches memory, with no lock held: notes its stack. */
void ha_order_call(void);

/* The call that this thread is in, as the one who does something. */
struct ha_doer ha_order_caller(int device);

/* Later operations of the queue follow what the rules of default streams say. */
void ha_order_by_rules(struct ha_queue *queue);
/* They follow all that `other` was given so far, or what `past` has. */
void ha_order_behind(struct ha_queue *queue, const struct ha_queue *other);
void ha_order_learn(struct ha_queue *queue, struct ha_past *past);
/* What the queue's next operation knows; a new reference. */
struct ha_past *ha_order_past(struct ha_queue *queue);

/* The operation gets its place, unless it has one.  Called by ha_queue_submit. */
void ha_order_submit(struct ha_queue *queue, struct ha_op *op);
/* The same for what is done without an operation; NULL does nothing. */
void ha_order_at_once(struct ha_queue *queue, struct ha_deed *deed);
/* For a node of a graph, which knows *past; with itself then. */
void ha_order_node(const struct ha_queue *queue, struct ha_op *op,
                   struct ha_past **past);

/* Values in memory, by which streams hand over: the operation that *past is going to be
 * of writes one, or waits for one for which `holds` is true.  A wait that no write has
 * ended yet stays *open*: what comes behind it is not compared, until a write that ends
 * it is submitted. */
typedef bool (*ha_order_holds)(const void *wait, uint64_t value);
void ha_order_write(struct ha_past **past, const void *at, uint64_t value);
void ha_order_wait(struct ha_past **past, const void *at, ha_order_holds holds,
                   const void *wait, size_t wait_bytes);

/* A queue begins. */
void ha_order_queue(bool blocking);
/* Nothing runs beside the operation, which has its place: it is no node of a graph, and
 * the program has made no streams but the default one of one device and another one
 * that waits for it.  Without the lock. */
bool ha_order_alone(const struct ha_op *op);

/* The operation is over, or will never be submitted. */
void ha_order_end(struct ha_op *op);
/* Frees what the queue has. */
void ha_order_leave(struct ha_queue *queue);

/* For language bindings: from now on, until the other call, this thread asks events and
 * streams for itself.  The program does not know what they answer. */
HA_EXPORT void hipadaptOwnQuestions(int begins);

/* The host was told that all in `past` is done; steals the reference. */
void ha_order_answered(struct ha_past *past);
/* The host has waited for what `past` has; steals the reference. */
void ha_order_waited(struct ha_past *past);
/* The same without the lock. */
void ha_order_waited_unlocked(struct ha_past *past);
/* What the host will have waited for, when all that the device has is done; a new
 * reference. */
struct ha_past *ha_order_of_device(const struct ha_device *device);

/* Memory is other memory from now on. */
void ha_order_forget(const void *begin, size_t bytes);

/* Races are looked for from now on; what was before is not looked at.  Without the
 * lock. */
void ha_order_begin(void);

void ha_order_values_after_fork_child(void);
void ha_order_after_fork_child(void);

#endif
