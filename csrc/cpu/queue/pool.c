/* SPDX-License-Identifier: MIT */
#include "cpu/queue/pool.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/log.h"
#include "cpu/base/futex.h"
#include "cpu/base/interrupt.h"
#include "cpu/exec/exec.h"
#include "cpu/queue/pool_state.h"

#define WORKER_STACK_BYTES (4u * 1024u * 1024u) /* host functions may be Python */
#define WORKER_SPARE_MAX 256u /* workers beyond the limit while others sleep */
#define IDLE_SPIN_COUNT 4000u /* some 50 us: waking up may take longer */
#define TIMER_PERIOD_MIN_NS 10000000u
#define ASK_PERIOD_NS 50000000u /* how often threads that wait in a kernel look up */
#define TIMER_PERIOD_MAX_NS 1000000000u
#define SHUTDOWN_POLL_NS 200000

struct ha_pool ha_pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

void
ha_pool_init(unsigned threads, uint64_t timeout_ns)
{
    pthread_mutex_lock(&ha_pool.lock);
    ha_pool.worker_limit = threads;
    ha_pool.timeout_ns = timeout_ns;
    ha_pool.stop = false;
    pthread_mutex_unlock(&ha_pool.lock);
}

void
ha_pool_lock(void)
{
    pthread_mutex_lock(&ha_pool.lock);
}

void
ha_pool_wake(_Atomic uint32_t *word)
{
    if (!ha_futex_post(word)) {
        return;
    }
    if (ha_pool.wake_count < HA_WAKE_BATCH) {
        ha_pool.wakes[ha_pool.wake_count++] = word;
    } else {
        ha_futex_wake(word);
    }
}

void
ha_pool_defer(struct ha_deferred *object)
{
    object->next = ha_pool.deferred;
    ha_pool.deferred = object;
}

void
ha_pool_want_worker(void)
{
    if (ha_pool.searching > 0 || ha_pool.stop) {
        return;
    }
    struct ha_worker *worker = ha_pool.idle;
    if (worker != NULL) {
        ha_pool.idle = worker->idle_next;
        ha_pool.searching++;
        ha_pool_wake(&worker->word);
        return;
    }
    uint32_t sleeping = ha_pool.worker_sleeping;
    if (sleeping > WORKER_SPARE_MAX) {
        sleeping = WORKER_SPARE_MAX;
    }
    if (ha_pool.worker_count < ha_pool.worker_limit + sleeping) {
        ha_pool.worker_count++;
        ha_pool.searching++;
        ha_pool.spawn++;
    }
}

void
ha_pool_want_timer(void)
{
    ha_pool.timed_count++;
    if (ha_pool.timeout_ns == 0 && !ha_interrupt_possible()) {
        return;
    }
    if (!ha_pool.timer_started) {
        ha_pool.timer_started = true;
        ha_pool.timer_spawn = true;
    } else if (ha_pool.timer_parked) {
        ha_pool.timer_parked = false;
        ha_pool_wake(&ha_pool.timer_word);
    }
}

/* A worker has just found something to do. */
static void
pass_the_word(void)
{
    if (ha_pool.offers != NULL || ha_queue_any_ready()) {
        ha_pool_want_worker();
    }
}

static bool
work_once(void)
{
    struct ha_queue *queue = ha_queue_take();
    if (queue != NULL) {
        pass_the_word();
        ha_queue_step(queue, 0);
        return true;
    }
    if (ha_pool.offers != NULL) {
        ha_op_join(ha_pool.offers);
        return true;
    }
    return false;
}

/* Waits until ha_pool_want_worker chooses this worker. Lock held on entry and return.
 */
static void
worker_idle(struct ha_worker *worker)
{
    atomic_store_explicit(&worker->word, HA_FUTEX_OPEN, memory_order_relaxed);
    worker->idle_next = ha_pool.idle;
    ha_pool.idle = worker;
    ha_pool_unlock();
    /* Work often comes in a row: the next piece need not wake this worker. */
    if (!ha_futex_spin(&worker->word, IDLE_SPIN_COUNT)) {
        do {
            ha_futex_sleep(&worker->word, 0);
        } while (atomic_load_explicit(&worker->word, memory_order_acquire) !=
                 HA_FUTEX_DONE);
    }
    ha_pool_lock();
    ha_pool.searching--;
}

