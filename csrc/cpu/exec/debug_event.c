/* SPDX-License-Identifier: MIT */
#include "cpu/exec/debug_event.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "core/clock.h"
#include "cpu/exec/debug.h"
#include "cpu/exec/fault.h"
#include "cpu/exec/launch.h"

enum { BEGUN_NO, BEGUN_TELLING, BEGUN_TOLD };

static _Atomic uint64_t last_number;

/* The sink, if it wants such events of the launch's device; else NULL. */
static const struct ha_debug_sink *
sink_for(const struct ha_launch *launch, unsigned bits)
{
    const struct ha_debug_sink *sink = ha_debug_get_sink();

    return sink != NULL && (sink->wants((int)launch->device) & bits) != 0 ? sink : NULL;
}

/* Launches get a number when they first tell something, from whichever thread. */
static uint64_t
number_of(struct ha_launch *launch)
{
    uint64_t number = atomic_load(&launch->debug_number);

    if (number == 0) {
        uint64_t next = atomic_fetch_add(&last_number, 1) + 1;
        number = atomic_compare_exchange_strong(&launch->debug_number, &number, next)
                     ? next
                     : number;
    }
    return number;
}

static struct ha_debug_event
event_of(struct ha_launch *launch, enum ha_debug_kind kind, uint64_t begin_ns)
{
    struct ha_debug_event event = {
        .size = sizeof event,
        .kind = kind,
        .device = (int)launch->device,
        .kernel = launch->kernel->name,
        .launch = number_of(launch),
        .begin_ns = begin_ns,
    };

    memcpy(event.grid, launch->grid.grid_dim, sizeof event.grid);
    memcpy(event.block, launch->grid.block_dim, sizeof event.block);
    memset(event.at, 0xff, sizeof event.at);
    return event;
}

void
ha_debug_event_begin(struct ha_launch *launch, uint64_t begin_ns)
{
    const struct ha_debug_sink *sink = sink_for(launch, HA_DEBUG_BIT(HA_DEBUG_BEGIN));
    int begun = BEGUN_NO;

    if (sink == NULL) {
        return;
    }
    if (atomic_compare_exchange_strong(&launch->debug_begun, &begun, BEGUN_TELLING)) {
        const struct ha_debug_event event = event_of(launch, HA_DEBUG_BEGIN, begin_ns);
        sink->event(&event);
        atomic_store(&launch->debug_begun, BEGUN_TOLD);
        return;
    }
    /* What a helper's blocks send comes after it. */
    while (atomic_load(&launch->debug_begun) != BEGUN_TOLD) {
        (void)sched_yield();
    }
}

void
ha_debug_event_end(struct ha_launch *launch, uint64_t begin_ns, int status,
                   const char *text)
{
    enum ha_debug_kind kind = status == 0 ? HA_DEBUG_END : HA_DEBUG_ERROR;
    const struct ha_debug_sink *sink = sink_for(launch, HA_DEBUG_BIT(kind));

    if (sink != NULL) {
        struct ha_debug_event event = event_of(launch, kind, begin_ns);
        event.end_ns = ha_clock_ns();
        event.status = status;
        event.text = text;
        event.text_bytes = text != NULL ? strlen(text) : 0;
        sink->event(&event);
    }
}

void
ha_debug_event_print(const struct ha_runner *runner, const char *text, size_t length)
{
    struct ha_launch *launch = runner->launch;
    const struct ha_debug_sink *sink = sink_for(launch, HA_DEBUG_BIT(HA_DEBUG_PRINT));
    const struct ha_lane *lane = runner->lane;

    if (sink == NULL) {
        return;
    }
    struct ha_debug_event event = event_of(launch, HA_DEBUG_PRINT, ha_clock_ns());
    if (lane != NULL) {
        memcpy(event.at[0], lane->block_idx, sizeof event.at[0]);
        memcpy(event.at[1], lane->thread_idx, sizeof event.at[1]);
    }
    event.text = text;
    event.text_bytes = length;
    sink->event(&event);
}
