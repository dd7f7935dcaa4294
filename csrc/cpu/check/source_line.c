/* SPDX-License-Identifier: MIT */
#include "cpu/check/source_line.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of the next piece; 0 at the end and at errors. */
static size_t
read_piece(int fd, struct ha_source_line *line)
{
    ssize_t got;

    do {
        got = read(fd, line->piece, sizeof line->piece);
    } while (got < 0 && errno == EINTR);
    return got > 0 ? (size_t)got : 0;
}

/* Bytes of the line. */
static size_t
find_line(int fd, uint32_t number, struct ha_source_line *line)
{
    size_t got, used = 0;
    uint32_t at = 1;

    for (size_t seen = 0; seen < HA_SOURCE_FILE_MAX; seen += got) {
        got = read_piece(fd, line);
        if (got == 0) {
            break;
        }
        for (size_t i = 0; i < got; i++) {
            if (line->piece[i] == '\n') {
                if (at++ == number) {
                    return used;
                }
            } else if (at == number && used < sizeof line->text - 1) {
                line->text[used++] = line->piece[i];
            }
        }
    }
    return used;
}

void
ha_source_line_read(const char *path, uint32_t number, struct ha_source_line *line)
{
    struct stat info;
    int saved = errno;
    size_t used = 0;

    line->text[0] = '\0';
    if (path[0] == '\0' || number == 0) {
        return;
    }
    /* A pipe of that name must not be waited for. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0) {
        if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
            used = find_line(fd, number, line);
        }
        (void)close(fd);
    }
    while (used > 0 && line->text[used - 1] == '\r') {
        used--;
    }
    line->text[used] = '\0';
    errno = saved;
}
