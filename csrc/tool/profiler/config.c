/* SPDX-License-Identifier: MIT */
#include "tool/profiler/config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "core/log.h"
#include "tool/event.h"
#include "tool/include/hipadapt/profile_client.h"
#include "tool/profiler/activities.h"

#define SPACES " \t\n"

enum {
    LINE_BYTES = 4096,
    OLDEST_START_MS = 10000, /* start times before that are refused */
};

void
ha_config_default(struct ha_config *config)
{
    *config = (struct ha_config){
        .enabled = true,
        .activities = HA_ACTIVITIES_DEFAULT,
        .log_file = "/tmp/libkineto_activities.json",
        .duration_ms = 500,
        .warmup_ms = 5000,
        .start_iteration = -1,
        .start_iteration_roundup = -1,
        .poll_ms = 5000,
        .sync_wait_events = true,
    };
}

/* ---- values ---- */

static enum ha_status
to_number(const char *key, const char *text, int64_t max, int64_t *value)
{
    char *end = NULL;

    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (strchr("+0123456789", text[0]) == NULL || errno != 0 || end == text ||
        *end != '\0' || number < 0 || number > max) {
        return ha_error_set(HA_ERROR_INVALID,
                            "%s: '%s' is not a whole number from 0 to %" PRId64, key,
                            text, max);
    }
    *value = number;
    return HA_OK;
}

static enum ha_status
to_bool(const char *key, const char *text, bool *value)
{
    static const char *const words[] = {"n", "y",     "no",   "yes", "f",
                                        "t", "false", "true", "0",   "1"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *value = i % 2 == 1;
            return HA_OK;
        }
    }
    return ha_error_set(HA_ERROR_INVALID, "%s: '%s' is neither true nor false", key,
                        text);
}

static enum ha_status
to_text(const char *key, const char *text, char *value, size_t bytes)
{
    if (strlen(text) >= bytes) {
        return ha_error_set(HA_ERROR_INVALID, "%s: more than %zu characters", key,
                            bytes - 1);
    }
    (void)snprintf(value, bytes, "%s", text);
    return HA_OK;
}

static enum ha_status
to_start_time(const char *key, const char *text, int64_t *value)
{
    struct timespec now;
    int64_t ms = 0;
    enum ha_status status = to_number(key, text, INT64_MAX, &ms);

    if (status != HA_OK) {
        return status;
    }
    (void)clock_gettime(CLOCK_REALTIME, &now); /* can't fail for this clock */
    if (ms != 0 && ms < (int64_t)now.tv_sec * 1000 - OLDEST_START_MS) {
        return ha_error_set(HA_ERROR_INVALID, "%s: %s is more than %d s in the past",
                            key, text, OLDEST_START_MS / 1000);
    }
    *value = ms;
    return HA_OK;
}

/* ---- keys ---- */

enum type {
    BOOL,
    INT,
    ROUNDUP,
    SECONDS,
    MILLISECONDS,
    TEXT,
    ACTIVITIES,
    TIME,
    NOTHING
};

#define FIELD(name) offsetof(struct ha_config, name)

static const struct key {
    const char *name;
    enum type type;
    size_t field;
} keys[] = {
    {"ACTIVITIES_ENABLED", BOOL, FIELD(enabled)},
    {"ACTIVITY_TYPES", ACTIVITIES, FIELD(activities)},
    {"ACTIVITIES_LOG_FILE", TEXT, FIELD(log_file)},
    {"ACTIVITIES_DURATION_SECS", SECONDS, FIELD(duration_ms)},
    {"ACTIVITIES_DURATION_MSECS", MILLISECONDS, FIELD(duration_ms)},
    {"ACTIVITIES_WARMUP_PERIOD_SECS", SECONDS, FIELD(warmup_ms)},
    {"ACTIVITIES_ITERATIONS", INT, FIELD(iterations)},
    {"ACTIVITIES_WARMUP_ITERATIONS", INT, FIELD(warmup_iterations)},
    {"PROFILE_START_ITERATION", INT, FIELD(start_iteration)},
    {"PROFILE_START_ITERATION_ROUNDUP", ROUNDUP, FIELD(start_iteration_roundup)},
    {"PROFILE_START_TIME", TIME, FIELD(start_time_ms)},
    {"ACTIVITIES_MAX_GPU_BUFFER_SIZE_MB", INT, FIELD(buffer_mb)},
    {"ACTIVITIES_DISPLAY_CUDA_SYNC_WAIT_EVENTS", BOOL, FIELD(sync_wait_events)},
    {"ROCTRACER_MAX_EVENTS", INT, FIELD(max_events)},
    {"PROFILE_REPORT_INPUT_SHAPES", BOOL, FIELD(input_shapes)},
    {"CLIENT_INTERFACE_ENABLE_OP_INPUTS_COLLECTION", BOOL, FIELD(input_shapes)},
    {"PROFILE_PROFILE_MEMORY", BOOL, FIELD(memory)},
    {"PROFILE_WITH_STACK", BOOL, FIELD(with_stack)},
    {"PYTHON_STACK_TRACE", BOOL, FIELD(with_stack)},
    {"PROFILE_WITH_FLOPS", BOOL, FIELD(with_flops)},
    {"PROFILE_WITH_MODULES", BOOL, FIELD(with_modules)},
    {"REQUEST_TRACE_ID", TEXT, FIELD(trace_id)},
    {"REQUEST_GROUP_TRACE_ID", TEXT, FIELD(group_trace_id)},
    {"ON_DEMAND_CONFIG_UPDATE_INTERVAL_SECS", SECONDS, FIELD(poll_ms)},
    {"ON_DEMAND_CONFIG_UPDATE_INTERVAL_MSECS", MILLISECONDS, FIELD(poll_ms)},
    {"VERBOSE_LOG_LEVEL", INT, FIELD(verbose)},
    {"VERBOSE_LOG_MODULES", NOTHING, 0},
    {"CUSTOM_CONFIG", NOTHING, 0},
    {"ENABLE_IPC_FABRIC", NOTHING, 0},
};

