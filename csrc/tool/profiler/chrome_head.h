/* SPDX-License-Identifier: MIT */
/* What stands before and behind the events of a Chrome trace: devices, versions,
 * metadata, counts. */
#ifndef HA_TOOL_PROFILER_CHROME_HEAD_H
#define HA_TOOL_PROFILER_CHROME_HEAD_H

#include "tool/profiler/output.h"
#include "tool/profiler/writer_class.h"

/* Up to and with the bracket that opens the events. */
void ha_chrome_put_head(struct ha_output *output, const struct ha_writer_info *info,
                        uint64_t base);

/* All after the bracket that closes them. */
void ha_chrome_put_tail(struct ha_output *output,
                        const struct ha_writer_result *result);

#endif
