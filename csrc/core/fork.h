/* SPDX-License-Identifier: MIT */
/* Functions that a forked child runs. */
#ifndef HA_CORE_FORK_H
#define HA_CORE_FORK_H

#include "core/status.h"

#define HA_FORK_HOOKS_MAX 16

/* `child` runs in the forked child, in the order of registration, before fork returns.
 * HA_ERROR_MEMORY when HA_FORK_HOOKS_MAX are there already; the same hook counts once.
 */
enum ha_status ha_fork_register(void (*child)(void));

#endif
