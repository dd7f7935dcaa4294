/* SPDX-License-Identifier: MIT */
/* Finding a provider's libraries: which places are looked at, in which order, and what
 * is tried before an installed driver is trusted.
 *
 * Plain C: it runs without the GIL, under the load lock of provider.c. */
#ifndef HA_API_PROVIDER_FIND_H
#define HA_API_PROVIDER_FIND_H

#include "api/generated/calls.h"
#include "api/provider.h"
#include "core/dl.h"

/* A search in progress. */
struct ha_provider_search {
    char interpreter[1024]; /* python, for probing; "" where it doesn't know its path */
    char compiler[1024];    /* the zig program, or "" */
    struct ha_provider found;
    struct ha_dl_tried tried;
    struct ha_call_table calls;
    bool failed;
};

/* Opens the libraries that HIPADAPT_PROVIDER asks for, and fills in kind, hip, rtc,
 * path, why and tried of `found`.  False where there is none; `tried` has the places.
 */
bool ha_provider_find(struct ha_provider_search *search);

#endif
