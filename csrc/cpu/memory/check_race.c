/* SPDX-License-Identifier: MIT */
#include "cpu/memory/check_race.h"

#include <stdio.h>
#include <string.h>

#include "cpu/base/check_kinds.h"
#include "cpu/check/finding.h"
#include "cpu/check/race.h"
#include "cpu/memory/check_access.h"
#include "cpu/memory/check_side.h"

/* Sites lie near the kernel, in the same image: their distance in words. */
static uint32_t
mark_of(const struct ha_image_kernel *kernel, const struct ha_check_site *site)
{
    intptr_t words = ((intptr_t)site - (intptr_t)kernel) / 8;

    return (uint32_t)words & (HA_RACE_MARKS - 1);
}

static const struct ha_check_site *
site_of(const struct ha_image_kernel *kernel, uint32_t mark)
{
    intptr_t words = mark >= HA_RACE_MARKS / 2
                         ? (intptr_t)mark - (intptr_t)HA_RACE_MARKS
                         : (intptr_t)mark;

    return (const struct ha_check_site *)((intptr_t)kernel + 8 * words);
}

struct ha_check_side
ha_check_side_of_mark(const struct ha_launch *launch, uint32_t mark)
{
    const struct ha_check_site *site = site_of(launch->kernel, mark);

    return ha_check_side_at(launch, site, site->bytes);
}

static uint32_t
lane_number(const struct ha_lane *lane)
{
    const uint32_t *dim = lane->grid->block_dim, *at = lane->thread_idx;

    return at[0] + dim[0] * (at[1] + dim[1] * at[2]);
}

/* That stores a value which is told. */
static bool
is_plain_store(const struct ha_check_site *site)
{
    return (site->what & (HA_SITE_READ | HA_SITE_ATOMIC | HA_SITE_VALUED)) ==
           HA_SITE_VALUED;
}

static void
report_race(const struct ha_told *access, const struct ha_race_other *other)
{
    const struct ha_launch *launch = access->runner->group->launch;
    const struct ha_check_site *site = site_of(launch->kernel, other->mark);
    bool equal = other->equal && is_plain_store(site);
    char message[96];
    struct ha_check_finding found = {
        .what = equal ? HA_FOUND_EQUAL_RACE : HA_FOUND_RACE,
        .device = (int)launch->device,
        .address = other->at,
        .here = ha_told_side(access),
        .other = ha_check_side_at(launch, site,
                                  site->bytes > 0 ? site->bytes : access->size),
        .message = message,
    };

    if (equal && (ha_check_kinds() & HA_CHECK_EQUAL) == 0) {
        return;
    }
    ha_check_side_place(&found.other, &launch->grid, other->block, other->lane);
    found.memory = ha_told_memory(access);
    (void)snprintf(message, sizeof message, "race: %s after %s without an order%s",
                   ha_told_word(access->site->what), ha_told_word(site->what),
                   equal ? ", of one value" : "");
    ha_finding_add(&found);
}

/* For lanes of the block, or for fewer. */
static bool
is_narrow(uint32_t what)
{
    uint32_t scope = what & HA_SITE_SCOPE_MASK;

    return scope == HA_SITE_SCOPE_BLOCK || scope == HA_SITE_SCOPE_WARP ||
           scope == HA_SITE_SCOPE_LANE;
}

/* A compare-and-swap that is not going to swap only reads; of memory that may have gone
 * nobody knows. */
static bool
will_write(const struct ha_told *access, bool gone)
{
    return ha_told_writes(access) &&
           ((access->site->what & HA_SITE_EXCHANGE) == 0 || gone ||
            memcmp((const void *)access->at, &access->value, access->size) == 0);
}

void
ha_told_race(const struct ha_told *access, bool gone)
{
    struct ha_runner *runner = access->runner;
    struct ha_launch *launch = runner->group->launch;
    uint32_t what = access->site->what;
    struct ha_race_other others[HA_RACE_OTHERS];
    bool writes = will_write(access, gone);
    const struct ha_race_access told = {
        .at = access->at,
        .bytes = access->size,
        .lane = lane_number(runner->lane),
        .mark = mark_of(launch->kernel, access->site),
        .reads = (what & HA_SITE_READ) != 0,
        .writes = writes,
        .atomic = (what & (HA_SITE_ATOMIC | HA_SITE_VOLATILE)) != 0,
        .acquire = (what & HA_SITE_ACQUIRE) != 0,
        .release = writes && (what & HA_SITE_RELEASE) != 0,
        .narrow = is_narrow(what),
        .shared = ha_told_in_block(access),
        .value = is_plain_store(access->site) ? &access->value : NULL,
    };

    ha_runner_busy(runner);
    if ((what & HA_SITE_FENCE) != 0) {
        ha_race_fence(launch->checks, told.lane, told.acquire,
                      (what & HA_SITE_RELEASE) != 0, told.narrow);
    } else {
        unsigned count = ha_race_access(launch->checks, &told, others);
        for (unsigned i = 0; i < count; i++) {
            report_race(access, &others[i]);
        }
    }
    ha_runner_idle(runner);
}
