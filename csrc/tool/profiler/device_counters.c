/* SPDX-License-Identifier: MIT */
#include "tool/profiler/device_counters.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tool/device.h"
#include "tool/events.h"
#include "tool/name.h"
#include "tool/profiler/kinds.h"
#include "tool/sdk.h"

enum {
    DEVICES_MAX = 16,
    CHOSEN_MAX = 32,
    KNOWN_MAX = 2048, /* counters that a device has; more are not looked at */
    RECORDS_MAX = 1024,
    LIST_BYTES = 1024,
};

#define PERIOD_NS UINT64_C(5000000)

struct device {
    rocprofiler_context_id_t context;
    rocprofiler_agent_id_t agent;
    int number;
    rocprofiler_counter_config_id_t config; /* 0: nothing is chosen */
};

/* A counter of one device has an id of its own. */
struct chosen {
    const struct device *device;
    uint64_t id;
    uint32_t name;
    bool there; /* the last sample had it */
    double value;
    double base; /* at the start */
};

static struct {
    pthread_mutex_t lock; /* of all that follows */
    struct device devices[DEVICES_MAX];
    unsigned device_count;
    struct chosen chosen[CHOSEN_MAX];
    unsigned chosen_count;
    bool counts;  /* contexts are active */
    bool started; /* samples become events */
    uint64_t sampled;
} counters = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- contexts ---- */

/* A context has started: the library asks what to count. */
static void
on_start(rocprofiler_context_id_t context, rocprofiler_agent_id_t agent,
         rocprofiler_device_counting_agent_cb_t set_config, void *data)
{
    const struct device *device = data;

    (void)agent;
    (void)set_config(context, device->config);
}

static rocprofiler_status_t
add_devices(rocprofiler_agent_version_t version, const void **agents, size_t count,
            void *unused)
{
    (void)version;
    (void)unused;
    for (size_t i = 0; i < count && counters.device_count < DEVICES_MAX; i++) {
        const rocprofiler_agent_v0_t *agent = agents[i];
        struct device *device = &counters.devices[counters.device_count];
        if (agent->type != ROCPROFILER_AGENT_TYPE_GPU) {
            continue;
        }
        *device = (struct device){.agent = agent->id,
                                  .number = ha_device_of_agent(agent->id)};
        if (ha_sdk.create_context(&device->context) == ROCPROFILER_STATUS_SUCCESS &&
            ha_sdk.configure_device_counting_service(
                device->context, (rocprofiler_buffer_id_t){0}, device->agent, on_start,
                device) == ROCPROFILER_STATUS_SUCCESS) {
            counters.device_count++;
        }
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

static int
initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize;
    (void)data;
    (void)ha_sdk.query_available_agents(ROCPROFILER_AGENT_INFO_VERSION_0, add_devices,
                                        sizeof(rocprofiler_agent_v0_t), NULL);
    return 0;
}

static rocprofiler_tool_configure_result_t *
configure(uint32_t version, const char *runtime_version, uint32_t priority,
          rocprofiler_client_id_t *client_id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize,
                                                         NULL, NULL};

    (void)version;
    (void)runtime_version;
    (void)priority;
    client_id->name = "hipadapt counters";
    return &result;
}

static enum ha_status
need_devices(void)
{
    if (counters.device_count == 0) {
        rocprofiler_status_t status = ha_sdk.force_configure(configure);
        if (status != ROCPROFILER_STATUS_SUCCESS) {
            return ha_error_set(HA_ERROR_UNSUPPORTED,
                                "the profiler's library takes no client for counters: "
                                "%s",
                                ha_sdk.get_status_string(status));
        }
    }
    return counters.device_count > 0
               ? HA_OK
               : ha_error_set(HA_ERROR_UNSUPPORTED,
                              "no device counts: call HIP before the profiler");
}

/* ---- what is chosen ---- */

struct known {
    rocprofiler_counter_id_t ids[KNOWN_MAX];
    size_t count;
};

