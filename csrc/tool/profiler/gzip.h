/* SPDX-License-Identifier: MIT */
/* gzip by zlib, which is loaded when it is first wanted: no build needs its headers. */
#ifndef HA_TOOL_PROFILER_GZIP_H
#define HA_TOOL_PROFILER_GZIP_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

struct ha_gzip;

/* A new stream, level 1.  HA_ERROR_UNSUPPORTED with a sentence where there is no zlib.
 */
enum ha_status ha_gzip_new(struct ha_gzip **gzip);

/* Compresses bytes, and the end of the stream with `last`; `put` gets what comes out,
 * and stops it with false.  False then, and where zlib fails. */
bool ha_gzip_write(struct ha_gzip *gzip, const void *bytes, size_t size, bool last,
                   bool (*put)(void *context, const void *bytes, size_t size),
                   void *context);

/* NULL is allowed. */
void ha_gzip_free(struct ha_gzip *gzip);

#endif
