/* SPDX-License-Identifier: MIT */
#include "rocprofiler/intercept.h"

#include <stdatomic.h>

#include "rocprofiler/client.h"
#include "rocprofiler/in_tool.h"
#include "rocprofiler/lock.h"
#include "rocprofiler/names.h"
#include "rocprofiler/registration.h"
#include "rocprofiler/sdk.h"

enum { LISTENERS_MAX = 64 };

/* Entries below the count don't change any more, but for `told`. */
static struct {
    rocprofiler_intercept_library_cb_t callback;
    int tables;
    void *data;
    const struct ha_client *client; /* NULL: not known */
    uint64_t told;                  /* bits: numbers of registrations */
} listeners[LISTENERS_MAX];
static _Atomic unsigned listener_count;

static void
tell(struct ha_registration *registration, unsigned listener)
{
    for (unsigned t = 0; t < ha_library_tables(registration->library); t++) {
        rocprofiler_intercept_table_t kind = ha_library_kind(registration->library, t);
        if ((listeners[listener].tables & (int)kind) != 0) {
            ha_in_tool_enter();
            listeners[listener].callback(
                kind, registration->version, registration->instance,
                &registration->tables[t], 1, listeners[listener].data);
            ha_in_tool_leave();
        }
    }
}

void
ha_intercept_tell(struct ha_registration *registration)
{
    uint64_t bit = UINT64_C(1) << registration->number;
    unsigned count = atomic_load(&listener_count);

    for (unsigned i = 0; i < count; i++) {
        if ((listeners[i].told & bit) == 0 && !ha_client_ended(listeners[i].client)) {
            listeners[i].told |= bit;
            tell(registration, i);
        }
    }
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_at_intercept_table_registration(rocprofiler_intercept_library_cb_t callback,
                                            int libs, void *data)
{
    rocprofiler_status_t status = ROCPROFILER_STATUS_SUCCESS;

    if (callback == NULL || libs <= 0 || libs >= 2 * ROCPROFILER_TABLE_LAST) {
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    }
    if (ha_client_locked()) {
        return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    }
    ha_lock(HA_LOCK_INTERCEPT);
    unsigned number = atomic_load(&listener_count);
    if (number == LISTENERS_MAX) {
        status = ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    } else {
        listeners[number].callback = callback;
        listeners[number].tables = libs;
        listeners[number].data = data;
        listeners[number].client = ha_client_running();
        atomic_store(&listener_count, number + 1);
    }
    ha_unlock(HA_LOCK_INTERCEPT);
    return status;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_query_intercept_table_name(rocprofiler_intercept_table_t kind,
                                       const char **name, uint64_t *name_len)
{
    static const char *const names[] = {
        "HSA_TABLE",         "HIP_RUNTIME_TABLE",    "HIP_COMPILER_TABLE",
        "MARKER_CORE_TABLE", "MARKER_CONTROL_TABLE", "MARKER_NAME_TABLE",
        "RCCL_TABLE",        "ROCDECODE_TABLE",      "ROCJPEG_TABLE",
    };
    const char *found = NULL;

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if ((unsigned)kind == 1u << i) {
            found = names[i];
        }
    }
    return ha_name_answer(found, ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND, name,
                          name_len);
}
