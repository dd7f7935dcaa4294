/* SPDX-License-Identifier: MIT */
#include "rocprofiler/client_start.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "rocprofiler/buffer.h"
#include "rocprofiler/client.h"
#include "rocprofiler/client_end.h"
#include "rocprofiler/client_find.h"
#include "rocprofiler/context_switch.h"
#include "rocprofiler/sdk.h"
#include "rocprofiler/tables.h"

enum { RESULT_BYTES = sizeof(rocprofiler_tool_configure_result_t) };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool busy; /* a thread configures; under the lock */
static pthread_t busy_thread;
static bool searched; /* the places were looked at */

/* Those that are to be started, in order.  Only a thread with the right to configure
 * uses this, and what follows. */
static struct ha_client *fresh[HA_CLIENTS_MAX];
static unsigned fresh_count;
static uint32_t asked; /* tools so far, with those that declined */

/* The tool that has this configure function, or NULL. */
static struct ha_client *
find_client(rocprofiler_configure_func_t configure)
{
    unsigned count = atomic_load(&ha_client_count);

    for (unsigned i = 0; i < count; i++) {
        if (ha_clients[i]->configure == configure) {
            return ha_clients[i];
        }
    }
    return NULL;
}

/* A new place, or that of a tool that has declined; NULL: there is none. */
static struct ha_client *
take_place(void)
{
    unsigned count = atomic_load(&ha_client_count);

    if (count < HA_CLIENTS_MAX) {
        struct ha_client *client = calloc(1, sizeof *client);
        if (client != NULL) {
            ha_clients[count] = client;
            atomic_store(&ha_client_count, count + 1);
        }
        return client;
    }
    for (unsigned i = 0; i < count; i++) {
        if (ha_clients[i]->vacant) {
            return ha_clients[i];
        }
    }
    return NULL;
}

/* Gives the place to a tool that was not asked yet. */
static void
settle(struct ha_client *client, rocprofiler_configure_func_t configure)
{
    const uint32_t handle = 0x1000 + asked; /* no small number */

    client->vacant = false;
    client->id.size = sizeof client->id;
    client->id.name = NULL;
    memcpy((char *)&client->id + offsetof(rocprofiler_client_id_t, handle), &handle,
           sizeof handle);
    client->configure = configure;
    client->priority = asked++;
    ha_tool_path(configure, client->path, sizeof client->path);
    atomic_store(&client->stage, HA_CLIENT_FOUND);
    fresh[fresh_count++] = client;
}

/* One that the search has found: those that are known, or have declined, aren't asked
 * again. */
static void
add_found(rocprofiler_configure_func_t configure)
{
    if (find_client(configure) != NULL) {
        return;
    }
    struct ha_client *client = take_place();
    if (client == NULL) {
        ha_log(0, "a tool is left out: there is no room for another one");
        return;
    }
    settle(client, configure);
}

