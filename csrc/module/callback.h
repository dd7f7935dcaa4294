/* SPDX-License-Identifier: MIT */
/* The one place where a thread that isn't Python's takes the GIL: to run a Python
 * callable that a device calls (api/manual/host_call.h).
 *
 * No lock is held there, neither ours nor one of the CPU device's. An exception of the
 * callable, whichever it is, goes to sys.unraisablehook with the callable as its
 * object, and the stream goes on. */
#ifndef HA_MODULE_CALLBACK_H
#define HA_MODULE_CALLBACK_H

#include <stdint.h>

/* From now on devices can call Python. 0, or -1 with an exception. */
int ha_callback_open(void);

/* From now on they can't: calls that come later are dropped, because the interpreter is
 * about to end. Waits for those that run, until ha_clock_ns() is `end_ns`. Needs the
 * GIL, and releases it while it waits. */
void ha_callback_close(uint64_t end_ns);

#endif
