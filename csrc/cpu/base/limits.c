/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cpu/base/limits.h"

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define LINE_BYTES 4096
#define DEFAULT_MEMORY ((uint64_t)1 << 30)

/* The limit that one group sets. */
typedef uint64_t (*group_limit)(const char *folder);

/* A controller, in both versions. */
struct controller {
    const char *name;
    group_limit new_limit, old_limit;
};

/* ---- one group ---- */

/* The first line of a file of the folder; false: there is none. */
static bool
first_line(const char *folder, const char *name, char line[LINE_BYTES])
{
    char path[PATH_MAX];
    int size = snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = size > 0 && (size_t)size < sizeof path ? fopen(path, "re") : NULL;
    if (file == NULL) {
        return false;
    }
    bool read = fgets(line, LINE_BYTES, file) != NULL;
    (void)fclose(file);
    return read;
}

/* Whole cores of a quota, rounded up. */
static uint64_t
cores_of(long long quota, long long period)
{
    if (quota <= 0 || period <= 0) {
        return HA_NO_LIMIT;
    }
    return (uint64_t)(quota / period + (quota % period != 0));
}

static uint64_t
new_cores(const char *folder)
{
    char line[LINE_BYTES];
    long long quota, period; /* "max 100000": no limit */
    return first_line(folder, "cpu.max", line) &&
                   sscanf(line, "%lld %lld", &quota, &period) == 2
               ? cores_of(quota, period)
               : HA_NO_LIMIT;
}

static uint64_t
old_cores(const char *folder)
{
    char quota[LINE_BYTES], period[LINE_BYTES];
    return first_line(folder, "cpu.cfs_quota_us", quota) &&
                   first_line(folder, "cpu.cfs_period_us", period)
               ? cores_of(strtoll(quota, NULL, 10), strtoll(period, NULL, 10))
               : HA_NO_LIMIT;
}

static uint64_t
bytes_in(const char *folder, const char *name)
{
    char line[LINE_BYTES];
    unsigned long long bytes; /* "max": no limit */
    return first_line(folder, name, line) && sscanf(line, "%llu", &bytes) == 1 &&
                   bytes > 0
               ? bytes
               : HA_NO_LIMIT;
}

static uint64_t
new_memory(const char *folder)
{
    return bytes_in(folder, "memory.max");
}

static uint64_t
old_memory(const char *folder)
{
    return bytes_in(folder, "memory.limit_in_bytes");
}

/* ---- the groups of this process ---- */

/* The least limit of the group and of those above it.  In a container the group's own
 * name may mean nothing below `mount`; what it sees there is `mount` itself. */
static uint64_t
least_limit(const char *mount, const char *group, group_limit limit)
{
    char folder[PATH_MAX];
    uint64_t least = HA_NO_LIMIT;
    size_t length = strlen(mount);
    int size = snprintf(folder, sizeof folder, "%s%s", mount, group);
    if (size < 0 || (size_t)size >= sizeof folder) {
        folder[length < sizeof folder ? length : 0] = '\0';
    }
    for (;;) {
        uint64_t here = limit(folder);
        least = here < least ? here : least;
        char *last = strrchr(folder, '/');
        if (strlen(folder) <= length || last == NULL) {
            return least;
        }
        *last = '\0';
    }
}

static bool
names_controller(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (;;) {
        size_t word = strcspn(list, ",");
        if (word == length && strncmp(list, name, length) == 0) {
            return true;
        }
        if (list[word] == '\0') {
            return false;
        }
        list += word + 1;
    }
}

/* What one line of /proc/self/cgroup leads to: "<number>:<controllers>:<group>". */
static uint64_t
limit_by(const char *root, char *line, const struct controller *controller)
{
    char mount[PATH_MAX];
    char *list = strchr(line, ':');
    char *group = list != NULL ? strchr(list + 1, ':') : NULL;
    if (group == NULL) {
        return HA_NO_LIMIT;
    }
    *group++ = '\0';
    list++;
    group[strcspn(group, "\n")] = '\0';
    if (strcmp(group, "/") == 0) {
        group = "";
    }
    if (*list == '\0') {
        (void)snprintf(mount, sizeof mount, "%s/sys/fs/cgroup", root);
        return least_limit(mount, group, controller->new_limit);
    }
    if (!names_controller(list, controller->name)) {
        return HA_NO_LIMIT;
    }
    (void)snprintf(mount, sizeof mount, "%s/sys/fs/cgroup/%s", root, controller->name);
    return least_limit(mount, group, controller->old_limit);
}

static uint64_t
limit_of_groups(const char *root, const struct controller *controller)
{
    char line[LINE_BYTES], top[] = "0::/";
    uint64_t least = limit_by(root, top, controller);
    (void)snprintf(line, sizeof line, "%s/proc/self/cgroup", root);
    FILE *file = fopen(line, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        uint64_t here = limit_by(root, line, controller);
        least = here < least ? here : least;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return least;
}

uint64_t
ha_limits_group_cores(const char *root)
{
    static const struct controller cpu = {"cpu", new_cores, old_cores};
    return limit_of_groups(root, &cpu);
}

uint64_t
ha_limits_group_memory(const char *root)
{
    static const struct controller memory = {"memory", new_memory, old_memory};
    return limit_of_groups(root, &memory);
}

/* ---- both ---- */

unsigned
ha_limits_cores(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    int allowed = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    unsigned cores = allowed > 0  ? (unsigned)allowed
                     : online > 0 ? (unsigned)online
                                  : 1;
    uint64_t quota = ha_limits_group_cores("");
    return quota < cores ? (unsigned)quota : cores;
}

uint64_t
ha_limits_memory(void)
{
    struct sysinfo info;
    uint64_t bytes =
        sysinfo(&info) == 0 ? (uint64_t)info.totalram * info.mem_unit : DEFAULT_MEMORY;
    uint64_t limit = ha_limits_group_memory("");
    return limit < bytes ? limit : bytes;
}
