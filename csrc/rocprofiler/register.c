/* SPDX-License-Identifier: MIT */
/* Registration: runtimes hand over their tables. */
#include "rocprofiler/register.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/env.h"
#include "rocprofiler/client_start.h"
#include "rocprofiler/registration.h"
#include "rocprofiler/sdk.h"
#include "rocprofiler/tables.h"

enum { INSTANCES_MAX = 8 };

/* Codes of AMD's librocprofiler-register. */
enum {
    REGISTERED = 0,
    NO_TOOLS = 1,
    DEADLOCK = 2,
    BAD_LENGTH = 3,
    UNSUPPORTED = 4,
    INVALID_ADDRESS = 5,
    FAILED = 6,
    TOO_MANY = 7,
};

static struct {
    uint32_t version;
    uint64_t length;
} known[HA_LIBRARIES][INSTANCES_MAX];
static _Atomic unsigned instances[HA_LIBRARIES];
static _Thread_local bool registering;

int
rocprofiler_set_api_table(const char *name, uint64_t lib_version, uint64_t lib_instance,
                          void **tables, uint64_t num_tables)
{
    int library = ha_library_named(name);

    if (library < 0 || tables == NULL ||
        num_tables < ha_library_tables((enum ha_table_library)library) ||
        !ha_tables_keep((enum ha_table_library)library, lib_version, lib_instance,
                        tables)) {
        return 1;
    }
    if (ha_clients_start()) {
        ha_tables_update();
    }
    return 0;
}

/* A number for one more instance of the library, or INSTANCES_MAX. */
static unsigned
take_instance(int library)
{
    unsigned count = atomic_load(&instances[library]);

    while (count < INSTANCES_MAX &&
           !atomic_compare_exchange_weak(&instances[library], &count, count + 1)) {
    }
    return count;
}

int
rocprofiler_register_library_api_table(const char *common_name,
                                       uint32_t (*import)(void), uint32_t lib_version,
                                       void **api_tables, uint64_t api_table_length,
                                       struct ha_register_id *id)
{
    int library = ha_library_named(common_name);

    (void)import;
    if (id != NULL) {
        id->handle = 0;
    }
    if (library < 0) {
        return UNSUPPORTED;
    }
    if (api_tables == NULL ||
        api_table_length < ha_library_tables((enum ha_table_library)library)) {
        return BAD_LENGTH;
    }
    if (!ha_env_is_on(HA_ENV_REGISTER_ENABLED)) {
        return NO_TOOLS;
    }
    if (registering) {
        return DEADLOCK;
    }
    unsigned instance = take_instance(library);
    if (instance == INSTANCES_MAX) {
        return TOO_MANY;
    }
    known[library][instance].version = lib_version;
    known[library][instance].length = api_table_length;
    if (id != NULL) {
        id->handle = (uint64_t)INSTANCES_MAX * (unsigned)library + instance;
    }
    /* Kept first: a tool that starts meanwhile, on another thread, finds them. */
    if (!ha_tables_keep((enum ha_table_library)library, lib_version, instance,
                        api_tables)) {
        return FAILED;
    }
    if (ha_tables_seeking()) {
        return NO_TOOLS;
    }
    registering = true;
    bool tools = ha_clients_start();
    if (tools) {
        ha_tables_update();
    }
    registering = false;
    return tools ? REGISTERED : NO_TOOLS;
}

const char *
rocprofiler_register_error_string(int code)
{
    static const char *const texts[] = {
        [REGISTERED] = "success",
        [NO_TOOLS] = "no tool asked for the tables",
        [DEADLOCK] = "registration within a registration",
        [BAD_LENGTH] = "too few tables",
        [UNSUPPORTED] = "a library of this name isn't known",
        [INVALID_ADDRESS] = "the import function is of another library",
        [FAILED] = "the profiler's library failed",
        [TOO_MANY] = "too many instances of the library",
    };

    return code >= 0 && code <= TOO_MANY ? texts[code] : NULL;
}

int
rocprofiler_register_iterate_registration_info(
    int (*callback)(struct ha_register_info *info, void *data), void *data)
{
    for (int library = 0; library < HA_LIBRARY_ACTIVITY; library++) {
        unsigned count = atomic_load(&instances[library]);
        for (unsigned i = 0; i < count; i++) {
            struct ha_register_info info = {
                .size = sizeof info,
                .common_name = ha_library_name((enum ha_table_library)library),
                .lib_version = known[library][i].version,
                .api_table_length = known[library][i].length,
            };
            int answer = callback(&info, data);
            if (answer != 0) {
                return answer;
            }
        }
    }
    return REGISTERED;
}

/* A tool that asks later is always given the tables: all that is left to do is to look
 * for tools again. */
static int
invoke(void)
{
    if (!ha_clients_start()) {
        return NO_TOOLS;
    }
    ha_tables_update();
    return REGISTERED;
}

int
rocprofiler_register_invoke_nonpropagated_registrations(void)
{
    return invoke();
}

int
rocprofiler_register_invoke_all_registrations(void)
{
    return invoke();
}
