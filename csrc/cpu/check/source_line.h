/* SPDX-License-Identifier: MIT */
/* One line of a source file, for findings that don't have it.
 *
 * Callable on the stack of a lane (finding.h).  No lock; it uses memory of the caller's
 * only. */
#ifndef HA_CPU_CHECK_SOURCE_LINE_H
#define HA_CPU_CHECK_SOURCE_LINE_H

#include <stddef.h>
#include <stdint.h>

#define HA_SOURCE_FILE_MAX ((size_t)16 << 20) /* bytes of a file that are looked at */

/* Memory that a look needs, and what it gives. */
struct ha_source_line {
    char text[1024]; /* with a NUL; cut where it is longer */
    char piece[4096];
};

/* The text of line number `number`, from 1, without its end; empty where `path` is no
 * regular file that can be read, or has no such line. */
void ha_source_line_read(const char *path, uint32_t number,
                         struct ha_source_line *line);

#endif
