/* SPDX-License-Identifier: MIT */
/* Kernel code that fails or never ends, and how the thread gets out of it.
 *
 * A *runner* is a thread that takes part in a launch; its record lives as long as the
 * thread.  Kernel code runs on fibers, never on the thread's own stack, so there is
 * always a suspended *home* context to go back to.  While `armed`, a fault signal or
 * the interrupt signal edits the interrupted state so that the thread goes on at home;
 * the kernel restores the signal mask on the way, nothing is unwound, and the code that
 * ran is forgotten.  Code that must not be forgotten half-way (locks, memory maps) sets
 * `busy`: interrupts then wait until ha_runner_idle, and a fault there is not ours to
 * recover.
 *
 * A thread that runs kernels while it waits for them may have a *question*, whether its
 * program wants the wait to end (Ctrl-C).  ha_fault_ask lets such threads ask it: in a
 * handler, in the middle of kernel code that is not busy and so holds nothing, but on
 * the thread's own stack and with its own signal state, because the answer may be given
 * by any code of the program.
 *
 * Signals: SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGTRAP, and one real-time signal for
 * interrupts: the highest one that nobody handles when ha_fault_init is called.  A
 * fault that is not kernel code's goes to the handler that was there before.  A handler
 * of somebody else that interrupted kernel code is recognised by the signal mask it
 * runs under, and is left alone.
 *
 * Locks: the registry's, a leaf, held for list operations only.  The fields of a runner
 * are its thread's own and its handlers', but for the atomic ones. */
#ifndef HA_CPU_EXEC_FAULT_H
#define HA_CPU_EXEC_FAULT_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cpu/base/image.h"
#include "cpu/exec/fiber.h"
#include "cpu/exec/launch.h"

struct ha_group;

/* Why a runner left kernel code; kind HA_FAULT_NONE if it was only interrupted. */
struct ha_fault {
    enum ha_fault_kind kind;
    int signal; /* 0 if no signal did it */
    int code;   /* si_code */
    uintptr_t address;
    uint32_t lane[2]; /* HA_FAULT_DIVERGED: first lane at each of two barriers */
    uint32_t line[2]; /* HA_FAULT_DIVERGED: their lines; HA_FAULT_ASSERT: line[0] */
    const char
        *text; /* HA_FAULT_ASSERT: the condition; HA_FAULT_TRAP: what was wrong */
    const char
        *detail; /* HA_FAULT_ADDRESS without a signal: what is wrong with the access */
    const char *file; /* HA_FAULT_ASSERT, the image's string, as is the next */
    const char *function;
};

struct ha_runner {
    struct ha_lane *lane;              /* running lane, NULL in fast kernels */
    struct ha_group *group;            /* where the block runs */
    struct ha_fiber *fiber;            /* running fiber */
    struct ha_fiber home;              /* the thread's own stack */
    volatile sig_atomic_t armed;       /* kernel code may be left */
    volatile sig_atomic_t busy;        /* depth of sections that may not */
    volatile sig_atomic_t interrupted; /* came while busy */
    volatile sig_atomic_t finished;    /* kernel code ended by itself */
    volatile sig_atomic_t stopped;     /* ... or only left off: enum ha_group_stop */
    struct ha_fault fault;
    uint64_t mask;          /* signal mask under which kernel code runs */
    bool (*question)(void); /* between enter and leave; NULL: nobody asks */
    bool stop_wanted;       /* the answer */
    atomic_bool asked;      /* the next interrupt is for the question */

    _Atomic(struct ha_launch *) launch; /* borrowed; set between enter and leave */
    atomic_bool running;                /* has all it needs to take blocks */
    pid_t tid;
    struct ha_runner *next; /* registry */
    struct ha_runner **link;

    void *checks;       /* owned, of malloc; NULL, or what checks remember: those of
                           cpu/memory/check_access.c */
    char *signal_stack; /* owned mapping */
    size_t signal_stack_bytes;
    stack_t old_stack; /* between enter and leave, or hold and release */
    sigset_t old_mask;
    bool mask_changed;
    bool held; /* between ha_runner_hold and ha_runner_release */
};

/* This thread's record, NULL before its first launch.  Initial-exec, because handlers
 * read it: other models may allocate. */
extern __thread struct ha_runner *ha_runner_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Chooses and installs the interrupt signal.  0, or -1 if no real-time signal is free.
 */
int ha_fault_init(void);

/* Puts our fault handlers on top, wherever somebody else's are. */
void ha_fault_install(void);

/* Makes the calling thread a runner of `launch`: record, alternate stack, signal mask.
 * NULL if there is no memory, or if the thread is inside a launch already. */
struct ha_runner *ha_runner_enter(struct ha_launch *launch);
void ha_runner_leave(struct ha_runner *runner);

/* Between these two, alternate stack and signal mask of the calling thread stay as
 * launches need them, and entering and leaving a launch is cheap. */
void ha_runner_hold(void);
void ha_runner_release(void);

/* Forgets the calling thread's record; also done when the thread ends. */
void ha_runner_exit(void);

/* How many threads have a record. */
uint32_t ha_runner_count(void);

/* True if another thread has started to take blocks of this runner's launch. */
bool ha_runner_has_peer(const struct ha_runner *runner);

/* Sends interrupts until no thread but `except` (or NULL) is inside the launch, whose
 * `fault` must be set: threads that are not in kernel code leave by themselves then. */
void ha_fault_interrupt(struct ha_launch *launch, const struct ha_runner *except);

/* What the calling thread is asked in the launches that it enters from now on; true
 * ends the launch with HA_FAULT_INTERRUPTED. NULL: nothing. */
void ha_runner_set_question(bool (*question)(void));

/* True inside a launch, that is for code that answers a question. */
bool ha_runner_is_inside(void);

/* Makes all threads that have a question and are inside a launch ask it soon. */
void ha_fault_ask(void);

/* Leaves kernel code from inside it, with runner->fault filled in. */
__attribute__((noreturn)) void ha_runner_quit(struct ha_runner *runner);

/* True if less than `bytes` are left of the fiber's stack that the caller runs on. */
bool ha_runner_stack_short(const struct ha_runner *runner, size_t bytes);

void ha_fault_after_fork_child(void);

/* Begins a section that may not be left half-way. */
static inline void
ha_runner_busy(struct ha_runner *runner)
{
    runner->busy++;
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void
ha_runner_idle(struct ha_runner *runner)
{
    atomic_signal_fence(memory_order_seq_cst);
    runner->busy--;
    atomic_signal_fence(memory_order_seq_cst);
    if (runner->busy == 0 && runner->interrupted) {
        ha_runner_quit(runner);
    }
}

#endif
