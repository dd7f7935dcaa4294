/* SPDX-License-Identifier: MIT */
#include "cpu/entry/table.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "core/profiler.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/activity.h"
#include "cpu/entry/runtime.h"

#define HA_SLOT_HIP(slot, symbol) .slot##_fn = symbol,
struct HipDispatchTable ha_hip_table = {
    .size = sizeof(struct HipDispatchTable),
#include "cpu/entry/generated/slots.def"
};
#undef HA_SLOT_HIP

#define HA_SLOT_COMPILER(slot, symbol) .slot##_fn = symbol,
struct HipCompilerDispatchTable ha_compiler_table = {
    .size = sizeof(struct HipCompilerDispatchTable),
#include "cpu/entry/generated/slots.def"
};
#undef HA_SLOT_COMPILER

#define HA_SLOT_REST(slot, symbol) .slot##_fn = symbol,
struct ha_rest_table ha_rest_table = {
    .size = sizeof(struct ha_rest_table),
#include "cpu/entry/generated/slots.def"
};
#undef HA_SLOT_REST

_Atomic int ha_tables_published;
static pthread_mutex_t publish_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t publish_changed = PTHREAD_COND_INITIALIZER;
static bool publishing;
static bool registered; /* a profiler has the tables */
static _Thread_local bool publishing_here;

static uint32_t
version(void)
{
    return 10000 * HIP_VERSION_MAJOR + 100 * HIP_VERSION_MINOR;
}

/* Both are looked up by AMD's rocprofiler-register. */
HA_EXPORT uint32_t rocprofiler_register_import_hip(void);
HA_EXPORT uint32_t rocprofiler_register_import_hip_compiler(void);

uint32_t
rocprofiler_register_import_hip(void)
{
    return version();
}

uint32_t
rocprofiler_register_import_hip_compiler(void)
{
    return version();
}

/* Hands the tables to a profiler, if there is one and it has not got them. */
static void
hand_over(void)
{
    void *activity[] = {(void *)&ha_activity_table};
    void *compiler[] = {&ha_compiler_table};
    void *hip[] = {&ha_hip_table};

    if (registered || !ha_profiler_wanted()) {
        return;
    }
    registered = true;
    /* AMD's library doesn't know the first one and says so; there is no harm in that.
     */
    (void)ha_profiler_register(HA_ACTIVITY_NAME, version, HA_ACTIVITY_VERSION, activity,
                               1);
    (void)ha_profiler_register("hip_compiler", rocprofiler_register_import_hip_compiler,
                               version(), compiler, 1);
    (void)ha_profiler_register("hip", rocprofiler_register_import_hip, version(), hip,
                               1);
}

/* Tools run meanwhile, which may call HIP: on this thread that is an error of theirs
 * (ha_enter), other threads wait. */
static void
publish(void)
{
    pthread_mutex_lock(&publish_lock);
    if (publishing_here) {
        pthread_mutex_unlock(&publish_lock);
        return;
    }
    while (publishing) {
        pthread_cond_wait(&publish_changed, &publish_lock);
    }
    publishing = true;
    publishing_here = true;
    pthread_mutex_unlock(&publish_lock);

    hand_over();

    pthread_mutex_lock(&publish_lock);
    atomic_store_explicit(&ha_tables_published, 1, memory_order_release);
    publishing = false;
    publishing_here = false;
    pthread_cond_broadcast(&publish_changed);
    pthread_mutex_unlock(&publish_lock);
}

void
ha_tables_publish(void)
{
    if (atomic_load_explicit(&ha_tables_published, memory_order_acquire) == 0) {
        publish();
    }
}

bool
ha_tables_publishing_here(void)
{
    return publishing_here;
}

void
hipadaptPublishTables(void)
{
    publish();
}

void
ha_tables_after_fork_child(void)
{
    (void)pthread_mutex_init(&publish_lock, NULL);
    (void)pthread_cond_init(&publish_changed, NULL);
    publishing = false;
    publishing_here = false;
}

const struct ha_symbol *
ha_symbol_find(const char *name)
{
    size_t low = 0;
    size_t high = ha_symbol_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, ha_symbols[middle].name);
        if (order == 0) {
            return &ha_symbols[middle];
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}

bool
ha_symbol_works(const struct ha_symbol *symbol)
{
    return symbol->entry != symbol->lacks;
}

hipError_t
ha_table_lacks(const char *function)
{
    hipError_t code = ha_enter_query(function);
    return code == hipSuccess
               ? ha_cpu_fail(hipErrorNotSupported, "the CPU device does not have it")
               : code;
}

int
hipadaptLacks(const char *function)
{
    const struct ha_symbol *symbol = function != NULL ? ha_symbol_find(function) : NULL;
    return symbol != NULL && !ha_symbol_works(symbol);
}
