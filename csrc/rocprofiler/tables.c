/* SPDX-License-Identifier: MIT */
#include "rocprofiler/tables.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "abi/activity.h"
#include "core/loaded.h"
#include "rocprofiler/activity.h"
#include "rocprofiler/activity_event.h"
#include "rocprofiler/context.h"
#include "rocprofiler/generated/op_numbers.h"
#include "rocprofiler/hip_api.h"
#include "rocprofiler/intercept.h"
#include "rocprofiler/marker.h"
#include "rocprofiler/registration.h"

/* Held while tools are told; recursive, since they may call us. */
static pthread_mutex_t update_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void *ha_originals[HA_OP_COUNT];

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
    int operation = (int)ha_library_operation(registration->library);
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
    struct ha_registration *next;
    for (unsigned i = 0; (next = ha_registration_at(i)) != NULL; i++) {
        give(next, wanted);
    }
    pthread_mutex_unlock(&update_lock);
}

void
ha_tables_forked(void)
{
    update_lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
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
