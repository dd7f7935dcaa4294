/* SPDX-License-Identifier: MIT */
/* Findings in a file, and the functions that the device exports.
 *
 * With an argument it is a program with findings, for tests of the command `check`. */
#include "check.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/check.h"
#include "abi/hip.h"
#include "cpu/check/finding.h"
#include "cpu/check/summary.h"

static char folder[] = "/tmp/test_output.XXXXXX", file[64];
static char text[1 << 22];

static void
add_at(uint32_t line)
{
    struct ha_check_finding found = {
        .what = HA_FOUND_OUT_OF_BOUNDS,
        .address = 0x1194,
        .here = {.bits = HA_CHECK_WRITES,
                 .bytes = 4,
                 .kernel = "scale(float*, int)",
                 .file = "scale.hip",
                 .text = "    x[i] = 1;",
                 .line = line,
                 .column = 10,
                 .block = {3, 0, 0},
                 .thread = {17, 0, 0}},
        .other = {.bits = 0, .block = {HA_CHECK_NOWHERE}, .thread = {HA_CHECK_NOWHERE}},
        .memory = {.space = HA_SPACE_GLOBAL,
                   .base = 0x1000,
                   .bytes = 400,
                   .allocated = "hipMalloc",
                   .allocated_by = "main.c:3\nmain.c:9"},
    };
    ha_finding_add(&found);
}

/* ---- programs for others ---- */

static void
fork_and_add(void)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        CHECK(hipInit(0) == hipSuccess);
        add_at(7);
        add_at(9);
        exit(5);
    }
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 5);
}

static void
add_hostile(void)
{
    struct ha_check_finding found = {.what = HA_FOUND_RACE,
                                     .message = "\"\\\n\xff\xc3\xa9\x1b",
                                     .here = {.bits = HA_CHECK_READS,
                                              .call = "hipMemcpy",
                                              .file = "a b/\xfe#?%.hip",
                                              .line = 1}};
    ha_finding_add(&found);
}

static int
play(const char *program, const char *scene)
{
    if (strcmp(scene, "none") == 0) {
        return 3;
    }
    CHECK(hipInit(0) == hipSuccess);
    if (strcmp(scene, "clean") == 0) {
        ha_summary_launch(true);
        return 3;
    }
    add_at(7);
    add_at(7);
    if (strcmp(scene, "killed") == 0) {
        (void)kill(getpid(), SIGKILL);
    } else if (strcmp(scene, "quick") == 0) {
        _exit(4);
    } else if (strcmp(scene, "ended") == 0) {
        (void)kill(getpid(), SIGTERM);
    } else if (strcmp(scene, "handled") == 0) {
        CHECK(signal(SIGTERM, SIG_IGN) != SIG_ERR);
        (void)kill(getpid(), SIGTERM);
    } else if (strcmp(scene, "abort") == 0) {
        abort();
    } else if (strcmp(scene, "forks") == 0) {
        fork_and_add();
    } else if (strcmp(scene, "exec") == 0) {
        (void)execl(program, program, "one", (char *)NULL);
    } else if (strcmp(scene, "hostile") == 0) {
        add_hostile();
    } else if (strcmp(scene, "many") == 0) {
        for (uint32_t line = 1; line <= 2000; line++) {
            add_at(line);
        }
    } else if (strcmp(scene, "slow") == 0) {
        (void)sleep(60);
    }
    return 3;
}

/* ---- tests ---- */

