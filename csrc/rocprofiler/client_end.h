/* SPDX-License-Identifier: MIT */
/* The end of tools: by themselves, with the process, and in a forked child. */
#ifndef HA_ROCPROFILER_CLIENT_END_H
#define HA_ROCPROFILER_CLIENT_END_H

#include "rocprofiler/client.h"
#include "rocprofiler/sdk.h"

/* Ends a tool that is ready, once. */
void ha_client_finalize(struct ha_client *client);

/* There is a tool: it is finalized when the process exits, and the end that was
 * reported is none.  A forked child calls `forked` first. */
void ha_clients_watch(void (*forked)(void));

/* Ends all tools now, before the process does: for callers that know that it is ending.
 */
HA_SDK_EXPORT void hipadapt_rocprofiler_finalize(void);

#endif
