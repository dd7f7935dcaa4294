/* SPDX-License-Identifier: MIT */
#include "tool/profiler/machine.h"

#include <time.h>

#include "core/clock.h"

#define NS_A_MS UINT64_C(1000000)

static int64_t
unix_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now); /* can't fail for this clock */
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The step at which it starts: in the future, and with room for the warm-up. */
static enum ha_status
plan_step(struct ha_plan *plan, int64_t steps)
{
    const struct ha_config *config = &plan->config;
    int64_t first = steps + config->warmup_iterations;
    int64_t round = config->start_iteration_roundup;

    if (round > 0) {
        plan->start_step = (first / round + 1) * round;
        return HA_OK;
    }
    if (config->start_iteration < steps) {
        return ha_error_set(
            HA_ERROR_INVALID,
            "PROFILE_START_ITERATION: %d is over, the program is at %lld",
            config->start_iteration, (long long)steps);
    }
    plan->start_step = config->start_iteration;
    return HA_OK;
}

enum ha_status
ha_plan_make(struct ha_plan *plan, const struct ha_config *config, int64_t steps)
{
    int64_t wait = config->warmup_ms;

    *plan = (struct ha_plan){
        .config = *config,
        .by_iteration = ha_config_by_iteration(config),
        .made_ns = ha_clock_ns(),
        .start_step = -1,
    };
    if (!config->enabled) {
        return ha_error_set(HA_ERROR_INVALID,
                            "ACTIVITIES_ENABLED: requests are switched off");
    }
    if (plan->by_iteration) {
        return steps >= 0 ? plan_step(plan, steps) : HA_OK;
    }
    if (config->start_time_ms != 0) {
        wait = config->start_time_ms - unix_ms();
        if (wait < 0) {
            return ha_error_set(HA_ERROR_INVALID,
                                "PROFILE_START_TIME: %lld is %lld ms in the past",
                                (long long)config->start_time_ms, (long long)-wait);
        }
    }
    plan->start_ns = plan->made_ns + (uint64_t)wait * NS_A_MS;
    return HA_OK;
}

static enum ha_plan_step
next_by_step(struct ha_plan *plan, int64_t steps, bool warm, bool started)
{
    if (started) {
        return steps >= plan->started_step + plan->config.iterations ? HA_PLAN_STOP
                                                                     : HA_PLAN_WAIT;
    }
    if (plan->start_step < 0) {
        if (steps < 0) {
            /* Where iterations count, the period is for the first of them. */
            uint64_t period = (uint64_t)plan->config.warmup_ms * NS_A_MS;
            if (ha_clock_ns() - plan->made_ns < period) {
                return HA_PLAN_WAIT;
            }
            (void)ha_error_set(HA_ERROR_TIMEOUT,
                               "the request counts iterations, but the program has "
                               "never called step()");
            return HA_PLAN_GIVE_UP;
        }
        if (plan_step(plan, steps) != HA_OK) {
            return HA_PLAN_GIVE_UP;
        }
    }
    if (!warm) {
        return steps >= plan->start_step - plan->config.warmup_iterations
                   ? HA_PLAN_WARM_UP
                   : HA_PLAN_WAIT;
    }
    return steps >= plan->start_step ? HA_PLAN_START : HA_PLAN_WAIT;
}

enum ha_plan_step
ha_plan_next(struct ha_plan *plan, int64_t steps, bool warm, bool started)
{
    uint64_t now = ha_clock_ns();
    uint64_t warmup = (uint64_t)plan->config.warmup_ms * NS_A_MS;
    uint64_t duration = (uint64_t)plan->config.duration_ms * NS_A_MS;

    if (plan->by_iteration) {
        return next_by_step(plan, steps, warm, started);
    }
    if (started) {
        return now - plan->started_ns >= duration ? HA_PLAN_STOP : HA_PLAN_WAIT;
    }
    if (!warm) {
        return now + warmup >= plan->start_ns ? HA_PLAN_WARM_UP : HA_PLAN_WAIT;
    }
    return now >= plan->start_ns ? HA_PLAN_START : HA_PLAN_WAIT;
}

void
ha_plan_started(struct ha_plan *plan, int64_t steps)
{
    plan->started_ns = ha_clock_ns();
    plan->started_step = steps;
}
