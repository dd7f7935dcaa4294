/* SPDX-License-Identifier: MIT */
#include "tool/profiler/about.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "tool/profiler/origin.h"
#include "tool/sdk.h"

static rocprofiler_status_t
note_agents(rocprofiler_agent_version_t version, const void **list, size_t count,
            void *data)
{
    struct ha_about *about = data;

    (void)version;
    for (size_t i = 0; i < count && about->device_count < HA_ABOUT_DEVICES; i++) {
        const rocprofiler_agent_v0_t *agent = list[i];
        if (agent->type != ROCPROFILER_AGENT_TYPE_GPU) {
            continue;
        }
        struct ha_trace_device *device = &about->devices[about->device_count++];
        *device = (struct ha_trace_device){
            .id = agent->logical_node_type_id,
            .name = agent->product_name,
            .compute_major = (int32_t)(agent->gfx_target_version / 10000),
            .compute_minor = (int32_t)(agent->gfx_target_version / 100 % 100),
            .block_threads_max = agent->workgroup_max_size,
            .multiprocessor_threads_max =
                agent->max_waves_per_cu * agent->wave_front_size,
            .warp_size = agent->wave_front_size,
            .block_shared_bytes = agent->lds_size_in_kb * 1024,
            .multiprocessors = agent->cu_count,
            .multiprocessor_shared_bytes = agent->lds_size_in_kb * 1024,
        };
        for (uint32_t bank = 0; bank < agent->mem_banks_count; bank++) {
            device->memory_bytes += agent->mem_banks[bank].size_in_bytes;
        }
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

void
ha_about_fill(struct ha_about *about)
{
    uint32_t major = 0, minor = 0, patch = 0;

    *about = (struct ha_about){.device_count = 0};
    (void)ha_sdk.query_available_agents(ROCPROFILER_AGENT_INFO_VERSION_0, note_agents,
                                        sizeof(rocprofiler_agent_v0_t), about);
    (void)snprintf(about->process_name, sizeof about->process_name, "%s",
                   program_invocation_short_name);
    if (gethostname(about->host_name, sizeof about->host_name - 1) != 0) {
        about->host_name[0] = '\0';
    }
    if (ha_sdk.get_version != NULL &&
        ha_sdk.get_version(&major, &minor, &patch) == ROCPROFILER_STATUS_SUCCESS) {
        (void)snprintf(about->sdk_version, sizeof about->sdk_version,
                       "%" PRIu32 ".%" PRIu32 ".%" PRIu32, major, minor, patch);
    }
    ha_origin_hip(&about->hip_runtime_version, &about->hip_driver_version);
}

void
ha_about_tell(const struct ha_about *about, struct ha_writer_info *info)
{
    info->pid = (uint32_t)getpid();
    info->process_name = about->process_name;
    info->host_name = about->host_name[0] != '\0' ? about->host_name : NULL;
    info->devices = about->devices;
    info->device_count = about->device_count;
    info->hip_runtime_version = about->hip_runtime_version;
    info->hip_driver_version = about->hip_driver_version;
    info->sdk_version = about->sdk_version[0] != '\0' ? about->sdk_version : NULL;
}
