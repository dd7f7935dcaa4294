/* SPDX-License-Identifier: MIT */
#include "cpu/entry/runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/env.h"
#include "core/fork.h"
#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/handle.h"
#include "cpu/base/interrupt.h"
#include "cpu/base/life.h"
#include "cpu/base/thread.h"
#include "cpu/check/stack.h"
#include "cpu/check/summary.h"
#include "cpu/entry/table.h"
#include "cpu/exec/checks.h"
#include "cpu/exec/debug.h"
#include "cpu/exec/exec.h"
#include "cpu/exec/heap.h"
#include "cpu/exec/image_runtime.h"
#include "cpu/exec/print.h"
#include "cpu/graph/capture.h"
#include "cpu/graph/graph.h"
#include "cpu/memory/access.h"
#include "cpu/memory/check_access.h"
#include "cpu/memory/check_deed.h"
#include "cpu/memory/array.h"
#include "cpu/memory/check_found.h"
#include "cpu/memory/check_memory.h"
#include "cpu/memory/external_memory.h"
#include "cpu/memory/ipc_memory.h"
#include "cpu/memory/managed.h"
#include "cpu/memory/memory.h"
#include "cpu/memory/memory_pool.h"
#include "cpu/memory/mipmap.h"
#include "cpu/memory/surface.h"
#include "cpu/memory/texture.h"
#include "cpu/memory/virtual.h"
#include "cpu/module/library.h"
#include "cpu/module/module.h"
#include "cpu/module/register.h"
#include "cpu/queue/device_fault.h"
#include "cpu/queue/event.h"
#include "cpu/queue/order.h"
#include "cpu/queue/pool.h"
#include "cpu/queue/stream.h"
#include "cpu/queue/ticket.h"
#include "cpu/work/value.h"

#define DRAIN_LIMIT_NS 2000000000u /* at exit: for work that is queued */
#define WORKER_LIMIT_NS 500000000u /* at exit: for threads to leave their kernels */
#define RESET_LIMIT_NS 0u          /* hipDeviceReset waits for host functions */

static struct {
    pthread_mutex_t lock; /* the start lock: guards changes of state */
    bool watched;         /* fork hooks are set */
    bool hooked;          /* the exit hook is set, too */
} runtime = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void
after_fork_child(void)
{
    ha_check_after_fork_child();
    ha_check_stack_after_fork_child();
    if (!ha_life_is_ready()) {
        return;
    }
    ha_life_end(HA_LIFE_FORKED);
    ha_tables_after_fork_child();
    ha_ticket_after_fork_child();
    ha_handle_after_fork_child();
    ha_memory_after_fork_child();
    ha_memory_pools_after_fork_child();
    ha_virtual_after_fork_child();
    ha_managed_after_fork_child();
    ha_ipc_memory_after_fork_child();
    ha_external_memory_after_fork_child();
    ha_mipmap_after_fork_child();
    ha_texture_after_fork_child();
    ha_surface_after_fork_child();
    ha_module_after_fork_child();
    ha_library_after_fork_child();
    ha_register_after_fork_child();
    ha_pool_after_fork_child();
    ha_order_after_fork_child();
    ha_graph_after_fork_child();
    ha_capture_after_fork_child();
    ha_value_after_fork_child();
    ha_exec_after_fork_child();
    memset(ha_thread_self()->own, 0, sizeof ha_thread_self()->own);
}

/* A fork waits for a start that is under way, so that no child gets half of one. */
static void
before_fork(void)
{
    pthread_mutex_lock(&runtime.lock);
}

/* In both processes. */
static void
after_fork(void)
{
    pthread_mutex_unlock(&runtime.lock);
}

/* When the library is loaded.  In this order, so that a fork takes the start lock
 * before the lock of the hooks, as a start does. */
static __attribute__((constructor)) void
watch_forks(void)
{
    runtime.watched = ha_fork_register(after_fork_child) == HA_OK &&
                      pthread_atfork(before_fork, after_fork, after_fork) == 0;
}

static void
at_exit(void)
{
    hipadaptShutdown();
}

