/* SPDX-License-Identifier: MIT */
/* Writers of traces: places that are refused, disks that are full, processes that die,
 * forks, and memory that stays. */
/* sources: core tool */
/* product: profiler */
#include "check.h"
#include "tool/text.h"
#include "tool/profiler/writer.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define START UINT64_C(1790857031000000000)
enum {
#ifdef HA_STRESS /* each write is of seven bytes */
    MANY = 10000,
#else
    MANY = 100000,
#endif
    TRIES_MAX = 1000000,
    NAMES = 10000,
    FILE_BYTES_MAX = 4 << 20,
    MEMORY_KB_MAX = 16 << 10,
};

static const struct ha_writer_info info = {.start = START, .pid = 4711};
static const struct ha_writer_result result = {.end = START + 1000};
static char folder[] = "/tmp/ha_writer_XXXXXX";
static const char *const suffixes[] = {".json", ".json.gz", ".pftrace"};

static const char *
place(const char *name)
{
    static char path[4096];

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* The number of files in the folder; with `part`, of those that have it in their name.
 */
static int
count_files(const char *part)
{
    DIR *list = opendir(folder);
    int count = 0;

    CHECK(list != NULL);
    for (struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) {
        count += entry->d_name[0] != '.' && strstr(entry->d_name, part) != NULL;
    }
    (void)closedir(list);
    return count;
}

static void
empty_folder(void)
{
    DIR *list = opendir(folder);

    CHECK(list != NULL);
    for (struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) {
        if (entry->d_name[0] != '.') {
            CHECK_EQUAL(unlinkat(dirfd(list), entry->d_name, 0), 0);
        }
    }
    (void)closedir(list);
}

static struct ha_writer *
must_open(const char *name)
{
    struct ha_writer *writer = NULL;

    CHECK_EQUAL(ha_writer_open(place(name), &info, &writer), HA_OK);
    return writer;
}

static enum ha_status
put_kernel(struct ha_writer *writer, uint64_t number, const char *name)
{
    const struct ha_trace_event event = {.grid = {64, 1, 1}, .block = {64, 1, 1}};
    const struct ha_slice slice = {
        .kind = HA_SLICE_KERNEL,
        .name = name,
        .start = START + 10 * number,
        .end = START + 10 * number + 9,
        .stream = number % 4,
        .correlation = number + 1,
        .event = &event,
    };

    return ha_writer_slice(writer, &slice);
}

static off_t
size_of(const char *path)
{
    struct stat about = {.st_size = -1};

    (void)stat(path, &about);
    return about.st_size;
}

/* ---- places ---- */

static void
test_file_has_its_name_only_at_the_end(void)
{
    for (int i = 0; i < 3; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "a%s", suffixes[i]);
        struct ha_writer *writer = must_open(name);
        CHECK_EQUAL(put_kernel(writer, 0, "k"), HA_OK);
        CHECK_EQUAL(access(place(name), F_OK), -1);
        CHECK_EQUAL(count_files(".hipadapt.tmp"), 1);

        CHECK_EQUAL(ha_writer_finish(writer, &result), HA_OK);

        CHECK(size_of(place(name)) > 0);
        CHECK_EQUAL(count_files(".hipadapt.tmp"), 0);
    }
    CHECK_EQUAL(count_files(""), 3);
}

static void
test_two_writers_of_one_file_do_not_meet(void)
{
    struct ha_writer *one = must_open("a.json");
    struct ha_writer *two = must_open("a.json");

    CHECK_EQUAL(count_files(".hipadapt.tmp"), 2);
    CHECK_EQUAL(ha_writer_finish(one, &result), HA_OK);
    CHECK_EQUAL(ha_writer_finish(two, &result), HA_OK);
    CHECK_EQUAL(count_files(""), 1);
}

static void
test_abandoned_trace_leaves_nothing(void)
{
    struct ha_writer *writer = must_open("a.pftrace");

    CHECK_EQUAL(put_kernel(writer, 0, "k"), HA_OK);
    ha_writer_abandon(writer);
    ha_writer_abandon(NULL);

    CHECK_EQUAL(count_files(""), 0);
}

