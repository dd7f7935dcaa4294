/* SPDX-License-Identifier: MIT */
/* A tensor of a debug stream in one line:
 *
 *     loss: float32 64x128 device=0 min=-3.2 max=4 mean=0.012 nan=1 inf=0 [0.1 2 ...]
 *
 * Statistics are those of the finite elements, "-" without any.  The min and max of a
 * complex tensor are magnitudes.  Of a dtype that is not known there are only bytes. */
#ifndef HA_TOOL_DEBUG_SUMMARY_H
#define HA_TOOL_DEBUG_SUMMARY_H

#include <stddef.h>

#include "tool/include/hipadapt/debug_stream.h"

enum { HA_SUMMARY_BYTES = 4096 }; /* a pipe takes as many at once */

/* Writes the line with its line end, and returns its length.  The thread's locale is
 * "C" in numbers. */
size_t ha_summary_write(const hipadapt_debug_stream_payload_debug_tensor_read_t *tensor,
                        char line[HA_SUMMARY_BYTES]);

#endif
