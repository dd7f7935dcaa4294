/* SPDX-License-Identifier: MIT */
#include "cpu/memory/check_side.h"

struct ha_check_side
ha_check_side_at(const struct ha_launch *launch, const struct ha_check_site *site,
                 uint64_t bytes)
{
    return (struct ha_check_side){
        .bits = ((site->what & HA_SITE_READ) != 0 ? (uint32_t)HA_CHECK_READS : 0u) |
                ((site->what & HA_SITE_WRITE) != 0 ? (uint32_t)HA_CHECK_WRITES : 0u) |
                ((site->what & HA_SITE_ATOMIC) != 0 ? (uint32_t)HA_CHECK_ATOMIC : 0u),
        .bytes = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes,
        .kernel = launch->kernel->name,
        .function = site->function,
        .file = site->file,
        .text = site->text,
        .line = site->line,
        .column = site->column,
    };
}

void
ha_check_side_place(struct ha_check_side *side, const struct ha_grid *grid,
                    uint64_t block, uint32_t lane)
{
    const uint32_t *blocks = grid->grid_dim, *lanes = grid->block_dim;

    side->block[0] = (uint32_t)(block % blocks[0]);
    side->block[1] = (uint32_t)(block / blocks[0] % blocks[1]);
    side->block[2] = (uint32_t)(block / blocks[0] / blocks[1]);
    side->thread[0] = lane % lanes[0];
    side->thread[1] = lane / lanes[0] % lanes[1];
    side->thread[2] = lane / lanes[0] / lanes[1];
}
