/* SPDX-License-Identifier: MIT */
/* The trace format of Chrome, in the words that libkineto has for it; see
 * docs/trace_format.md. */
#ifndef HA_TOOL_PROFILER_CHROME_H
#define HA_TOOL_PROFILER_CHROME_H

#include "tool/profiler/writer_class.h"

/* `path` is that of a file. */
enum ha_status ha_chrome_open(const char *path, bool gzip,
                              const struct ha_writer_info *info, void **state);

extern const struct ha_writer_class ha_chrome_class; /* opened by ha_chrome_open */

#endif
