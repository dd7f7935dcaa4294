/* SPDX-License-Identifier: MIT */
/* Cooperative launches: all blocks of the grid are alive together, so that they can
 * wait for each other at grid barriers.
 *
 * Each thread that takes part keeps the blocks that it has begun, each in a group of
 * its own (cpu/exec/workgroup.h), and runs them in turn: lane by lane, or by the fast
 * function on the group's main stack.  A block stops when all its lanes stand at a grid
 * barrier, or when they wait for memory to change; it goes on in
 * the same thread.  A barrier opens when every block of the grid has come.  A block
 * that ends can come no more: if others wait then, or come later, the launch ends with
 * HA_FAULT_DIVERGED, as it does for lanes that wait at different barriers.  At a
 * multi-grid barrier (cpu/exec/multi_grid.h) the blocks of the grid meet in the same
 * way, and it opens when those of the other grids have.
 *
 * Lock: `lock`, a leaf; held for a few steps, never while kernel code runs. */
#ifndef HA_CPU_EXEC_COOPERATIVE_H
#define HA_CPU_EXEC_COOPERATIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "cpu/exec/launch.h"

struct ha_group;
struct ha_runner;

/* A new one for `threads` threads, or NULL without memory. */
struct ha_cooperative *ha_cooperative_new(unsigned threads);
void ha_cooperative_free(struct ha_cooperative *cooperative);

/* Takes part in a launch whose `cooperative` is set, as the runner that has entered it,
 * until its own blocks are over and none is left to take, or the launch has a fault.
 * `group` is stolen: it is ready for the first block.  Returns how many blocks were
 * finished or dropped. */
uint64_t ha_cooperative_run(struct ha_launch *launch, struct ha_runner *runner,
                            struct ha_group *group, bool *was_first_fault);

#endif