static void *
worker_main(void *argument)
{
    (void)argument;
    struct ha_worker worker = {.idle_next = NULL};
    ha_log_own_thread();
    ha_pool_lock();
    ha_pool.searching--;
    for (;;) {
        if (ha_pool.stop) {
            break;
        }
        if (work_once()) {
            continue;
        }
        if (ha_pool.worker_count > ha_pool.worker_limit + ha_pool.worker_sleeping) {
            break;
        }
        worker_idle(&worker);
    }
    /* From here on it counts no more, so that the next one that looks may stay. */
    ha_pool.worker_count--;
    ha_pool.leaving++;
    ha_pool_unlock();
    ha_exec_thread_exit();
    ha_pool_lock();
    ha_pool.leaving--;
    ha_pool_unlock();
    return NULL;
}

/* The most overdue running operation that was not cancelled yet, or NULL. */
static struct ha_op *
find_overdue(uint64_t now_ns)
{
    if (ha_pool.timeout_ns == 0) {
        return NULL;
    }
    for (struct ha_op *op = ha_pool.running; op != NULL; op = op->running_next) {
        if (!op->cancelled && (op->class->flags & HA_OP_TIMED) != 0 &&
            now_ns - op->begin_ns > ha_pool.timeout_ns && now_ns > op->begin_ns) {
            return op;
        }
    }
    return NULL;
}

/* How often the timer looks. */
static uint64_t
timer_period_ns(void)
{
    uint64_t period_ns = ha_pool.timeout_ns / 10;
    if (period_ns < TIMER_PERIOD_MIN_NS) {
        period_ns = TIMER_PERIOD_MIN_NS;
    }
    if (ha_pool.timeout_ns == 0 || period_ns > TIMER_PERIOD_MAX_NS) {
        period_ns = TIMER_PERIOD_MAX_NS;
    }
    return ha_interrupt_possible() && period_ns > ASK_PERIOD_NS ? ASK_PERIOD_NS
                                                                : period_ns;
}

static void *
timer_main(void *argument)
{
    (void)argument;
    ha_log_own_thread();
    ha_pool_lock();
    uint64_t seen = 0;
    while (!ha_pool.stop) {
        struct ha_op *op;
        if (ha_pool.running != NULL) {
            ha_exec_ask();
        }
        while ((op = find_overdue(ha_clock_ns())) != NULL) {
            ha_op_cancel(op, "the kernel ran longer than HIPADAPT_KERNEL_TIMEOUT");
        }
        atomic_store_explicit(&ha_pool.timer_word, HA_FUTEX_OPEN, memory_order_relaxed);
        ha_pool.timer_parked = ha_pool.running == NULL && ha_pool.timed_count == seen;
        seen = ha_pool.timed_count;
        uint64_t limit_ns = ha_pool.timer_parked ? 0 : timer_period_ns();
        ha_pool_unlock();
        ha_futex_sleep(&ha_pool.timer_word, limit_ns);
        ha_pool_lock();
    }
    ha_pool.timer_started = false;
    ha_pool_unlock();
    return NULL;
}

int
ha_pool_start_thread(void *(*body)(void *))
{
    pthread_attr_t attributes;
    int result = pthread_attr_init(&attributes);
    if (result != 0) {
        return result;
    }
    sigset_t blocked;
    sigset_t before;
    sigfillset(&blocked);
    static const int faults[] = {SIGSEGV, SIGBUS,  SIGFPE, SIGILL,
                                 SIGTRAP, SIGABRT, SIGSYS};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        sigdelset(&blocked, faults[i]);
    }
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, WORKER_STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    pthread_t thread;
    result = pthread_create(&thread, &attributes, body, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return result;
}

/* A worker could not be made.  Kernels that wait in their threads for others may need
 * it, and would never end.  Lock held on entry and return, not in between. */
static void
cancel_sleepers(void)
{
    struct ha_op *op = ha_pool.running;
    while (op != NULL && !ha_exec_is_inside()) {
        uint32_t both = op->class->flags & (HA_OP_KERNEL | HA_OP_BLOCKING);
        if (both == (HA_OP_KERNEL | HA_OP_BLOCKING) && !op->cancelled) {
            ha_op_cancel(op, "no thread could be created for what it waits for");
            op = ha_pool.running;
        } else {
            op = op->running_next;
        }
    }
}

