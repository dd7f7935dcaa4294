/* SPDX-License-Identifier: MIT */
/* Python callables that a stream calls (hipLaunchHostFunc, hipStreamAddCallback).
 *
 * Each call in flight is a struct ha_host_call, made with the GIL and owned by the
 * stream until it has run once; then the module room, which alone takes the GIL on
 * threads that aren't Python's, calls it and gives it back with ha_host_call_free. */
#ifndef HA_API_MANUAL_HOST_CALL_H
#define HA_API_MANUAL_HOST_CALL_H

#include <Python.h>

#include <stdbool.h>

struct ha_host_call {
    PyObject *callable; /* owned */
    PyObject *user;     /* owned: the argument userData as Python passed it */
    PyObject *stream;   /* owned: the argument stream; callbacks only, else NULL */
    PyObject *module;   /* owned: ours, for the class of the status */
};

/* Set by the module room before the first call; any thread calls it, without the GIL.
 * `status` is that of the stream, for callbacks. */
typedef void (*ha_host_runner)(struct ha_host_call *call, int status);
void ha_host_set_runner(ha_host_runner runner);

/* Releases the objects and the struct; needs the GIL. */
void ha_host_call_free(struct ha_host_call *call);

/* Calls that were made and not given back yet; any thread. */
long ha_host_call_count(void);

#endif
