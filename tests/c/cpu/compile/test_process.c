/* SPDX-License-Identifier: MIT */
/* The compiler's child processes: what goes in and out, how they end, and that nothing
 * stays behind. */
/* sources: core cpu/compile/process */
#include "check.h"
#include "core/clock.h"
#include "cpu/compile/process.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILES = 3 };

static struct ha_memory_file input, output, messages;
static struct ha_memory_file *const files[] = {&input, &output, &messages};

static void
open_files(const char *text)
{
    for (int i = 0; i < FILES; i++) {
        *files[i] = (struct ha_memory_file)HA_MEMORY_FILE_INIT;
        CHECK_EQUAL(ha_memory_file_open(files[i], "test"), HA_OK);
    }
    CHECK_EQUAL(ha_memory_file_write(&input, text, strlen(text)), HA_OK);
    CHECK_EQUAL(ha_memory_file_rewind(&input), HA_OK);
}

static void
close_files(void)
{
    for (int i = 0; i < FILES; i++) {
        ha_memory_file_close(files[i]);
    }
}

static unsigned
descriptors(void)
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/fd");
    CHECK(folder != NULL);
    while (readdir(folder) != NULL) {
        count++;
    }
    CHECK_EQUAL(closedir(folder), 0);
    return count;
}

static struct ha_process_result
run_shell(const char *script, struct ha_process_request more)
{
    const char *argv[] = {"/bin/sh", "-c", script, NULL};
    struct ha_process_result result = {HA_PROCESS_UNKNOWN, -1};
    more.argv = argv;
    more.files = files;
    more.file_count = FILES;
    if (more.deadline_ns == 0) {
        more.deadline_ns = UINT64_MAX;
    }
    CHECK_EQUAL(ha_process_run(&more, &result), HA_OK);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    CHECK_EQUAL(ha_memory_file_map(&output), HA_OK);
    CHECK_EQUAL(ha_memory_file_map(&messages), HA_OK);
    return result;
}

static void
check_output(const struct ha_memory_file *file, const char *text)
{
    CHECK_EQUAL(file->size, strlen(text));
    CHECK(file->size == 0 || memcmp(file->bytes, text, file->size) == 0);
}

static void
test_text_goes_in_and_out(void)
{
    open_files("hello\n");
    struct ha_process_result result =
        run_shell("cat; echo oops >&2; exit 3", (struct ha_process_request){0});
    CHECK_EQUAL(result.end, HA_PROCESS_EXITED);
    CHECK_EQUAL(result.code, 3);
    check_output(&output, "hello\n");
    check_output(&messages, "oops\n");
    close_files();
}

