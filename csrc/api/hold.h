/* SPDX-License-Identifier: MIT */
/* From the views of an asynchronous call to an item of api/pending.h. */
#ifndef HA_API_HOLD_H
#define HA_API_HOLD_H

#include "adapters/launch.h"
#include "api/api.h"

/* After a successful asynchronous call: keeps what the views hold until `stream` has
 * passed that call.  Cheap where they hold nothing.  0, or -1 with an exception. */
int ha_hold_views(struct ha_api *api, hipStream_t stream, struct ha_view *const *views,
                  int count);

/* The same for the arguments of a kernel. */
int ha_hold_launch(struct ha_api *api, hipStream_t stream, struct ha_launch *launch);

/* The same for a launch of what keeps things under `address` (api/keep.h). */
int ha_hold_kept(struct ha_api *api, hipStream_t stream, const void *address);

/* The same for work on several streams: each of `count` records of `stride` bytes that
 * the view shows has one at `offset`. */
int ha_hold_on_each(struct ha_api *api, size_t offset, size_t stride, long long count,
                    struct ha_view *view);

#endif
