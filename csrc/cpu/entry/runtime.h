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
 * Locks, outermost first: the start lock (this file), module (cpu/module/module.h),
 * memory (cpu/memory/memory.h), pool (cpu/queue/pool.h), then the leaves of
 * cpu/base/handle.h.  No lock is held while kernels, host functions or the interrupt
 * check run. */
#ifndef HA_CPU_ENTRY_RUNTIME_H
#define HA_CPU_ENTRY_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/hip.h"

#define HA_EXPORT __attribute__((visibility("default")))
#define HIP_VERSION_NUMBER 70125424 /* the ABI of HIP 7.1 */
#define HA_DEVICE_MAX 16
#define HA_CALL_TEXT_BYTES 512

/* What a HIP call answers inside a host function.  HIP has no "not permitted" of its
 * own. */
#define HA_ERROR_IN_HOST_FUNCTION hipErrorIllegalState

struct ha_device;
struct ha_stream;

struct ha_config {
    int device_count;
    int ordinals[HA_DEVICE_MAX]; /* which device of the machine each one is */
    unsigned thread_count;       /* workers that run kernels */
    uint32_t warp_size;          /* 32 or 64 */
    bool reference;              /* HIPADAPT_CPU_EXEC=reference */
    bool guard;                  /* HIPADAPT_CPU_GUARD=1 */
    uint64_t kernel_timeout_ns;  /* 0 = never */
};

/* What the runtime keeps of each host thread; only that thread touches it. */
struct ha_thread {
    int device;            /* current device */
    hipError_t last_error; /* see cpu/base/error.h */
    hipError_t last_call;
    const char *function;  /* HIP function that the thread is in; constant text */
    bool in_host_function; /* the thread runs a host function of a stream */
    bool own_default;      /* stream NULL is the thread's own: cpu/entry/spt.c */
    uint32_t epoch;        /* of the runtime that made `own` */
    struct ha_stream *own[HA_DEVICE_MAX]; /* per-thread streams, or NULL; owned */
    char text[HA_CALL_TEXT_BYTES];
};

struct ha_thread *ha_thread_self(void);

/* First thing in an entry point that works on the current device: starts the runtime if
 * need be; fails in a host function, and with the device's fault if it has one.  Gives
 * the current device, borrowed. */
hipError_t ha_enter(const char *function, struct ha_device **device);

/* The same for an entry point that only asks: allowed in host functions and after
 * faults. */
hipError_t ha_enter_query(const char *function);

/* hipInit: the only call that starts the runtime in a forked child. */
hipError_t ha_runtime_init(void);

/* Valid while the runtime is READY. */
const struct ha_config *ha_config(void);

/* Counts starts; differs between a process and its forked child. */
uint32_t ha_runtime_epoch(void);

/* True in a forked child that has not called hipInit. */
bool ha_runtime_is_forked(void);

/* True from the first call to the end of the process or a fork. */
bool ha_runtime_is_ready(void);

/* Starts the device, for what isn't a call of HIP. */
hipError_t ha_runtime_start_quietly(void);

/* True if the program asked for the end of the current wait (Ctrl-C). No lock held. */
bool ha_runtime_interrupted(void);

/* True if ha_runtime_interrupted ever may be. */
bool ha_runtime_can_be_interrupted(void);

/* Ends the device's kernels, drops its queued work, and frees its streams, events,
 * modules and memory. */
hipError_t ha_runtime_reset_device(struct ha_device *device);

/* For language bindings. */
/* Starts the runtime without a call of HIP, which a profiler would show; HIP's version.
 */
HA_EXPORT int hipadaptStart(void);
HA_EXPORT void hipadaptSetInterruptCheck(int (*check)(void));
HA_EXPORT void hipadaptShutdown(void);
HA_EXPORT const char *hipadaptGetErrorText(void);
/* Parameter number `index` of a function: its place in an `extra` buffer, its size in
 * bytes, and what it is (enum ha_arg_kind).  hipErrorInvalidValue past the last one. */
HA_EXPORT hipError_t hipadaptKernelParam(hipFunction_t function, unsigned index,
                                         size_t *offset, size_t *size, int *kind);

#endif
