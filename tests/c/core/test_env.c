/* SPDX-License-Identifier: MIT */
/* The environment table, the error text, and the log. */
/* sources: core */
#include "check.h"
#include "core/dl.h"
#include "core/env.h"
#include "core/log.h"
#include "core/status.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OTHER_USER = 65534, NOT_SECURE = 78 };

static int saved_stderr = -1;

/* From here on stderr goes to a file. */
static FILE *
capture_begin(void)
{
    FILE *file = tmpfile();

    CHECK(file != NULL);
    CHECK_EQUAL(fflush(stderr), 0);
    saved_stderr = dup(STDERR_FILENO);
    CHECK(saved_stderr >= 0);
    CHECK(dup2(fileno(file), STDERR_FILENO) >= 0);
    return file;
}

/* Gives stderr back; returns what was written meanwhile. */
static const char *
capture_end(FILE *file)
{
    static char text[8192];

    CHECK(dup2(saved_stderr, STDERR_FILENO) >= 0);
    CHECK_EQUAL(close(saved_stderr), 0);
    rewind(file);
    size_t got = fread(text, 1, sizeof text - 1, file);
    text[got] = '\0';
    CHECK_EQUAL(fclose(file), 0);
    return text;
}

static void
test_switches_are_on_unless_they_say_no(void)
{
    const char *const off[] = {"0", "false", "OFF", "No"};
    const char *const on[] = {"1", "true", "yes", "on", "2"};
    const char *name = ha_env_table[HA_ENV_REGISTER_FORCE_LOAD].variable;
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++) {
        CHECK_EQUAL(setenv(name, off[i], 1), 0);
        CHECK(!ha_env_is_on(HA_ENV_REGISTER_FORCE_LOAD));
    }
    for (size_t i = 0; i < sizeof on / sizeof on[0]; i++) {
        CHECK_EQUAL(setenv(name, on[i], 1), 0);
        CHECK(ha_env_is_on(HA_ENV_REGISTER_FORCE_LOAD));
    }
    CHECK_EQUAL(unsetenv(name), 0);
    CHECK(!ha_env_is_on(HA_ENV_REGISTER_FORCE_LOAD));
    CHECK(ha_env_is_on(HA_ENV_REGISTER_ENABLED));
    CHECK(!ha_env_is_on(HA_ENV_TOOL_LIBRARIES));
}

static void
test_every_entry_is_complete(void)
{
    for (unsigned i = 0; i < HA_ENV_COUNT; i++) {
        CHECK(ha_env_table[i].variable != NULL && ha_env_table[i].variable[0] != '\0');
        CHECK(ha_env_table[i].doc != NULL && ha_env_table[i].doc[0] != '\0');
        for (unsigned j = 0; j < i; j++) {
            CHECK(strcmp(ha_env_table[i].variable, ha_env_table[j].variable) != 0);
        }
    }
}

static void
test_value_default_and_empty(void)
{
    CHECK_EQUAL(unsetenv("HIPADAPT_CPU_DEVICES"), 0);
    CHECK_EQUAL(ha_env_long(HA_ENV_CPU_DEVICES, 1, 16), 1);
    CHECK_EQUAL(setenv("HIPADAPT_CPU_DEVICES", "3", 1), 0);
    CHECK_EQUAL(ha_env_long(HA_ENV_CPU_DEVICES, 1, 16), 3);
    CHECK_EQUAL(setenv("HIPADAPT_CPU_DEVICES", "", 1), 0);
    CHECK_EQUAL(ha_env_long(HA_ENV_CPU_DEVICES, 1, 16), 1);
    CHECK_EQUAL(unsetenv("HIPADAPT_CACHE_DIR"), 0);
    CHECK(ha_env(HA_ENV_CACHE_DIR) == NULL);
}

static void
test_bad_number_is_told_once_and_the_default_taken(void)
{
    static const char *const bad[] = {"four", "4x", "-1", "17", "99999999999999999999"};
    FILE *file = capture_begin();
    long values[5];

    for (unsigned i = 0; i < 5; i++) {
        (void)setenv("HIPADAPT_CPU_DEVICES", bad[i], 1);
        values[i] = ha_env_long(HA_ENV_CPU_DEVICES, 1, 16);
    }
    const char *text = capture_end(file);
    for (unsigned i = 0; i < 5; i++) {
        CHECK_EQUAL(values[i], 1);
    }
    CHECK_PART(text, "hipadapt: HIPADAPT_CPU_DEVICES='four'");
    CHECK(strstr(text, "4x") == NULL);
    CHECK_EQUAL(unsetenv("HIPADAPT_CPU_DEVICES"), 0);
}

static void
test_log_obeys_its_level(void)
{
    FILE *file = capture_begin();

    (void)setenv("HIPADAPT_LOG", "1", 1);
    ha_log(2, "hidden %d", 1);
    errno = ENOSPC;
    ha_log(1, "shown %d", 2);
    int kept = errno;
    (void)setenv("HIPADAPT_LOG", "0", 1);
    ha_log(1, "hidden %d", 3);
    CHECK_TEXT(capture_end(file), "hipadapt: shown 2\n");
    CHECK_EQUAL(kept, ENOSPC);
    CHECK_EQUAL(unsetenv("HIPADAPT_LOG"), 0);
}

static void *
ask_from_own_thread(void *shown)
{
    ha_log_own_thread();
    *(int *)shown = ha_log_enabled(3);
    return NULL;
}

