/* SPDX-License-Identifier: MIT */
#include "tool/tool.h"

#include "core/thread.h"
#include "tool/bell.h"
#include "tool/name.h"
#include "tool/ring.h"
#include "tool/sdk.h"

static void
forked(void)
{
    ha_rings_forked();
    ha_bell_forked();
    ha_names_forked();
    ha_sdk_forked();
}

enum ha_status
ha_tool_start(void)
{
    return ha_fork_register(forked);
}
