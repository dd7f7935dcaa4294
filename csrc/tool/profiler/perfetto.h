/* SPDX-License-Identifier: MIT */
/* The trace format of Perfetto; see docs/trace_format.md. */
#ifndef HA_TOOL_PROFILER_PERFETTO_H
#define HA_TOOL_PROFILER_PERFETTO_H

#include "tool/profiler/writer_class.h"

/* `path` is that of a file. */
enum ha_status ha_perfetto_open(const char *path, const struct ha_writer_info *info,
                                void **state);

extern const struct ha_writer_class ha_perfetto_class; /* opened by ha_perfetto_open */

#endif
