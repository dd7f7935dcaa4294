/* SPDX-License-Identifier: MIT */
/* The CPU device as a whole: start, end, fork, and what each HIP call does first.
 *
 * The runtime starts with the first call and is READY until the process ends (CLOSED)
 * or forks: a forked child is FORKED and refuses every call until hipInit(0) starts it
 * anew. Configuration is read from the environment once per start and constant from
 * then on.
 *
 * Each entry point (the files of cpu/entry) begins with ha_enter or ha_enter_query and
 * never calls another entry point, so that a table of function pointers can be put in
 * front of them.
 *
 * Locks, outermost first: the start lock (this file), graph (cpu/graph/graph.h), module
 * (cpu/module/register.h and library.h), pool (cpu/queue/pool.h), memory
 * (cpu/memory/memory.h), then the leaves of cpu/base/handle.h.  No lock is held while
 * kernels, host functions or the interrupt check run. */
#ifndef HA_CPU_ENTRY_RUNTIME_H
#define HA_CPU_ENTRY_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/debug_sink.h"
#include "abi/hip.h"
#include "cpu/base/export.h"

#define HIP_VERSION_NUMBER 70125424 /* the ABI of HIP 7.1 */

/* The answer of HIP calls inside a host function.  HIP has no "not permitted" of its
 * own. */
#define HA_ERROR_IN_HOST_FUNCTION hipErrorIllegalState

struct ha_device;

/* First thing in an entry point that works on the current device: starts the runtime if
 * need be; fails in a host function, and with the device's fault if it has one.  Gives
 * the current device, borrowed. */
hipError_t ha_enter(const char *function, struct ha_device **device);

/* The same for an entry point that only asks: allowed in host functions and after
 * faults. */
hipError_t ha_enter_query(const char *function);

/* hipInit: the only call that starts the runtime in a forked child. */
hipError_t ha_runtime_init(void);

/* Starts the device for work that is no call of HIP. */
hipError_t ha_runtime_start_quietly(void);

/* Ends the device's kernels, drops its queued work, and frees its streams, events,
 * modules and memory. */
hipError_t ha_runtime_reset_device(struct ha_device *device);

/* Another debug sink (abi/debug_sink.h), or none. */
HA_EXPORT int hipadaptDebugSink(const struct ha_debug_sink *sink);

/* For language bindings. */
/* Starts the runtime without a call of HIP, which a profiler would show; HIP's version.
 */
HA_EXPORT int hipadaptStart(void);
HA_EXPORT void hipadaptSetInterruptCheck(int (*check)(void));
/* What writes the calling thread's stack in the binding's language, for findings of
 * checks: lines, the innermost frame first, each with its end.  It returns their bytes,
 * 0 for none, and never waits for another thread.  NULL: nobody does. */
HA_EXPORT void hipadaptSetStackText(size_t (*lines)(char *text, size_t bytes));
/* An object of the binding frees the allocation: it is no leak if it is there when the
 * process ends. */
HA_EXPORT void hipadaptOwnsMemory(const void *ptr);
/* Whether calls ask for the stack at present. */
HA_EXPORT int hipadaptWantsStack(void);
HA_EXPORT void hipadaptShutdown(void);
/* The program ends, but others may still free what they have: work gets a moment, and
 * what then runs is ended, so that nobody waits for it for ever. */
HA_EXPORT void hipadaptDrain(void);
HA_EXPORT const char *hipadaptGetErrorText(void);
/* Parameter number `index` of a function: its offset in an `extra` buffer, its size in
 * bytes, and its kind (enum ha_arg_kind). hipErrorInvalidValue past the last one. */
HA_EXPORT hipError_t hipadaptKernelParam(hipFunction_t function, unsigned index,
                                         size_t *offset, size_t *size, int *kind);
/* What was decided about a function (cpu/compile/report.h): the text with its NUL, if
 * `text` is not NULL and has room, and its size.  `bytes` is that of the room. */
HA_EXPORT hipError_t hipadaptKernelReport(hipFunction_t function, char *text,
                                          size_t *bytes);

#endif
