/* SPDX-License-Identifier: MIT */
/* The observers of this process as one thing. */
#ifndef HA_TOOL_TOOL_H
#define HA_TOOL_TOOL_H

#include "core/status.h"

/* Before anything else of this room; again is harmless. */
enum ha_status ha_tool_start(void);

#endif
