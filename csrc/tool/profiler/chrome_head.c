/* SPDX-License-Identifier: MIT */
#include "tool/profiler/chrome_head.h"

#include <string.h>

#include "tool/text.h"

/* Members of ours, which metadata of others doesn't replace. */
static const char *const reserved[] = {
    "schemaVersion",       "deviceProperties", "displayTimeUnit",
    "baseTimeNanoseconds", "traceEvents",      "lost_events",
    "traceName",           "distributedInfo",  "out_of_window_events",
};

static void
put(struct ha_output *output, const char *text)
{
    size_t bytes = strlen(text);

    if (ha_output_room(output, bytes)) {
        output->at = ha_text_put(output->at, text, bytes);
    }
}

static void
put_string(struct ha_output *output, const char *text)
{
    size_t bytes = strlen(text);

    if (ha_output_room(output, HA_JSON_GROWTH * bytes + 16)) {
        output->at = ha_text_quoted(output->at, text, bytes);
    }
}

/* `"key":value,`; the key is a literal. */
static void
put_number(struct ha_output *output, const char *key, int64_t value)
{
    put(output, key);
    if (ha_output_room(output, HA_NUMBER_BYTES)) {
        output->at = ha_text_int(output->at, value);
        *output->at++ = ',';
    }
}

static void
put_text(struct ha_output *output, const char *key, const char *text)
{
    if (text != NULL) {
        put(output, key);
        put_string(output, text);
        put(output, ",");
    }
}

/* JSON text of others. */
static void
put_value(struct ha_output *output, const char *value)
{
    if (value == NULL) {
        put(output, "null");
    } else if (ha_json_is_value(value)) {
        put(output, value);
    } else {
        put_string(output, value);
    }
}

static void
put_pair(struct ha_output *output, const struct ha_trace_pair *pair)
{
    const char *key = pair->key != NULL ? pair->key : "";
    bool ours = false;

    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
        ours = ours || strcmp(key, reserved[i]) == 0;
    }
    if (ours) {
        put(output, "\"metadata.");
        put(output, key); /* a word */
        put(output, "\"");
    } else {
        put_string(output, key);
    }
    put(output, ":");
    put_value(output, pair->value);
    put(output, ",\n");
}

static void
put_device(struct ha_output *output, const struct ha_trace_device *device)
{
    put_number(output, "{\"id\":", device->id);
    put_text(output, "\"name\":", device->name != NULL ? device->name : "");
    put_number(output, "\"totalGlobalMem\":", (int64_t)device->memory_bytes);
    put_number(output, "\"computeMajor\":", device->compute_major);
    put_number(output, "\"computeMinor\":", device->compute_minor);
    put_number(output, "\"maxThreadsPerBlock\":", device->block_threads_max);
    put_number(output,
               "\"maxThreadsPerMultiprocessor\":", device->multiprocessor_threads_max);
    put_number(output, "\"regsPerBlock\":", device->block_registers);
    put_number(output, "\"warpSize\":", device->warp_size);
    put_number(output, "\"sharedMemPerBlock\":", device->block_shared_bytes);
    put_number(output, "\"numSms\":", device->multiprocessors);
    put_number(output, "\"maxSharedMemoryPerMultiProcessor\":",
               device->multiprocessor_shared_bytes);
    output->at[-1] = '}';
}

void
ha_chrome_put_head(struct ha_output *output, const struct ha_writer_info *info,
                   uint64_t base)
{
    put(output, "{\"schemaVersion\":1,\n\"deviceProperties\":[");
    for (size_t i = 0; i < info->device_count; i++) {
        put(output, i > 0 ? ",\n" : "");
        if (ha_output_room(output, 1024)) {
            put_device(output, &info->devices[i]);
        }
    }
    put(output, "],\n");
    put_text(output, "\"host_name\":", info->host_name);
    if (info->hip_runtime_version != 0) {
        put_number(output, "\"hip_runtime_version\":", info->hip_runtime_version);
    }
    if (info->hip_driver_version != 0) {
        put_number(output, "\"hip_driver_version\":", info->hip_driver_version);
    }
    put_text(output, "\"rocprofiler-sdk_version\":", info->sdk_version);
    put_number(output, "\"clock_offset_ns\":", info->clock_offset);
    put_number(output, "\"clock_error_ns\":", (int64_t)info->clock_error);
    for (size_t i = 0; i < info->metadata_count; i++) {
        put_pair(output, &info->metadata[i]);
    }
    if (info->distributed != NULL) {
        put(output, "\"distributedInfo\":");
        put_value(output, info->distributed);
        put(output, ",\n");
    }
    put(output, "\"displayTimeUnit\":\"ms\",\n");
    put_number(output, "\"baseTimeNanoseconds\":", (int64_t)base);
    put(output, "\n\"traceEvents\":[\n");
}

void
ha_chrome_put_tail(struct ha_output *output, const struct ha_writer_result *result)
{
    put(output, ",\n");
    for (size_t i = 0; i < result->metadata_count; i++) {
        put_pair(output, &result->metadata[i]);
    }
    put_number(output, "\"lost_events\":", (int64_t)result->lost_events);
    put_number(output,
               "\n\"out_of_window_events\":", (int64_t)result->out_of_window_events);
    put(output, "\n\"traceName\":");
    put_string(output, output->name);
    put(output, "}\n");
}
