/* SPDX-License-Identifier: MIT */
/* Tools: found, configured, initialized, finalized.
 *
 * Order: all configure functions, then all initialize functions.  Both run on the
 * thread that made the first use (or called rocprofiler_force_configure); other threads
 * that come meanwhile wait.  No lock is held while a tool's function runs. */
#ifndef HA_ROCPROFILER_CLIENT_H
#define HA_ROCPROFILER_CLIENT_H

#include <stdbool.h>

#include "rocprofiler/state.h"

/* Finds and starts the tools, once; later calls only wait until that is done.  True if
 * there is a tool.  False at once on the thread that is in it already. */
bool ha_clients_start(void);

/* The tool whose `initialize` runs on this thread. */
struct ha_client *ha_client_current(void);

/* The tool whose configure function or `initialize` runs on this thread. */
struct ha_client *ha_client_running(void);

/* It declined or failed, or was finalized; NULL hasn't. */
bool ha_client_ended(const struct ha_client *client);

/* Its `finalize` runs: it is told nothing more, but what it has made is still there. */
bool ha_client_finalizing(const struct ha_client *client);

/* True within a tool's `initialize`, on its thread. */
bool ha_client_in_window(void);

/* True where configure and initialize are over, for this thread. */
bool ha_client_locked(void);

/* True once the process is about to end, and in a forked child. */
bool ha_client_finalized(void);

/* Ends all tools now, before the process does: for whoever knows that it is ending. */
HA_SDK_EXPORT void hipadapt_rocprofiler_finalize(void);

#endif
