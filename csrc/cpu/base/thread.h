/* SPDX-License-Identifier: MIT */
/* What the runtime keeps of each host thread.  Only that thread touches it. */
#ifndef HA_CPU_BASE_THREAD_H
#define HA_CPU_BASE_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/hip.h"
#include "cpu/base/config.h"

#define HA_CALL_TEXT_BYTES 512

struct ha_stream;

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

/* That of the calling thread. */
struct ha_thread *ha_thread_self(void);

#endif