/* One that a program names: it may have declined before. */
static rocprofiler_status_t
add_forced(rocprofiler_configure_func_t configure)
{
    struct ha_client *client = find_client(configure);

    if (client != NULL && !client->vacant) {
        return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    }
    client = client != NULL ? client : take_place();
    if (client == NULL) {
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    settle(client, configure);
    return ROCPROFILER_STATUS_SUCCESS;
}

/* Looks for tools.  Their constructors run, and ask whether the library configures. */
static void
find(void)
{
    int before = atomic_exchange(&ha_clients_initialized, -1);

    searched = true;
    ha_tools_find(add_found);
    atomic_store(&ha_clients_initialized, before);
}

/* ---- starting ---- */

static void
call_configure(void *data)
{
    struct ha_client *client = data;
    const rocprofiler_tool_configure_result_t *result =
        client->configure(ROCPROFILER_SDK_VERSION, ROCPROFILER_SDK_VERSION_STRING,
                          client->priority, &client->id);

    if (result == NULL) {
        return;
    }
    if (result->size != RESULT_BYTES) {
        ha_log(0,
               "tool '%s' is left out: its result has %zu bytes, not %d: it was built "
               "for another version of rocprofiler-sdk",
               client->path, result->size, (int)RESULT_BYTES);
        return;
    }
    client->result = *result;
    atomic_store(&client->stage, HA_CLIENT_CONFIGURED);
}

static void
finalize_by_id(rocprofiler_client_id_t id)
{
    unsigned count = atomic_load(&ha_client_count);

    struct ha_client *current = ha_client_current();
    if (current != NULL && current->id.handle == id.handle) {
        atomic_store(&current->end_asked, true);
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        /* The place of one that isn't ready may become another's. */
        if (atomic_load(&ha_clients[i]->stage) == HA_CLIENT_READY &&
            ha_clients[i]->id.handle == id.handle) {
            ha_client_finalize(ha_clients[i]);
        }
    }
}

static void
call_initialize(void *data)
{
    struct ha_client *client = data;

    client->answer =
        client->result.initialize == NULL
            ? 0
            : client->result.initialize(finalize_by_id, client->result.tool_data);
}

static void
configure(struct ha_client *client)
{
    int crashed = ha_client_call(call_configure, client, false);

    if (crashed != 0) {
        ha_log(0, "tool '%s' is left out: its rocprofiler_configure ended with %s",
               client->path, strsignal(crashed));
    }
    if (crashed != 0 || atomic_load(&client->stage) != HA_CLIENT_CONFIGURED) {
        atomic_store(&client->stage, HA_CLIENT_ENDED);
        client->vacant = true; /* it has made nothing, and was given no finalizer */
    }
}

static void
initialize(struct ha_client *client)
{
    if (atomic_load(&client->stage) != HA_CLIENT_CONFIGURED) {
        return;
    }
    int crashed = ha_client_call(call_initialize, client, true);
    if (crashed != 0) {
        ha_log(0, "tool '%s' is dropped: its initialize ended with %s", client->path,
               strsignal(crashed));
    } else if (client->answer != 0) {
        ha_log(0, "tool '%s' is dropped: its initialize answered %d", client->path,
               client->answer);
    }
    if (crashed != 0 || client->answer != 0) {
        atomic_store(&client->stage, HA_CLIENT_ENDED);
        ha_contexts_drop(client);
        ha_buffers_close(client);
        return;
    }
    atomic_store(&client->stage, HA_CLIENT_READY);
    if (atomic_load(&client->end_asked)) {
        ha_client_finalize(client);
    }
}

/* Waits until no other thread is configuring, and takes the right to; false if this
 * thread has it already. */
static bool
enter(void)
{
    pthread_mutex_lock(&lock);
    if (busy && pthread_equal(busy_thread, pthread_self())) {
        pthread_mutex_unlock(&lock);
        return false;
    }
    while (busy) {
        pthread_cond_wait(&changed, &lock);
    }
    busy = true;
    busy_thread = pthread_self();
    pthread_mutex_unlock(&lock);
    return true;
}

static void
leave(void)
{
    pthread_mutex_lock(&lock);
    busy = false;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* In a forked child. */
static void
forked(void)
{
    busy = false;
    (void)pthread_mutex_init(&lock, NULL);
    (void)pthread_cond_init(&changed, NULL);
}

/* Configures and initializes those that were added. */
static void
start(void)
{
    unsigned count = fresh_count;

    if (count == 0) {
        return;
    }
    ha_clients_watch(forked);
    atomic_store(&ha_clients_initialized, -1);
    for (unsigned i = 0; i < count; i++) {
        configure(fresh[i]);
    }
    for (unsigned i = 0; i < count; i++) {
        initialize(fresh[i]);
    }
    fresh_count = 0;
    if (!ha_client_finalized()) {
        ha_buffers_start();
    }
    atomic_store(&ha_clients_initialized, 1);
}

bool
ha_clients_start(void)
{
    if (ha_client_finalized() || !enter()) {
        return false;
    }
    if (!searched) {
        find();
        start();
    }
    bool found = ha_clients_between(HA_CLIENT_READY, HA_CLIENT_READY);
    leave();
    return found;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_force_configure(rocprofiler_configure_func_t configure_func)
{
    rocprofiler_status_t status = ROCPROFILER_STATUS_SUCCESS;

    if (ha_client_finalized()) {
        return ROCPROFILER_STATUS_ERROR_FINALIZED;
    }
    /* Before the tool starts, which may ask for agents; and before this thread has the
     * right to configure, which a runtime that is handing over now waits for. */
    ha_tables_seek();
    if (!enter()) {
        return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    }
    if (configure_func != NULL) {
        status = add_forced(configure_func);
    }
    if (configure_func == NULL || !searched) {
        find();
    }
    start();
    if (configure_func == NULL) {
        atomic_store(&ha_clients_initialized, 1); /* without a tool, too */
    }
    leave();
    if (status == ROCPROFILER_STATUS_SUCCESS) {
        ha_tables_update();
    }
    return status;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_is_initialized(int *status)
{
    *status = atomic_load(&ha_clients_initialized);
    return ROCPROFILER_STATUS_SUCCESS;
}
