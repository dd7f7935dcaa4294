/* SPDX-License-Identifier: MIT */
#include "rocprofiler/internal_thread.h"

#include <signal.h>
#include <stdatomic.h>

#include "rocprofiler/client.h"
#include "rocprofiler/in_tool.h"
#include "rocprofiler/lock.h"
#include "rocprofiler/sdk.h"

enum {
    LISTENERS_MAX = 64,
    LIBRARIES = 2 * ROCPROFILER_LIBRARY_LAST - 1, /* all bits */
};

/* Entries below the count don't change any more. */
static struct {
    rocprofiler_internal_thread_library_cb_t before;
    rocprofiler_internal_thread_library_cb_t after;
    void *data;
    const struct ha_client *client; /* NULL: not known */
} listeners[LISTENERS_MAX];
static _Atomic unsigned listener_count;

static void
tell(unsigned count, bool created)
{
    for (unsigned i = 0; i < count; i++) {
        rocprofiler_internal_thread_library_cb_t callback =
            created ? listeners[i].after : listeners[i].before;
        if (callback != NULL && !ha_client_ended(listeners[i].client)) {
            ha_in_tool_enter();
            callback(ROCPROFILER_LIBRARY, listeners[i].data);
            ha_in_tool_leave();
        }
    }
}

bool
ha_internal_thread_start(pthread_t *thread, void *(*function)(void *), void *argument)
{
    unsigned count = atomic_load(&listener_count);
    sigset_t all, before;

    tell(count, false);
    sigfillset(&all); /* the program's handlers run on the program's threads */
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    bool good = pthread_create(thread, NULL, function, argument) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    tell(count, true);
    return good;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_at_internal_thread_create(
    rocprofiler_internal_thread_library_cb_t precreate,
    rocprofiler_internal_thread_library_cb_t postcreate, int libs, void *data)
{
    rocprofiler_status_t status = ROCPROFILER_STATUS_SUCCESS;

    if (libs <= 0 || libs > LIBRARIES) {
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    }
    if (ha_client_locked()) {
        return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    }
    if ((libs & ROCPROFILER_LIBRARY) == 0) {
        return ROCPROFILER_STATUS_SUCCESS; /* others start none that we know of */
    }
    ha_lock(HA_LOCK_THREADS);
    unsigned number = atomic_load(&listener_count);
    if (number == LISTENERS_MAX) {
        status = ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    } else {
        listeners[number].before = precreate;
        listeners[number].after = postcreate;
        listeners[number].data = data;
        listeners[number].client = ha_client_running();
        atomic_store(&listener_count, number + 1);
    }
    ha_unlock(HA_LOCK_THREADS);
    return status;
}
