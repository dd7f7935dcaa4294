/* SPDX-License-Identifier: MIT */
/* Writers: they take slices and stream them into a trace.
 *
 * A URL says where the trace goes.  `file://PATH` or a plain path is a file, whose
 * suffix says its format: .json (Chrome), .json.gz, .pftrace (Perfetto).  Other schemes
 * are registered by whoever can write them.
 *
 * A file grows while slices come, in a temporary file beside it, which gets the file's
 * name at the end; so a file is there whole or not at all.  Temporaries that dead
 * processes left in the same folder are removed when a writer opens.  What a writer
 * keeps in memory does not grow with the number of slices.  Opening a file costs a look
 * through its folder: do it before the start of what is to be recorded.
 *
 * One thread at a time uses a writer.  After fork the parent goes on with it; the child
 * calls nothing but ha_writer_abandon, which leaves the parent's file alone. */
#ifndef HA_TOOL_PROFILER_WRITER_H
#define HA_TOOL_PROFILER_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "tool/profiler/slice.h"
#include "tool/profiler/writer_class.h"

struct ha_writer;

/* Opens a trace.  HA_ERROR_UNSUPPORTED with the list of right ones for a scheme or a
 * suffix that nobody writes; HA_ERROR_INVALID where the file is a link or no regular
 * file; HA_ERROR_SYSTEM or HA_ERROR_NOT_FOUND where the temporary can't be made. */
enum ha_status ha_writer_open(const char *url, const struct ha_writer_info *info,
                              struct ha_writer **writer);

/* Names a row; to be called before the row's first slice. */
enum ha_status ha_writer_row(struct ha_writer *writer, const struct ha_trace_row *row);

/* Slices come in any order.  After a failure (a full disk) all further ones fail with
 * the same status and text, at little cost. */
enum ha_status ha_writer_slice(struct ha_writer *writer, const struct ha_slice *slice);

/* Ends the trace and gives it its name; the writer is gone, whatever is returned.  On
 * failure there is no file, and the text says why. */
enum ha_status ha_writer_finish(struct ha_writer *writer,
                                const struct ha_writer_result *result);

/* Drops the writer and what it has written so far; NULL is allowed. */
void ha_writer_abandon(struct ha_writer *writer);

/* The path of a URL that is one, or of the scheme file; NULL for other schemes. */
const char *ha_writer_path(const char *url);

/* Bytes that were written so far, for progress. */
uint64_t ha_writer_bytes(const struct ha_writer *writer);

/* URLs `scheme://...` go to this class from now on, which stays for the life of the
 * process, as does `context`.  HA_ERROR_INVALID for "file", for a scheme that is no
 * word of [a-z0-9+.-], or one that is taken; HA_ERROR_MEMORY where the list is full.
 * Any thread may call it. */
enum ha_status ha_writer_register(const char *scheme,
                                  const struct ha_writer_class *class, void *context);

#endif
