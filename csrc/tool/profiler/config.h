/* SPDX-License-Identifier: MIT */
/* libkineto's configuration text, by its rules: KEY=VALUE lines, `#` begins a comment,
 * exactly one `=` a line, unknown keys are warned of, a bad value refuses all of it. */
#ifndef HA_TOOL_PROFILER_CONFIG_H
#define HA_TOOL_PROFILER_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

enum { HA_CONFIG_PATH_BYTES = 1024, HA_CONFIG_ID_BYTES = 128 };

struct ha_config {
    bool enabled;
    uint32_t activities; /* activities.h */
    char log_file[HA_CONFIG_PATH_BYTES];
    bool exact_file; /* no process's number is put into it; no text says so */
    int64_t duration_ms;
    int64_t warmup_ms;
    int32_t iterations;
    int32_t warmup_iterations;
    int32_t start_iteration;         /* -1: none */
    int32_t start_iteration_roundup; /* -1: none */
    int64_t start_time_ms;           /* Unix; 0: none */
    int32_t buffer_mb;  /* of events that wait for their reader; 0: as is usual */
    int32_t max_events; /* the same, as a number, which wins */
    int64_t poll_ms;    /* of the daemon */
    bool sync_wait_events;
    bool input_shapes, memory, with_stack, with_flops, with_modules;
    int32_t verbose;
    char trace_id[HA_CONFIG_ID_BYTES];
    char group_trace_id[HA_CONFIG_ID_BYTES];
};

/* Before any text. */
void ha_config_default(struct ha_config *config);

/* Applies the text to what is there.  HA_ERROR_INVALID names the key or the line; what
 * stood before it was applied. */
enum ha_status ha_config_parse(struct ha_config *config, const char *text);

/* What is recorded: the list of types, and what other keys add or take away. */
uint32_t ha_config_activities(const struct ha_config *config);

/* What clients are asked for, as bits of enum hipadapt_profile_detail. */
uint32_t ha_config_detail(const struct ha_config *config);

/* Whether a trace begins and ends by iterations, which win over times. */
bool ha_config_by_iteration(const struct ha_config *config);

/* Events that wait for their reader at most; 0: as is usual. */
uint64_t ha_config_room(const struct ha_config *config);

/* The file of process `pid`: `_<pid>` before `.pt.trace.json`, else before the first
 * `.json`, else before `.pftrace`; none if it is exact.  False: too long. */
bool ha_config_log_file(const struct ha_config *config, long pid, char *path,
                        size_t bytes);

#endif