static size_t
text_room(const struct key *key)
{
    return key->field == FIELD(log_file) ? HA_CONFIG_PATH_BYTES : HA_CONFIG_ID_BYTES;
}

static enum ha_status
apply_number(struct ha_config *config, const struct key *key, const char *value)
{
    char *field = (char *)config + key->field;
    int64_t number = 0;
    enum ha_status status = to_number(key->name, value, INT32_MAX, &number);

    if (status != HA_OK) {
        return status;
    }
    if (key->type == SECONDS || key->type == MILLISECONDS) {
        number *= key->type == SECONDS ? 1000 : 1;
        memcpy(field, &number, sizeof number);
        return HA_OK;
    }
    int32_t small = (int32_t)number;
    if (key->type == ROUNDUP) {
        small = small > 0 ? small : -1;
        config->start_iteration = small > 0 ? 0 : config->start_iteration;
    }
    memcpy(field, &small, sizeof small);
    return HA_OK;
}

static enum ha_status
apply(struct ha_config *config, const struct key *key, const char *value)
{
    char *field = (char *)config + key->field;

    switch (key->type) {
    case BOOL:
        return to_bool(key->name, value, (bool *)field);
    case TEXT:
        return to_text(key->name, value, field, text_room(key));
    case ACTIVITIES:
        return ha_activities_from(value, &config->activities);
    case TIME:
        return to_start_time(key->name, value, &config->start_time_ms);
    case NOTHING:
        return HA_OK;
    default:
        return apply_number(config, key, value);
    }
}

/* ---- lines ---- */

/* Ends the text where its last word ends; where its first begins. */
static char *
trim(char *text)
{
    char *begin = text + strspn(text, SPACES);
    size_t bytes = strlen(begin);

    while (bytes > 0 && strchr(SPACES, begin[bytes - 1]) != NULL) {
        bytes--;
    }
    begin[bytes] = '\0';
    return begin;
}

/* A line without its comment. */
static enum ha_status
parse_line(struct ha_config *config, char *line)
{
    char *text = trim(line);
    char *equals = strchr(text, '=');

    if (text[0] == '\0') {
        return HA_OK;
    }
    if (equals == NULL || strchr(equals + 1, '=') != NULL) {
        return ha_error_set(HA_ERROR_INVALID, "'%.200s' is not KEY=VALUE with one '='",
                            text);
    }
    *equals = '\0';
    const char *name = trim(text), *value = trim(equals + 1);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strcmp(keys[i].name, name) == 0) {
            return apply(config, &keys[i], value);
        }
    }
    ha_log(1, "the profiler's configuration has an unknown key '%.100s'", name);
    return HA_OK;
}

enum ha_status
ha_config_parse(struct ha_config *config, const char *text)
{
    enum ha_status status = HA_OK;
    char line[LINE_BYTES];

    while (status == HA_OK && *text != '\0') {
        size_t all = strcspn(text, "\n");
        size_t bytes = strcspn(text, "#\n");
        if (bytes >= sizeof line) {
            return ha_error_set(HA_ERROR_INVALID, "a line has more than %d characters",
                                LINE_BYTES - 1);
        }
        memcpy(line, text, bytes);
        line[bytes] = '\0';
        status = parse_line(config, line);
        text += all + (text[all] == '\n');
    }
    return status;
}

uint32_t
ha_config_activities(const struct ha_config *config)
{
    uint32_t activities = config->activities;

    activities |= config->memory ? (uint32_t)HA_ACTIVITIES_MEMORY : 0u;
    activities |= config->with_stack ? (uint32_t)HA_ACTIVITIES_STACKS : 0u;
    return config->sync_wait_events ? activities
                                    : activities & ~(uint32_t)HA_ACTIVITIES_SYNC;
}

uint32_t
ha_config_detail(const struct ha_config *config)
{
    uint32_t detail = 0;

    detail |= config->input_shapes ? HIPADAPT_PROFILE_INPUT_SHAPES : 0u;
    detail |= config->with_stack ? HIPADAPT_PROFILE_STACKS : 0u;
    detail |= config->memory ? HIPADAPT_PROFILE_MEMORY_USE : 0u;
    detail |= config->with_flops ? HIPADAPT_PROFILE_FLOPS : 0u;
    detail |= config->with_modules ? HIPADAPT_PROFILE_MODULES : 0u;
    return detail;
}

bool
ha_config_by_iteration(const struct ha_config *config)
{
    return config->start_iteration >= 0 && config->iterations > 0;
}

uint64_t
ha_config_room(const struct ha_config *config)
{
    const uint64_t events_a_mb = (1 << 20) / sizeof(struct ha_trace_event);

    return config->max_events > 0 ? (uint64_t)config->max_events
                                  : (uint64_t)config->buffer_mb * events_a_mb;
}

bool
ha_config_log_file(const struct ha_config *config, long pid, char *path, size_t bytes)
{
    static const char *const endings[] = {".pt.trace.json", ".json", ".pftrace"};
    const char *file = config->log_file;
    const char *at = file + strlen(file);

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const char *found = strstr(file, endings[i]);
        if (found != NULL) {
            at = found;
            break;
        }
    }
    int length = config->exact_file ? snprintf(path, bytes, "%s", file)
                                    : snprintf(path, bytes, "%.*s_%ld%s",
                                               (int)(at - file), file, pid, at);
    return length > 0 && (size_t)length < bytes;
}
