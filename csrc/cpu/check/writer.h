/* SPDX-License-Identifier: MIT */
/* Text that is put together in memory of the caller's, piece after piece.
 *
 * What has no room is left out, and counted in `needed`.  No function allocates, calls
 * the C library's printf or needs more than some hundred bytes of stack: findings are
 * written on the stacks of lanes, and in signal handlers.  No lock: a writer belongs to
 * one thread. */
#ifndef HA_CPU_CHECK_WRITER_H
#define HA_CPU_CHECK_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ha_writer {
    char *text;    /* the caller's; NULL only counts */
    size_t room;   /* bytes */
    size_t needed; /* bytes of all that was put; those below `room` are in `text` */
    bool quoted;   /* what is put is the inside of a string of JSON */
};

/* A text of ours, as it is. */
void ha_put(struct ha_writer *writer, const char *text);
void ha_put_bytes(struct ha_writer *writer, const char *bytes, size_t size);
void ha_put_times(struct ha_writer *writer, char sign, size_t times);
void ha_put_number(struct ha_writer *writer, uint64_t value);
void ha_put_hex(struct ha_writer *writer, uint64_t value); /* "0x1f" */

/* "1 byte", "2 bytes". */
void ha_put_count(struct ha_writer *writer, uint64_t count, const char *noun);

/* A text of anybody's for a terminal: control characters and bytes that are no UTF-8
 * become \x1b.  Behind `limit` bytes it ends with "...". */
void ha_put_plain(struct ha_writer *writer, const char *text, size_t limit);

/* A string of JSON with its quotes, whatever `text` has: bytes that are no UTF-8 become
 * U+FFFD.  It has about `limit` bytes at most, and ends with "..." where it is cut. */
void ha_put_json(struct ha_writer *writer, const char *text, size_t limit);

/* The bytes of the UTF-8 character that `text` begins with: 1 to 4; 0 where there is
 * none. */
size_t ha_utf8_size(const char *text);

#endif
