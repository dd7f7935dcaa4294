/* SPDX-License-Identifier: MIT */
/* What client.c (beginning) and client_end.c share. */
#ifndef HA_ROCPROFILER_CLIENT_STATE_H
#define HA_ROCPROFILER_CLIENT_STATE_H

#include "rocprofiler/client.h"

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

/* Added to by who has the right to configure only. */
extern struct ha_client *ha_clients[HA_CLIENTS_MAX];
extern _Atomic unsigned ha_client_count;

/* Whether some tool is in one of these stages. */
bool ha_clients_between(enum ha_stage first, enum ha_stage last);

/* Calls a tool's function, guarded.  The signal that ended it, or 0. */
int ha_client_call(void (*function)(void *data), struct ha_client *client);

/* Ends a tool that is ready, once. */
void ha_client_finalize(struct ha_client *client);

/* There is a tool: it is finalized when the process exits, and the end that was
 * reported is none. */
void ha_clients_watch(void);

/* In a forked child. */
void ha_clients_forked(void);

#endif
