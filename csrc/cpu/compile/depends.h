/* SPDX-License-Identifier: MIT */
/* What the result of a compilation depends on besides the program and our own headers.
 *
 * The front end lists the files it read.  That is not all: a file that is added later
 * may hide one of them, or turn a __has_include.  So the paths at which such a file
 * could appear are listed as well, and a program that asks for the time of day, or for
 * the presence of a file that we can't tell, is not cached at all.  Pure, but for
 * reading the files; no lock. */
#ifndef HA_CPU_COMPILE_DEPENDS_H
#define HA_CPU_COMPILE_DEPENDS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "cpu/compile/buffer.h"
#include "cpu/compile/cache.h"

struct ha_depends_request { /* everything is borrowed */
    const char *rules;      /* what the front end wrote as its dependency file */
    size_t rules_size;
    const char *const *own; /* folders whose files are in the key anyway */
    uint32_t own_count;
    const struct ha_list *dirs;  /* include folders, absolute */
    const struct ha_list *texts; /* program texts and macros that are in the key */
    struct timespec since;       /* CLOCK_REALTIME before the front end started */
};

/* Fills `inputs`; true if the result may be cached. */
bool ha_depends_collect(const struct ha_depends_request *request,
                        struct ha_cache_inputs *inputs);

#endif
