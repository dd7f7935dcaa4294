/* SPDX-License-Identifier: MIT */
#include "cpu/compile/cache_key.h"

#include <string.h>

#include "core/env.h"
#include "cpu/base/image.h"

#ifndef HA_IMAGE_SOURCES
#error "HA_IMAGE_SOURCES comes from tools/native.py, for this file alone"
#endif

void
ha_cache_key_begin(struct ha_bytes *key, const char *what,
                   const struct ha_toolchain *toolchain, uint32_t warp_size,
                   unsigned level)
{
    ha_buffer_block(key, what, strlen(what));
    ha_buffer_text(key, HA_IMAGE_SOURCES);
    ha_buffer_u32(key, HA_IMAGE_ABI);
    ha_buffer_append(key, toolchain->compiler_id, HA_HASH_BYTES);
    ha_buffer_append(key, toolchain->device_id, HA_HASH_BYTES);
    ha_buffer_block(key, toolchain->triple, strlen(toolchain->triple));
    ha_buffer_block(key, toolchain->level->name, strlen(toolchain->level->name));
    ha_buffer_u32(key, (uint32_t)toolchain->vector_math);
    ha_buffer_u32(key, warp_size);
    ha_buffer_u32(key, ha_env_long(HA_ENV_CPU_GUARD, 0, 1) == 1);
    ha_buffer_u32(key, ha_env_long(HA_ENV_CPU_LOCKSTEP, 0, 1) == 1);
    ha_buffer_u32(key, ha_env_long(HA_ENV_CPU_EXPLAIN, 0, 1) == 1);
    ha_buffer_u32(key, level);
}
