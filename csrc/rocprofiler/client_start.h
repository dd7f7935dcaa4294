/* SPDX-License-Identifier: MIT */
/* The beginning of tools: found, configured, initialized.
 *
 * Order: all configure functions, then all initialize functions.  Both run on the
 * thread that made the first use (or called rocprofiler_force_configure); other threads
 * that come meanwhile wait.  No lock is held while a tool's function runs. */
#ifndef HA_ROCPROFILER_CLIENT_START_H
#define HA_ROCPROFILER_CLIENT_START_H

#include <stdbool.h>

/* Finds and starts the tools, once; later calls only wait until that is done.  True if
 * there is a tool.  False at once on the thread that is in it already. */
bool ha_clients_start(void);

#endif
