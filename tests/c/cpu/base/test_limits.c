/* SPDX-License-Identifier: MIT */
/* Limits of control groups, read from folders that look like the kernel's. */
/* sources: cpu/base/limits */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cpu/base/limits.h"

static char root[64];

/* A file below the root, with its folders. */
static void
put(const char *name, const char *text)
{
    char path[512];
    int size = snprintf(path, sizeof path, "%s%s", root, name);
    CHECK(size > 0 && (size_t)size < sizeof path);
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        (void)mkdir(path, 0700);
        *at = '/';
    }
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    CHECK(fputs(text, file) >= 0);
    CHECK(fclose(file) == 0);
}

static void
begin(void)
{
    (void)strcpy(root, "/tmp/hipadapt-limits-XXXXXX");
    CHECK(mkdtemp(root) != NULL);
}

static void
end(void)
{
    char command[128];
    (void)snprintf(command, sizeof command, "rm -r '%s'", root);
    CHECK(system(command) == 0);
}

static void
test_no_groups_are_no_limit(void)
{
    begin();
    CHECK(ha_limits_group_cores(root) == HA_NO_LIMIT);
    CHECK(ha_limits_group_memory(root) == HA_NO_LIMIT);
    end();
}

static void
test_quota_of_version_2_is_rounded_up(void)
{
    static const struct {
        const char *text;
        uint64_t cores;
    } rows[] = {
        {"max 100000\n", HA_NO_LIMIT}, {"100000 100000\n", 1}, {"150000 100000\n", 2},
        {"10000 100000\n", 1},         {"800000 100000\n", 8}, {"\n", HA_NO_LIMIT},
        {"0 100000\n", HA_NO_LIMIT},   {"5 0\n", HA_NO_LIMIT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin();
        put("/sys/fs/cgroup/cpu.max", rows[i].text);
        CHECK(ha_limits_group_cores(root) == rows[i].cores);
        end();
    }
}

static void
test_groups_above_count(void)
{
    begin();
    put("/proc/self/cgroup", "0::/jobs/one\n");
    put("/sys/fs/cgroup/jobs/one/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/jobs/cpu.max", "300000 100000\n");
    put("/sys/fs/cgroup/jobs/one/memory.max", "9000\n");
    put("/sys/fs/cgroup/jobs/memory.max", "max\n");
    put("/sys/fs/cgroup/other/memory.max", "5\n");
    CHECK(ha_limits_group_cores(root) == 3);
    CHECK(ha_limits_group_memory(root) == 9000);
    end();
}

static void
test_version_1_has_a_folder_for_each_controller(void)
{
    begin();
    put("/proc/self/cgroup", "12:cpuset:/\n"
                             "4:memory:/box\n"
                             "3:cpuacct,cpu:/box\n"
                             "0::/\n");
    put("/sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "250000\n");
    put("/sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/memory/box/memory.limit_in_bytes", "536870912\n");
    CHECK(ha_limits_group_cores(root) == 3);
    CHECK(ha_limits_group_memory(root) == 536870912);
    end();
}

static void
test_group_that_is_not_there_leads_to_the_mount(void)
{
    begin();
    put("/proc/self/cgroup", "4:memory:/docker/0123\n"
                             "a line that is none\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1000000\n");
    CHECK(ha_limits_group_memory(root) == 1000000);
    CHECK(ha_limits_group_cores(root) == HA_NO_LIMIT);
    end();
}

static void
test_long_names_are_no_crash(void)
{
    static char line[4000];
    begin();
    (void)strcpy(line, "0::/");
    memset(line + 4, 'a', sizeof line - 6);
    put("/proc/self/cgroup", line);
    put("/sys/fs/cgroup/cpu.max", "200000 100000\n");
    CHECK(ha_limits_group_cores(root) == 2);
    end();
}

static void
test_this_process_has_a_core_and_memory(void)
{
    CHECK(ha_limits_cores() >= 1);
    CHECK(ha_limits_memory() >= (uint64_t)1 << 20);
}

int
main(void)
{
    test_no_groups_are_no_limit();
    test_quota_of_version_2_is_rounded_up();
    test_groups_above_count();
    test_version_1_has_a_folder_for_each_controller();
    test_group_that_is_not_there_leads_to_the_mount();
    test_long_names_are_no_crash();
    test_this_process_has_a_core_and_memory();
    return 0;
}
