/* SPDX-License-Identifier: MIT */
/* A file that grows while it is written, and has its name only when it is whole.
 *
 * Bytes gather in one buffer.  They go to a *temporary* beside the file, named
 * `<file>.<pid>[-<n>].hipadapt.tmp` (mode 0600), which is locked as long as its writer
 * lives; so a temporary without a lock was left by a dead process, and the next one who
 * opens a file in that folder removes it.
 *
 * A failure stays: the temporary goes at once, so that a full disk is full no longer,
 * and all that follows is thrown away.  One thread at a time uses an output. */
#ifndef HA_TOOL_PROFILER_OUTPUT_H
#define HA_TOOL_PROFILER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/status.h"

struct ha_gzip;

enum {
    HA_OUTPUT_BYTES = 1 << 20,
    HA_OUTPUT_NAME_BYTES = 256, /* with NUL: NAME_MAX + 1 */
};

struct ha_output {
    char *buffer; /* owned */
    char *at;     /* where the next byte goes */
    char *end;
    int dir; /* the folder */
    int fd;
    pid_t owner;
    struct ha_gzip *gzip; /* owned; NULL: bytes go as they are */
    uint64_t bytes;       /* in the file */
    enum ha_status status;
    char text[512]; /* of the failure */
    char name[HA_OUTPUT_NAME_BYTES];
    char temporary[HA_OUTPUT_NAME_BYTES];
};

/* Opens the temporary of the file at `path`. */
enum ha_status ha_output_open(struct ha_output *output, const char *path, bool gzip);

/* Writes the buffer out until it has room for `bytes` more in a row.  False after a
 * failure. */
bool ha_output_make_room(struct ha_output *output, size_t bytes);

/* Room for `bytes` at `output->at`; false after a failure. */
static inline bool
ha_output_room(struct ha_output *output, size_t bytes)
{
    return (size_t)(output->end - output->at) >= bytes ||
           ha_output_make_room(output, bytes);
}

/* The failure that stays, with its text; HA_OK without one. */
enum ha_status ha_output_status(const struct ha_output *output);

/* Writes out the rest and gives the file its name; the output is closed, whatever is
 * returned. */
enum ha_status ha_output_finish(struct ha_output *output);

/* Closes it and removes the temporary; only closes it in a forked child. */
void ha_output_abandon(struct ha_output *output);

#endif
