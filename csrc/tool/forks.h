/* SPDX-License-Identifier: MIT */
/* What this library does in a forked child, in one place. */
#ifndef HA_TOOL_FORKS_H
#define HA_TOOL_FORKS_H

#include "core/status.h"

/* From now on a forked child knows that it is one: before the first collector,
 * recording or listener.  Without it a program that forks would have half of its
 * parent's state. */
enum ha_status ha_forks_watch(void);

#endif
