/* SPDX-License-Identifier: MIT */
#include "cpu/check/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "core/env.h"
#include "core/file.h"
#include "cpu/base/check_kinds.h"
#include "cpu/check/report.h"

#define FILE_MODE 0666 /* less the umask */

static char path[PATH_MAX]; /* absolute; empty: stderr.  Constant once it is set */

/* Guarded by the lock of finding.c. */
static struct {
    char text[HA_REPORT_BYTES];
    uint32_t shown; /* findings, on stderr */
    bool is_cut;    /* the last line of the file may lack its end */
    bool failed;    /* it has been told */
} output;

/* Read when the library is loaded: the program may change its environment and its
 * folder, and lanes must not look there. */
static __attribute__((constructor)) void
read_path(void)
{
    const char *named = ha_env(HA_ENV_CHECK_OUTPUT);
    size_t used = 0;

    if (named == NULL) {
        return;
    }
    if (named[0] != '/' && getcwd(path, sizeof path - 1) != NULL) {
        used = strlen(path);
        path[used++] = '/';
    }
    size_t size = strlen(named);
    if (size >= sizeof path - used) {
        size = sizeof path - used - 1; /* opening it fails, and is told */
    }
    memcpy(path + used, named, size);
    path[used + size] = '\0';
}

static struct ha_writer
begin(void)
{
    return (struct ha_writer){.text = output.text, .room = sizeof output.text};
}

static size_t
size_of(const struct ha_writer *writer)
{
    return writer->needed < writer->room ? writer->needed : writer->room;
}

static void
show(const struct ha_writer *writer)
{
    (void)ha_file_write_all(STDERR_FILENO, writer->text, size_of(writer));
}

/* Once, on stderr. */
static void
tell_failure(int error)
{
    struct ha_writer writer = begin();

    if (output.failed) {
        return;
    }
    output.failed = true;
    ha_put(&writer, "hipadapt check: HIPADAPT_CHECK_OUTPUT='");
    ha_put_plain(&writer, path, PATH_MAX);
    ha_put(&writer, "' can't be written (error ");
    ha_put_number(&writer, (uint64_t)error);
    ha_put(&writer, "); findings are shown here\n");
    show(&writer);
}

/* A line of JSON with its end; false where it is not in the file. */
static bool
append(struct ha_writer *writer)
{
    int saved = errno;

    ha_put(writer, "\n");
    int fd =
        open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, FILE_MODE);
    bool done = fd >= 0;
    if (done && output.is_cut) {
        done = ha_file_write_all(fd, "\n", 1) == 0;
    }
    done = done && ha_file_write_all(fd, writer->text, size_of(writer)) == 0;
    int error = errno;
    output.is_cut = fd >= 0 && !done;
    if (fd >= 0) {
        (void)close(fd);
    }
    if (!done) {
        tell_failure(error);
    }
    errno = saved;
    return done;
}

/* Whether stderr gets what the file has not got: always, where a file was asked for. */
static bool
is_shown(void)
{
    return path[0] != '\0' || (ha_check_kinds() & HA_CHECK_QUIET) == 0;
}

/* The same for counts and summaries: who has stopped the checks reads them itself. */
static bool
is_summed(void)
{
    return is_shown() && (path[0] != '\0' || ha_check_kinds() != 0);
}

void
ha_output_start(void)
{
    char kinds[HA_CHECK_WORDS_BYTES];
    struct ha_writer writer = begin();

    if (path[0] != '\0' && ha_check_kinds() != 0) {
        ha_check_kinds_write(ha_check_kinds(), kinds);
        ha_check_report_start_json(&writer, kinds);
        (void)append(&writer);
    }
}

void
ha_output_finding(const struct ha_check_finding *found)
{
    struct ha_writer line = begin();

    if (path[0] != '\0') {
        ha_check_report_json(&line, found);
        if (append(&line)) {
            return;
        }
    }
    if (!is_shown()) {
        return;
    }
    struct ha_writer writer = begin();
    if (output.shown < HA_OUTPUT_SHOWN_MAX) {
        ha_check_report_text(&writer, found);
    } else if (output.shown == HA_OUTPUT_SHOWN_MAX) {
        ha_put(&writer, "hipadapt check: further findings are counted and not shown; "
                        "HIPADAPT_CHECK_OUTPUT=FILE has them\n");
    }
    output.shown += output.shown <= HA_OUTPUT_SHOWN_MAX;
    show(&writer);
}

void
ha_output_count(const struct ha_check_finding *found)
{
    struct ha_writer line = begin();

    if (found->count < 2) {
        return;
    }
    if (path[0] != '\0') {
        ha_check_report_count_json(&line, found->number, found->count);
        if (append(&line)) {
            return;
        }
    }
    if (is_summed() && output.shown > 0) {
        struct ha_writer writer = begin();
        ha_check_report_again_text(&writer, found);
        show(&writer);
    }
}

void
ha_output_summary(const struct ha_check_summary *summary)
{
    struct ha_writer line = begin();
    bool checked = summary->counted > 0 || summary->launches > 0 ||
                   summary->unchecked > 0 || summary->observed > 0;

    if (path[0] != '\0') {
        ha_check_report_summary_json(&line, summary);
        if (append(&line)) {
            return;
        }
    }
    if (checked && is_summed()) {
        struct ha_writer writer = begin();
        ha_check_report_summary_text(&writer, summary);
        show(&writer);
    }
}

void
ha_output_after_fork_child(void)
{
    output.shown = 0;
    output.is_cut = false;
}
