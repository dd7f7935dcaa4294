/* SPDX-License-Identifier: MIT */
/* Tools: which there are, and which one runs on this thread.
 *
 * A tool goes from stage to stage: found, configured, ready, ended (client_start.c,
 * client_end.c).  The *window* is a tool's `initialize`: contexts and services are made
 * within it, on its thread. */
#ifndef HA_ROCPROFILER_CLIENT_H
#define HA_ROCPROFILER_CLIENT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "rocprofiler/sdk.h"

enum {
    HA_CLIENTS_MAX = 128,
    HA_CLIENT_PATH_BYTES = 512,
};

enum ha_stage {
    HA_CLIENT_FOUND,
    HA_CLIENT_CONFIGURED,
    HA_CLIENT_READY,
    HA_CLIENT_ENDED
};

struct ha_client {
    rocprofiler_client_id_t id;
    rocprofiler_configure_func_t configure;
    rocprofiler_tool_configure_result_t result;
    char path[HA_CLIENT_PATH_BYTES]; /* the file it came from */
    uint32_t priority;
    bool vacant; /* it declined: another one may have its place */
    _Atomic int stage;
    atomic_bool end_asked;  /* by itself, within initialize */
    atomic_bool finalizing; /* its `finalize` runs */
    int answer;
};

/* Only a thread with the right to configure adds to them (client_start.c). */
extern struct ha_client *ha_clients[HA_CLIENTS_MAX];
extern _Atomic unsigned ha_client_count;

/* What the interface calls a status: 0 before, -1 meanwhile, 1 after.  client_start.c
 * writes the first, client_end.c the second. */
extern _Atomic int ha_clients_initialized, ha_clients_finalized;

/* The tool whose `initialize` runs on this thread. */
struct ha_client *ha_client_current(void);

/* The tool whose configure function or `initialize` runs on this thread. */
struct ha_client *ha_client_running(void);

/* It declined or failed, or was finalized; false for NULL. */
bool ha_client_ended(const struct ha_client *client);

/* Its `finalize` runs: it is told nothing more, but what it has made is still there. */
bool ha_client_finalizing(const struct ha_client *client);

/* True within a tool's `initialize`, on its thread. */
bool ha_client_in_window(void);

/* True where configure and initialize are over, for this thread. */
bool ha_client_locked(void);

/* True once the process is about to end, and in a forked child. */
bool ha_client_finalized(void);

/* Whether some tool is in one of these stages. */
bool ha_clients_between(enum ha_stage first, enum ha_stage last);

/* Calls a tool's function, guarded, with the window open or not.  The signal that ended
 * it, or 0. */
int ha_client_call(void (*function)(void *data), struct ha_client *client, bool window);

#endif
