/* SPDX-License-Identifier: MIT */
/* Agents as HIP's numbers of devices: asked for once, then read without a lock. */
#include "tool/device.h"

#include <pthread.h>
#include <stdatomic.h>

#include "tool/event.h"

enum { AGENTS_MAX = 128 };

static struct {
    pthread_mutex_t lock;
    _Atomic unsigned count;
    struct {
        uint64_t handle;
        int device;
    } known[AGENTS_MAX];
} agents = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int
agent_find(uint64_t handle)
{
    unsigned count = atomic_load_explicit(&agents.count, memory_order_acquire);

    for (unsigned i = 0; i < count; i++) {
        if (agents.known[i].handle == handle) {
            return (int)i;
        }
    }
    return -1;
}

static void
agent_add(uint64_t handle, int device)
{
    pthread_mutex_lock(&agents.lock);
    unsigned count = atomic_load(&agents.count);
    if (count < AGENTS_MAX && agent_find(handle) < 0) {
        agents.known[count].handle = handle;
        agents.known[count].device = device;
        atomic_store_explicit(&agents.count, count + 1, memory_order_release);
    }
    pthread_mutex_unlock(&agents.lock);
}

static rocprofiler_status_t
agents_learn(rocprofiler_agent_version_t version, const void **list, size_t count,
             void *data)
{
    (void)version;
    (void)data;
    for (size_t i = 0; i < count; i++) {
        const rocprofiler_agent_v0_t *agent = list[i];
        bool device = agent->type == ROCPROFILER_AGENT_TYPE_GPU;
        agent_add(agent->id.handle,
                  device ? agent->logical_node_type_id : HA_DEVICE_NONE);
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

int
ha_device_of_agent(rocprofiler_agent_id_t agent)
{
    int at = agent_find(agent.handle);

    if (at < 0) {
        (void)ha_sdk.query_available_agents(ROCPROFILER_AGENT_INFO_VERSION_0,
                                            agents_learn,
                                            sizeof(rocprofiler_agent_v0_t), NULL);
        agent_add(agent.handle, HA_DEVICE_NONE); /* so that it is asked for once */
        at = agent_find(agent.handle);
    }
    return at >= 0 ? agents.known[at].device : HA_DEVICE_NONE;
}
