/* SPDX-License-Identifier: MIT */
/* From the views of an asynchronous call to an item of api/pending.h. */
#ifndef HA_API_HOLD_H
#define HA_API_HOLD_H

#include "api/api.h"

/* After a successful asynchronous call: keeps what the views hold until `stream` has
 * passed that call.  Cheap where they hold nothing.  0, or -1 with an exception. */
int ha_hold_views(struct ha_api *api, hipStream_t stream, struct ha_view *const *views,
                  int count);

#endif