static void
test_file_grows_while_slices_come(void)
{
    struct ha_writer *writer = must_open("a.json");
    uint64_t last = ha_writer_bytes(writer);

    for (int round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < 20000; i++) {
            CHECK_EQUAL(put_kernel(writer, i, "k"), HA_OK);
        }
        CHECK(ha_writer_bytes(writer) > last + (1 << 20));
        last = ha_writer_bytes(writer);
    }
    ha_writer_abandon(writer);
}

/* ---- failures ---- */

static void
test_full_disk_is_told_and_leaves_nothing(void)
{
    struct rlimit old, less = {FILE_BYTES_MAX, RLIM_INFINITY};

    CHECK_EQUAL(getrlimit(RLIMIT_FSIZE, &old), 0);
    less.rlim_max = old.rlim_max;
    for (int i = 0; i < 3; i++) {
        char name[32];
        enum ha_status status = HA_OK;
        uint64_t tries = 0;
        (void)snprintf(name, sizeof name, "a%s", suffixes[i]);
        struct ha_writer *writer = must_open(name);
        CHECK_EQUAL(setrlimit(RLIMIT_FSIZE, &less), 0);
        while (status == HA_OK && tries < TRIES_MAX) {
            status = put_kernel(writer, tries++, "k");
        }
        CHECK_EQUAL(setrlimit(RLIMIT_FSIZE, &old), 0);

        CHECK_EQUAL(status, HA_ERROR_SYSTEM);
        CHECK_PART(ha_error_text(), name);
        CHECK_PART(ha_error_text(), strerror(EFBIG));
        CHECK_EQUAL(count_files(""), 0); /* at once, not at the end */
        (void)ha_error_set(HA_ERROR_INVALID, "something else");
        CHECK_EQUAL(put_kernel(writer, 0, "k"), HA_ERROR_SYSTEM);
        CHECK_PART(ha_error_text(), strerror(EFBIG));
        CHECK_EQUAL(ha_writer_finish(writer, &result), HA_ERROR_SYSTEM);
        CHECK_EQUAL(count_files(""), 0);
    }
}

static void
test_trace_is_whole_where_its_folder_has_moved(void)
{
    char moved[sizeof folder + 8];
    struct ha_writer *writer = must_open("a.json");

    (void)snprintf(moved, sizeof moved, "%s.moved", folder);
    CHECK_EQUAL(rename(folder, moved), 0);
    CHECK_EQUAL(ha_writer_finish(writer, &result), HA_OK);
    CHECK_EQUAL(rename(moved, folder), 0);

    CHECK(size_of(place("a.json")) > 0);
}

/* ---- processes ---- */

static void
test_next_writer_sweeps_what_a_dead_process_left(void)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        (void)must_open("b.json");
        _exit(0);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    CHECK_EQUAL(count_files(".hipadapt.tmp"), 1);
    FILE *other = fopen(place("mine.hipadapt.tmp"), "w"); /* no number: not ours */
    CHECK(other != NULL);
    (void)fclose(other);
    struct ha_writer *alive = must_open("c.json");

    struct ha_writer *writer = must_open("a.json");

    CHECK_EQUAL(count_files("b.json"), 0);
    CHECK_EQUAL(count_files("c.json"), 1);
    CHECK_EQUAL(count_files("mine"), 1);
    ha_writer_abandon(alive);
    ha_writer_abandon(writer);
}

static void
test_forked_child_leaves_the_trace_alone(void)
{
    int status = -1;
    struct ha_writer *writer = must_open("a.json");

    CHECK_EQUAL(put_kernel(writer, 0, "k"), HA_OK);
    pid_t child = fork();
    if (child == 0) {
        ha_writer_abandon(writer);
        _exit(0);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);

    CHECK_EQUAL(count_files(".hipadapt.tmp"), 1);
    CHECK_EQUAL(ha_writer_finish(writer, &result), HA_OK);
    CHECK(size_of(place("a.json")) > 0);
}

static void
open_and_finish(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        struct ha_writer *writer = must_open("same.json");
        CHECK_EQUAL(ha_writer_finish(writer, &result), HA_OK);
    }
}

