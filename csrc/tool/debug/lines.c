/* SPDX-License-Identifier: MIT */
#include "tool/debug/lines.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

void
ha_lines_flush(struct ha_lines *lines)
{
    struct pollfd place = {.fd = lines->fd, .events = POLLOUT};
    size_t done = 0;

    while (done < lines->used) {
        ssize_t wrote = write(lines->fd, lines->bytes + done, lines->used - done);
        if (wrote > 0) {
            done += (size_t)wrote;
        } else if (wrote < 0 && errno == EAGAIN) {
            (void)poll(&place, 1, -1);
        } else if (wrote == 0 || errno != EINTR) {
            lines->lost += lines->gathered;
            lines->error = wrote == 0 ? ENOSPC : errno;
            break;
        }
    }
    lines->used = 0;
    lines->gathered = 0;
}

void
ha_lines_add(struct ha_lines *lines, int fd, const char *line, size_t bytes)
{
    if (lines->fd != fd || lines->used + bytes > sizeof lines->bytes) {
        ha_lines_flush(lines);
    }
    lines->fd = fd;
    memcpy(lines->bytes + lines->used, line, bytes);
    lines->used += bytes;
    lines->gathered++;
}
