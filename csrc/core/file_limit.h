/* SPDX-License-Identifier: MIT */
/* Writing past RLIMIT_FSIZE, files in memory included, ends a process by SIGXFSZ unless
 * the program has said otherwise.  A library must not do that to it: while a thread
 * *holds* the limit, its writes fail with EFBIG and no signal comes. */
#ifndef HA_CORE_FILE_LIMIT_H
#define HA_CORE_FILE_LIMIT_H

#include <signal.h>
#include <stdbool.h>

struct ha_file_limit {
    sigset_t mask; /* of the thread before */
    bool pending;  /* SIGXFSZ was there before */
};

/* Both are for the calling thread, in pairs; errno stays. */
void ha_file_limit_hold(struct ha_file_limit *held);
void ha_file_limit_release(const struct ha_file_limit *held);

#endif
