/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cpu/exec/fault.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "cpu/exec/numbers.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

#define SIGNAL_STACK_BYTES ((size_t)(HA_FIBER_ASAN || HA_FIBER_TSAN ? 256 : 32) << 10)
#define SIGNAL_GUARD_BYTES ((size_t)64 << 10)

enum { FAULT_SIGNAL_COUNT = 5, LEVEL_COUNT = 4 };

static const int fault_signals[FAULT_SIGNAL_COUNT] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL,
                                                      SIGTRAP};

__thread struct ha_runner *ha_runner_self;

static __thread bool (*own_question)(void)
    __attribute__((tls_model("initial-exec"))); /* of launches that it enters */

static struct ha_runner *runners; /* guarded by registry_lock */
static uint32_t runner_count;     /* guarded by registry_lock */
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t exit_key;
static int interrupt_signal; /* 0 before ha_fault_init */

/* Handlers come in LEVEL_COUNT copies that differ in address only.  A foreign handler
 * that was installed over level n keeps level n as the one to go back to, and we go on
 * top of it as level n + 1.  So when it restores or calls "the handler before", that
 * one knows which handler lies under it, and no handler is called in a circle.
 * old_actions[s][n] is what level n lies on; written under install_lock before that
 * level is installed.
 */
static struct sigaction old_actions[FAULT_SIGNAL_COUNT][LEVEL_COUNT];
static int top_level[FAULT_SIGNAL_COUNT]; /* guarded by install_lock */
static bool installed_once[FAULT_SIGNAL_COUNT];
static pthread_mutex_t install_lock = PTHREAD_MUTEX_INITIALIZER;

static int
signal_index(int signal)
{
    for (int i = 0; i < FAULT_SIGNAL_COUNT; i++) {
        if (fault_signals[i] == signal) {
            return i;
        }
    }
    return 0;
}

static uint64_t
mask_bits(const sigset_t *set)
{
    uint64_t bits;
    memcpy(&bits, set, sizeof bits); /* signal n is bit n - 1 on all Linux ports */
    return bits;
}

/* The interrupted code is kernel code, not a handler that interrupted kernel code. */
static bool
in_kernel_code(const struct ha_runner *runner, const void *ucontext)
{
    const ucontext_t *uc = ucontext;
    return runner && runner->armed && mask_bits(&uc->uc_sigmask) == runner->mask;
}

static long
raise_again(int signal)
{
    return syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
}

