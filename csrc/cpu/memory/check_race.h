/* SPDX-License-Identifier: MIT */
/* Accesses of checked kernels as cpu/check/race.h has them. */
#ifndef HA_CPU_MEMORY_CHECK_RACE_H
#define HA_CPU_MEMORY_CHECK_RACE_H

#include "cpu/memory/check_told.h"

/* Compares the access with those before it, and reports races.  `gone`: its memory may
 * not be there any more.  Needs: the launch looks for races. */
void ha_told_race(const struct ha_told *access, bool gone);

#endif
