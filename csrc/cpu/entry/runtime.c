/* SPDX-License-Identifier: MIT */
#include "cpu/entry/runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/env.h"
#include "core/log.h"
#include "core/thread.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/handle.h"
#include "cpu/entry/table.h"
#include "cpu/exec/exec.h"
#include "cpu/graph/capture.h"
#include "cpu/graph/graph.h"
#include "cpu/memory/array.h"
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
#include "cpu/queue/event.h"
#include "cpu/queue/pool.h"
#include "cpu/queue/stream.h"
#include "cpu/work/activity.h"
#include "cpu/work/value.h"

#define THREAD_COUNT_MAX 1024
#define TIMEOUT_MAX_S (365L * 24 * 3600)
#define DRAIN_LIMIT_NS 2000000000u /* at exit: for work that is queued */
#define WORKER_LIMIT_NS 500000000u /* at exit: for threads to leave their kernels */
#define RESET_LIMIT_NS 0u          /* hipDeviceReset waits for host functions */

enum runtime_state { STATE_NEW, STATE_READY, STATE_FORKED, STATE_CLOSED };

static struct {
    pthread_mutex_t lock; /* the start lock: guards changes of state */
    _Atomic int state;    /* enum runtime_state */
    _Atomic uint32_t epoch;
    struct ha_config config; /* constant while READY */
    bool watched;            /* fork hooks are set */
    bool hooked;             /* the exit hook is set, too */
    _Atomic(int (*)(void)) interrupt_check;
} runtime = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct ha_thread this_thread;

struct ha_thread *
ha_thread_self(void)
{
    return &this_thread;
}

const struct ha_config *
ha_config(void)
{
    return &runtime.config;
}

uint32_t
ha_runtime_epoch(void)
{
    return atomic_load_explicit(&runtime.epoch, memory_order_relaxed);
}

bool
ha_runtime_is_forked(void)
{
    return atomic_load_explicit(&runtime.state, memory_order_relaxed) == STATE_FORKED;
}

bool
ha_runtime_is_ready(void)
{
    return atomic_load_explicit(&runtime.state, memory_order_acquire) == STATE_READY;
}

static void
after_fork_child(void)
{
    if (atomic_load(&runtime.state) != STATE_READY) {
        return;
    }
    atomic_store(&runtime.state, STATE_FORKED);
    ha_tables_after_fork_child();
    ha_activity_after_fork_child();
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
    ha_graph_after_fork_child();
    ha_capture_after_fork_child();
    ha_value_after_fork_child();
    ha_exec_after_fork_child();
    memset(this_thread.own, 0, sizeof this_thread.own);
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
    if (dladdr((void *)&this_thread, &info) != 0 ||
        dladdr((void *)pin_library, &info) != 0) {
        (void)dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    }
}

