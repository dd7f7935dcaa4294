/* SPDX-License-Identifier: MIT */
#include "cpu/entry/activity.h"

#include <string.h>

#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/life.h"
#include "cpu/entry/runtime.h"
#include "cpu/module/report.h"
#include "cpu/queue/pool.h"
#include "cpu/queue/ticket.h"

#define DRAIN_NS UINT64_C(2000000000)

static void
subscribe(const struct ha_activity_sink *sink, unsigned wanted)
{
    if (sink->size < sizeof *sink) {
        return; /* of another version */
    }
    unsigned before = ha_activity_set(sink, wanted & ~(unsigned)HA_WANT_CODE_AGAIN);
    if ((wanted & ~before & HA_WANT_CODE) != 0 || (wanted & HA_WANT_CODE_AGAIN) != 0) {
        ha_report_all();
    }
}

static void
drain(void)
{
    for (int id = 0; ha_life_is_ready() && id < ha_config()->device_count; id++) {
        (void)ha_pool_wait_device(ha_device_get(id), DRAIN_NS);
    }
    ha_tickets_wait(DRAIN_NS);
}

static int
device_count(void)
{
    return ha_runtime_start_quietly() == hipSuccess ? ha_config()->device_count : 0;
}

static int
agent(int device, struct ha_activity_agent *answer)
{
    static hipDeviceProp_t properties[HA_DEVICE_MAX];
    const struct ha_device *found =
        device_count() > device && device >= 0 ? ha_device_get(device) : NULL;

    if (found == NULL || answer->size < sizeof *answer) {
        return -1;
    }
    hipDeviceProp_t *known = &properties[device];
    ha_device_properties(found, known);
    *answer = (struct ha_activity_agent){
        .size = sizeof *answer,
        .device = device,
        .name = known->gcnArchName,
        .product = known->name,
        .workers = (unsigned)known->multiProcessorCount,
        .warp_size = (unsigned)known->warpSize,
        .max_threads_per_block = (unsigned)known->maxThreadsPerBlock,
        .shared_kib = (unsigned)(known->sharedMemPerBlock / 1024),
        .memory_bytes = known->totalGlobalMem,
    };
    for (int i = 0; i < 3; i++) {
        answer->max_block[i] = (unsigned)known->maxThreadsDim[i];
        answer->max_grid[i] = (unsigned)known->maxGridSize[i];
    }
    memcpy(answer->uuid, known->uuid.bytes, sizeof answer->uuid);
    return 0;
}

const struct ha_activity ha_activity_table = {
    .size = sizeof ha_activity_table,
    .subscribe = subscribe,
    .drain = drain,
    .device_count = device_count,
    .agent = agent,
    .settle = ha_tickets_wait,
};
