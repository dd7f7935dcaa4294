/* SPDX-License-Identifier: MIT */
#include "cpu/compile/rewrite_known.h"

const char *const ha_known_names[HA_KNOWN_NONE] = {
    [HA_KNOWN_THREAD_X] = "@__ha_thread_x",
    [HA_KNOWN_THREAD_Y] = "@__ha_thread_y",
    [HA_KNOWN_THREAD_Z] = "@__ha_thread_z",
    [HA_KNOWN_BLOCK_X] = "@__ha_block_x",
    [HA_KNOWN_BLOCK_Y] = "@__ha_block_y",
    [HA_KNOWN_BLOCK_Z] = "@__ha_block_z",
    [HA_KNOWN_BLOCK_DIM_X] = "@__ha_block_dim_x",
    [HA_KNOWN_BLOCK_DIM_Y] = "@__ha_block_dim_y",
    [HA_KNOWN_BLOCK_DIM_Z] = "@__ha_block_dim_z",
    [HA_KNOWN_GRID_DIM_X] = "@__ha_grid_dim_x",
    [HA_KNOWN_GRID_DIM_Y] = "@__ha_grid_dim_y",
    [HA_KNOWN_GRID_DIM_Z] = "@__ha_grid_dim_z",
    [HA_KNOWN_BLOCK] = "@__ha_block",
    [HA_KNOWN_WARP] = "@__ha_warp",
    [HA_KNOWN_SHARED_DYNAMIC] = "@__ha_shared_dynamic",
    [HA_KNOWN_PRINT] = "@__ha_print",
    [HA_KNOWN_ASSERT_FAIL] = "@__ha_assert_fail",
    [HA_KNOWN_ALLOC] = "@malloc",
    [HA_KNOWN_RELEASE] = "@free",
    [HA_KNOWN_CLOCK] = "@__ha_clock",
    [HA_KNOWN_PAUSE] = "@__ha_pause",
    [HA_KNOWN_QUERY] = "@__ha_query",
    [HA_KNOWN_DEBUG_TENSOR] = "@__ha_debug_tensor",
    [HA_KNOWN_CHECK] = "@__ha_check",
};

const char *const ha_coordinate_names[HA_KNOWN_COORDINATES] = {
    "thread_x",    "thread_y",   "thread_z",    "block_x",
    "block_y",     "block_z",    "block_dim_x", "block_dim_y",
    "block_dim_z", "grid_dim_x", "grid_dim_y",  "grid_dim_z"};

enum ha_known
ha_known_of(const struct ir_inst *inst)
{
    if (!ir_is(inst->op, "call") ||
        (!ir_begins(inst->callee, "@__ha_") && !ir_begins(inst->callee, "@malloc") &&
         !ir_begins(inst->callee, "@free"))) {
        return HA_KNOWN_NONE;
    }
    for (int known = 0; known < HA_KNOWN_NONE; known++) {
        if (ir_is(inst->callee, ha_known_names[known])) {
            return (enum ha_known)known;
        }
    }
    return HA_KNOWN_NONE;
}
