/* SPDX-License-Identifier: MIT */
/* A private folder (0700) with the headers that a program registered, for the time of
 * one compilation.  Made only where there are headers.  The struct owns everything in
 * it; the folder goes with ha_workdir_remove. */
#ifndef HA_CPU_WORKDIR_H
#define HA_CPU_WORKDIR_H

#include <limits.h>
#include <stdint.h>

#include "core/status.h"
#include "cpu/buffer.h"

struct ha_workdir {
    char path[PATH_MAX]; /* "" while there is no folder */
    struct ha_list made; /* what is in it, in order of creation */
};

/* Whether a header can be registered under this name: a relative path without `.` and
 * `..` and control characters.  HA_ERROR_INVALID with a text that names it. */
enum ha_status ha_workdir_check_name(const char *name);

/* Makes the folder under $TMPDIR, else /tmp, and writes the headers.  After a failure
 * the caller calls ha_workdir_remove all the same. */
enum ha_status ha_workdir_make(struct ha_workdir *dir, const char *const *names,
                               const char *const *texts, uint32_t count);
void ha_workdir_remove(struct ha_workdir *dir);

#endif
