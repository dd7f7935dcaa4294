/* SPDX-License-Identifier: MIT */
#include "adapters/memory.h"

static const char *const place_names[HA_PLACE_COUNT] = {
    [HA_PLACE_DEVICE] = "device",
    [HA_PLACE_PINNED] = "pinned",
    [HA_PLACE_MANAGED] = "managed",
    [HA_PLACE_HOST] = "host",
};

const char *
ha_place_name(enum ha_memory_place place)
{
    return place_names[place];
}
