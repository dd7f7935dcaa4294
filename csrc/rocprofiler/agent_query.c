/* SPDX-License-Identifier: MIT */
/* The question for agents, which devices that were used before answer too. */
#include "rocprofiler/agent.h"
#include "rocprofiler/client.h"
#include "rocprofiler/client_start.h"
#include "rocprofiler/in_tool.h"
#include "rocprofiler/registration.h"
#include "rocprofiler/sdk.h"
#include "rocprofiler/tables.h"

/* A device that was used before this library was there has kept its table back.  A tool
 * that is being configured got it beforehand, and must not wait for others here. */
static void
seek_devices(void)
{
    if (ha_activity_table() != NULL || ha_client_in_window() || ha_in_tool() > 0) {
        return;
    }
    ha_tables_seek();
    if (ha_clients_start()) {
        ha_tables_update();
    }
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_query_available_agents(rocprofiler_agent_version_t version,
                                   rocprofiler_query_available_agents_cb_t callback,
                                   size_t agent_size, void *user_data)
{
    const void *known[HA_AGENTS_MAX];

    if (version != ROCPROFILER_AGENT_INFO_VERSION_0) {
        return ROCPROFILER_STATUS_ERROR_INCOMPATIBLE_ABI;
    }
    if (callback == NULL) {
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    }
    if (agent_size > sizeof(rocprofiler_agent_v0_t)) {
        return ROCPROFILER_STATUS_ERROR_INCOMPATIBLE_ABI;
    }
    seek_devices();
    return callback(version, known, ha_agents_all(known), user_data);
}
