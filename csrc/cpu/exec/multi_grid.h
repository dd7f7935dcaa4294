/* SPDX-License-Identifier: MIT */
/* Cooperative launches on several devices: their blocks are all alive together, so that
 * they can meet at multi-grid barriers.
 *
 * Each *grid* is a cooperative launch of its own (cpu/exec/cooperative.h), an operation
 * in a stream of its device, with at least one thread that nothing else takes away from
 * it meanwhile (HA_OP_BLOCKING).  What the grids share is a *multi*.  A grid has come
 * to a multi-grid barrier when all its blocks have; the barrier opens when every grid
 * has come.  A grid that is over can come no more: if one of them has failed, or if
 * others wait or come later, the launch has *failed*.  Threads of the others see that
 * wherever their blocks wait or begin, and end their own grid with the code of the one
 * that failed.
 *
 * Ownership: the caller of ha_multi_new has a reference, and so has each grid until it
 * is over.
 *
 * Lock: `lock`, a leaf; held for a few steps, never while kernel code runs. */
#ifndef HA_CPU_EXEC_MULTI_GRID_H
#define HA_CPU_EXEC_MULTI_GRID_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define HA_MULTI_TEXT_BYTES 256

/* What a kernel may ask about its grid; constant once the grids run. */
struct ha_multi_grid {
    int device;
    uint64_t first; /* threads in the grids before it */
};

struct ha_multi {
    pthread_mutex_t lock;   /* guards these: */
    uint32_t references;    /* of the grids, and of the caller of ha_multi_new */
    uint32_t waiting;       /* grids at the barrier */
    uint32_t ended;         /* grids that are over */
    uint32_t first_waiting; /* for messages: a grid at the barrier, its line, */
    uint32_t line;
    uint32_t first_ended;   /* and a grid that is over */
    _Atomic uint32_t round; /* barriers that have opened; changed under the lock */
    atomic_bool failed;     /* set once under the lock, after the next two: */
    int code;               /* hipError_t */
    char text[HA_MULTI_TEXT_BYTES];
    uint64_t number; /* no two of a process have the same; constant, as is the rest */
    uint64_t size;   /* threads of all grids */
    uint32_t count;  /* of grids */
    struct ha_multi_grid grids[];
};

/* For `count` grids that the caller describes, with one reference for the caller; NULL
 * without memory. */
struct ha_multi *ha_multi_new(uint32_t count);
void ha_multi_retain(struct ha_multi *multi);
void ha_multi_release(struct ha_multi *multi);

/* All blocks of the grid are at the barrier.  The round that the barrier opens behind
 * was to be read before. */
void ha_multi_arrive(struct ha_multi *multi, uint32_t rank, uint32_t line);

/* The grid is over, or will not begin: with `code` (hipError_t), and `text` or NULL.
 * Releases the grid's reference. */
void ha_multi_leave(struct ha_multi *multi, uint32_t rank, int code, const char *text);

#endif
