/* SPDX-License-Identifier: MIT */
/* Work queues, the operations in them, and the worker threads that run them.
 *
 * An *operation* (ha_op) is one unit of work: a kernel, a copy, a host function, a
 * mark. A *queue* (ha_queue) runs its operations one after the other, in the order in
 * which they were submitted; a stream is a queue with a handle.  Operation number n of
 * a queue is done when `queue->done >= n`; that is all that events and waits need to
 * know.  A *dependency* is such a pair (queue, n) of another queue that has to be done
 * before an operation starts; it always names an older operation, so there are no
 * cycles.
 *
 * A queue is IDLE (empty), BLOCKED (its first operation waits for a dependency), READY
 * (waits for a thread) or RUNNING.  A *worker* takes READY queues, best priority first.
 * Operations that can use more threads are also offered to idle workers ("helpers").
 * A thread that waits for a queue runs the work itself where nobody has begun it yet,
 * if the class of the operation allows it.
 *
 * Life of an operation: ha_op_new -> filled by its room -> ha_queue_submit ->
 * class->run (no lock; any number of threads if the class is parallel) -> class->finish
 * (lock) -> back on the free list when the last thread has left `run`.
 *
 * References: a queue is kept by its handle, while it has work, by each dependency on
 * it, and by each caller of ha_queue_retain.
 *
 * Locks: one lock, the pool lock, guards all queues, operations, waits and workers.  It
 * is held for short steps only; nothing is called with it but class->finish. */
#ifndef HA_CPU_QUEUE_POOL_H
#define HA_CPU_QUEUE_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/hip.h"

#define HA_OP_PAYLOAD_BYTES 832
#define HA_OP_INLINE_DEPENDENCIES 4
#define HA_PRIORITY_HIGH (-1)
#define HA_PRIORITY_NORMAL 0
#define HA_PRIORITY_LOW 1

struct ha_deed;
struct ha_device;
struct ha_line;
struct ha_past;
struct ha_queue;
struct ha_op;
struct ha_ticket;

enum ha_op_flags {
    HA_OP_PARALLEL = 1u << 0, /* several threads may be in run() */
    HA_OP_TIMED = 1u << 1,    /* ended by `cancel` when the kernel time-out is over */
    HA_OP_ALWAYS = 1u << 2,   /* run() is called even after a fault of the device */
    HA_OP_BLOCKING = 1u << 3, /* run() may sleep: the worker is replaced meanwhile; with
                                 HA_OP_KERNEL, `cancel` ends it if none can be made */
    HA_OP_KERNEL = 1u << 4,   /* run() is nothing but ha_exec_run */
    HA_OP_ENDLESS = 1u << 5,  /* may never end; `cancel` ends it with the device */
    HA_OP_HOST = 1u << 6, /* run() is the program's code, which knows what is done */
};

struct ha_op_class {
    const char *name;
    uint32_t flags;
    /* Does the work, or its share of it. Returns true in exactly one thread: the one
     * after which all is done. Failures are left in op->error and op->error_text. NULL:
     * there is nothing to do but to finish. */
    bool (*run)(struct ha_op *op);
    /* The operation is over (op->error says how). Pool lock held; may be NULL. Releases
     * what the payload owns; what can't be released under the lock goes to
     * ha_pool_defer. */
    void (*finish)(struct ha_op *op);
    /* Makes run() end soon in all threads; no lock; NULL where that can't be. */
    void (*cancel)(struct ha_op *op, const char *text);
};

struct ha_dependency {
    struct ha_queue *queue; /* owned reference */
    uint64_t number;
};

struct ha_op {
    struct ha_op *next; /* in the queue, or on the free list */
    const struct ha_op_class *class;
    struct ha_queue *queue; /* borrowed: the queue outlives its operations */
    uint64_t number;        /* in the queue, from 1 */
    uint64_t order;         /* among all operations of the device */
    uint64_t begin_ns;      /* ha_clock_ns when run() was first entered */
    uint64_t end_ns;        /* ha_clock_ns when it was done */
    hipError_t error;
    const char *error_text; /* valid until finish(); may be NULL */
    uint32_t helpers;       /* workers that may still join */
    uint32_t users;         /* threads inside run() or cancel() */
    bool caller;            /* a waiting thread may run it itself */
    bool offered;           /* on the list for helpers */
    bool running;           /* on the list of running timed operations */
    bool cancelled;
    bool dropped; /* ends without run() */
    bool done;
    struct ha_ticket *ticket; /* owned; a profiler waits for its end, or NULL */
    struct ha_deed *deed; /* owned; what it does with memory, under check, or NULL */
    struct ha_past *past; /* owned; what it knows, where it tells the host, or NULL */
    bool known;           /* the deed has its accesses */
    bool node;            /* of a graph, under check */
    bool placed;          /* in the order (cpu/queue/order.h) */
    struct ha_op *offer_next, *offer_previous;
    struct ha_op *running_next, *running_previous;
    uint32_t dependency_count;
    uint32_t dependency_capacity;
    struct ha_dependency *dependencies; /* inline, or owned */
    struct ha_dependency dependencies_inline[HA_OP_INLINE_DEPENDENCIES];
    _Alignas(64) unsigned char payload[HA_OP_PAYLOAD_BYTES];
};

enum ha_queue_state {
    HA_QUEUE_IDLE,
    HA_QUEUE_BLOCKED,
    HA_QUEUE_READY,
    HA_QUEUE_RUNNING
};

struct ha_waiter;

