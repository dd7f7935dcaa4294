/* SPDX-License-Identifier: MIT */
#include "rocprofiler/tables.h"

#include <dlfcn.h>
#include <string.h>

#include "abi/activity.h"
#include "rocprofiler/activity.h"
#include "rocprofiler/client_find.h"
#include "rocprofiler/hip_api.h"
#include "rocprofiler/lock.h"
#include "rocprofiler/marker.h"

static const struct {
    const char *name;
    unsigned tables;
    rocprofiler_runtime_initialization_operation_t operation;
    rocprofiler_intercept_table_t kinds[HA_TABLES_EACH];
} libraries[HA_LIBRARIES] = {
    {"hsa", 1, ROCPROFILER_RUNTIME_INITIALIZATION_HSA, {ROCPROFILER_HSA_TABLE}},
    {"hip", 1, ROCPROFILER_RUNTIME_INITIALIZATION_HIP, {ROCPROFILER_HIP_RUNTIME_TABLE}},
    {"roctx",
     3,
     ROCPROFILER_RUNTIME_INITIALIZATION_MARKER,
     {ROCPROFILER_MARKER_CORE_TABLE, ROCPROFILER_MARKER_CONTROL_TABLE,
      ROCPROFILER_MARKER_NAME_TABLE}},
    {"hip_compiler", 1, 0, {ROCPROFILER_HIP_COMPILER_TABLE}},
    {"rccl", 1, ROCPROFILER_RUNTIME_INITIALIZATION_RCCL, {ROCPROFILER_RCCL_TABLE}},
    {"rocdecode",
     1,
     ROCPROFILER_RUNTIME_INITIALIZATION_ROCDECODE,
     {ROCPROFILER_ROCDECODE_TABLE}},
    {"rocjpeg",
     1,
     ROCPROFILER_RUNTIME_INITIALIZATION_ROCJPEG,
     {ROCPROFILER_ROCJPEG_TABLE}},
    {HA_ACTIVITY_NAME, 1, 0, {0}},
};

/* Entries below the count only change under update_lock. */
static struct ha_registration registrations[HA_TABLES_MAX];
static _Atomic unsigned registration_count;

/* Held while tools are told; recursive, since they may call us. */
static pthread_mutex_t update_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void *ha_originals[HA_OP_COUNT];

int
ha_library_named(const char *name)
{
    for (int i = 0; i < HA_LIBRARIES; i++) {
        if (name != NULL && strcmp(libraries[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

const char *
ha_library_name(enum ha_table_library library)
{
    return libraries[library].name;
}

unsigned
ha_library_tables(enum ha_table_library library)
{
    return libraries[library].tables;
}

rocprofiler_intercept_table_t
ha_library_kind(enum ha_table_library library, unsigned table)
{
    return libraries[library].kinds[table];
}

bool
ha_tables_keep(enum ha_table_library library, uint64_t version, uint64_t instance,
               void *const *tables)
{
    ha_lock(HA_LOCK_TABLES);
    unsigned number = atomic_load(&registration_count);
    if (number < HA_TABLES_MAX) {
        struct ha_registration *made = &registrations[number];
        made->library = library;
        made->version = version;
        made->instance = instance;
        made->number = number;
        for (unsigned i = 0; i < libraries[library].tables; i++) {
            made->tables[i] = tables[i];
        }
        atomic_store(&registration_count, number + 1);
    }
    ha_unlock(HA_LOCK_TABLES);
    return number < HA_TABLES_MAX;
}

/* ---- wrappers ---- */

/* `count` slots of the table at `table` (behind its size), whose first has number `op`.
 * Other threads read them meanwhile. */
static void
wrap(void *table, unsigned op, unsigned count, const bool wanted[HA_OP_COUNT])
{
    size_t bytes = *(const size_t *)table;
    void **slots = (void **)((char *)table + sizeof(size_t));
    size_t there = bytes > sizeof(size_t) ? bytes / sizeof(void *) - 1 : 0;

    for (unsigned i = 0; i < count && i < there; i++) {
        void *function = __atomic_load_n(&slots[i], __ATOMIC_ACQUIRE);
        if (ha_originals[op + i] == NULL && function != NULL && wanted[op + i]) {
            ha_originals[op + i] = function;
            __atomic_store_n(&slots[i], ha_wrappers[op + i], __ATOMIC_RELEASE);
        }
    }
}

/* Tells contexts that are new since the last time, if they are active. */
static void
announce(struct ha_registration *registration)
{
    int operation = (int)libraries[registration->library].operation;
    unsigned first = registration->announced;

    registration->announced = atomic_load(&ha_context_count);
    if (operation == 0 || first == registration->announced || first >= 64) {
        return;
    }
    ha_activity_runtime(operation, registration->version, registration->instance,
                        first);
}

static void
give(struct ha_registration *registration, const bool wanted[HA_OP_COUNT])
{
    switch (registration->library) {
    case HA_LIBRARY_HIP:
        wrap(registration->tables[0], 0, HA_OP_RUNTIME_COUNT, wanted);
        break;
    case HA_LIBRARY_HIP_COMPILER:
        wrap(registration->tables[0], HA_OP_RUNTIME_COUNT, HA_OP_COMPILER_COUNT,
             wanted);
        break;
    case HA_LIBRARY_ROCTX:
        ha_marker_wrap(registration->tables);
        break;
    case HA_LIBRARY_ACTIVITY:
        ha_activity_subscribe(registration->tables[0]);
        break;
    default:
        break;
    }
    announce(registration);
    ha_intercept_tell(registration); /* last: what tools put there is outermost */
}

void
ha_tables_update(void)
{
    bool wanted[HA_OP_COUNT];

    pthread_mutex_lock(&update_lock);
    ha_ops_configured(wanted);
    for (unsigned i = 0; i < atomic_load(&registration_count); i++) {
        give(&registrations[i], wanted);
    }
    pthread_mutex_unlock(&update_lock);
}

void
ha_tables_forked(void)
{
    update_lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
}

const struct ha_activity *
ha_activity_table(void)
{
    unsigned count = atomic_load(&registration_count);
    const struct ha_activity *found = NULL;

    for (unsigned i = 0; i < count; i++) {
        if (registrations[i].library == HA_LIBRARY_ACTIVITY) {
            found = registrations[i].tables[0];
        }
    }
    return found;
}

/* ---- libraries that have kept their tables back ---- */

static int
seek(void *library, const char *path, void *data)
{
    static const char *const names[] = {"hipadaptPublishTables",
                                        "roctxHipadaptPublish"};

    (void)path;
    (void)data;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *symbol = dlsym(library, names[i]);
        void (*publish)(void);
        memcpy(&publish, &symbol, sizeof publish);
        if (symbol != NULL) {
            publish();
        }
    }
    return 1;
}

static _Thread_local bool seeking;

bool
ha_tables_seeking(void)
{
    return seeking;
}

void
ha_tables_seek(void)
{
    seeking = true;
    ha_loaded_each(seek, NULL);
    seeking = false;
}
