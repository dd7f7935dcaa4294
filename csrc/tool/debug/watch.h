/* SPDX-License-Identifier: MIT */
/* The watcher: where HIPADAPT_DEBUG_STREAM_WATCH asks for it, a thread of this library
 * is the client of debug streams and prints a line for each tensor (summary.h).
 *
 * Lines go to stdout for pipe 1 and to stderr for pipe 2, as they were when HIP began,
 * in writes of whole lines.  A last line on stderr has the counts.
 *
 * It connects to a device when the first tensor comes that has no client.  A client of
 * the program's own is served first: the watcher gives way to it, and comes back when
 * it has closed.
 *
 * Lock: `lock` in watch.c, taken before a stream's, and never held while something is
 * printed, so that senders don't wait for who reads the output. */
#ifndef HA_TOOL_DEBUG_WATCH_H
#define HA_TOOL_DEBUG_WATCH_H

#include <stdbool.h>

/* Begins if the environment says so, with the devices' libraries that are loaded. It
 * may be called again, when more of them are there. */
void ha_watch_begin(void);

/* Leaves the device to a client that is about to connect, after printing what waits.
 * True: until ha_watch_return; false: the device isn't watched. */
bool ha_watch_leave(int device);
void ha_watch_return(int device);

/* Prints what waits now, and the last line.  At the end of the process it is called by
 * itself. */
void ha_watch_end(void);

/* Fork hook of the child, which has a watcher of its own once it sends something. */
void ha_watch_forked(void);

#endif
