/* SPDX-License-Identifier: MIT */
/* Contexts are started and stopped, by tools and with their tool. */
#ifndef HA_ROCPROFILER_CONTEXT_SWITCH_H
#define HA_ROCPROFILER_CONTEXT_SWITCH_H

#include "rocprofiler/client.h"

/* Stops all contexts of a client (NULL: all): what is under way is still told. */
void ha_contexts_stop(const struct ha_client *client);
/* Stops them for good: nothing more is told. */
void ha_contexts_drop(const struct ha_client *client);

#endif