/* The library must not be unloaded while its threads run. */
static void
pin_library(void)
{
    Dl_info info;
    if (dladdr((void *)pin_library, &info) != 0) {
        (void)dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    }
}

/* What kernels of the device left behind: heap, buffer of printf, fault. */
static void
forget_kernels(struct ha_device *device)
{
    ha_heap_reset((uint32_t)device->id);
    ha_print_reset((uint32_t)device->id);
    ha_device_clear_fault(device);
}

/* Start lock held. */
static hipError_t
runtime_start(void)
{
    ha_config_read(ha_warp_size());
    ha_interrupt_set_inside(ha_exec_is_inside);
    if (ha_config()->device_count == 0) {
        return ha_cpu_fail(
            hipErrorNoDevice,
            "HIP_VISIBLE_DEVICES='%.64s' leaves none of the devices that "
            "HIPADAPT_CPU_DEVICES asks for",
            ha_env(HA_ENV_VISIBLE_DEVICES));
    }
    if (ha_exec_init() != 0) {
        return ha_cpu_fail(hipErrorNotInitialized,
                           "the signal handlers of the CPU device can't be set");
    }
    ha_exec_set_access(ha_access_call);
    ha_exec_set_checks(&ha_memory_checks);
    ha_deeds_init(ha_deed_describe_memory);
    ha_debug_set_access(ha_access_allowed);
    if (!runtime.hooked) {
        pin_library();
        if (!runtime.watched || atexit(at_exit) != 0) {
            return ha_cpu_fail(hipErrorNotInitialized,
                               "the exit and fork hooks can't be registered");
        }
        runtime.hooked = true;
    }
    ha_pool_init(ha_config()->thread_count, ha_config()->kernel_timeout_ns);
    hipError_t code = ha_memory_init(ha_config()->guard);
    if (code != hipSuccess) {
        return code;
    }
    ha_devices_init();
    for (int id = 0; id < ha_config()->device_count; id++) {
        forget_kernels(ha_device_get(id));
    }
    code = ha_streams_init();
    if (code != hipSuccess) {
        return code;
    }
    ha_life_begin();
    ha_summary_begin();
    return hipSuccess;
}

/* Starts a NEW runtime, and a FORKED one if `anew`. */
static hipError_t
runtime_ensure(bool anew)
{
    hipError_t code = hipSuccess;
    pthread_mutex_lock(&runtime.lock);
    switch (ha_life()) {
    case HA_LIFE_READY:
        break;
    case HA_LIFE_FORKED:
        code = anew ? runtime_start()
                    : ha_cpu_fail(hipErrorNotInitialized,
                                  "this process was forked after HIP was used; call "
                                  "hipInit(0) to start HIP anew in it");
        break;
    case HA_LIFE_CLOSED:
        code = ha_cpu_fail(hipErrorDeinitialized, "the CPU device has been shut down");
        break;
    case HA_LIFE_NEW:
        code = runtime_start();
        break;
    }
    pthread_mutex_unlock(&runtime.lock);
    return code;
}

hipError_t
ha_runtime_init(void)
{
    return runtime_ensure(true);
}

static hipError_t
enter(struct ha_thread *thread, const char *function)
{
    thread->function = function;
    thread->last_call = hipSuccess;
    if (atomic_load_explicit(&ha_tables_published, memory_order_relaxed) == 0 &&
        ha_tables_publishing_here()) {
        return ha_cpu_fail(hipErrorNotInitialized,
                           "a tool may not call it while it is being initialized");
    }
    return ha_life_is_ready() ? hipSuccess : runtime_ensure(false);
}

hipError_t
ha_enter_query(const char *function)
{
    return enter(ha_thread_self(), function);
}

hipError_t
ha_runtime_start_quietly(void)
{
    return ha_life_is_ready() ? hipSuccess : runtime_ensure(false);
}

int
hipadaptDebugSink(const struct ha_debug_sink *sink)
{
    if (sink != NULL && sink->size != sizeof *sink) {
        return -1;
    }
    ha_debug_set_sink(sink);
    return 0;
}

