/* SPDX-License-Identifier: MIT */
/* Sites: where lanes of a warp meet, and how diverged lanes are kept apart there.
 *
 * A *site* is a warp call, or a *step*: a volatile access of shared memory, or any
 * access of a kernel whose lanes run in step (rewrite_lockstep.h).  Sites have
 * numbers in program order, and each loop around a site counts its rounds in the lane.
 * So lanes that wait at one site in different rounds are not served together.  A loop
 * that *polls* ends by what another lane writes, and lets others run in each round. */
#ifndef HA_CPU_COMPILE_REWRITE_SITES_H
#define HA_CPU_COMPILE_REWRITE_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "cpu/compile/ir_flow.h"
#include "cpu/compile/ir_text.h"

struct ha_rewriter;

/* Where lanes of a warp can meet in a kernel; empty where they can't. */
struct ha_sites {
    const struct ir_function *function;
    struct ir_flow flow;
    uint32_t *loop_ids; /* loop of the flow -> number in the module; NULL: no sites */
    uint8_t *polls;     /* loops that wait for memory to change */
};

/* Marks accesses of a kernel that lanes make in step: volatile ones of shared memory.
 */
void ha_sites_find_steps(struct ha_rewriter *rewriter, uint32_t number);
/* Whether a kernel has a loop that waits for memory to change. */
bool ha_sites_polls(struct ha_rewriter *rewriter, uint32_t number);
/* Numbers the sites of a kernel in program order, and finds the loops that count
 * rounds. */
void ha_sites_read(struct ha_rewriter *rewriter, uint32_t number,
                   struct ha_sites *sites);
/* The loop that begins at a block and has something to write, or IR_NONE. */
uint32_t ha_sites_loop_at(const struct ha_sites *sites, uint32_t block);
/* What such a loop has before the other phis of its first block, and behind them. */
void ha_sites_write_phi(const struct ha_sites *sites, uint32_t loop,
                        struct ir_out *out);
void ha_sites_write_round(const struct ha_sites *sites, uint32_t loop,
                          struct ir_out *out);
/* The meeting of the warp before an access that is made in step.  Copies have a second
 * site, inst->site + 1, between what they read and what they write.  `wanted`: the
 * program counts on it, so that it orders accesses. */
void ha_sites_write_step(const struct ha_rewriter *rewriter, uint32_t site, bool wanted,
                         struct ir_out *out);

#endif
