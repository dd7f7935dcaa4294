/* SPDX-License-Identifier: MIT */
/* Kernels whose lanes exchange through memory without a barrier between. */
#ifndef HA_CPU_COMPILE_GANG_EXCHANGE_H
#define HA_CPU_COMPILE_GANG_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "cpu/compile/ir_text.h"

struct ha_rewriter;

/* Whether what a lane stores may be loaded by another lane of its warp, with no barrier
 * and no warp call between; *why says where.  A kernel that has no gang form for what
 * it contains is not looked at. */
bool ha_gang_exchanges(struct ha_rewriter *rewriter, uint32_t number,
                       struct ir_slice *why);

#endif
