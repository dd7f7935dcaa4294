/* SPDX-License-Identifier: MIT */
#include "cpu/base/device.h"

#include <string.h>

#include "cpu/base/config.h"
#include "cpu/base/limits.h"

#define MIB ((size_t)1 << 20)

static struct ha_device devices[HA_DEVICE_MAX];

void
ha_device_reset_settings(struct ha_device *device)
{
    atomic_store(&device->stack_bytes, HA_STACK_BYTES_DEFAULT);
    atomic_store(&device->flags, hipDeviceScheduleAuto);
    atomic_store(&device->peers, 0);
    atomic_store(&device->cache_config, hipFuncCachePreferNone);
}

void
ha_devices_init(void)
{
    int count = ha_config()->device_count;
    /* A quarter stays with the host; the devices share the rest. */
    size_t bytes = (size_t)ha_limits_memory() / 4 * 3 / (size_t)count / MIB * MIB;
    memset(devices, 0, sizeof devices);
    for (int id = 0; id < count; id++) {
        devices[id].id = id;
        devices[id].ordinal = ha_config()->ordinals[id];
        devices[id].memory_bytes = bytes;
        ha_device_reset_settings(&devices[id]);
    }
}

struct ha_device *
ha_device_get(int id)
{
    return id >= 0 && id < ha_config()->device_count ? &devices[id] : NULL;
}
