/* SPDX-License-Identifier: MIT */
/* Where lines go: a file, or the process's standard output.
 *
 * What other processes write to the same file or pipe never stands within a line of
 * ours: files are opened for appending, and a write to anything else ends with a line
 * and has no more than PIPE_BUF bytes, but for a longer line.  Nobody waits for a
 * reader for longer than he is told to.  One thread at a time. */
#ifndef HA_TOOL_VERBOSE_OUTPUT_H
#define HA_TOOL_VERBOSE_OUTPUT_H

#include <stdbool.h>

#include "core/status.h"
#include "tool/verbose/line.h"

enum ha_line_state {
    HA_LINES_DONE,   /* everything is written */
    HA_LINES_WAITS,  /* for a reader, or for room on the disk */
    HA_LINES_BROKEN, /* nobody reads it any more */
};

struct ha_line_output {
    int fd;
    bool told; /* that something is wrong */
};

/* Standard output; `output` was zero or is closed. */
void ha_line_output_standard(struct ha_line_output *output);

/* A file with `%p` for the process's number, made or appended to.  A failure's text
 * names it. */
enum ha_status ha_line_output_open(struct ha_line_output *output, const char *pattern);

/* Closes a file. */
void ha_line_output_close(struct ha_line_output *output);

/* Writes lines and takes off what is written, waiting `ms` at most. */
enum ha_line_state ha_line_output_write(struct ha_line_output *output,
                                        struct ha_line_text *lines, int ms);

#endif
