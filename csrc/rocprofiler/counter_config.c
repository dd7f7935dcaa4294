/* SPDX-License-Identifier: MIT */
#include "rocprofiler/counter_config.h"

#include <pthread.h>

#include "rocprofiler/agent.h"
#include "rocprofiler/lock.h"
#include "rocprofiler/perf.h"
#include "rocprofiler/sdk.h"

enum { CONFIGS_MAX = 1024 };

#define COUNTER_HANDLE UINT64_C(0x726f636e00000000)
#define CONFIG_HANDLE UINT64_C(0x726f636600000000)

static struct ha_counter_config configs[CONFIGS_MAX];
static unsigned config_count;

bool
ha_counter_config_find(rocprofiler_counter_config_id_t id,
                       struct ha_counter_config *found)
{
    uint64_t number = id.handle - CONFIG_HANDLE - 1;
    bool there;

    ha_lock(HA_LOCK_COUNTERS);
    there = number < config_count && configs[number].there;
    if (there) {
        *found = configs[number];
    }
    ha_unlock(HA_LOCK_COUNTERS);
    return there;
}

rocprofiler_counter_id_t
ha_counter_of(unsigned event)
{
    return (rocprofiler_counter_id_t){COUNTER_HANDLE + event + 1};
}

/* The event of a counter; HA_PERF_EVENTS or more where there is no such counter. */
static uint64_t
event_of(uint64_t handle)
{
    return handle - COUNTER_HANDLE - 1;
}

