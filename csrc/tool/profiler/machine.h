/* SPDX-License-Identifier: MIT */
/* The plan of a request: when its recording warms up, starts and stops.
 *
 * By time it follows Unix time, and by iterations the program's steps, which count from
 * 0; -1 is before the first one.  Plain data: the session's lock guards it. */
#ifndef HA_TOOL_PROFILER_MACHINE_H
#define HA_TOOL_PROFILER_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"
#include "tool/profiler/config.h"

enum ha_plan_step {
    HA_PLAN_WAIT,
    HA_PLAN_WARM_UP,
    HA_PLAN_START,
    HA_PLAN_STOP,
    HA_PLAN_GIVE_UP, /* the text of the failure says why */
};

struct ha_plan {
    struct ha_config config;
    bool by_iteration;
    uint64_t made_ns; /* CLOCK_MONOTONIC, as the next two */
    uint64_t start_ns;
    uint64_t started_ns;
    int64_t start_step; /* -1: not known, for no step was seen */
    int64_t started_step;
};

/* A plan of this configuration.  HA_ERROR_INVALID: it is off, or its start is past. */
enum ha_status ha_plan_make(struct ha_plan *plan, const struct ha_config *config,
                            int64_t steps);

/* What is to be done now; `warm`: it has warmed up; `started`: it has started. */
enum ha_plan_step ha_plan_next(struct ha_plan *plan, int64_t steps, bool warm,
                               bool started);

/* It has started. */
void ha_plan_started(struct ha_plan *plan, int64_t steps);

#endif