/* What the kernel would have done had our handler not been there. */
static void
chain(int level, int signal, siginfo_t *info, void *ucontext)
{
    const ucontext_t *uc = ucontext;
    struct sigaction old = old_actions[signal_index(signal)][level];
    bool sent = info->si_code <= 0;
    if (!(old.sa_flags & SA_SIGINFO)) {
        if (old.sa_handler == SIG_IGN && sent) {
            return;
        }
        if (old.sa_handler == SIG_IGN || old.sa_handler == SIG_DFL) {
            struct sigaction fatal;
            memset(&fatal, 0, sizeof fatal);
            fatal.sa_handler = SIG_DFL;
            (void)sigaction(signal, &fatal, NULL);
            if (sent) {
                (void)raise_again(signal);
            }
            return; /* else the instruction faults again */
        }
    }
    sigset_t mask = old.sa_mask;
    for (int i = 1; i < NSIG; i++) {
        if (sigismember(&uc->uc_sigmask, i) == 1) {
            (void)sigaddset(&mask, i);
        }
    }
    if (!(old.sa_flags & SA_NODEFER)) {
        (void)sigaddset(&mask, signal);
    }
    (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if (old.sa_flags & SA_SIGINFO) {
        old.sa_sigaction(signal, info, ucontext);
    } else {
        old.sa_handler(signal);
    }
}

static enum ha_fault_kind kind_of(const struct ha_runner *runner, int signal,
                                  const siginfo_t *info);

static void
on_fault(int level, int signal, siginfo_t *info, void *ucontext)
{
    int saved_errno = errno;
    struct ha_runner *runner = ha_runner_self;
    bool sent = info->si_code <= 0;
    if (!sent && ha_numbers_take_signal(runner, signal, ucontext)) {
        return;
    }
    if (!sent && (signal == SIGSEGV || signal == SIGBUS) &&
        ha_context_read_fixup(ucontext)) {
        return;
    }
    if (!sent && in_kernel_code(runner, ucontext) && !runner->busy) {
        runner->fault.kind = kind_of(runner, signal, info);
        runner->fault.signal = signal;
        runner->fault.code = info->si_code;
        runner->fault.address = (uintptr_t)info->si_addr;
        runner->armed = 0;
        ha_fiber_leave(ucontext, &runner->home);
        return;
    }
    chain(level, signal, info, ucontext);
    errno = saved_errno;
}

static void
on_fault_0(int signal, siginfo_t *info, void *ucontext)
{
    on_fault(0, signal, info, ucontext);
}

static void
on_fault_1(int signal, siginfo_t *info, void *ucontext)
{
    on_fault(1, signal, info, ucontext);
}

static void
on_fault_2(int signal, siginfo_t *info, void *ucontext)
{
    on_fault(2, signal, info, ucontext);
}

static void
on_fault_3(int signal, siginfo_t *info, void *ucontext)
{
    on_fault(3, signal, info, ucontext);
}

static void (*const level_handlers[LEVEL_COUNT])(int, siginfo_t *, void *) = {
    on_fault_0, on_fault_1, on_fault_2, on_fault_3};

static bool
launch_has_fault(struct ha_launch *launch)
{
    return launch && atomic_load_explicit(&launch->fault, memory_order_acquire) != 0;
}

/* On the thread's own stack, called by a handler that is on the signal stack. */
static void
ask_here(void *argument)
{
    struct ha_runner *runner = argument;
    sigset_t mask;
    stack_t ours;
    if (sigaltstack(&runner->old_stack, &ours) != 0) {
        return;
    }
    (void)pthread_sigmask(SIG_SETMASK, &runner->old_mask, &mask);
    runner->stop_wanted = runner->question();
    (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
    (void)sigaltstack(&ours, NULL);
}

/* Asks the question in the middle of kernel code; true if the launch is to end. */
static bool
ask(struct ha_runner *runner)
{
    int saved_errno = errno;
    runner->armed = 0;
    runner->stop_wanted = false;
    ha_context_call(runner->home.context, ask_here, runner);
    runner->armed = 1;
    errno = saved_errno;
    return runner->stop_wanted;
}

static void
on_interrupt(int signal, siginfo_t *info, void *ucontext)
{
    struct ha_runner *runner = ha_runner_self;
    (void)signal;
    (void)info;
    /* The order matters: only while armed is the launch certain to be there. */
    if (!in_kernel_code(runner, ucontext)) {
        return;
    }
    if (!launch_has_fault(runner->launch)) {
        if (runner->busy || !atomic_exchange(&runner->asked, false)) {
            return;
        }
        if (ask(runner)) {
            runner->fault.kind = HA_FAULT_INTERRUPTED;
            runner->fault.signal = 0;
            runner->fault.text = "ended with the wait for it, which was interrupted";
        } else if (!launch_has_fault(runner->launch)) {
            return;
        }
    }
    /* The thread sanitizer delivers late and with a copy of the context. */
    if (runner->busy || HA_FIBER_TSAN) {
        runner->interrupted = 1;
        return;
    }
    runner->armed = 0;
    ha_fiber_leave(ucontext, &runner->home);
}

static enum ha_fault_kind
kind_of(const struct ha_runner *runner, int signal, const siginfo_t *info)
{
    switch (signal) {
    case SIGFPE:
        return HA_FAULT_MATH;
    case SIGILL:
    case SIGTRAP:
        return HA_FAULT_TRAP;
    default:
        break;
    }
    /* Below the running fiber's stack: also what stepped over the guard by a little. */
    uintptr_t address = (uintptr_t)info->si_addr;
    uintptr_t low = (uintptr_t)runner->fiber->low;
    size_t guard_bytes = ha_fiber_guard_bytes();
    return address < low && low - address <= guard_bytes ? HA_FAULT_STACK
                                                         : HA_FAULT_ADDRESS;
}

/* The level of ours that `action` is, or -1. */
static int
level_of(const struct sigaction *action)
{
    if (action->sa_flags & SA_SIGINFO) {
        for (int i = 0; i < LEVEL_COUNT; i++) {
            if (action->sa_sigaction == level_handlers[i]) {
                return i;
            }
        }
    }
    return -1;
}

static bool
same_handler(const struct sigaction *a, const struct sigaction *b)
{
    if ((a->sa_flags & SA_SIGINFO) != (b->sa_flags & SA_SIGINFO)) {
        return false;
    }
    if (a->sa_flags & SA_SIGINFO) {
        return a->sa_sigaction == b->sa_sigaction;
    }
    return a->sa_handler == b->sa_handler;
}

/* The level to lay over the foreign handler `current`: a level that already lies on
 * that same handler if there is one, else the next free one. */
static int
choose_level(int index, const struct sigaction *current)
{
    if (!installed_once[index]) {
        return 0;
    }
    for (int i = 0; i <= top_level[index]; i++) {
        if (same_handler(&old_actions[index][i], current)) {
            return i;
        }
    }
    return top_level[index] + 1 < LEVEL_COUNT ? top_level[index] + 1 : LEVEL_COUNT - 1;
}

static void
install_signal(int index)
{
    struct sigaction current;
    int signal = fault_signals[index];
    if (sigaction(signal, NULL, &current) != 0 || level_of(&current) >= 0) {
        return;
    }
    int level = choose_level(index, &current);
    old_actions[index][level] = current;
    struct sigaction ours;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = level_handlers[level];
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    (void)sigfillset(&ours.sa_mask);
    (void)sigaction(signal, &ours, NULL);
    if (!installed_once[index] || level > top_level[index]) {
        top_level[index] = level;
    }
    installed_once[index] = true;
}

void
ha_fault_install(void)
{
    struct sigaction current;
    bool complete = true;
    for (int i = 0; complete && i < FAULT_SIGNAL_COUNT; i++) {
        complete =
            sigaction(fault_signals[i], NULL, &current) == 0 && level_of(&current) >= 0;
    }
    if (complete) {
        return;
    }
    (void)pthread_mutex_lock(&install_lock);
    for (int i = 0; i < FAULT_SIGNAL_COUNT; i++) {
        install_signal(i);
    }
    (void)pthread_mutex_unlock(&install_lock);
}

static void
exit_runner(void *record)
{
    struct ha_runner *runner = record;
    (void)pthread_mutex_lock(&registry_lock);
    *runner->link = runner->next;
    if (runner->next) {
        runner->next->link = runner->link;
    }
    runner_count--;
    (void)pthread_mutex_unlock(&registry_lock);
    if (ha_runner_self == runner) {
        ha_runner_self = NULL;
    }
    munmap(runner->signal_stack, runner->signal_stack_bytes);
    free(runner->checks);
    free(runner);
}

int
ha_fault_init(void)
{
    struct sigaction current;
    if (interrupt_signal != 0) {
        return 0;
    }
    if (pthread_key_create(&exit_key, exit_runner) != 0) {
        return -1;
    }
    for (int signal = SIGRTMAX; signal >= SIGRTMIN; signal--) {
        if (sigaction(signal, NULL, &current) != 0 || (current.sa_flags & SA_SIGINFO) ||
            current.sa_handler != SIG_DFL) {
            continue;
        }
        struct sigaction ours;
        memset(&ours, 0, sizeof ours);
        ours.sa_sigaction = on_interrupt;
        ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
        (void)sigfillset(&ours.sa_mask);
        if (sigaction(signal, &ours, NULL) != 0) {
            continue;
        }
        /* Emulators take handlers for signals that they cannot send. */
        if (raise_again(signal) != 0) {
            (void)sigaction(signal, &current, NULL);
            continue;
        }
        interrupt_signal = signal;
        return 0;
    }
    (void)pthread_key_delete(exit_key);
    return -1;
}

static struct ha_runner *
create_runner(void)
{
    struct ha_runner *runner = calloc(1, sizeof *runner);
    if (!runner) {
        return NULL;
    }
    size_t frame_bytes = (size_t)getauxval(AT_MINSIGSTKSZ);
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    size_t bytes = SIGNAL_GUARD_BYTES + SIGNAL_STACK_BYTES + frame_bytes;
    bytes = (bytes + page_bytes - 1) / page_bytes * page_bytes;
    char *stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) {
        goto fail;
    }
    runner->signal_stack = stack;
    runner->signal_stack_bytes = bytes;
    if (mprotect(stack, SIGNAL_GUARD_BYTES, PROT_NONE) != 0 ||
        pthread_setspecific(exit_key, runner) != 0) {
        goto fail;
    }
    runner->tid = (pid_t)syscall(SYS_gettid);
    ha_fiber_home(&runner->home);
    (void)pthread_mutex_lock(&registry_lock);
    runner->next = runners;
    runner->link = &runners;
    if (runners) {
        runners->link = &runner->next;
    }
    runners = runner;
    runner_count++;
    (void)pthread_mutex_unlock(&registry_lock);
    return runner;
fail:
    if (runner->signal_stack) {
        munmap(runner->signal_stack, bytes);
    }
    free(runner);
    return NULL;
}

/* The calling thread's record, made if need be, or NULL. */
static struct ha_runner *
runner_get(void)
{
    if (!ha_runner_self) {
        ha_runner_self = create_runner();
    }
    return ha_runner_self;
}

/* Signal stack and mask for kernel code. */
static bool
signals_take(struct ha_runner *runner)
{
    stack_t stack = {.ss_sp = runner->signal_stack + SIGNAL_GUARD_BYTES,
                     .ss_size = runner->signal_stack_bytes - SIGNAL_GUARD_BYTES};
    if (sigaltstack(&stack, &runner->old_stack) != 0) {
        return false;
    }
    sigset_t ours;
    (void)sigemptyset(&ours);
    (void)sigaddset(&ours, interrupt_signal);
    for (int i = 0; i < FAULT_SIGNAL_COUNT; i++) {
        (void)sigaddset(&ours, fault_signals[i]);
    }
    (void)pthread_sigmask(SIG_UNBLOCK, &ours, &runner->old_mask);
    runner->mask = mask_bits(&runner->old_mask) & ~mask_bits(&ours);
    runner->mask_changed = runner->mask != mask_bits(&runner->old_mask);
    return true;
}

static void
signals_give_back(struct ha_runner *runner)
{
    if (runner->mask_changed) {
        (void)pthread_sigmask(SIG_SETMASK, &runner->old_mask, NULL);
    }
    (void)sigaltstack(&runner->old_stack, NULL);
}

struct ha_runner *
ha_runner_enter(struct ha_launch *launch)
{
    struct ha_runner *runner = runner_get();
    if (!runner || atomic_load_explicit(&runner->launch, memory_order_relaxed) ||
        (!runner->held && !signals_take(runner))) {
        return NULL;
    }
    runner->armed = 0;
    runner->busy = 0;
    runner->question = HA_FIBER_ASAN || HA_FIBER_TSAN ? NULL : own_question;
    atomic_store_explicit(&runner->running, false, memory_order_relaxed);
    atomic_store_explicit(&runner->asked, false, memory_order_relaxed);
    /* Pairs with ha_fault_interrupt: either it sees us, or we see the launch's fault.
     */
    atomic_store(&runner->launch, launch);
    return runner;
}

void
ha_runner_leave(struct ha_runner *runner)
{
    atomic_store(&runner->running, false);
    atomic_store(&runner->launch, NULL);
    if (!runner->held) {
        signals_give_back(runner);
    }
}

void
ha_runner_hold(void)
{
    struct ha_runner *runner = runner_get();
    if (runner && !runner->held && !atomic_load(&runner->launch)) {
        runner->held = signals_take(runner);
    }
}

void
ha_runner_release(void)
{
    struct ha_runner *runner = ha_runner_self;
    if (runner && runner->held && !atomic_load(&runner->launch)) {
        runner->held = false;
        signals_give_back(runner);
    }
}

void
ha_runner_exit(void)
{
    struct ha_runner *runner = ha_runner_self;
    if (!runner || atomic_load(&runner->launch)) {
        return;
    }
    (void)pthread_setspecific(exit_key, NULL);
    exit_runner(runner);
}

uint32_t
ha_runner_count(void)
{
    (void)pthread_mutex_lock(&registry_lock);
    uint32_t count = runner_count;
    (void)pthread_mutex_unlock(&registry_lock);
    return count;
}

bool
ha_runner_has_peer(const struct ha_runner *runner)
{
    bool found = false;
    (void)pthread_mutex_lock(&registry_lock);
    for (struct ha_runner *peer = runners; peer && !found; peer = peer->next) {
        found = peer != runner && atomic_load(&peer->launch) == runner->launch &&
                atomic_load(&peer->running);
    }
    (void)pthread_mutex_unlock(&registry_lock);
    return found;
}

static bool
signal_runners(struct ha_launch *launch, const struct ha_runner *except)
{
    bool found = false;
    pid_t process = getpid();
    /* With the lock held no record and so no thread of the list can end. */
    (void)pthread_mutex_lock(&registry_lock);
    for (struct ha_runner *runner = runners; runner; runner = runner->next) {
        if (runner != except && runner != ha_runner_self &&
            atomic_load(&runner->launch) == launch) {
            found = true;
            (void)syscall(SYS_tgkill, process, runner->tid, interrupt_signal);
        }
    }
    (void)pthread_mutex_unlock(&registry_lock);
    return found;
}

void
ha_fault_interrupt(struct ha_launch *launch, const struct ha_runner *except)
{
    const long first_wait_ns = 20 * 1000;
    const long last_wait_ns = 2 * 1000 * 1000;
    long wait_ns = first_wait_ns;
    while (signal_runners(launch, except)) {
        struct timespec wait = {.tv_sec = 0, .tv_nsec = wait_ns};
        (void)nanosleep(&wait, NULL);
        wait_ns = wait_ns * 2 < last_wait_ns ? wait_ns * 2 : last_wait_ns;
    }
}

void
ha_runner_set_question(bool (*question)(void))
{
    own_question = question;
}

bool
ha_runner_is_inside(void)
{
    return ha_runner_self != NULL && atomic_load(&ha_runner_self->launch) != NULL;
}

void
ha_fault_ask(void)
{
    pid_t process = getpid();
    (void)pthread_mutex_lock(&registry_lock);
    for (struct ha_runner *runner = runners; runner; runner = runner->next) {
        if (atomic_load(&runner->launch) != NULL && runner->question != NULL) {
            atomic_store(&runner->asked, true);
            (void)syscall(SYS_tgkill, process, runner->tid, interrupt_signal);
        }
    }
    (void)pthread_mutex_unlock(&registry_lock);
}

void
ha_runner_quit(struct ha_runner *runner)
{
    runner->armed = 0;
    atomic_signal_fence(memory_order_seq_cst);
    runner->busy = 0;
    ha_fiber_end(runner->fiber, &runner->home);
}

bool
ha_runner_stack_short(const struct ha_runner *runner, size_t bytes)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    uintptr_t low = (uintptr_t)runner->fiber->low;
    if (HA_FIBER_ASAN || HA_FIBER_TSAN) {
        bytes *= 4;
    }
    return here < low + bytes;
}

void
ha_fault_after_fork_child(void)
{
    struct ha_runner *self = ha_runner_self;
    struct ha_runner *runner = runners;
    (void)pthread_mutex_init(&registry_lock, NULL);
    (void)pthread_mutex_init(&install_lock, NULL);
    runners = NULL;
    runner_count = 0;
    while (runner) {
        struct ha_runner *next = runner->next;
        if (runner == self) {
            self->next = NULL;
            self->link = &runners;
            self->tid = (pid_t)syscall(SYS_gettid);
            runners = self;
            runner_count = 1;
        } else {
            munmap(runner->signal_stack, runner->signal_stack_bytes);
            free(runner->checks);
            free(runner);
        }
        runner = next;
    }
}
