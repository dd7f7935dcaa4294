/* SPDX-License-Identifier: MIT */
/* Who asks for recordings from outside of the program: the ways, and their thread.
 *
 * A *way* is one of them, as a daemon's datagrams (daemon.h), `trace
 * attach` (attach.h), or a signal (by_signal.h).  Each ends in
 * ha_session_plan.  The thread "hipadapt-listen" starts with the first way that is
 * opened, waits for the descriptors of all, and never ends.
 *
 * A forked child has none of it: the descriptors are closed there, and the recording is
 * the parent's.
 *
 * Locks: `opening` is held by those who open ways; `working` by the thread while a way
 * looks, and at the end of the process.  What a way keeps is guarded by `working`. */
#ifndef HA_TOOL_PROFILER_LISTEN_H
#define HA_TOOL_PROFILER_LISTEN_H

#include "core/status.h"

/* The ways that the environment asks for.  Failures are told on the log. */
void ha_listen_from_environment(void);

/* Opens the way that `trace attach` takes, unless it is open. */
enum ha_status ha_listen_attach(void);

/* The process ends: nobody is listened to any more. */
void ha_listen_end(void);

/* Fork hook of the child. */
void ha_listen_forked(void);

#endif