static int
shown_on_own_thread(void)
{
    pthread_t thread;
    int shown = -1;

    CHECK_EQUAL(pthread_create(&thread, NULL, ask_from_own_thread, &shown), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    return shown;
}

static void
test_our_threads_do_not_look_into_the_environment(void)
{
    (void)setenv("HIPADAPT_LOG", "0", 1);
    CHECK(!ha_log_enabled(3));
    (void)setenv("HIPADAPT_LOG", "3", 1);
    CHECK_EQUAL(shown_on_own_thread(), 0);
    CHECK(ha_log_enabled(3)); /* a thread of the program sees it */
    CHECK_EQUAL(shown_on_own_thread(), 1);
    CHECK_EQUAL(unsetenv("HIPADAPT_LOG"), 0);
}

static void
test_long_log_line_is_cut_and_ended(void)
{
    static char letters[5000];
    FILE *file = capture_begin();

    memset(letters, 'x', sizeof letters - 1);
    ha_log(1, "%s", letters);
    const char *text = capture_end(file);
    size_t length = strlen(text);
    CHECK(length > 2000 && length < 2400);
    CHECK(text[length - 1] == '\n' && strchr(text, '\n') == text + length - 1);
}

static void
test_long_error_text_is_cut(void)
{
    static char letters[5000];

    memset(letters, 'y', sizeof letters - 1);
    CHECK_EQUAL(ha_error_set(HA_ERROR_INVALID, "%s", letters), HA_ERROR_INVALID);
    CHECK_EQUAL(strlen(ha_error_text()), 2047);
}

static void *
other_thread(void *unused)
{
    (void)unused;
    CHECK_TEXT(ha_error_text(), "");
    (void)ha_error_set(HA_ERROR_SYSTEM, "theirs");
    return NULL;
}

static void
test_error_text_is_per_thread(void)
{
    pthread_t thread;

    (void)ha_error_set(HA_ERROR_SYSTEM, "mine");
    CHECK_EQUAL(pthread_create(&thread, NULL, other_thread, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_TEXT(ha_error_text(), "mine");
}

static void
test_error_text_may_quote_itself(void)
{
    (void)ha_error_set(HA_ERROR_SYSTEM, "inner");
    (void)ha_error_set(HA_ERROR_SYSTEM, "outer: %s", ha_error_text());
    CHECK_TEXT(ha_error_text(), "outer: inner");
}

static void
test_missing_libraries_are_all_listed(void)
{
    struct ha_dl_tried tried = {{0}, 0};

    CHECK(ha_dl_open("libnosuch1.so", RTLD_NOW, &tried) == NULL);
    CHECK(ha_dl_open("libnosuch2.so", RTLD_NOW, &tried) == NULL);
    CHECK_PART(tried.text, "libnosuch1.so (");
    CHECK_PART(tried.text, "; libnosuch2.so (");
    for (unsigned i = 0; i < 100; i++) {
        CHECK(ha_dl_open("libnosuch3.so", RTLD_NOW, &tried) == NULL);
    }
    CHECK(strlen(tried.text) < sizeof tried.text);
    void *library = ha_dl_open("libc.so.6", RTLD_NOW, &tried);
    CHECK(library != NULL);
    CHECK_EQUAL(dlclose(library), 0);
}

/* A program that gives its caller another user's rights must not obey the caller's
 * environment.  This program is its own set-uid program, run by another user. */
static void
test_set_uid_program_sees_defaults(void)
{
    char folder[] = "/tmp/hipadapt-env-XXXXXX";
    char copy[64];
    char command[256];
    int status = 0;

    if (geteuid() != 0) {
        printf("not root: set-uid programs are not tested\n");
        return;
    }
    CHECK(mkdtemp(folder) != NULL);
    CHECK_EQUAL(chmod(folder, 0755), 0);
    (void)snprintf(copy, sizeof copy, "%s/program", folder);
    (void)snprintf(command, sizeof command,
                   "cp /proc/%ld/exe %s && chown 0:0 %s && chmod 4755 %s",
                   (long)getpid(), copy, copy, copy);
    CHECK_EQUAL(system(command), 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        char *const argv[] = {copy, "--secure", NULL};
        char *const envp[] = {"HIPADAPT_CPU_DEVICES=5", NULL};
        CHECK_EQUAL(setgid(OTHER_USER), 0);
        CHECK_EQUAL(setuid(OTHER_USER), 0);
        (void)execve(copy, argv, envp);
        _exit(NOT_SECURE);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(unlink(copy), 0);
    CHECK_EQUAL(rmdir(folder), 0);
    CHECK(WIFEXITED(status));
    if (WEXITSTATUS(status) == NOT_SECURE) {
        printf("set-uid programs do not work here: not tested\n");
        return;
    }
    CHECK_EQUAL(WEXITSTATUS(status), 0);
}

int
main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--secure") == 0) {
        if (getauxval(AT_SECURE) == 0) {
            return NOT_SECURE;
        }
        return ha_env_long(HA_ENV_CPU_DEVICES, 1, 16) == 1 ? 0 : 1;
    }
    RUN(test_every_entry_is_complete);
    RUN(test_switches_are_on_unless_they_say_no);
    RUN(test_value_default_and_empty);
    RUN(test_bad_number_is_told_once_and_the_default_taken);
    RUN(test_log_obeys_its_level);
    RUN(test_our_threads_do_not_look_into_the_environment);
    RUN(test_long_log_line_is_cut_and_ended);
    RUN(test_long_error_text_is_cut);
    RUN(test_error_text_is_per_thread);
    RUN(test_error_text_may_quote_itself);
    RUN(test_missing_libraries_are_all_listed);
    RUN(test_set_uid_program_sees_defaults);
    return 0;
}
