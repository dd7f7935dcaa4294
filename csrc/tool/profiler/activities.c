/* SPDX-License-Identifier: MIT */
#include "tool/profiler/activities.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    uint32_t bit; /* 0: of other devices */
} names[] = {
    {"cpu_op", HA_ACTIVITIES_CPU_OP},
    {"user_annotation", HA_ACTIVITIES_USER_ANNOTATION},
    {"gpu_user_annotation", HA_ACTIVITIES_GPU_ANNOTATION},
    {"gpu_memcpy", HA_ACTIVITIES_MEMCPY},
    {"gpu_memset", HA_ACTIVITIES_MEMSET},
    {"kernel", HA_ACTIVITIES_KERNEL},
    {"external_correlation", HA_ACTIVITIES_EXTERNAL},
    {"hip_runtime", HA_ACTIVITIES_RUNTIME},
    {"cuda_runtime", HA_ACTIVITIES_RUNTIME},
    {"cuda_driver", HA_ACTIVITIES_RUNTIME},
    {"cpu_instant_event", HA_ACTIVITIES_INSTANT},
    {"python_function", HA_ACTIVITIES_PYTHON},
    {"overhead", HA_ACTIVITIES_OVERHEAD},
    {"cuda_sync", HA_ACTIVITIES_SYNC},
    {"cuda_event", HA_ACTIVITIES_SYNC},
    {"memory", HA_ACTIVITIES_MEMORY},
    {"python_stack", HA_ACTIVITIES_STACKS},
    {"queue_length", HA_ACTIVITIES_QUEUE},
    {"mtia_runtime", 0},
    {"mtia_ccp_events", 0},
    {"mtia_insight", 0},
    {"mtia_counters", 0},
    {"glow_runtime", 0},
    {"hpu_op", 0},
    {"xpu_runtime", 0},
    {"xpu_driver", 0},
    {"xpu_sync", 0},
    {"xpu_scope_profiler", 0},
    {"collective_comm", 0},
    {"gpu_pm_counter", 0},
    {"privateuse1_runtime", 0},
    {"privateuse1_driver", 0},
};

enum { COUNT = sizeof names / sizeof *names, LIST_BYTES = 512 };

static enum ha_status
refuse(const char *name, size_t bytes)
{
    char list[LIST_BYTES];
    size_t used = 0;

    list[0] = '\0';
    for (size_t i = 0; i < COUNT; i++) {
        if (names[i].bit != 0 && used < sizeof list) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                     used > 0 ? ", " : "", names[i].name);
        }
    }
    return ha_error_set(HA_ERROR_INVALID, "no activity is named '%.*s'; there are: %s",
                        (int)bytes, name, list);
}

static bool
find(const char *name, size_t bytes, uint32_t *set)
{
    for (size_t i = 0; i < COUNT; i++) {
        if (strlen(names[i].name) == bytes &&
            strncasecmp(names[i].name, name, bytes) == 0) {
            *set |= names[i].bit;
            return true;
        }
    }
    return false;
}

enum ha_status
ha_activities_from(const char *list, uint32_t *set)
{
    static const char spaces[] = " \t\n";
    uint32_t found = 0;

    for (const char *at = list;; at++) {
        at += strspn(at, spaces);
        size_t bytes = strcspn(at, ",");
        size_t name = bytes;
        while (name > 0 && strchr(spaces, at[name - 1]) != NULL) {
            name--;
        }
        if (!find(at, name, &found)) {
            return refuse(at, name);
        }
        at += bytes;
        if (*at == '\0') {
            *set = found;
            return HA_OK;
        }
    }
}

void
ha_activities_list(uint32_t set, char *list, size_t bytes)
{
    size_t used = 0;

    list[0] = '\0';
    for (size_t i = 0; i < COUNT && used < bytes; i++) {
        if ((set & names[i].bit) != 0) {
            used += (size_t)snprintf(list + used, bytes - used, "%s%s",
                                     used > 0 ? "," : "", names[i].name);
            set &= ~names[i].bit; /* other names of the same are left out */
        }
    }
}
