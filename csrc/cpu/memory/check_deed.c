/* SPDX-License-Identifier: MIT */
#include "cpu/memory/check_deed.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/base/device.h"
#include "cpu/check/race.h"
#include "cpu/exec/heap.h"
#include "cpu/exec/launch.h"
#include "cpu/memory/check_access.h"
#include "cpu/memory/check_memory.h"
#include "cpu/memory/memory.h"
#include "cpu/queue/order.h"

#define PAGE_SHIFT 12
#define SITES_MOST 1024u /* of a launch, a power of two; further ones are left out */

void
ha_deed_describe_memory(uintptr_t at, uint64_t bytes, struct ha_check_memory *memory)
{
    ha_checked_describe(at, bytes, memory);
}

/* ---- launches ---- */

struct ha_deed *
ha_deed_of_launch(const struct ha_launch *launch, uint64_t team)
{
    struct ha_doer doer = {.device = (int)launch->device,
                           .team = team,
                           .kernel = ha_text_keep(launch->kernel->name)};

    memcpy(doer.grid, launch->grid.grid_dim, sizeof doer.grid);
    memcpy(doer.block, launch->grid.block_dim, sizeof doer.block);
    return ha_deed_new(&doer);
}

/* While a deed is filled: the sites of marks that it has. */
struct filling {
    struct ha_deed *deed;
    const struct ha_launch *launch;
    uint32_t count;
    uintptr_t page; /* of the last cell, and whether kernels allocated it */
    bool is_heap;
    uint32_t marks[SITES_MOST]; /* open addressing; 0: free */
    uint32_t sites[SITES_MOST];
};

/* The deed's number of the site; UINT32_MAX: there is no room. */
static uint32_t
site_of_mark(struct filling *filling, uint32_t mark)
{
    uint32_t slot = mark * 2654435761u % SITES_MOST;

    while (filling->marks[slot] != 0 && filling->marks[slot] != mark) {
        slot = (slot + 1) % SITES_MOST;
    }
    if (filling->marks[slot] == 0) {
        if (2 * filling->count == SITES_MOST) {
            return UINT32_MAX;
        }
        struct ha_check_side side = ha_check_side_of_mark(filling->launch, mark);
        side.function = ha_text_keep(side.function);
        side.file = ha_text_keep(side.file);
        side.text = ha_text_keep(side.text);
        filling->sites[slot] = ha_deed_site(filling->deed, &side);
        filling->marks[slot] = mark;
        filling->count++;
    }
    return filling->sites[slot];
}

static void
fill_cell(void *context, const struct ha_stretch *seen)
{
    struct filling *filling = context;
    struct ha_stretch cell = *seen;
    uint32_t site = site_of_mark(filling, seen->site);

    if (cell.begin >> PAGE_SHIFT != filling->page) {
        filling->page = cell.begin >> PAGE_SHIFT;
        filling->is_heap =
            ha_heap_holds(filling->launch->device, (const void *)cell.begin, 1);
    }
    if (site == UINT32_MAX || filling->is_heap) {
        return;
    }
    cell.site = site & ((1u << 30) - 1);
    ha_deed_add(filling->deed, &cell);
}

void
ha_deed_fill(struct ha_deed *deed, const struct ha_launch *launch)
{
    struct filling *filling = calloc(1, sizeof *filling);

    if (filling != NULL && launch->checks != NULL) {
        filling->deed = deed;
        filling->launch = launch;
        ha_race_each(launch->checks, fill_cell, filling);
    }
    free(filling);
}

/* ---- calls ---- */

struct ha_deed *
ha_deed_of_call(int device)
{
    const struct ha_doer doer = ha_order_caller(device);

    return ha_deed_new(&doer);
}

void
ha_deed_add_rows(struct ha_deed *deed, uint32_t bits, const struct ha_deed_rows *rows)
{
    struct ha_range range;
    uint64_t bytes = (uint64_t)rows->width * rows->height * rows->depth;
    const struct ha_check_side side = {
        .bits = bits, .bytes = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX};

    if (deed == NULL || !ha_memory_find(rows->begin, &range)) {
        return;
    }
    struct ha_stretch cell = {
        .site = ha_deed_site(deed, &side) & ((1u << 30) - 1),
        .way = bits == HA_CHECK_READS ? HA_WAY_READ : HA_WAY_WRITE,
    };
    for (size_t slice = 0; slice < rows->depth; slice++) {
        for (size_t row = 0; row < rows->height; row++) {
            cell.begin =
                (uintptr_t)rows->begin + slice * rows->slice + row * rows->pitch;
            cell.end = cell.begin + rows->width;
            ha_deed_add(deed, &cell);
        }
    }
}