static void
workers_spawn(uint32_t count)
{
    while (count > 0 && ha_pool_start_thread(worker_main) == 0) {
        count--;
    }
    if (count == 0) {
        return;
    }
    ha_pool_lock();
    ha_pool.worker_count -= count;
    ha_pool.searching -= count;
    bool none = ha_pool.worker_count == 0;
    cancel_sleepers();
    ha_pool_unlock();
    if (none) {
        ha_log(1,
               "no worker thread could be created: work runs in waiting threads only");
    }
}

/* The newest comes first in the list; a profiler gets events in their order. */
static struct ha_deferred *
in_order(struct ha_deferred *newest)
{
    struct ha_deferred *first = NULL;
    while (newest != NULL) {
        struct ha_deferred *older = newest->next;
        newest->next = first;
        first = newest;
        newest = older;
    }
    return first;
}

/* Carries out what became due under the lock.  Apart, since most calls leave nothing.
 */
static __attribute__((noinline)) void
unlock_with_dues(void)
{
    _Atomic uint32_t *wakes[HA_WAKE_BATCH];
    uint32_t wake_count = ha_pool.wake_count;
    uint32_t spawn = ha_pool.spawn;
    bool timer_spawn = ha_pool.timer_spawn;
    struct ha_deferred *deferred = ha_pool.deferred;
    if (wake_count > 0) {
        memcpy(wakes, ha_pool.wakes, wake_count * sizeof wakes[0]);
    }
    ha_pool.wake_count = 0;
    ha_pool.spawn = 0;
    ha_pool.timer_spawn = false;
    ha_pool.deferred = NULL;
    pthread_mutex_unlock(&ha_pool.lock);
    for (uint32_t i = 0; i < wake_count; i++) {
        ha_futex_wake(wakes[i]);
    }
    deferred = in_order(deferred);
    while (deferred != NULL) {
        struct ha_deferred *next = deferred->next;
        deferred->destroy(deferred);
        deferred = next;
    }
    if (spawn > 0) {
        workers_spawn(spawn);
    }
    if (timer_spawn && ha_pool_start_thread(timer_main) != 0) {
        ha_log(1, "no timer thread: kernels are not ended by HIPADAPT_KERNEL_TIMEOUT");
        ha_pool_lock();
        ha_pool.timer_started = false;
        ha_pool_unlock();
    }
}

void
ha_pool_unlock(void)
{
    if (ha_pool.wake_count == 0 && ha_pool.spawn == 0 && !ha_pool.timer_spawn &&
        ha_pool.deferred == NULL) {
        pthread_mutex_unlock(&ha_pool.lock);
    } else {
        unlock_with_dues();
    }
}

void
ha_pool_cancel(struct ha_device *device, const char *text)
{
    ha_pool_lock();
    struct ha_op *op = ha_pool.running;
    while (op != NULL) {
        if (!op->cancelled && op->class->cancel != NULL &&
            (device == NULL || op->queue->device == device)) {
            ha_op_cancel(op, text);
            op = ha_pool.running;
        } else {
            op = op->running_next;
        }
    }
    ha_pool_unlock();
}

void
ha_pool_shutdown(uint64_t limit_ns)
{
    uint64_t end_ns = ha_clock_ns() + limit_ns;
    const struct timespec poll = {.tv_nsec = SHUTDOWN_POLL_NS};
    ha_pool_lock();
    ha_pool.stop = true;
    while (ha_pool.idle != NULL) {
        struct ha_worker *worker = ha_pool.idle;
        ha_pool.idle = worker->idle_next;
        ha_pool.searching++;
        ha_pool_wake(&worker->word);
    }
    if (ha_pool.timer_started) {
        ha_pool_wake(&ha_pool.timer_word);
    }
    while ((ha_pool.worker_count > 0 || ha_pool.leaving > 0 || ha_pool.timer_started) &&
           ha_clock_ns() < end_ns) {
        ha_pool_unlock();
        nanosleep(&poll, NULL);
        ha_pool_lock();
    }
    ha_pool_unlock();
}

void
ha_pool_after_fork_child(void)
{
    /* Operations and queues of the parent are left behind as they are. */
    memset(&ha_pool, 0, sizeof ha_pool);
    pthread_mutex_init(&ha_pool.lock, NULL);
}
