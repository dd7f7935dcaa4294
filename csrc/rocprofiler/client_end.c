/* SPDX-License-Identifier: MIT */
#include "rocprofiler/client_end.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "rocprofiler/activity.h"
#include "rocprofiler/buffer.h"
#include "rocprofiler/client.h"
#include "rocprofiler/context_switch.h"
#include "rocprofiler/in_tool.h"
#include "rocprofiler/lock.h"
#include "rocprofiler/sdk.h"
#include "rocprofiler/tables.h"

/* What the interface calls a status, for the last tool there is: one that comes later
 * sets it back. */
static _Atomic int ended;

static void (*start_forked)(void);

static void
call_finalize(void *data)
{
    const struct ha_client *client = data;

    client->result.finalize(client->result.tool_data);
}

/* What was enqueued is told first, then its records are given, then the tool is done.
 * Its buffers are there until then: tools flush them in `finalize`. */
void
ha_client_finalize(struct ha_client *client)
{
    int stage = HA_CLIENT_READY;

    if (!atomic_compare_exchange_strong(&client->stage, &stage, HA_CLIENT_ENDED)) {
        return;
    }
    bool last = !ha_clients_between(HA_CLIENT_CONFIGURED, HA_CLIENT_READY);
    if (last) {
        atomic_store(&ended, -1);
    }
    ha_contexts_stop(client);
    ha_activity_drain();
    ha_contexts_drop(client);
    ha_buffers_seal(client);
    ha_in_tool_wait();
    atomic_store(&client->finalizing, true);
    int crashed = client->result.finalize != NULL
                      ? ha_client_call(call_finalize, client, false)
                      : 0;
    atomic_store(&client->finalizing, false);
    ha_buffers_close(client);
    if (crashed != 0) {
        ha_log(0, "tool '%s': its finalize ended with %s", client->path,
               strsignal(crashed));
    }
    if (last) {
        atomic_store(&ended, 1);
    }
}

static void
at_exit(void)
{
    if (atomic_exchange(&ha_clients_finalized, -1) != 0) {
        return;
    }
    unsigned count = atomic_load(&ha_client_count);
    for (unsigned i = 0; i < count; i++) {
        ha_client_finalize(ha_clients[i]);
    }
    ha_contexts_drop(NULL);
    ha_buffers_end();
    atomic_store(&ha_clients_finalized, 1);
}

/* In a child nothing is observed: threads and half-written batches are the parent's. */
static void
forked(void)
{
    atomic_store(&ha_clients_finalized, 1);
    start_forked();
    ha_locks_forked();
    ha_in_tool_forked();
    ha_tables_forked();
    ha_buffers_forked();
    ha_contexts_drop(NULL);
}

void
ha_clients_watch(void (*forked_before)(void))
{
    static bool watched;

    if (!watched) {
        watched = true;
        start_forked = forked_before;
        (void)atexit(at_exit);
        (void)pthread_atfork(NULL, NULL, forked);
    }
    atomic_store(&ended, 0);
}

void
hipadapt_rocprofiler_finalize(void)
{
    at_exit();
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_is_finalized(int *status)
{
    int all = atomic_load(&ha_clients_finalized);

    *status = all != 0 ? all : atomic_load(&ended);
    return ROCPROFILER_STATUS_SUCCESS;
}
