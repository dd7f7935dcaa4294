/* SPDX-License-Identifier: MIT */
/* A signal as a request: HIPADAPT_PROFILE_SIGNAL names it, HIPADAPT_PROFILE_CONFIG the
 * file with the configuration text, which must belong to this user and be writable by
 * no other; without one the base configuration says all.
 *
 * The handler adds one to an eventfd and calls the handler of before, if the program
 * had one.  That is all it does, so it may come at any time, and as often as it likes:
 * signals that come together are one request, and there is one a second at most.  The
 * handler of before is put back at the end of the process, unless somebody has replaced
 * ours meanwhile. */
#ifndef HA_TOOL_PROFILER_BY_SIGNAL_H
#define HA_TOOL_PROFILER_BY_SIGNAL_H

#include "tool/profiler/way.h"

extern const struct ha_way ha_signal_way;

#endif
