/* SPDX-License-Identifier: MIT */
/* A private folder (0700) with the headers that a program registered, for the time of
 * one compilation.  Made only where there are headers.  The struct owns everything in
 * it; the folder goes with ha_workdir_remove.
 *
 * A process that is killed leaves its folder behind.  The process that made a folder
 * holds a lock on it (flock), which ends with that process, even if its number is used
 * again.  So a folder of this user that can be locked belongs to no process, and is
 * swept.  The same holds for the folders of hipadapt-cc (hipadapt/_cc/work_folder.py);
 * names begin with HA_WORKDIR_PREFIX. */
#ifndef HA_CPU_COMPILE_WORKDIR_H
#define HA_CPU_COMPILE_WORKDIR_H

#include <limits.h>
#include <stdint.h>

#include "core/status.h"
#include "cpu/compile/buffer.h"

#define HA_WORKDIR_PREFIX "hipadapt-work-"

struct ha_workdir {
    char path[PATH_MAX]; /* "" while there is no folder */
    int lock;            /* owned descriptor of the folder, only where there is one */
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

/* Removes what dead processes of this user left there; once a process. */
void ha_workdir_sweep(void);

#endif
