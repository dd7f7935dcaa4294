/* SPDX-License-Identifier: MIT */
/* Functions of the device headers that the rewriter knows by name. */
#ifndef HA_CPU_COMPILE_REWRITE_KNOWN_H
#define HA_CPU_COMPILE_REWRITE_KNOWN_H

#include "cpu/compile/ir_text.h"

/* Functions of the device headers, by name.  Those of a lane's *coordinates* come
 * first: its index in the block, the block's index in the grid, and the sizes of both.
 */
enum ha_known {
    HA_KNOWN_THREAD_X,
    HA_KNOWN_THREAD_Y,
    HA_KNOWN_THREAD_Z,
    HA_KNOWN_BLOCK_X,
    HA_KNOWN_BLOCK_Y,
    HA_KNOWN_BLOCK_Z,
    HA_KNOWN_BLOCK_DIM_X,
    HA_KNOWN_BLOCK_DIM_Y,
    HA_KNOWN_BLOCK_DIM_Z,
    HA_KNOWN_GRID_DIM_X,
    HA_KNOWN_GRID_DIM_Y,
    HA_KNOWN_GRID_DIM_Z,
    HA_KNOWN_COORDINATES,
    HA_KNOWN_BLOCK = HA_KNOWN_COORDINATES,
    HA_KNOWN_WARP,
    HA_KNOWN_SHARED_DYNAMIC,
    HA_KNOWN_PRINT,
    HA_KNOWN_ASSERT_FAIL,
    HA_KNOWN_ALLOC,
    HA_KNOWN_RELEASE,
    HA_KNOWN_CLOCK,
    HA_KNOWN_PAUSE,
    HA_KNOWN_QUERY,
    HA_KNOWN_DEBUG_TENSOR,
    HA_KNOWN_CHECK, /* of no header: cpu/compile/check_insert.h */
    HA_KNOWN_NONE,
};

/* IR names of the known functions, and of the coordinates as values ("thread_x"). */
extern const char *const ha_known_names[HA_KNOWN_NONE];
extern const char *const ha_coordinate_names[HA_KNOWN_COORDINATES];

/* Which function of the device headers a call names, or HA_KNOWN_NONE. */
enum ha_known ha_known_of(const struct ir_inst *inst);

#endif