struct ha_queue {
    struct ha_op *head, *tail;
    _Atomic uint64_t submitted; /* written under the lock */
    _Atomic uint64_t done;      /* written under the lock */
    enum ha_queue_state state;
    int priority;
    uint32_t threads_max;  /* that run its kernels at once; 0 = all there are */
    bool blocking;         /* ordered with the legacy default stream */
    bool stream;           /* it is the beginning of a struct ha_stream */
    uint32_t length;       /* operations in it */
    uint32_t length_limit; /* above it submitting threads are slowed down */
    uint32_t references;
    uint64_t legacy_seen;     /* newest legacy operation it is ordered after */
    struct ha_line *line;     /* owned; its operations under check, or NULL */
    struct ha_device *device; /* borrowed */
    struct ha_queue *device_next, *device_previous;
    struct ha_queue *ready_next, *ready_previous;
    struct ha_queue *blocked_on; /* the queue that the first operation waits for */
    struct ha_queue *blocked_next, *blocked_previous;
    struct ha_queue *blocked;                /* queues that wait for this one */
    struct ha_waiter *waiters;               /* threads that wait for this one */
    void (*release)(struct ha_queue *queue); /* lock held: frees it; NULL = static */
};

/* Something to be destroyed once the pool lock has been given back. */
struct ha_deferred {
    struct ha_deferred *next;
    void (*destroy)(struct ha_deferred *self);
};

/* Before the first operation; workers are made on demand, at most `threads` that run at
 * once. A kernel that runs longer than timeout_ns is cancelled (0 = never). */
void ha_pool_init(unsigned threads, uint64_t timeout_ns);

void ha_pool_lock(void);
/* Also wakes the threads and destroys the objects that became due under the lock. */
void ha_pool_unlock(void);
void ha_pool_defer(struct ha_deferred *object);
/* Sets a word (cpu/base/futex.h) now and wakes its sleeper after the lock. Lock held.
 */
void ha_pool_wake(_Atomic uint32_t *word);

/* An empty operation of the class with an uninitialised payload, or NULL. Lock held. */
struct ha_op *ha_op_new(const struct ha_op_class *class);
/* Gives back one that was not submitted; its payload must own nothing. Lock held. */
void ha_op_discard(struct ha_op *op);
/* Makes room for `count` more dependencies, so that ha_op_depend can't fail for these;
 * false without memory. Lock held. */
bool ha_op_reserve(struct ha_op *op, uint32_t count);
/* Makes `op` wait for operation `number` of `queue`; false without memory. Lock held.
 */
bool ha_op_depend(struct ha_op *op, struct ha_queue *queue, uint64_t number);

/* Sets up a new queue of the device with one reference for the caller. Lock held. */
void ha_queue_init(struct ha_queue *queue, struct ha_device *device, bool blocking,
                   int priority);
/* Work that is not taken yet goes by the new priority. Lock held. */
void ha_queue_set_priority(struct ha_queue *queue, int priority);
void ha_queue_retain(struct ha_queue *queue);  /* lock held */
void ha_queue_release(struct ha_queue *queue); /* lock held */

enum ha_submit {
    HA_SUBMIT_WAKE, /* a worker runs it */
    HA_SUBMIT_RUN,  /* the calling thread runs it now if it is next (for work that the
                       caller waits for, or that is cheaper to do than to hand over) */
};

/* Appends the operation and returns its number. Lock held on entry and on return, but
 * not always in between: the operation may be over and gone when this returns. */
uint64_t ha_queue_submit(struct ha_queue *queue, struct ha_op *op, enum ha_submit how);

/* Ends an operation whose run() returned false in all threads, as the return of true
 * would have. Lock held. */
void ha_op_end(struct ha_op *op);

/* Makes sure that operation `number` does nothing any more when this returns: drops it
 * if it has not begun, else waits for its end. Lock held as in ha_queue_wait. */
void ha_queue_abandon(struct ha_queue *queue, uint64_t number);

/* True when operation `number` is done; needs no lock. */
bool ha_queue_is_done(struct ha_queue *queue, uint64_t number);

/* Returns when operation `number` is done: hipSuccess; or hipErrorNotReady if the
 * program interrupted the wait or `limit_ns` (0 = none) went by. Lock held on entry and
 * on return, not in between; the caller has a reference to the queue. */
hipError_t ha_queue_wait(struct ha_queue *queue, uint64_t number, uint64_t limit_ns);

/* Waits until everything submitted to the device before the call is done; as above but
 * without the lock. */
hipError_t ha_pool_wait_device(struct ha_device *device, uint64_t limit_ns);

/* The same for all devices, without a limit; failures have a text. */
hipError_t ha_pool_wait_all(void);

/* Whether ha_queue_throttle would wait. Lock held. */
static inline bool
ha_queue_is_long(const struct ha_queue *queue)
{
    return queue->length > queue->length_limit;
}

/* Slows a thread down that submits faster than the queue runs. Lock as in
 * ha_queue_wait. */
void ha_queue_throttle(struct ha_queue *queue);

/* Cancels the running operations of the device (NULL = all); without the lock. */
void ha_pool_cancel(struct ha_device *device, const char *text);

/* Starts a detached thread that takes no signals but those that its own faults raise;
 * 0, or the number of an error. */
int ha_pool_start_thread(void *(*body)(void *));

/* Ends all workers; returns after limit_ns at the latest. Without the lock. */
void ha_pool_shutdown(uint64_t limit_ns);

/* In a forked child, single-threaded: forgets queues, operations and workers. */
void ha_pool_after_fork_child(void);

#endif
