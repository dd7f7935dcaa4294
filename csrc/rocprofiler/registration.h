/* SPDX-License-Identifier: MIT */
/* Tables of functions that runtimes have handed over, as they came. */
#ifndef HA_ROCPROFILER_REGISTRATION_H
#define HA_ROCPROFILER_REGISTRATION_H

#include <stdbool.h>
#include <stdint.h>

#include "rocprofiler/sdk.h"

struct ha_activity;

/* Libraries in the order of AMD's numbers; the last one is our own (abi/activity.h). */
enum ha_table_library {
    HA_LIBRARY_HSA,
    HA_LIBRARY_HIP,
    HA_LIBRARY_ROCTX,
    HA_LIBRARY_HIP_COMPILER,
    HA_LIBRARY_RCCL,
    HA_LIBRARY_ROCDECODE,
    HA_LIBRARY_ROCJPEG,
    HA_LIBRARY_ACTIVITY,
    HA_LIBRARIES,
};

enum {
    HA_TABLES_MAX = 64, /* registrations in a process: bits of a word */
    HA_TABLES_EACH = 3, /* of one registration */
};

struct ha_registration {
    enum ha_table_library library;
    uint64_t version;
    uint64_t instance;
    void *tables[HA_TABLES_EACH];
    unsigned number;    /* of the registration */
    unsigned announced; /* it was reported to the contexts below */
};

/* The library of that name (an enum ha_table_library), or -1; its name, and how many
 * tables it has. */
int ha_library_named(const char *name);
const char *ha_library_name(enum ha_table_library library);
unsigned ha_library_tables(enum ha_table_library library);
/* The kind of table number `table` of a library; 0: no tool sees it. */
rocprofiler_intercept_table_t ha_library_kind(enum ha_table_library library,
                                              unsigned table);
/* What a tool is told when the library registers; 0: nothing. */
rocprofiler_runtime_initialization_operation_t
ha_library_operation(enum ha_table_library library);
/* Keeps the tables until ha_tables_update gives them to tools.  False: no room. */
bool ha_tables_keep(enum ha_table_library library, uint64_t version, uint64_t instance,
                    void *const *tables);
/* Registration number i in the order of time, or NULL. */
struct ha_registration *ha_registration_at(unsigned i);
/* What the device that handed over its activity table tells of itself, or NULL. */
const struct ha_activity *ha_activity_table(void);

#endif
