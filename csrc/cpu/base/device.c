/* SPDX-License-Identifier: MIT */
#include "cpu/base/device.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "cpu/base/config.h"

#define MIB ((size_t)1 << 20)
#define CGROUP_LIMIT_FILE "/sys/fs/cgroup/memory.max"

static struct ha_device devices[HA_DEVICE_MAX];

/* What this process may use of the machine's memory. */
static size_t
memory_of_machine(void)
{
    struct sysinfo info;
    size_t bytes = MIB * 1024;
    if (sysinfo(&info) == 0) {
        bytes = (size_t)info.totalram * info.mem_unit;
    }
    FILE *file = fopen(CGROUP_LIMIT_FILE, "re");
    if (file != NULL) {
        unsigned long long limit;
        if (fscanf(file, "%llu", &limit) == 1 && limit > 0 && limit < bytes) {
            bytes = (size_t)limit;
        }
        fclose(file);
    }
    return bytes;
}

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
    size_t bytes = memory_of_machine() / 4 * 3 / (size_t)count / MIB * MIB;
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
