/* SPDX-License-Identifier: MIT */
#include "rocprofiler/registration.h"

#include <stdatomic.h>
#include <string.h>

#include "abi/activity.h"
#include "rocprofiler/lock.h"
#include "rocprofiler/sdk.h"

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

/* Entries below the count only change under the lock of ha_tables_update. */
static struct ha_registration registrations[HA_TABLES_MAX];

static _Atomic unsigned registration_count;

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

rocprofiler_runtime_initialization_operation_t
ha_library_operation(enum ha_table_library library)
{
    return libraries[library].operation;
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

struct ha_registration *
ha_registration_at(unsigned i)
{
    return i < atomic_load(&registration_count) ? &registrations[i] : NULL;
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
