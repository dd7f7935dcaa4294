/* SPDX-License-Identifier: MIT */
#include "cpu/queue/device_fault.h"

#include <stdio.h>
#include <string.h>

#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/queue/pool.h"

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

void
ha_device_clear_fault(struct ha_device *device)
{
    ha_pool_lock();
    device->fault_text[0] = '\0';
    atomic_store_explicit(&device->fault, 0, memory_order_release);
    ha_pool_unlock();
}