/* Cores that this process may use. */
static unsigned
core_count(void)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    if (sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) > 0) {
        return (unsigned)CPU_COUNT(&cores);
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

/* The number of a device at the beginning of a list, as AMD's runtime reads it: what is
 * not written plainly is none.  -1 if it is none below `count`. */
static int
ordinal_of(const char *list, size_t length, int count)
{
    int ordinal = 0;
    if (length == 0 || length > 2 || (length == 2 && list[0] == '0')) {
        return -1;
    }
    for (size_t i = 0; i < length; i++) {
        if (list[i] < '0' || list[i] > '9') {
            return -1;
        }
        ordinal = ordinal * 10 + (list[i] - '0');
    }
    return ordinal < count ? ordinal : -1;
}

static void
devices_choose(struct ha_config *config)
{
    int count = (int)ha_env_long(HA_ENV_CPU_DEVICES, 1, HA_DEVICE_MAX);
    const char *list = ha_env(HA_ENV_VISIBLE_DEVICES);
    uint32_t chosen = 0;
    config->device_count = list != NULL ? 0 : count;
    for (int i = 0; list == NULL && i < count; i++) {
        config->ordinals[i] = i;
    }
    while (list != NULL) {
        size_t length = strcspn(list, ",");
        int ordinal = ordinal_of(list, length, count);
        if (ordinal < 0) {
            return;
        }
        if ((chosen >> ordinal & 1u) == 0) {
            chosen |= 1u << ordinal;
            config->ordinals[config->device_count++] = ordinal;
        }
        list = list[length] != '\0' ? list + length + 1 : NULL;
    }
}

static void
config_read(struct ha_config *config)
{
    const char *exec = ha_env(HA_ENV_CPU_EXEC);
    devices_choose(config);
    long threads = ha_env_long(HA_ENV_CPU_THREADS, 0, THREAD_COUNT_MAX);
    config->thread_count = threads > 0 ? (unsigned)threads : core_count();
    config->warp_size = ha_warp_size();
    config->reference = exec != NULL && strcmp(exec, "reference") == 0;
    (void)ha_log_enabled(1); /* for threads that don't look themselves */
    config->guard = ha_env_long(HA_ENV_CPU_GUARD, 0, 1) == 1;
    config->kernel_timeout_ns =
        (uint64_t)ha_env_long(HA_ENV_KERNEL_TIMEOUT, 0, TIMEOUT_MAX_S) * 1000000000u;
}

/* Start lock held. */
static hipError_t
runtime_start(void)
{
    config_read(&runtime.config);
    if (runtime.config.device_count == 0) {
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
    if (!runtime.hooked) {
        pin_library();
        if (!runtime.watched || atexit(at_exit) != 0) {
            return ha_cpu_fail(hipErrorNotInitialized,
                               "the exit and fork hooks can't be registered");
        }
        runtime.hooked = true;
    }
    ha_pool_init(runtime.config.thread_count, runtime.config.kernel_timeout_ns);
    hipError_t code = ha_memory_init(runtime.config.guard);
    if (code != hipSuccess) {
        return code;
    }
    ha_devices_init();
    code = ha_streams_init();
    if (code != hipSuccess) {
        return code;
    }
    atomic_fetch_add(&runtime.epoch, 1);
    atomic_store_explicit(&runtime.state, STATE_READY, memory_order_release);
    return hipSuccess;
}

/* Starts a NEW runtime, and a FORKED one if `anew`. */
static hipError_t
runtime_ensure(bool anew)
{
    hipError_t code = hipSuccess;
    pthread_mutex_lock(&runtime.lock);
    switch (atomic_load(&runtime.state)) {
    case STATE_READY:
        break;
    case STATE_FORKED:
        code = anew ? runtime_start()
                    : ha_cpu_fail(hipErrorNotInitialized,
                                  "this process was forked after HIP was used; call "
                                  "hipInit(0) to start HIP anew in it");
        break;
    case STATE_CLOSED:
        code = ha_cpu_fail(hipErrorDeinitialized, "the CPU device has been shut down");
        break;
    default:
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

hipError_t
ha_enter_query(const char *function)
{
    struct ha_thread *thread = &this_thread;
    thread->function = function;
    thread->last_call = hipSuccess;
    if (atomic_load_explicit(&ha_tables_published, memory_order_relaxed) == 0 &&
        ha_tables_publishing_here()) {
        return ha_cpu_fail(hipErrorNotInitialized,
                           "a tool may not call it while it is being initialized");
    }
    if (atomic_load_explicit(&runtime.state, memory_order_acquire) == STATE_READY) {
        return hipSuccess;
    }
    return runtime_ensure(false);
}

hipError_t
ha_runtime_start_quietly(void)
{
    return ha_runtime_is_ready() ? hipSuccess : runtime_ensure(false);
}

int
hipadaptStart(void)
{
    ha_tables_publish();
    hipError_t before = this_thread.last_error;
    (void)ha_enter_query(
        "hipadaptStart"); /* the next call says why it does not start */
    this_thread.last_error = before;
    return HIP_VERSION_NUMBER;
}

hipError_t
ha_enter(const char *function, struct ha_device **device)
{
    struct ha_thread *thread = &this_thread;
    hipError_t code = ha_enter_query(function);
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
    atomic_store(&runtime.interrupt_check, check);
}

bool
ha_runtime_can_be_interrupted(void)
{
    return atomic_load_explicit(&runtime.interrupt_check, memory_order_relaxed) != NULL;
}

bool
ha_runtime_interrupted(void)
{
    int (*check)(void) = atomic_load(&runtime.interrupt_check);
    bool own_default = this_thread.own_default;
    bool in_host_function = this_thread.in_host_function;
    /* The check may call HIP; inside a kernel it must not wait for that kernel. */
    this_thread.own_default = false;
    this_thread.in_host_function = in_host_function || ha_exec_is_inside();
    bool interrupted = check != NULL && check() != 0;
    this_thread.own_default = own_default;
    this_thread.in_host_function = in_host_function;
    return interrupted;
}

void
hipadaptShutdown(void)
{
    pthread_mutex_lock(&runtime.lock);
    bool running = atomic_load(&runtime.state) == STATE_READY;
    atomic_store(&runtime.state, STATE_CLOSED);
    pthread_mutex_unlock(&runtime.lock);
    if (!running) {
        return;
    }
    /* A host function that ends the process would wait for itself. */
    uint64_t limit_ns = this_thread.in_host_function ? 1 : DRAIN_LIMIT_NS;
    for (int id = 0; id < runtime.config.device_count; id++) {
        struct ha_device *device = ha_device_get(id);
        if (ha_pool_wait_device(device, limit_ns) != hipSuccess) {
            limit_ns = 1;
        }
        ha_pool_lock();
        ha_device_set_fault(device, hipErrorDeinitialized,
                            "the CPU device has been shut down");
        ha_pool_unlock();
    }
    ha_pool_cancel(NULL, "the process ends");
    ha_pool_shutdown(WORKER_LIMIT_NS);
    ha_exec_flush_print();
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
    ha_exec_flush_print();
    return hipSuccess;
}
