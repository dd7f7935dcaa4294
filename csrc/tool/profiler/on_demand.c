/* SPDX-License-Identifier: MIT */
#include "tool/profiler/on_demand.h"

#include <stddef.h>
#include <unistd.h>

static void
describe(struct ha_recording *recording, const struct ha_config *config)
{
    const struct {
        const char *key;
        const char *value;
    } pairs[] = {
        {"trace_id", config->trace_id},
        {"group_trace_id", config->group_trace_id},
        {"with_stack", config->with_stack ? "1" : "0"},
        {"record_shapes", config->input_shapes ? "1" : "0"},
        {"profile_memory", config->memory ? "1" : "0"},
    };

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (pairs[i].value[0] != '\0') {
            (void)ha_recording_describe(recording, pairs[i].key, pairs[i].value);
        }
    }
}

enum ha_status
ha_on_demand_open(const struct ha_config *config, uint64_t request,
                  struct ha_recording **recording)
{
    char url[HA_CONFIG_PATH_BYTES + 32];
    const struct ha_recording_options options = {
        .url = url,
        .activities = ha_config_activities(config),
        .room = ha_config_room(config),
        .request = request,
        .detail = ha_config_detail(config),
    };

    if (!ha_config_log_file(config, (long)getpid(), url, sizeof url)) {
        return ha_error_set(HA_ERROR_INVALID, "ACTIVITIES_LOG_FILE: too long");
    }
    enum ha_status status = ha_recording_new(&options, recording);
    if (status == HA_OK) {
        describe(*recording, config);
    }
    return status;
}
