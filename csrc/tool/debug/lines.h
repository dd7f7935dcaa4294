/* SPDX-License-Identifier: MIT */
/* Lines on their way to stdout and stderr, gathered to writes that pipes take as one.
 *
 * One thread writes, with SIGPIPE blocked.  It waits for who reads; what can't be
 * written for another reason is counted. */
#ifndef HA_TOOL_DEBUG_LINES_H
#define HA_TOOL_DEBUG_LINES_H

#include <stddef.h>
#include <stdint.h>

enum { HA_LINES_BYTES = 4096 };

struct ha_lines {
    int fd; /* of what is gathered; borrowed */
    size_t used;
    uint64_t gathered;
    uint64_t lost;
    int error; /* errno of the last loss */
    char bytes[HA_LINES_BYTES];
};

/* A whole line of at most HA_LINES_BYTES.  Those before it that go elsewhere, or leave
 * no room, are written first. */
void ha_lines_add(struct ha_lines *lines, int fd, const char *line, size_t bytes);

/* Writes what is gathered. */
void ha_lines_flush(struct ha_lines *lines);

#endif
