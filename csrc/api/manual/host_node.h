/* SPDX-License-Identifier: MIT */
/* Parameters of a graph's host node.
 *
 * They are a hipHostNodeParams, whose function is a C function then; or a tuple
 * (callable, user): a Python callable is called as callable(user) each time the node
 * runs, as hipLaunchHostFunc does it once (host_call.h). */
#ifndef HA_API_MANUAL_HOST_NODE_H
#define HA_API_MANUAL_HOST_NODE_H

#include "adapters/message.h"
#include "adapters/view.h"
#include "api/api.h"

/* `const hipHostNodeParams *`; the view's owner keeps callable and user data.  0, or -1
 * with an exception. Needs the GIL. */
int ha_host_node_from(struct ha_api *api, PyObject *object,
                      const struct ha_where *where, struct ha_view *out);

#endif