static void
test_child_that_does_not_read_is_no_problem(void)
{
    char text[100000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    open_files(text);
    struct ha_process_result result =
        run_shell("exit 0", (struct ha_process_request){0});
    CHECK_EQUAL(result.end, HA_PROCESS_EXITED);
    CHECK_EQUAL(result.code, 0);
    close_files();
}

static void
test_environment_is_clean(void)
{
    CHECK_EQUAL(setenv("SECRET", "1", 1), 0);
    open_files("");
    (void)run_shell("echo \"$SECRET$LANG\"", (struct ha_process_request){0});
    check_output(&output, "C\n");
    close_files();
}

static void
test_signal_ends_are_told(void)
{
    open_files("");
    struct ha_process_result result =
        run_shell("kill -SEGV $$", (struct ha_process_request){0});
    CHECK_EQUAL(result.end, HA_PROCESS_SIGNALED);
    CHECK_EQUAL(result.code, SIGSEGV);
    close_files();
}

/* Not gone, and no dead process that nobody has waited for. */
static bool
is_running(int process)
{
    char path[64], state = 'Z';
    (void)snprintf(path, sizeof path, "/proc/%d/stat", process);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    CHECK_EQUAL(fscanf(file, "%*d %*s %c", &state), 1);
    CHECK_EQUAL(fclose(file), 0);
    return state != 'Z' && state != 'X';
}

static void
test_deadline_ends_the_whole_group(void)
{
    open_files("");
    uint64_t before_ns = ha_clock_ns();
    struct ha_process_result result = run_shell(
        "sleep 30 & echo $!; sleep 30",
        (struct ha_process_request){.deadline_ns = before_ns + 200 * 1000000u});
    CHECK_EQUAL(result.end, HA_PROCESS_TIMED_OUT);
    CHECK(ha_clock_ns() - before_ns < (uint64_t)2000 * 1000000u);
    CHECK(output.size > 1);
    int other = atoi(output.bytes);
    for (int turn = 0; turn < 100 && is_running(other); turn++) {
        CHECK_EQUAL(usleep(10000),
                    0); /* it was killed, but perhaps it did not run yet */
    }
    CHECK(!is_running(other));
    close_files();
}

static void
wait_for_output(void)
{
    struct stat status = {0};
    for (int turn = 0; turn < 1000 && status.st_size == 0; turn++) {
        CHECK_EQUAL(usleep(10000), 0);
        CHECK_EQUAL(fstat(output.fd, &status), 0);
    }
    CHECK(status.st_size > 0);
}

static void
test_child_of_a_killed_process_ends(void)
{
    open_files("");
    pid_t parent = fork();
    CHECK(parent >= 0);
    if (parent == 0) {
        (void)run_shell("echo $$; exec sleep 30", (struct ha_process_request){0});
        _exit(0);
    }
    wait_for_output();
    CHECK_EQUAL(ha_memory_file_map(&output), HA_OK);
    int child = atoi(output.bytes);
    CHECK(is_running(child));
    CHECK_EQUAL(kill(parent, SIGKILL), 0);
    CHECK_EQUAL(waitpid(parent, NULL, 0), parent);
    for (int turn = 0; turn < 1000 && is_running(child); turn++) {
        CHECK_EQUAL(usleep(10000), 0);
    }
    CHECK(!is_running(child));
    close_files();
}

static pthread_t runner;

static void *
run_a_while(void *unused)
{
    (void)unused;
    struct ha_process_result result =
        run_shell("echo 1; read line; echo end", (struct ha_process_request){0});
    CHECK_EQUAL(result.end, HA_PROCESS_EXITED);
    check_output(&output, "1\nend\n");
    return NULL;
}

static void *
start_and_end(void *unused)
{
    (void)unused;
    CHECK_EQUAL(pthread_create(&runner, NULL, run_a_while, NULL), 0);
    wait_for_output();
    return NULL;
}

/* The child is tied to a thread, but to none but that which waits for it, and that
 * can't be taken away from under it. */
static void
test_child_outlives_other_threads_and_a_cancellation(void)
{
    pthread_t starter;
    int ends[2];
    open_files("");
    CHECK_EQUAL(pipe(ends), 0);
    CHECK(dup2(ends[0], input.fd) >= 0);
    CHECK_EQUAL(pthread_create(&starter, NULL, start_and_end, NULL), 0);
    CHECK_EQUAL(pthread_join(starter, NULL), 0);
    CHECK_EQUAL(pthread_cancel(runner), 0);
    CHECK_EQUAL(write(ends[1], "\n", 1), 1);
    CHECK_EQUAL(pthread_join(runner, NULL), 0);
    CHECK_EQUAL(close(ends[0]), 0);
    CHECK_EQUAL(close(ends[1]), 0);
    close_files();
}

static unsigned asked;

static bool
interrupt_third_time(void)
{
    return ++asked == 3;
}

static void
test_interrupt_ends_the_child(void)
{
    open_files("");
    uint64_t before_ns = ha_clock_ns();
    struct ha_process_result result = run_shell(
        "sleep 30", (struct ha_process_request){.interrupted = interrupt_third_time});
    CHECK_EQUAL(result.end, HA_PROCESS_INTERRUPTED);
    CHECK_EQUAL(asked, 3);
    CHECK(ha_clock_ns() - before_ns < (uint64_t)2000 * 1000000u);
    close_files();
}

static void
test_file_limit_ends_the_child(void)
{
    open_files("");
    struct ha_process_result result = run_shell(
        "exec cat /dev/zero", (struct ha_process_request){.file_bytes = 1 << 20});
    CHECK_EQUAL(result.end, HA_PROCESS_SIGNALED);
    CHECK_EQUAL(result.code, SIGXFSZ);
    CHECK_EQUAL(output.size, 1 << 20);
    close_files();
}

static void
test_missing_program_is_an_error(void)
{
    const char *argv[] = {"/no/such/program", NULL};
    struct ha_process_result result;
    open_files("");
    const struct ha_process_request request = {
        .argv = argv, .files = files, .file_count = FILES, .deadline_ns = UINT64_MAX};
    CHECK_EQUAL(ha_process_run(&request, &result), HA_ERROR_SYSTEM);
    CHECK_PART(ha_error_text(), "/no/such/program");
    close_files();
}

/* Three children with a script each; `elapsed_ns` is how long all took together. */
static enum ha_status
run_three(const char *const scripts[3], struct ha_process_request like,
          struct ha_process_result results[3], uint64_t *elapsed_ns)
{
    struct ha_process_request requests[3];
    const char *argv[3][4];
    uint64_t start_ns = ha_clock_ns();
    for (int i = 0; i < 3; i++) {
        argv[i][0] = scripts[i][0] == '/' ? scripts[i] : "/bin/sh";
        argv[i][1] = "-c";
        argv[i][2] = scripts[i];
        argv[i][3] = NULL;
        requests[i] = like;
        requests[i].argv = argv[i];
        requests[i].files = files;
        requests[i].file_count = FILES;
        if (like.deadline_ns == 0) {
            requests[i].deadline_ns = UINT64_MAX;
        }
    }
    unsigned before = descriptors();
    enum ha_status status = ha_process_run_all(requests, results, 3, 3);
    *elapsed_ns = ha_clock_ns() - start_ns;
    CHECK_EQUAL(descriptors(), before);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    return status;
}

static void
test_children_run_side_by_side(void)
{
    static const char *const scripts[] = {"sleep 0.6; exit 1", "sleep 0.6; kill -9 $$",
                                          "sleep 0.6; exit 3"};
    struct ha_process_result results[3];
    uint64_t elapsed_ns;
    open_files("");
    CHECK_EQUAL(
        run_three(scripts, (struct ha_process_request){0}, results, &elapsed_ns),
        HA_OK);
    CHECK(elapsed_ns < 1700000000u);
    CHECK(results[0].end == HA_PROCESS_EXITED && results[0].code == 1);
    CHECK(results[1].end == HA_PROCESS_SIGNALED && results[1].code == SIGKILL);
    CHECK(results[2].end == HA_PROCESS_EXITED && results[2].code == 3);
    close_files();
}

static void
test_deadline_ends_all_that_still_run(void)
{
    static const char *const scripts[] = {"sleep 100", "exit 2", "sleep 100"};
    struct ha_process_result results[3];
    uint64_t elapsed_ns;
    open_files("");
    const struct ha_process_request like = {.deadline_ns = ha_clock_ns() + 500000000u};
    CHECK_EQUAL(run_three(scripts, like, results, &elapsed_ns), HA_OK);
    CHECK(elapsed_ns < 20000000000u);
    CHECK_EQUAL(results[0].end, HA_PROCESS_TIMED_OUT);
    CHECK(results[1].end == HA_PROCESS_EXITED && results[1].code == 2);
    CHECK_EQUAL(results[2].end, HA_PROCESS_TIMED_OUT);
    close_files();
}

static void
test_missing_program_among_others_leaves_none_behind(void)
{
    static const char *const scripts[] = {"sleep 100", "/no/such/program", "sleep 100"};
    struct ha_process_result results[3];
    uint64_t elapsed_ns;
    open_files("");
    CHECK_EQUAL(
        run_three(scripts, (struct ha_process_request){0}, results, &elapsed_ns),
        HA_ERROR_SYSTEM);
    CHECK_PART(ha_error_text(), "/no/such/program");
    CHECK(elapsed_ns < 20000000000u);
    close_files();
}

static void
test_ignored_child_signal_still_ends(void)
{
    CHECK(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
    open_files("");
    struct ha_process_result result =
        run_shell("sleep 0.1; echo done", (struct ha_process_request){0});
    CHECK_EQUAL(result.end, HA_PROCESS_UNKNOWN);
    check_output(&output, "done\n");
    close_files();
    CHECK(signal(SIGCHLD, SIG_DFL) != SIG_ERR);
}

static void
on_alarm(int number)
{
    (void)number;
}

static void
test_signals_of_the_caller_do_not_disturb(void)
{
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval timer = {{0, 1000}, {0, 1000}}, off = {{0, 0}, {0, 0}};
    CHECK_EQUAL(sigaction(SIGALRM, &action, NULL), 0);
    CHECK_EQUAL(setitimer(ITIMER_REAL, &timer, NULL), 0);
    for (int turn = 0; turn < 10; turn++) {
        open_files("text");
        struct ha_process_result result =
            run_shell("sleep 0.02; cat", (struct ha_process_request){0});
        CHECK_EQUAL(result.end, HA_PROCESS_EXITED);
        check_output(&output, "text");
        close_files();
    }
    CHECK_EQUAL(setitimer(ITIMER_REAL, &off, NULL), 0);
}

int
main(void)
{
    unsigned before = descriptors();
    RUN(test_text_goes_in_and_out);
    RUN(test_child_that_does_not_read_is_no_problem);
    RUN(test_environment_is_clean);
    RUN(test_signal_ends_are_told);
    RUN(test_deadline_ends_the_whole_group);
    RUN(test_child_of_a_killed_process_ends);
    RUN(test_child_outlives_other_threads_and_a_cancellation);
    RUN(test_interrupt_ends_the_child);
    RUN(test_file_limit_ends_the_child);
    RUN(test_missing_program_is_an_error);
    RUN(test_children_run_side_by_side);
    RUN(test_deadline_ends_all_that_still_run);
    RUN(test_missing_program_among_others_leaves_none_behind);
    RUN(test_ignored_child_signal_still_ends);
    RUN(test_signals_of_the_caller_do_not_disturb);
    CHECK_EQUAL(descriptors(), before);
    return 0;
}
