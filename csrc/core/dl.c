/* SPDX-License-Identifier: MIT */
#include "core/dl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void
note(struct ha_dl_tried *tried, const char *name, const char *reason)
{
    size_t room = sizeof tried->text - tried->used;
    int wrote = snprintf(tried->text + tried->used, room, "%s%s (%s)",
                         tried->used > 0 ? "; " : "", name, reason);

    if (wrote > 0) {
        tried->used += (size_t)wrote < room ? (size_t)wrote : room - 1;
    }
}

void *
ha_dl_open(const char *name, int flags, struct ha_dl_tried *tried)
{
    void *library = dlopen(name, flags);

    if (library == NULL && tried != NULL) {
        const char *reason = dlerror();
        note(tried, name, reason != NULL ? reason : "not loaded");
    }
    return library;
}

bool
ha_dl_beside(const void *address, const char *name, char *path, size_t bytes)
{
    Dl_info info;

    if (dladdr(address, &info) == 0 || info.dli_fname == NULL) {
        return false;
    }
    const char *slash = strrchr(info.dli_fname, '/');
    int folder = slash != NULL ? (int)(slash - info.dli_fname) + 1 : 0;
    int length = snprintf(path, bytes, "%.*s%s", folder, info.dli_fname, name);
    return length >= 0 && (size_t)length < bytes;
}