/* Runs this program with a scene; what it wrote to the file is in `text`. */
static int
run_scene(const char *scene, const char *output, const char *errors)
{
    char program[4096];
    ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
    int status;

    CHECK(size > 0);
    program[size] = '\0';
    (void)unlink(file);
    pid_t child = fork();
    if (child == 0) {
        CHECK(setenv("HIPADAPT_CHECK", "memory", 1) == 0);
        CHECK(setenv("HIPADAPT_CHECK_OUTPUT", output, 1) == 0);
        int fd = open(errors, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        CHECK(fd >= 0 && dup2(fd, STDERR_FILENO) >= 0);
        (void)execl(program, program, scene, (char *)NULL);
        _exit(99);
    }
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

static const char *
content_of(const char *path)
{
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0);
    ssize_t size = read(fd, text, sizeof text - 1);
    CHECK(size >= 0 && close(fd) == 0);
    text[size] = '\0';
    return text;
}

static unsigned
count_of(const char *in, const char *part)
{
    unsigned count = 0;

    for (const char *at = in; (at = strstr(at, part)) != NULL; at += strlen(part)) {
        count++;
    }
    return count;
}

#define FINDING "{\"type\": \"finding\""
#define SUMMARY "{\"type\": \"summary\""

static char errors[64];

static void
test_file_has_a_line_for_each_finding(void)
{
    CHECK_EQUAL(WEXITSTATUS(run_scene("one", file, errors)), 3);

    CHECK_TEXT(content_of(errors), "");
    const char *lines = content_of(file);
    CHECK_EQUAL(count_of(lines, "\n"), 4);
    CHECK(strncmp(lines, "{\"type\": \"start\"", 16) == 0);
    CHECK_EQUAL(count_of(lines, FINDING), 1);
    CHECK_PART(lines, ", \"number\": 1, \"count\": 2}\n");
    CHECK_PART(lines, ", \"kinds\": \"memory\", \"findings\": 1, \"counted\": 2, ");
}

static void
test_file_keeps_findings_of_what_is_killed(void)
{
    static const char *const scenes[] = {"killed", "quick", "abort"};

    for (int i = 0; i < 3; i++) {
        int status = run_scene(scenes[i], file, errors);
        CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) == 4);
        CHECK_EQUAL(count_of(content_of(file), FINDING), 1);
        CHECK_EQUAL(count_of(text, SUMMARY), 0);
    }
}

static void
test_summary_is_told_before_a_signal_ends_the_process(void)
{
    int status = run_scene("ended", file, errors);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    CHECK_EQUAL(count_of(content_of(file), SUMMARY), 1);
    CHECK_PART(text, ", \"number\": 1, \"count\": 2}\n");

    CHECK_EQUAL(WEXITSTATUS(run_scene("handled", file, errors)), 3);
    CHECK_EQUAL(count_of(content_of(file), SUMMARY), 1);
}

static void
test_processes_share_the_file(void)
{
    CHECK_EQUAL(WEXITSTATUS(run_scene("forks", file, errors)), 3);
    CHECK_EQUAL(count_of(content_of(file), FINDING), 3);
    CHECK_EQUAL(count_of(text, SUMMARY), 2);
    CHECK_EQUAL(count_of(text, "{\"type\": \"start\""), 2);

    CHECK_EQUAL(WEXITSTATUS(run_scene("exec", file, errors)), 3);
    CHECK_EQUAL(count_of(content_of(file), FINDING), 2);
    CHECK_EQUAL(count_of(text, SUMMARY), 1);
}

static void
test_file_has_all_that_are_kept(void)
{
    CHECK_EQUAL(WEXITSTATUS(run_scene("many", file, errors)), 3);
    CHECK_EQUAL(count_of(content_of(file), FINDING), HA_FINDINGS_MAX);
    CHECK_PART(text, "\"findings\": 1000, \"counted\": 2002, \"dropped\": 1000,");
}

static void
test_file_that_cannot_be_written_is_told(void)
{
    char path[128];

    (void)snprintf(path, sizeof path, "%s/none/x", folder);
    CHECK_EQUAL(WEXITSTATUS(run_scene("one", path, errors)), 3);
    CHECK_EQUAL(count_of(content_of(errors), "can't be written (error 2)"), 1);
    CHECK_PART(text, "  at scale.hip:7:10\n");
    CHECK_PART(text, "hipadapt check: 1 finding, made 2 times;");

    CHECK_EQUAL(WEXITSTATUS(run_scene("one", "/dev/full", errors)), 3);
    CHECK_EQUAL(count_of(content_of(errors), "can't be written (error 28)"), 1);
    CHECK_PART(text, "  at scale.hip:7:10\n");
}

static int
count_one(const struct ha_check_finding *found, void *context)
{
    CHECK_EQUAL(found->size, sizeof *found);
    *(unsigned *)context += 1;
    return 0;
}