/* Each open sweeps while others have made their file and not yet locked it. */
static void
test_processes_that_sweep_spare_those_that_begin(void)
{
    pid_t children[4];
    int status = -1;

    for (int i = 0; i < 4; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            open_and_finish(150);
            _exit(0);
        }
    }
    for (int i = 0; i < 4; i++) {
        CHECK_EQUAL(waitpid(children[i], &status, 0), children[i]);
        CHECK_EQUAL(status, 0);
    }
    CHECK_EQUAL(count_files(""), 1);
}

/* ---- schemes ---- */

static struct {
    int opened, slices, finished, abandoned;
} own;

static enum ha_status
own_open(void *context, const char *url, const struct ha_writer_info *about,
         void **state)
{
    CHECK_TEXT(url, "own+1://there");
    CHECK(about->start == START);
    *state = context;
    own.opened++;
    return HA_OK;
}

static enum ha_status
own_slice(void *state, const struct ha_slice *slice)
{
    CHECK(state == &own);
    CHECK_TEXT(slice->name, "k");
    own.slices++;
    return HA_OK;
}

static enum ha_status
own_finish(void *state, const struct ha_writer_result *end)
{
    CHECK(state == &own);
    CHECK(end == &result);
    own.finished++;
    return HA_OK;
}

static void
own_abandon(void *state)
{
    CHECK(state == &own);
    own.abandoned++;
}

static void
test_registered_scheme_gets_slices(void)
{
    static const struct ha_writer_class class = {
        .open = own_open,
        .slice = own_slice,
        .finish = own_finish,
        .abandon = own_abandon,
    };
    struct ha_writer *writer = NULL;
    const struct ha_trace_row row = {.device = 0};

    CHECK_EQUAL(ha_writer_open("own+1://there", &info, &writer), HA_ERROR_UNSUPPORTED);
    CHECK_EQUAL(ha_writer_register("own+1", &class, &own), HA_OK);
    CHECK_EQUAL(ha_writer_register("own+1", &class, &own), HA_ERROR_INVALID);
    CHECK_EQUAL(ha_writer_register("file", &class, &own), HA_ERROR_INVALID);
    CHECK_EQUAL(ha_writer_register("", &class, &own), HA_ERROR_INVALID);
    CHECK_EQUAL(ha_writer_register("a b", &class, &own), HA_ERROR_INVALID);

    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(ha_writer_open("own+1://there", &info, &writer), HA_OK);
        CHECK_EQUAL(ha_writer_row(writer, &row), HA_OK);
        CHECK_EQUAL(put_kernel(writer, 0, "k"), HA_OK);
        CHECK_EQUAL(ha_writer_bytes(writer), 0);
        if (i == 0) {
            CHECK_EQUAL(ha_writer_finish(writer, &result), HA_OK);
        } else {
            ha_writer_abandon(writer);
        }
    }

    CHECK_EQUAL(own.opened, 2);
    CHECK_EQUAL(own.slices, 2);
    CHECK_EQUAL(own.finished, 1);
    CHECK_EQUAL(own.abandoned, 1);
    CHECK_EQUAL(ha_writer_open("none://x", &info, &writer), HA_ERROR_UNSUPPORTED);
    CHECK_PART(ha_error_text(), "file://, own+1://");
}

/* ---- memory ---- */

static long
resident_KB(void)
{
    char text[256];
    long KB = 0;
    FILE *file = fopen("/proc/self/status", "r");

    CHECK(file != NULL);
    while (fgets(text, sizeof text, file) != NULL) {
        if (strncmp(text, "VmRSS:", 6) == 0) {
            KB = strtol(text + 6, NULL, 10);
        }
    }
    (void)fclose(file);
    return KB;
}

