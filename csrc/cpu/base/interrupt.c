/* SPDX-License-Identifier: MIT */
#include "cpu/base/interrupt.h"

#include <stdatomic.h>
#include <stddef.h>

#include "cpu/base/thread.h"

static _Atomic(int (*)(void)) current_check;
static _Atomic(bool (*)(void)) in_kernel;

void
ha_interrupt_set_check(int (*check)(void))
{
    atomic_store(&current_check, check);
}

void
ha_interrupt_set_inside(bool (*function)(void))
{
    atomic_store(&in_kernel, function);
}

bool
ha_interrupt_possible(void)
{
    return atomic_load_explicit(&current_check, memory_order_relaxed) != NULL;
}

bool
ha_interrupted(void)
{
    int (*check)(void) = atomic_load(&current_check);
    bool (*inside)(void) = atomic_load(&in_kernel);
    struct ha_thread *thread = ha_thread_self();
    bool own_default = thread->own_default;
    bool in_host_function = thread->in_host_function;
    /* The check may call HIP; inside a kernel it must not wait for that kernel. */
    thread->own_default = false;
    thread->in_host_function = in_host_function || (inside != NULL && inside());
    bool interrupted = check != NULL && check() != 0;
    thread->own_default = own_default;
    thread->in_host_function = in_host_function;
    return interrupted;
}
