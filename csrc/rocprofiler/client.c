/* SPDX-License-Identifier: MIT */
#include "rocprofiler/client.h"

#include "rocprofiler/guard.h"
#include "rocprofiler/in_tool.h"

struct ha_client *ha_clients[HA_CLIENTS_MAX];
_Atomic unsigned ha_client_count;

_Atomic int ha_clients_initialized, ha_clients_finalized;

static _Thread_local struct ha_client *current, *running;

struct ha_client *
ha_client_current(void)
{
    return current;
}

struct ha_client *
ha_client_running(void)
{
    return running;
}

bool
ha_client_ended(const struct ha_client *client)
{
    return client != NULL && atomic_load(&client->stage) == HA_CLIENT_ENDED;
}

bool
ha_client_finalizing(const struct ha_client *client)
{
    return atomic_load(&client->finalizing);
}

bool
ha_client_in_window(void)
{
    return current != NULL;
}

bool
ha_client_locked(void)
{
    return atomic_load(&ha_clients_initialized) > 0 && running == NULL;
}

bool
ha_client_finalized(void)
{
    return atomic_load(&ha_clients_finalized) != 0;
}

bool
ha_clients_between(enum ha_stage first, enum ha_stage last)
{
    unsigned count = atomic_load(&ha_client_count);
    bool found = false;

    for (unsigned i = 0; i < count && !found; i++) {
        int stage = atomic_load(&ha_clients[i]->stage);
        found = stage >= (int)first && stage <= (int)last;
    }
    return found;
}

int
ha_client_call(void (*function)(void *data), struct ha_client *client, bool window)
{
    unsigned depth = ha_in_tool();

    running = client;
    if (window) {
        current = client;
    }
    ha_in_tool_set(depth + 1);
    int crashed = ha_guarded(function, client);
    ha_in_tool_set(depth); /* whatever it was in */
    running = NULL;
    if (window) {
        current = NULL;
    }
    return crashed;
}