static void
test_memory_does_not_grow_with_the_trace(void)
{
    char name[64];

    for (int i = 0; i < 3; i++) {
        (void)snprintf(name, sizeof name, "a%s", suffixes[i]);
        long before = resident_KB();
        struct ha_writer *writer = must_open(name);
        for (uint64_t number = 0; number < MANY; number++) {
            /* Names repeat; every 16th slice has one that never does. */
            (void)snprintf(
                name, sizeof name, "a_kernel_of_some_length<%llu, float>",
                (unsigned long long)(number % 16 == 0 ? number : number % NAMES));
            /* Threads and streams that come and go fill the table of rows. */
            const struct ha_slice call = {
                .kind = HA_SLICE_RUNTIME,
                .name = "hipLaunchKernel",
                .start = START + number * 7919 % MANY, /* in no order */
                .end = START + number * 7919 % MANY + 5,
                .thread = (uint32_t)(number % 20000 + 1),
                .correlation = number + 1,
                .launches = true,
            };
            CHECK_EQUAL(ha_writer_slice(writer, &call), HA_OK);
            CHECK_EQUAL(put_kernel(writer, number, name), HA_OK);
        }
        long more = resident_KB() - before;
        printf("%s: %ld KB\n", suffixes[i], more);
        CHECK(more < MEMORY_KB_MAX);
        ha_writer_abandon(writer);
    }
}

/* ---- JSON ---- */

static void
test_json_values_are_told_from_other_text(void)
{
    static const char *const good[] = {
        "0", "-1.5e+3", "\"a\\u00e9\\n\"", " [1, {\"a\": null}] ", "{}", "true",
    };
    static const char *const bad[] = {
        "",     "01",       "+1", "nan",       "'a'",         "\"a",     "\"\n\"",
        "[1,]", "{a}",      "1.", "\"\\x41\"", "[1 2",        "{\"a\"}", "tru",
        "1 1",  "\"\xff\"", "-",  "1e",        "\"\\u12g4\"",
    };
    char deep[300] = "";

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        CHECK(ha_json_is_value(good[i]));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK(!ha_json_is_value(bad[i]));
    }
    memset(deep, '[', sizeof deep - 1);
    CHECK(!ha_json_is_value(deep));
    CHECK(ha_json_is_members(""));
    CHECK(ha_json_is_members(" \"a\" : 1 , \"b\":{\"c\":[]} "));
    CHECK(!ha_json_is_members("1"));
    CHECK(!ha_json_is_members("\"a\""));
    CHECK(!ha_json_is_members("\"a\":1,"));
    CHECK(!ha_json_is_members("\"a\":1}"));
}

static void
test_calls_that_give_work_are_known(void)
{
    static const char *const with[] = {
        "hipLaunchKernel",      "hipModuleLaunchKernel", "hipExtModuleLaunchKernel",
        "hipExtLaunchKernel",   "hipMemcpyHtoDAsync",    "hipMemsetD32Async",
        "hipDrvLaunchKernelEx", "hipGraphLaunch",
    };
    static const char *const without[] = {"hipMalloc", "hipFree",
                                          "hipStreamSynchronize", "hipGraphCreate", ""};

    for (size_t i = 0; i < sizeof with / sizeof *with; i++) {
        CHECK(ha_call_launches(with[i]));
    }
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        CHECK(!ha_call_launches(without[i]));
    }
}

static void
run(void (*test)(void), const char *name)
{
    test();
    empty_folder();
    printf("ok %s\n", name);
    fflush(stdout);
}
#define RUN_HERE(test) run(test, #test)

int
main(void)
{
    CHECK(mkdtemp(folder) != NULL);
    RUN_HERE(test_file_has_its_name_only_at_the_end);
    RUN_HERE(test_two_writers_of_one_file_do_not_meet);
    RUN_HERE(test_abandoned_trace_leaves_nothing);
    RUN_HERE(test_file_grows_while_slices_come);
    RUN_HERE(test_full_disk_is_told_and_leaves_nothing);
    RUN_HERE(test_trace_is_whole_where_its_folder_has_moved);
    RUN_HERE(test_next_writer_sweeps_what_a_dead_process_left);
    RUN_HERE(test_forked_child_leaves_the_trace_alone);
    RUN_HERE(test_processes_that_sweep_spare_those_that_begin);
    RUN_HERE(test_registered_scheme_gets_slices);
    RUN_HERE(test_memory_does_not_grow_with_the_trace);
    RUN_HERE(test_json_values_are_told_from_other_text);
    RUN_HERE(test_calls_that_give_work_are_known);
    CHECK_EQUAL(rmdir(folder), 0);
    return 0;
}