int
hipadaptStart(void)
{
    ha_tables_publish();
    struct ha_thread *thread = ha_thread_self();
    hipError_t before = thread->last_error;
    /* The next call says why it does not start. */
    (void)ha_enter_query("hipadaptStart");
    thread->last_error = before;
    return HIP_VERSION_NUMBER;
}

hipError_t
ha_enter(const char *function, struct ha_device **device)
{
    struct ha_thread *thread = ha_thread_self();
    hipError_t code = enter(thread, function);
    if (code != hipSuccess) {
        return code;
    }
    if (thread->in_host_function) {
        return ha_cpu_fail(HA_ERROR_IN_HOST_FUNCTION,
                           "a host function of a stream may not call it");
    }
    struct ha_device *current = ha_device_get(thread->device);
    if (atomic_load_explicit(&current->fault, memory_order_acquire) != 0) {
        return ha_device_fail(current);
    }
    *device = current;
    return hipSuccess;
}

void
hipadaptSetInterruptCheck(int (*check)(void))
{
    ha_interrupt_set_check(check);
}

void
hipadaptSetStackText(size_t (*lines)(char *text, size_t bytes))
{
    ha_check_stack_set_lines(lines);
}

void
hipadaptOwnsMemory(const void *ptr)
{
    ha_checked_owned(ptr);
}

int
hipadaptWantsStack(void)
{
    return ha_checked() ? 1 : 0;
}

/* Waits a moment for what is queued; `each`, if not NULL, is called for each device. */
static void
drain(void (*each)(struct ha_device *device))
{
    /* A host function that ends the process would wait for itself. */
    uint64_t limit_ns = ha_thread_self()->in_host_function ? 1 : DRAIN_LIMIT_NS;

    for (int id = 0; id < ha_config()->device_count; id++) {
        struct ha_device *device = ha_device_get(id);
        if (ha_pool_wait_device(device, limit_ns) != hipSuccess) {
            limit_ns = 1;
        }
        if (each != NULL) {
            each(device);
        }
    }
    ha_pool_cancel(NULL, "the process ends");
}

void
hipadaptDrain(void)
{
    pthread_mutex_lock(&runtime.lock);
    bool running = ha_life_is_ready();
    pthread_mutex_unlock(&runtime.lock);
    if (running) {
        drain(NULL);
    }
}

static void
close_device(struct ha_device *device)
{
    ha_pool_lock();
    ha_device_set_fault(device, hipErrorDeinitialized,
                        "the CPU device has been shut down");
    ha_pool_unlock();
}

void
hipadaptShutdown(void)
{
    pthread_mutex_lock(&runtime.lock);
    bool running = ha_life_is_ready();
    ha_life_end(HA_LIFE_CLOSED);
    pthread_mutex_unlock(&runtime.lock);
    if (!running) {
        return;
    }
    drain(close_device);
    ha_pool_shutdown(WORKER_LIMIT_NS);
    ha_exec_flush_print();
    ha_thread_self()->function = "hipadaptShutdown";
    ha_found_at_end();
    ha_summary_end();
}

hipError_t
ha_runtime_reset_device(struct ha_device *device)
{
    ha_pool_lock();
    ha_device_set_fault(device, hipErrorContextIsDestroyed,
                        "the device is being reset");
    ha_pool_unlock();
    ha_pool_cancel(device, "hipDeviceReset");
    if (ha_pool_wait_device(device, RESET_LIMIT_NS) != hipSuccess) {
        return ha_cpu_fail(hipErrorNotReady,
                           "interrupted while work of the device ends");
    }
    ha_modules_reset(device);
    ha_events_reset(device);
    ha_streams_reset(device);
    ha_textures_reset(device);
    ha_surfaces_reset(device);
    ha_mipmaps_reset(device);
    ha_arrays_reset(device);
    ha_memory_pools_reset(device);
    ha_virtual_reset(device);
    ha_ipc_memory_reset(device);
    ha_external_memory_reset(device);
    ha_memory_reset(device);
    ha_device_reset_settings(device);
    forget_kernels(device);
    ha_exec_flush_print();
    return hipSuccess;
}
