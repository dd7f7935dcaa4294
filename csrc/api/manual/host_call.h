/* SPDX-License-Identifier: MIT */
/* Python callables that the device calls: hipLaunchHostFunc, hipStreamAddCallback, and
 * host nodes of graphs.
 *
 * HIP gets a C function (a *trampoline*) and as its context a number, the *ticket*. The
 * table in host_call.c has the callable behind each ticket in use. Tickets are never
 * given out twice, so a device that calls too late, too often or in a forked child
 * meets a ticket that is not in use, and nothing happens.
 *
 * A ticket is good once (hipLaunchHostFunc, hipStreamAddCallback) or until its owner
 * object dies (struct ha_host_target). The table holds its callable and its user data;
 * they are released exactly once: after the one call, with the owner, when the device
 * is reset, or at exit.
 *
 * Nothing is released on the thread of the device while it is inside a host function:
 * finalizers may want to call HIP, which a host function may not. What is over goes to
 * a list that the main thread, and every thread that makes a ticket, works off.
 *
 * A guard (adapters/together.h) guards the table and the list. Only the module room
 * takes the GIL on threads of the device (ha_host_runner), and no lock is held there.
 */
#ifndef HA_API_MANUAL_HOST_CALL_H
#define HA_API_MANUAL_HOST_CALL_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

/* The calling thread's current device has been reset: its tickets are over. Called
 * after the call that did it succeeded. */
void ha_host_calls_reset(void);

/* ---- for finalizers ---- */

/* True on a thread that runs a host function, where HIP may not be called. */
bool ha_host_inside(void);

/* Calls the object (stolen) without arguments, soon and outside of host functions.  An
 * exception goes to sys.unraisablehook. Never fails: without memory it is done at once.
 */
void ha_host_call_later(PyObject *callable);

/* ---- for the module room ---- */

/* A ticket that is being called: owned references, so that the ticket may end. */
struct ha_host_call {
    PyObject *callable;
    PyObject *user;   /* the argument userData as Python passed it */
    PyObject *stream; /* the argument stream; callbacks only, else NULL */
    PyObject *module; /* ours, for the class of the status */
};

/* Called by any thread without the GIL; `status` is that of the stream, for callbacks.
 * Set once, before the first ticket: 0, or -1 with an exception. */
typedef void (*ha_host_runner)(uint64_t ticket, int status);
int ha_host_set_runner(ha_host_runner runner);

/* What the ticket stands for, or false if it is not in use.  It is over if good once.
 */
bool ha_host_call_take(uint64_t ticket, struct ha_host_call *call);

/* Gives back what ha_host_call_take gave. */
void ha_host_call_drop(struct ha_host_call *call);

/* Enters and leaves a host function, for ha_host_inside; no GIL needed. */
void ha_host_enter(void);
void ha_host_leave(void);

/* Tickets that are good once and were not called yet. */
long ha_host_call_count(void);

/* At exit: all tickets are over, and all that is left on the list is released. */
void ha_host_calls_end(void);

#endif
