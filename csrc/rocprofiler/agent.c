/* SPDX-License-Identifier: MIT */
#include "rocprofiler/agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "abi/activity.h"
#include "rocprofiler/lock.h"
#include "rocprofiler/registration.h"
#include "rocprofiler/sdk.h"

enum { NAME_BYTES = 128 };

#define AGENT_HANDLE UINT64_C(0x726f616700000000)

static struct {
    rocprofiler_agent_v0_t agent;
    rocprofiler_agent_mem_bank_t memory;
    char name[NAME_BYTES];
} agents[HA_AGENTS_MAX];
static unsigned agent_count;

rocprofiler_agent_id_t
ha_agent_of_device(int device)
{
    return (rocprofiler_agent_id_t){AGENT_HANDLE + (uint64_t)(device + 1)};
}

/* The processor's name as the kernel tells it. */
static void
processor_name(char name[NAME_BYTES])
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[256];
    struct utsname system;

    (void)snprintf(name, NAME_BYTES, "%s",
                   uname(&system) == 0 ? system.machine : "processor");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && value != NULL) {
            (void)snprintf(name, NAME_BYTES, "%.*s", (int)strcspn(value + 2, "\n"),
                           value + 2);
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

static void
fill_host(void)
{
    rocprofiler_agent_v0_t *agent = &agents[0].agent;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);

    processor_name(agents[0].name);
    agent->size = sizeof *agent;
    agent->id = ha_agent_of_device(-1);
    agent->type = ROCPROFILER_AGENT_TYPE_CPU;
    agent->cpu_cores_count = processors > 0 ? (uint32_t)processors : 1;
    agent->name = agents[0].name;
    agent->vendor_name = "CPU";
    agent->product_name = agents[0].name;
    agent->model_name = "";
    agent->mem_banks_count = 1;
    agents[0].memory.heap_type = HSA_HEAPTYPE_SYSTEM;
    agents[0].memory.size_in_bytes = (uint64_t)pages * (uint64_t)page_bytes;
    agent->mem_banks = &agents[0].memory;
}

static void
fill_device(unsigned number, const struct ha_activity_agent *source)
{
    rocprofiler_agent_v0_t *agent = &agents[number].agent;

    agent->size = sizeof *agent;
    agent->id = ha_agent_of_device(source->device);
    agent->type = ROCPROFILER_AGENT_TYPE_GPU; /* what HIP calls it: tools look for it */
    agent->simd_count = source->workers;
    agent->cu_count = source->workers;
    agent->simd_per_cu = 1;
    agent->wave_front_size = source->warp_size;
    agent->lds_size_in_kb = source->shared_kib;
    agent->num_xcc = 1;
    agent->workgroup_max_size = source->max_threads_per_block;
    agent->workgroup_max_dim = (rocprofiler_dim3_t){
        source->max_block[0], source->max_block[1], source->max_block[2]};
    agent->grid_max_dim = (rocprofiler_dim3_t){source->max_grid[0], source->max_grid[1],
                                               source->max_grid[2]};
    agent->grid_max_size = source->max_grid[0];
    agent->local_mem_size = source->memory_bytes;
    agent->mem_banks_count = 1;
    agents[number].memory.heap_type = HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC;
    agents[number].memory.size_in_bytes = source->memory_bytes;
    agent->mem_banks = &agents[number].memory;
    agent->name = source->name;
    agent->vendor_name = "hipadapt";
    agent->product_name = source->product;
    agent->model_name = source->product;
    agent->node_id = number;
    agent->logical_node_id = (int32_t)number;
    agent->logical_node_type_id = source->device;
    agent->runtime_visibility.hip = 1;
    memcpy(agent->uuid.bytes, source->uuid, sizeof agent->uuid.bytes);
}

/* Agents that are known; devices from when their table is there. */
static unsigned
fill(void)
{
    const struct ha_activity *activity = ha_activity_table();
    int devices = activity != NULL ? activity->device_count() : 0;

    for (int device = -1; device < devices && device < HA_AGENTS_MAX - 1; device++) {
        struct ha_activity_agent source = {.size = sizeof source};
        ha_lock(HA_LOCK_AGENTS);
        bool known = (int)agent_count > device + 1;
        ha_unlock(HA_LOCK_AGENTS);
        if (known) {
            continue;
        }
        if (device >= 0 && activity->agent(device, &source) < 0) {
            break;
        }
        ha_lock(HA_LOCK_AGENTS);
        if ((int)agent_count == device + 1) {
            if (device < 0) {
                fill_host();
            } else {
                fill_device(agent_count, &source);
            }
            agent_count++;
        }
        ha_unlock(HA_LOCK_AGENTS);
    }
    ha_lock(HA_LOCK_AGENTS);
    unsigned count = agent_count;
    ha_unlock(HA_LOCK_AGENTS);
    return count;
}

bool
ha_agent_exists(rocprofiler_agent_id_t id)
{
    return id.handle - AGENT_HANDLE < fill();
}

unsigned
ha_agents_all(const void *known[HA_AGENTS_MAX])
{
    unsigned count = fill();

    for (unsigned i = 0; i < count; i++) {
        known[i] = &agents[i].agent;
    }
    return count;
}
