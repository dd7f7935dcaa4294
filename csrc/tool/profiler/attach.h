/* SPDX-License-Identifier: MIT */
/* `python -m hipadapt trace attach PID`: another process asks for one recording.
 *
 * The process listens at the abstract socket "hipadapt-profile-<pid>" of AF_UNIX, with
 * packets that keep their bounds (SOCK_SEQPACKET).  The caller is root or this user, by
 * what the kernel says of it.  Fields are separated by NULs:
 *
 *     caller    a configuration text, whose file gets no number of the process
 *     we        "refused", reason
 *          or   "accepted", number of the request
 *     and then  "over", message ("": well), URL of the file, why no kernel is in it
 *               ("": that is well), events, kernels, lost events, events out of the
 *               window, bytes
 *
 * A caller that goes takes its recording with it. */
#ifndef HA_TOOL_PROFILER_ATTACH_H
#define HA_TOOL_PROFILER_ATTACH_H

#include "tool/profiler/way.h"

extern const struct ha_way ha_attach_way;

#endif
