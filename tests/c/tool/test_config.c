/* SPDX-License-Identifier: MIT */
/* libkineto's configuration text.  With a file as argument: parses each of the texts in
 * it, which end in NUL, and prints what came out, for a test that knows better. */
/* sources: core tool */
/* product: profiler */
#include "check.h"
#include "tool/profiler/activities.h"
#include "tool/profiler/config.h"

static struct ha_config config;

static enum ha_status
parse(const char *text)
{
    ha_config_default(&config);
    return ha_config_parse(&config, text);
}

static void
test_keys_are_applied_with_spaces_and_comments(void)
{
    CHECK_EQUAL(parse("# all\n\n \tACTIVITIES_DURATION_MSECS =\t300 # ms\n"
                      "ACTIVITIES_ITERATIONS=3\nACTIVITIES_WARMUP_PERIOD_SECS=1\n"
                      "PROFILE_PROFILE_MEMORY=YES\nACTIVITY_TYPES= Kernel ,gpu_memcpy\n"
                      "REQUEST_TRACE_ID=abc"),
                HA_OK);

    CHECK_EQUAL(config.duration_ms, 300);
    CHECK_EQUAL(config.iterations, 3);
    CHECK_EQUAL(config.warmup_ms, 1000);
    CHECK(config.memory);
    CHECK_EQUAL(config.activities, HA_ACTIVITIES_KERNEL | HA_ACTIVITIES_MEMCPY);
    CHECK_TEXT(config.trace_id, "abc");
}

static void
test_bad_values_name_their_key(void)
{
    static const char *const bad[][2] = {
        {"ACTIVITIES_DURATION_MSECS=-1", "ACTIVITIES_DURATION_MSECS: '-1'"},
        {"ACTIVITIES_DURATION_MSECS=2147483648", "ACTIVITIES_DURATION_MSECS"},
        {"ACTIVITIES_DURATION_MSECS=", "ACTIVITIES_DURATION_MSECS: ''"},
        {"ACTIVITIES_ITERATIONS=3x", "ACTIVITIES_ITERATIONS: '3x'"},
        {"ACTIVITIES_ENABLED=maybe", "ACTIVITIES_ENABLED: 'maybe'"},
        {"ACTIVITY_TYPES=kernel,warp", "'warp'; there are: cpu_op"},
        {"ACTIVITY_TYPES=", "no activity is named ''"},
        {"PROFILE_START_TIME=1000", "PROFILE_START_TIME: 1000 is more than 10 s"},
        {"ACTIVITIES_LOG_FILE=a=b", "one '='"},
        {"ACTIVITIES_LOG_FILE", "one '='"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_EQUAL(parse(bad[i][0]), HA_ERROR_INVALID);
        CHECK_PART(ha_error_text(), bad[i][1]);
    }
}

static void
test_unknown_keys_change_nothing(void)
{
    struct ha_config before;

    ha_config_default(&before);
    CHECK_EQUAL(parse("SOMETHING_NEW=1\n=2\n"), HA_OK);

    CHECK(memcmp(&config, &before, sizeof config) == 0);
}

static void
test_iterations_need_a_start_and_a_count(void)
{
    CHECK_EQUAL(parse("ACTIVITIES_ITERATIONS=2"), HA_OK);
    CHECK(!ha_config_by_iteration(&config));
    CHECK_EQUAL(parse("ACTIVITIES_ITERATIONS=2\nPROFILE_START_ITERATION=7"), HA_OK);
    CHECK(ha_config_by_iteration(&config));
    CHECK_EQUAL(parse("ACTIVITIES_ITERATIONS=2\nPROFILE_START_ITERATION_ROUNDUP=5"),
                HA_OK);
    CHECK(ha_config_by_iteration(&config));
    CHECK_EQUAL(config.start_iteration, 0);
    CHECK_EQUAL(parse("PROFILE_START_ITERATION_ROUNDUP=0"), HA_OK);
    CHECK_EQUAL(config.start_iteration_roundup, -1);
}

static void
test_log_files_have_the_process_in_their_name(void)
{
    static const char *const names[][2] = {
        {"/a/b.json", "/a/b_12.json"},
        {"/a/b.pt.trace.json", "/a/b_12.pt.trace.json"},
        {"/a/b.json.gz", "/a/b_12.json.gz"},
        {"/a.json/b.json", "/a_12.json/b.json"}, /* the first one, as libkineto does */
        {"/a/b.pftrace", "/a/b_12.pftrace"},
        {"/a/b", "/a/b_12"},
    };
    char path[64], line[128];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(line, sizeof line, "ACTIVITIES_LOG_FILE=%s", names[i][0]);
        CHECK_EQUAL(parse(line), HA_OK);
        CHECK(ha_config_log_file(&config, 12, path, sizeof path));
        CHECK_TEXT(path, names[i][1]);
    }
    CHECK(!ha_config_log_file(&config, 12, path, 4));
}

static void
print_parsed(const char *text)
{
    enum ha_status status = parse(text);

    printf("%d %d %u %lld %lld %d %d %d %d %d %d %lld %d %d %d %d %d %d %d "
           "%s|%s|%s\n",
           status == HA_OK, config.enabled, config.activities,
           (long long)config.duration_ms, (long long)config.warmup_ms,
           config.iterations, config.warmup_iterations, config.start_iteration,
           config.start_iteration_roundup, config.buffer_mb, config.max_events,
           (long long)config.poll_ms, config.sync_wait_events, config.input_shapes,
           config.memory, config.with_stack, config.with_flops, config.with_modules,
           config.verbose, config.log_file, config.trace_id, config.group_trace_id);
}

static void
print_all(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t room = 0;

    CHECK(file != NULL);
    while (getdelim(&text, &room, '\0', file) > 0) {
        print_parsed(text);
    }
    free(text);
    (void)fclose(file);
}

int
main(int argc, char **argv)
{
    if (argc > 1) {
        print_all(argv[1]);
        return 0;
    }
    RUN(test_keys_are_applied_with_spaces_and_comments);
    RUN(test_bad_values_name_their_key);
    RUN(test_unknown_keys_change_nothing);
    RUN(test_iterations_need_a_start_and_a_count);
    RUN(test_log_files_have_the_process_in_their_name);
    return 0;
}
