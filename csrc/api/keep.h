/* SPDX-License-Identifier: MIT */
/* Objects that live as long as something of the provider: sources and options with
 * their program, an image with its module, a buffer with its registration.
 *
 * They are kept under the address of that something until the call that ends it
 * succeeds. All functions need the GIL. */
#ifndef HA_API_KEEP_H
#define HA_API_KEEP_H

#include "api/api.h"

/* Moves what the view holds under `address`.  0, or -1 with an exception. */
int ha_keep_view(struct ha_api *api, const void *address, struct ha_view *view);

/* Forgets what is kept under `address`; never fails. */
void ha_keep_drop(struct ha_api *api, const void *address);

#endif