/* ---- functions of the interface ---- */

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_create_counter_config(rocprofiler_agent_id_t agent_id,
                                  rocprofiler_counter_id_t *counters_list,
                                  size_t counters_count,
                                  rocprofiler_counter_config_id_t *config_id)
{
    struct ha_counter_config config = {.there = true, .agent = agent_id}, older;
    rocprofiler_status_t status = ROCPROFILER_STATUS_SUCCESS;

    if (!ha_agent_exists(agent_id)) {
        return ROCPROFILER_STATUS_ERROR_AGENT_NOT_FOUND;
    }
    if (config_id == NULL || (counters_list == NULL && counters_count > 0)) {
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    }
    if (config_id->handle != 0) {
        if (!ha_counter_config_find(*config_id, &older)) {
            return ROCPROFILER_STATUS_ERROR_PROFILE_NOT_FOUND;
        }
        config.events = older.events;
    }
    for (size_t i = 0; i < counters_count; i++) {
        uint64_t event = event_of(counters_list[i].handle);
        if (event >= HA_PERF_EVENTS || (ha_perf_usable() >> event & 1) == 0) {
            return ROCPROFILER_STATUS_ERROR_PROFILE_COUNTER_NOT_FOUND;
        }
        config.events |= 1u << event;
    }
    ha_lock(HA_LOCK_COUNTERS);
    unsigned number = 0;
    while (number < config_count && configs[number].there) {
        number++;
    }
    if (number == CONFIGS_MAX) {
        status = ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    } else {
        config_count += number == config_count;
        configs[number] = config;
        config_id->handle = CONFIG_HANDLE + number + 1;
    }
    ha_unlock(HA_LOCK_COUNTERS);
    return status;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_destroy_counter_config(rocprofiler_counter_config_id_t config_id)
{
    uint64_t number = config_id.handle - CONFIG_HANDLE - 1;
    bool there;

    ha_lock(HA_LOCK_COUNTERS);
    there = number < config_count && configs[number].there;
    if (there) {
        configs[number].there = false;
    }
    ha_unlock(HA_LOCK_COUNTERS);
    return there ? ROCPROFILER_STATUS_SUCCESS
                 : ROCPROFILER_STATUS_ERROR_PROFILE_NOT_FOUND;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_iterate_agent_supported_counters(rocprofiler_agent_id_t agent_id,
                                             rocprofiler_available_counters_cb_t cb,
                                             void *user_data)
{
    rocprofiler_counter_id_t found[HA_PERF_EVENTS];
    size_t count = 0;

    if (cb == NULL) {
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    }
    if (!ha_agent_exists(agent_id)) {
        return ROCPROFILER_STATUS_ERROR_AGENT_NOT_FOUND;
    }
    for (unsigned event = 0; event < HA_PERF_EVENTS; event++) {
        if ((ha_perf_usable() >> event & 1) != 0) {
            found[count++] = ha_counter_of(event);
        }
    }
    return cb(agent_id, found, count, user_data);
}

/* A counter without dimensions has one value. */
static rocprofiler_counter_record_dimension_instance_info_t values[HA_PERF_EVENTS];
static const rocprofiler_counter_record_dimension_instance_info_t
    *value_lists[HA_PERF_EVENTS];

static void
make_values(void)
{
    for (unsigned event = 0; event < HA_PERF_EVENTS; event++) {
        uint64_t id = ha_counter_of(event).handle;
        values[event] = (rocprofiler_counter_record_dimension_instance_info_t){
            .size = sizeof *values, .instance_id = id, .counter_id = id};
        value_lists[event] = &values[event];
    }
}

static rocprofiler_counter_info_v1_t
info_of(unsigned event)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, make_values);
    return (rocprofiler_counter_info_v1_t){
        .size = sizeof(rocprofiler_counter_info_v1_t),
        .id = ha_counter_of(event),
        .name = ha_perf_name(event),
        .description = ha_perf_description(event),
        .block = "PERF",
        .expression = "",
        .dimensions_instances_count = 1,
        .dimensions_instances = &value_lists[event],
    };
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_query_counter_info(rocprofiler_counter_id_t counter_id,
                               rocprofiler_counter_info_version_id_t version,
                               void *info)
{
    uint64_t event = event_of(counter_id.handle);

    if (event >= HA_PERF_EVENTS) {
        return ROCPROFILER_STATUS_ERROR_COUNTER_NOT_FOUND;
    }
    if (info == NULL) {
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    }
    if (version == ROCPROFILER_COUNTER_INFO_VERSION_0) {
        *(rocprofiler_counter_info_v0_t *)info = (rocprofiler_counter_info_v0_t){
            .id = counter_id,
            .name = ha_perf_name((unsigned)event),
            .description = ha_perf_description((unsigned)event),
            .block = "PERF",
            .expression = "",
        };
        return ROCPROFILER_STATUS_SUCCESS;
    }
    if (version == ROCPROFILER_COUNTER_INFO_VERSION_1) {
        *(rocprofiler_counter_info_v1_t *)info = info_of((unsigned)event);
        return ROCPROFILER_STATUS_SUCCESS;
    }
    return ROCPROFILER_STATUS_ERROR_INCOMPATIBLE_ABI;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_iterate_counter_dimensions(rocprofiler_counter_id_t id,
                                       rocprofiler_available_dimensions_cb_t info_cb,
                                       void *user_data)
{
    (void)info_cb;
    (void)user_data;
    if (event_of(id.handle) >= HA_PERF_EVENTS) {
        return ROCPROFILER_STATUS_ERROR_COUNTER_NOT_FOUND;
    }
    return ROCPROFILER_STATUS_ERROR_DIM_NOT_FOUND;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_query_counter_instance_count(rocprofiler_agent_id_t agent_id,
                                         rocprofiler_counter_id_t counter_id,
                                         size_t *instance_count)
{
    (void)agent_id;
    *instance_count = 0;
    if (event_of(counter_id.handle) >= HA_PERF_EVENTS) {
        return ROCPROFILER_STATUS_ERROR_COUNTER_NOT_FOUND;
    }
    *instance_count = 1;
    return ROCPROFILER_STATUS_SUCCESS;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_query_record_counter_id(rocprofiler_counter_instance_id_t id,
                                    rocprofiler_counter_id_t *counter_id)
{
    if (event_of(id) >= HA_PERF_EVENTS) {
        return ROCPROFILER_STATUS_ERROR_COUNTER_NOT_FOUND;
    }
    counter_id->handle = id;
    return ROCPROFILER_STATUS_SUCCESS;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_query_record_dimension_position(rocprofiler_counter_instance_id_t id,
                                            rocprofiler_counter_dimension_id_t dim,
                                            size_t *pos)
{
    (void)dim;
    (void)pos;
    return event_of(id) >= HA_PERF_EVENTS ? ROCPROFILER_STATUS_ERROR_COUNTER_NOT_FOUND
                                          : ROCPROFILER_STATUS_ERROR_DIM_NOT_FOUND;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_create_counter(const char *name, size_t name_len, const char *expr,
                           size_t expr_len, const char *description,
                           size_t description_len, rocprofiler_agent_id_t agent,
                           rocprofiler_counter_id_t *counter_id)
{
    (void)name;
    (void)name_len;
    (void)expr;
    (void)expr_len;
    (void)description;
    (void)description_len;
    (void)agent;
    (void)counter_id;
    return ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED;
}
