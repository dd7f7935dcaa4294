/* SPDX-License-Identifier: MIT */
/* What cpu/queue/pool.c (threads), cpu/queue/op.c (operations), cpu/queue/queue.c
 * (queues) and cpu/queue/queue_wait.c (threads that wait) share; nobody else includes
 * it.
 *
 * All fields are guarded by `lock`.  Wake-ups and destructions that become due under
 * the lock are collected here and carried out by ha_pool_unlock, so that nobody is
 * woken only to wait for the lock. */
#ifndef HA_CPU_QUEUE_POOL_STATE_H
#define HA_CPU_QUEUE_POOL_STATE_H

#include <pthread.h>

#include "cpu/queue/pool.h"

#define HA_WAKE_BATCH 16
#define HA_PRIORITY_COUNT 3

struct ha_worker {
    struct ha_worker *idle_next;
    _Atomic uint32_t word; /* cpu/base/futex.h */
};

struct ha_pool {
    pthread_mutex_t lock;
    struct ha_queue *ready_first[HA_PRIORITY_COUNT];
    struct ha_queue *ready_last[HA_PRIORITY_COUNT];
    struct ha_op *offers;  /* operations that can use more threads */
    struct ha_op *running; /* timed operations inside run() */
    struct ha_op *free_ops;
    struct ha_deferred *deferred;
    struct ha_worker *idle;   /* sleeping workers, last in first out */
    uint32_t worker_count;    /* living or about to be created */
    uint32_t leaving;         /* on their way out of worker_main */
    uint32_t worker_limit;    /* that may compute at once */
    uint32_t worker_sleeping; /* inside operations that may sleep */
    uint32_t searching;       /* woken or created, not yet arrived */
    uint32_t spawn;           /* to be created by ha_pool_unlock */
    bool stop;
    uint64_t timeout_ns;  /* of kernels; 0 = never */
    uint64_t timed_count; /* timed operations ever begun */
    bool timer_started;
    bool timer_spawn;  /* to be created by ha_pool_unlock */
    bool timer_parked; /* sleeps until a timed operation begins */
    _Atomic uint32_t timer_word;
    _Atomic uint32_t *wakes[HA_WAKE_BATCH];
    uint32_t wake_count;
};

extern struct ha_pool ha_pool;

/* op.c, lock held: puts the operation on the list for helpers, takes it off that list
 * if it is there; the same for the list of running operations; to the free list. */
void ha_op_offer(struct ha_op *op);
void ha_op_withdraw(struct ha_op *op);
void ha_op_watch(struct ha_op *op);
void ha_op_unwatch(struct ha_op *op);
void ha_op_free(struct ha_op *op);

/* queue.c, lock held: the next READY queue, taken off its list, or NULL. */
struct ha_queue *ha_queue_take(void);
bool ha_queue_any_ready(void);
/* queue.c, lock held: takes a READY queue off its list. */
void ha_queue_unready(struct ha_queue *queue);
/* queue.c: whether a waiting thread may run the operation: long ones are left to
 * workers, if any exist. Lock held. */
bool ha_op_waiter_may_run(const struct ha_op *op);
/* queue.c, lock held on entry and return: runs the first operation of a taken queue,
 * and goes on with the next ones while nothing else is more urgent. `last` is 0 in
 * workers; a waiting thread does not go on behind operation `last`. */
void ha_queue_step(struct ha_queue *queue, uint64_t last);
/* queue.c, likewise: joins an offered operation. */
void ha_op_join(struct ha_op *op);
/* queue.c, likewise: calls cancel on a running operation. */
void ha_op_cancel(struct ha_op *op, const char *text);

/* queue_wait.c, lock held: wakes threads that wait for an operation up to `done`. */
void ha_queue_wake_waiters(struct ha_queue *queue, uint64_t done);

/* pool.c, lock held: new work has come; wakes or makes a worker unless one is on its
 * way. */
void ha_pool_want_worker(void);
/* pool.c, lock held: a timed operation begins. */
void ha_pool_want_timer(void);

#endif
