/* SPDX-License-Identifier: MIT */
/* Calling functions of tools that may crash, where nothing of ours is half done. */
#ifndef HA_ROCPROFILER_GUARD_H
#define HA_ROCPROFILER_GUARD_H

/* Calls function(data).  Returns 0, or the number of the signal that ended it: SIGSEGV,
 * SIGBUS, SIGFPE, SIGILL, or SIGABRT, as which an exception of C++ ends that nobody
 * catches.  Signal mask and handlers are as before then.  One thread at a time: what
 * another one calls meanwhile isn't guarded. */
int ha_guarded(void (*function)(void *data), void *data);

#endif
