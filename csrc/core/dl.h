/* SPDX-License-Identifier: MIT */
/* Loading libraries, with errors that list every place that was tried. */
#ifndef HA_CORE_DL_H
#define HA_CORE_DL_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

#define HA_DL_TRIED_BYTES 1536

/* What a search tried so far, for the message at its end. */
struct ha_dl_tried {
    char text[HA_DL_TRIED_BYTES];
    size_t used;
};

/* dlopen with `flags` of dlfcn.h.  NULL on failure; then "name (reason)" is added to
 * `tried` if that is not NULL. */
void *ha_dl_open(const char *name, int flags, struct ha_dl_tried *tried);

/* The path of `name`, such as "_lib/x.so", from the folder of the library or program
 * that has `address`.  False where that isn't known, or is too long. */
bool ha_dl_beside(const void *address, const char *name, char *path, size_t bytes);

#endif