static int
write_it(const struct ha_check_finding *found, void *context)
{
    size_t bytes = 0;
    char *to = context;

    CHECK_EQUAL(hipadaptCheckWrite(found, HA_CHECK_TEXT, NULL, &bytes), 0);
    CHECK(bytes > 100);
    bytes--;
    CHECK_EQUAL(hipadaptCheckWrite(found, HA_CHECK_TEXT, to, &bytes), 1);
    CHECK_PART(hipadaptGetErrorText(), "hipadaptCheckWrite: argument 'bytes' is ");
    CHECK_EQUAL(hipadaptCheckWrite(found, HA_CHECK_TEXT, to, &bytes), 0);
    CHECK_EQUAL(strlen(to) + 1, bytes);
    return 7;
}

static void
test_exported_functions_answer(void)
{
    struct ha_check_summary summary = {.size = sizeof summary};
    unsigned count = 0;

    CHECK_EQUAL(hipadaptCheckStart("memory,races"), 1);
    CHECK_PART(hipadaptGetErrorText(),
               "hipadaptCheckStart: argument 'kinds': 'races' is no kind of check");
    CHECK_EQUAL(hipadaptCheckStart(NULL), 1);
    CHECK_EQUAL(hipadaptCheckStart("all,quiet"), 0);
    add_at(1);
    add_at(2);
    CHECK_EQUAL(hipadaptCheckFindings(count_one, &count), 0);
    CHECK_EQUAL(count, 2);
    CHECK_EQUAL(hipadaptCheckFindings(write_it, text), 7);
    CHECK_PART(text, "  at scale.hip:1:10\n");
    CHECK_EQUAL(hipadaptCheckSummary(&summary), 0);
    CHECK_EQUAL(summary.findings, 2);
    CHECK_EQUAL(summary.kinds | HA_CHECK_ALL, HA_CHECK_ALL | HA_CHECK_QUIET);
    CHECK_EQUAL(summary.kinds & HA_CHECK_MEMORY, HA_CHECK_MEMORY);
    CHECK_EQUAL(hipadaptCheckStop(), 0);
    CHECK_EQUAL(hipadaptCheckClear(), 0);
    CHECK_EQUAL(hipadaptCheckSummary(&summary), 0);
    CHECK_EQUAL(summary.findings + summary.kinds, 0);
}

static void
test_exported_functions_refuse(void)
{
    struct ha_check_summary summary = {.size = 8};
    struct ha_check_finding found = {.size = sizeof found};
    size_t bytes = 0;

    CHECK_EQUAL(hipadaptCheckSummary(NULL), 1);
    CHECK_EQUAL(hipadaptCheckSummary(&summary), 1);
    CHECK_PART(hipadaptGetErrorText(), "argument 'summary' has size 8, not ");
    CHECK_EQUAL(hipadaptCheckFindings(NULL, NULL), 1);
    CHECK_EQUAL(hipadaptCheckWrite(NULL, HA_CHECK_JSON, NULL, &bytes), 1);
    CHECK_EQUAL(hipadaptCheckWrite(&found, HA_CHECK_JSON, NULL, NULL), 1);
    CHECK_EQUAL(hipadaptCheckWrite(&found, (enum ha_check_format)2, NULL, &bytes), 1);
    CHECK_PART(hipadaptGetErrorText(), "argument 'format' must be HA_CHECK_TEXT or ");
    found.size--;
    CHECK_EQUAL(hipadaptCheckWrite(&found, HA_CHECK_JSON, NULL, &bytes), 1);
}

int
main(int count, char **words)
{
    if (count > 1) {
        return play(words[0], words[1]);
    }
    CHECK(mkdtemp(folder) != NULL);
    (void)snprintf(file, sizeof file, "%s/found", folder);
    (void)snprintf(errors, sizeof errors, "%s/errors", folder);
    RUN(test_file_has_a_line_for_each_finding);
    RUN(test_file_keeps_findings_of_what_is_killed);
    RUN(test_summary_is_told_before_a_signal_ends_the_process);
    RUN(test_processes_share_the_file);
    RUN(test_file_has_all_that_are_kept);
    RUN(test_file_that_cannot_be_written_is_told);
    RUN(test_exported_functions_answer);
    RUN(test_exported_functions_refuse);
    (void)unlink(file);
    CHECK(unlink(errors) == 0 && rmdir(folder) == 0);
    return 0;
}
