/* SPDX-License-Identifier: MIT */
/* From the views of an asynchronous call to an item of api/pending.h. */
#ifndef HA_API_HOLD_H
#define HA_API_HOLD_H

#include "adapters/launch_data.h"
#include "adapters/view.h"
#include "api/api.h"

/* After a successful asynchronous call: keeps what the views hold until `stream` has
 * passed that call.  Cheap where they hold nothing.  0, or -1 with an exception. */
int ha_hold_views(struct ha_api *api, hipStream_t stream, struct ha_view *const *views,
                  int count);

/* Around an asynchronous copy: tells the CPU device which of its two sides
 * ha_hold_views is going to keep, so that the call need not wait for them. */
void ha_hold_begin(const struct ha_view *dst, const struct ha_view *src);
void ha_hold_end(void);

/* Around a call that reads an image, whose size HIP is not told: tells the CPU device
 * how many bytes the view shows. */
void ha_hold_image(const struct ha_view *image);
void ha_hold_image_end(void);

/* As ha_hold_views, for the arguments of a kernel. */
int ha_hold_launch(struct ha_api *api, hipStream_t stream,
                   struct ha_launch_arguments *launch);

/* The same for a launch of what keeps things under `address` (api/keep.h). */
int ha_hold_kept(struct ha_api *api, hipStream_t stream, const void *address);

/* The same for work on several streams: each of `count` records of `stride` bytes that
 * the view shows has one at `offset`. */
int ha_hold_on_each(struct ha_api *api, size_t offset, size_t stride, long long count,
                    struct ha_view *view);

#endif
