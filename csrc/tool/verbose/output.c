/* SPDX-License-Identifier: MIT */
#include "tool/verbose/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/log.h"
#include "tool/text.h"

enum { PATH_BYTES = 4096 };

void
ha_line_output_standard(struct ha_line_output *output)
{
    *output = (struct ha_line_output){.fd = STDOUT_FILENO};
}

enum ha_status
ha_line_output_open(struct ha_line_output *output, const char *pattern)
{
    char path[PATH_BYTES] = "";

    if (!ha_text_path(pattern, path, sizeof path)) {
        return ha_error_set(HA_ERROR_INVALID, "the path is longer than %d bytes",
                            PATH_BYTES);
    }
    /* A pipe that nobody reads yet must not stop the program: O_NONBLOCK. */
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (fd < 0) {
        return ha_error_set(HA_ERROR_SYSTEM, "%s: %s", path, strerror(errno));
    }
    *output = (struct ha_line_output){.fd = fd};
    return HA_OK;
}

void
ha_line_output_close(struct ha_line_output *output)
{
    if (output->fd != STDOUT_FILENO) {
        (void)close(output->fd);
    }
}

static void
taken(struct ha_line_text *lines, size_t bytes)
{
    memmove(lines->text, lines->text + bytes, lines->used - bytes);
    lines->used -= bytes;
}

/* As many whole lines as fit into one write to a pipe; else the first one. */
static size_t
piece(const struct ha_line_text *lines, size_t from)
{
    const char *text = lines->text + from;
    size_t left = lines->used - from;
    size_t most = left < PIPE_BUF ? left : PIPE_BUF;
    const char *last = memrchr(text, '\n', most);

    if (last == NULL) {
        last = memchr(text, '\n', left); /* there is one */
    }
    return (size_t)(last - text) + 1;
}

static enum ha_line_state
failed(struct ha_line_output *output, int code)
{
    bool waits = code == EAGAIN || code == ENOSPC || code == EDQUOT;

    if (code != EAGAIN && !output->told) {
        output->told = true;
        ha_log(1, "HIPADAPT_VERBOSE: lines can't be written: %s", strerror(code));
    }
    return waits ? HA_LINES_WAITS : HA_LINES_BROKEN;
}

/* Never waits for a file. */
static bool
is_file(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

static bool
is_ready(int fd, int ms)
{
    struct pollfd one = {.fd = fd, .events = POLLOUT};

    return poll(&one, 1, ms) > 0;
}

enum ha_line_state
ha_line_output_write(struct ha_line_output *output, struct ha_line_text *lines, int ms)
{
    bool file = is_file(output->fd);
    enum ha_line_state state = HA_LINES_DONE;
    size_t done = 0;

    while (done < lines->used && state == HA_LINES_DONE) {
        if (!file && !is_ready(output->fd, ms)) {
            state = HA_LINES_WAITS;
            break;
        }
        ssize_t bytes = write(output->fd, lines->text + done,
                              file ? lines->used - done : piece(lines, done));
        if (bytes >= 0) {
            done += (size_t)bytes;
        } else if (errno != EINTR) {
            state = failed(output, errno);
        }
    }
    taken(lines, done);
    return state;
}
