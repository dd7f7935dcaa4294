/* SPDX-License-Identifier: MIT */
/* Whether an access of a checked kernel lies within what it may touch. */
#ifndef HA_CPU_MEMORY_CHECK_BOUNDS_H
#define HA_CPU_MEMORY_CHECK_BOUNDS_H

#include "cpu/memory/check_told.h"

/* If not, that is reported; the launch ends where the access would hit memory that is
 * not HIP's. */
bool ha_told_bounds(const struct ha_told *access);

/* In memory that the thread knows already to be right for it: no look, and no lock. */
bool ha_told_known_range(const struct ha_told *access);

/* Where bounds are not asked for: a pointer must not lead into the checks' own memory.
 */
bool ha_told_wild(const struct ha_told *access);

#endif
