/* SPDX-License-Identifier: MIT */
/* dynolog's datagrams: a daemon of the machine that hands out configuration texts.
 *
 * Both sides are bound datagram sockets of AF_UNIX.  The daemon's name is "dynolog",
 * ours "dynoconfigclient" and a UUID: abstract names with a NUL behind them, or files
 * in the folder KINETO_IPC_SOCKET_DIR.  We ask, every few seconds; the daemon answers:
 *
 *     u64 size                 of the payload, native byte order
 *     char type[32]            "ctxt" or "req", then NULs
 *     payload
 *
 *     ctxt  {i32 gpu, i32 pid, i64 job}; answer i32 processes of that job and GPU
 *     req   {i32 kinds, i32 n, i64 job, i32 pids[n]}: this process, then its ancestors;
 *           answer: a configuration text, or nothing
 *
 * A daemon that is not there is asked again later.  Answers of users other than root
 * and this one are thrown away, and so is what has another length than it says. */
#ifndef HA_TOOL_PROFILER_DAEMON_H
#define HA_TOOL_PROFILER_DAEMON_H

#include "tool/profiler/way.h"

extern const struct ha_way ha_daemon_way;

#endif
