/* SPDX-License-Identifier: MIT */
/* Tables of functions that runtimes hand over. */
#ifndef HA_ROCPROFILER_TABLES_H
#define HA_ROCPROFILER_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "rocprofiler/state.h"

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
    unsigned announced; /* contexts that have been told of it are below */
};

/* The library of that name (an enum ha_table_library), or -1; its name, and how many
 * tables it has. */
int ha_library_named(const char *name);
const char *ha_library_name(enum ha_table_library library);
unsigned ha_library_tables(enum ha_table_library library);

/* The kind of table number `table` of a library; 0: no tool sees it. */
rocprofiler_intercept_table_t ha_library_kind(enum ha_table_library library,
                                              unsigned table);

/* Keeps the tables until ha_tables_update gives them to tools.  False: no room. */
bool ha_tables_keep(enum ha_table_library library, uint64_t version, uint64_t instance,
                    void *const *tables);

/* Puts wrappers into the slots of all known tables for what tools have asked for since,
 * subscribes to the device's activity, and tells tools of tables. */
void ha_tables_update(void);

/* Asks libraries of ours that are in the process for tables that they have kept back.
 * These are only kept; who asks starts tools. */
void ha_tables_seek(void);
bool ha_tables_seeking(void);

/* In a forked child. */
void ha_tables_forked(void);

/* Calls the tools that asked for it, each once a registration (intercept.c). */
void ha_intercept_tell(struct ha_registration *registration);

/* Waits until the device has told of all that it has finished. */
void ha_activity_drain(void);

/* What the device that handed over its activity table tells of itself, or NULL. */
const struct ha_activity *ha_activity_table(void);

#endif
