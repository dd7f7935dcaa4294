/* SPDX-License-Identifier: MIT */
/* One of the ways on which recordings are asked for from outside (listen.h). */
#ifndef HA_TOOL_PROFILER_WAY_H
#define HA_TOOL_PROFILER_WAY_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

enum { HA_WAY_FDS_MAX = 8 };

/* Functions are called with `working` held, but for `forked`. */
struct ha_way {
    const char *name;
    /* A thread of the program opens it: only here may it read the environment. */
    enum ha_status (*open)(void);
    /* Descriptors to wait for, HA_WAY_FDS_MAX at most; lowers *due_ns (ha_clock_ns) to
     * when it wants a look in any case. */
    size_t (*wait)(struct pollfd *fds, uint64_t *due_ns);
    /* Does what there is to do, without waiting. */
    void (*look)(uint64_t now_ns);
    /* The process ends; the descriptors may stay. */
    void (*end)(void);
    /* In a forked child: closes descriptors, and nothing else. */
    void (*forked)(void);
};

#endif