static rocprofiler_status_t
note_known(rocprofiler_agent_id_t agent, rocprofiler_counter_id_t *ids, size_t count,
           void *data)
{
    struct known *known = data;

    (void)agent;
    for (size_t i = 0; i < count && known->count < KNOWN_MAX; i++) {
        known->ids[known->count++] = ids[i];
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

static const char *
name_of(rocprofiler_counter_id_t id)
{
    rocprofiler_counter_info_v0_t info;

    return ha_sdk.query_counter_info(id, ROCPROFILER_COUNTER_INFO_VERSION_0, &info) ==
                   ROCPROFILER_STATUS_SUCCESS
               ? info.name
               : "";
}

static enum ha_status
refuse(const struct known *known, const char *name, size_t bytes)
{
    char list[LIST_BYTES];
    size_t used = 0;

    list[0] = '\0';
    for (size_t i = 0; i < known->count && used < sizeof list; i++) {
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 used > 0 ? ", " : "", name_of(known->ids[i]));
    }
    return ha_error_set(HA_ERROR_INVALID,
                        "no counter of the devices is named '%.*s'; there are: %s",
                        (int)bytes, name, list);
}

static enum ha_status
choose_one(const struct device *device, const struct known *known, const char *name,
           size_t bytes)
{
    for (size_t i = 0; i < known->count; i++) {
        const char *found = name_of(known->ids[i]);
        if (strlen(found) != bytes || memcmp(found, name, bytes) != 0) {
            continue;
        }
        if (counters.chosen_count == CHOSEN_MAX) {
            return ha_error_set(HA_ERROR_INVALID, "more than %d counters are chosen",
                                (int)CHOSEN_MAX);
        }
        counters.chosen[counters.chosen_count++] = (struct chosen){
            .device = device, .id = known->ids[i].handle, .name = ha_name_of(found)};
        return HA_OK;
    }
    return refuse(known, name, bytes);
}

static enum ha_status
choose_for(struct device *device, const char *names)
{
    static struct known known; /* under the lock */
    rocprofiler_counter_id_t ids[CHOSEN_MAX];
    unsigned first = counters.chosen_count;
    enum ha_status status = HA_OK;

    known.count = 0;
    (void)ha_sdk.iterate_agent_supported_counters(device->agent, note_known, &known);
    for (const char *at = names; status == HA_OK && at != NULL;) {
        size_t bytes = strcspn(at, ",");
        status = choose_one(device, &known, at, bytes);
        at = at[bytes] != '\0' ? at + bytes + 1 : NULL;
    }
    if (status != HA_OK) {
        return status;
    }
    for (unsigned i = first; i < counters.chosen_count; i++) {
        ids[i - first].handle = counters.chosen[i].id;
    }
    if (ha_sdk.create_counter_config(device->agent, ids, counters.chosen_count - first,
                                     &device->config) != ROCPROFILER_STATUS_SUCCESS) {
        return ha_error_set(HA_ERROR_UNSUPPORTED,
                            "device %d can't count '%s' at the same time",
                            device->number, names);
    }
    return HA_OK;
}

static void
forget_chosen(void)
{
    for (unsigned i = 0; i < counters.device_count; i++) {
        struct device *device = &counters.devices[i];
        if (device->config.handle != 0) {
            (void)ha_sdk.destroy_counter_config(device->config);
            device->config.handle = 0;
        }
    }
    counters.chosen_count = 0;
}

static enum ha_status
choose(const char *names)
{
    enum ha_status status = need_devices();

    for (unsigned i = 0; status == HA_OK && i < counters.device_count; i++) {
        status = choose_for(&counters.devices[i], names);
    }
    return status;
}

/* ---- samples ---- */

/* A counter has an instance for each part of a device; their sum is the device's. */
static void
add_record(const struct device *device, const rocprofiler_counter_record_t *record)
{
    rocprofiler_counter_id_t id;

    if (ha_sdk.query_record_counter_id(record->id, &id) != ROCPROFILER_STATUS_SUCCESS) {
        return;
    }
    for (unsigned i = 0; i < counters.chosen_count; i++) {
        struct chosen *chosen = &counters.chosen[i];
        if (chosen->device == device && chosen->id == id.handle) {
            chosen->there = true;
            chosen->value += record->counter_value;
        }
    }
}

static void
put(struct ha_collector *collector, const struct chosen *chosen)
{
    struct ha_ring *ring;
    struct ha_trace_event *event =
        chosen->there ? ha_ring_reserve(collector, &ring) : NULL;
    double value = chosen->value - chosen->base;

    if (event == NULL) {
        return;
    }
    *event = (struct ha_trace_event){
        .kind = HA_KIND_COUNTER,
        .start = counters.sampled,
        .end = counters.sampled,
        .name = chosen->name,
        .device = chosen->device->number,
        .source_device = HA_DEVICE_NONE,
    };
    memcpy(&event->bytes, &value, sizeof event->bytes);
    ha_ring_commit(ring);
}

static void
read_all(void)
{
    static rocprofiler_counter_record_t records[RECORDS_MAX]; /* under the lock */
    const rocprofiler_user_data_t none = {.value = 0};

    for (unsigned i = 0; i < counters.chosen_count; i++) {
        counters.chosen[i].there = false;
        counters.chosen[i].value = 0;
    }
    for (unsigned i = 0; i < counters.device_count; i++) {
        const struct device *device = &counters.devices[i];
        size_t count = RECORDS_MAX;
        if (device->config.handle != 0 &&
            ha_sdk.sample_device_counting_service(
                device->context, none, ROCPROFILER_COUNTER_FLAG_NONE, records,
                &count) == ROCPROFILER_STATUS_SUCCESS) {
            for (size_t k = 0; k < count && k < RECORDS_MAX; k++) {
                add_record(device, &records[k]);
            }
        }
    }
    counters.sampled = ha_events_now();
}

static void
sample(struct ha_collector *collector)
{
    read_all();
    for (unsigned i = 0; i < counters.chosen_count; i++) {
        put(collector, &counters.chosen[i]);
    }
}

static void
switch_contexts(rocprofiler_status_t (*change)(rocprofiler_context_id_t context))
{
    for (unsigned i = 0; i < counters.device_count; i++) {
        if (counters.devices[i].config.handle != 0) {
            (void)change(counters.devices[i].context);
        }
    }
}

static void
stop_counting(void)
{
    if (counters.counts) {
        switch_contexts(ha_sdk.stop_context);
    }
    counters.counts = counters.started = false;
    forget_chosen();
}

/* A counter that is listed may still be forbidden. */
static enum ha_status
count_once(void)
{
    counters.counts = true;
    switch_contexts(ha_sdk.start_context);
    read_all();
    for (unsigned i = 0; i < counters.chosen_count; i++) {
        const struct chosen *chosen = &counters.chosen[i];
        if (!chosen->there) {
            return ha_error_set(HA_ERROR_UNSUPPORTED,
                                "device %d does not count '%s' on this system",
                                chosen->device->number, ha_name_text(chosen->name));
        }
    }
    return HA_OK;
}

enum ha_status
ha_device_counters_prepare(const char *names)
{
    enum ha_status status = HA_OK;

    pthread_mutex_lock(&counters.lock);
    stop_counting();
    if (names != NULL) {
        status = choose(names);
        if (status == HA_OK) {
            status = count_once();
        }
        if (status != HA_OK) {
            stop_counting();
        }
    }
    pthread_mutex_unlock(&counters.lock);
    return status;
}

void
ha_device_counters_start(struct ha_collector *collector)
{
    pthread_mutex_lock(&counters.lock);
    if (counters.counts) {
        read_all();
        for (unsigned i = 0; i < counters.chosen_count; i++) {
            counters.chosen[i].base = counters.chosen[i].value;
            put(collector, &counters.chosen[i]);
        }
        counters.started = true;
    }
    pthread_mutex_unlock(&counters.lock);
}

void
ha_device_counters_sample(struct ha_collector *collector)
{
    pthread_mutex_lock(&counters.lock);
    if (counters.started && ha_events_now() - counters.sampled >= PERIOD_NS) {
        sample(collector);
    }
    pthread_mutex_unlock(&counters.lock);
}

void
ha_device_counters_stop(struct ha_collector *collector)
{
    pthread_mutex_lock(&counters.lock);
    if (counters.started) {
        sample(collector);
    }
    stop_counting();
    pthread_mutex_unlock(&counters.lock);
}
