/* SPDX-License-Identifier: MIT */
#include "cpu/base/config.h"

#include <string.h>

#include "core/env.h"
#include "core/env_check.h"
#include "core/log.h"
#include "cpu/base/limits.h"

#define THREAD_COUNT_MAX 1024
#define TIMEOUT_MAX_S (365L * 24 * 3600)

static struct ha_config current;

const struct ha_config *
ha_config(void)
{
    return &current;
}

/* The number of a device at the beginning of a list, as AMD's runtime reads it: what is
 * not written plainly is none.  -1 if it is none below `count`. */
static int
ordinal_of(const char *list, size_t length, int count)
{
    int ordinal = 0;
    if (length == 0 || length > 2 || (length == 2 && list[0] == '0')) {
        return -1;
    }
    for (size_t i = 0; i < length; i++) {
        if (list[i] < '0' || list[i] > '9') {
            return -1;
        }
        ordinal = ordinal * 10 + (list[i] - '0');
    }
    return ordinal < count ? ordinal : -1;
}

static void
devices_choose(struct ha_config *config)
{
    int count = (int)ha_env_long(HA_ENV_CPU_DEVICES, 1, HA_DEVICE_MAX);
    const char *list = ha_env(HA_ENV_VISIBLE_DEVICES);
    uint32_t chosen = 0;
    config->device_count = list != NULL ? 0 : count;
    for (int i = 0; list == NULL && i < count; i++) {
        config->ordinals[i] = i;
    }
    while (list != NULL) {
        size_t length = strcspn(list, ",");
        int ordinal = ordinal_of(list, length, count);
        if (ordinal < 0) {
            return;
        }
        if ((chosen >> ordinal & 1u) == 0) {
            chosen |= 1u << ordinal;
            config->ordinals[config->device_count++] = ordinal;
        }
        list = list[length] != '\0' ? list + length + 1 : NULL;
    }
}

void
ha_config_read(uint32_t warp_size)
{
    const char *exec = ha_env(HA_ENV_CPU_EXEC);
    ha_env_warn();
    current = (struct ha_config){.warp_size = warp_size};
    devices_choose(&current);
    long threads = ha_env_long(HA_ENV_CPU_THREADS, 0, THREAD_COUNT_MAX);
    current.thread_count = threads > 0 ? (unsigned)threads : ha_limits_cores();
    current.reference = exec != NULL && strcmp(exec, "reference") == 0;
    (void)ha_log_enabled(1); /* for threads that don't look themselves */
    current.guard = ha_env_long(HA_ENV_CPU_GUARD, 0, 1) == 1;
    current.explain = ha_env_long(HA_ENV_CPU_EXPLAIN, 0, 1) == 1;
    current.proof = ha_env_long(HA_ENV_CHECK_PROOF, 0, 1) == 1;
    current.kernel_timeout_ns =
        (uint64_t)ha_env_long(HA_ENV_KERNEL_TIMEOUT, 0, TIMEOUT_MAX_S) * 1000000000u;
}
