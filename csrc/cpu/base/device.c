/* SPDX-License-Identifier: MIT */
#include "cpu/base/device.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "cpu/base/error.h"
#include "cpu/exec/heap.h"
#include "cpu/exec/print.h"
#include "cpu/queue/pool.h"

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
    ha_heap_reset((uint32_t)device->id);
    ha_print_reset((uint32_t)device->id);
    atomic_store(&device->stack_bytes, HA_STACK_BYTES_DEFAULT);
    atomic_store(&device->flags, hipDeviceScheduleAuto);
    atomic_store(&device->peers, 0);
    atomic_store(&device->cache_config, hipFuncCachePreferNone);
    ha_pool_lock();
    device->fault_text[0] = '\0';
    atomic_store_explicit(&device->fault, 0, memory_order_release);
    ha_pool_unlock();
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

void
ha_device_set_fault(struct ha_device *device, hipError_t code, const char *text)
{
    if (atomic_load_explicit(&device->fault, memory_order_relaxed) != 0) {
        return;
    }
    snprintf(device->fault_text, sizeof device->fault_text, "%s",
             text != NULL ? text : "");
    atomic_store_explicit(&device->fault, (int)code, memory_order_release);
}

hipError_t
ha_device_fail(struct ha_device *device)
{
    char text[HA_FAULT_MESSAGE_BYTES];
    ha_pool_lock();
    hipError_t code =
        (hipError_t)atomic_load_explicit(&device->fault, memory_order_relaxed);
    memcpy(text, device->fault_text, sizeof text);
    ha_pool_unlock();
    if (code == hipSuccess) { /* reset by another thread since the caller looked */
        code = hipErrorContextIsDestroyed;
    }
    const char *way_out =
        code == hipErrorDeinitialized || code == hipErrorContextIsDestroyed
            ? ""
            : "; hipDeviceReset makes it usable again, and ends all of its memory, "
              "streams, events and modules";
    return ha_cpu_fail(code, "device %d failed earlier: %s%s", device->id, text,
                       way_out);
}
