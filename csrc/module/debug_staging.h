/* SPDX-License-Identifier: MIT */
/* Memory for tensors on their way from a device to its debug stream.
 *
 * A *block* is memory of the process that HIP has page-locked, so that a copy into it
 * runs in its stream and the caller goes on.  It is ours whatever happens to the
 * device: after a reset it is locked again when it is next used.  All blocks together,
 * in use or kept for the next tensors, have HIPADAPT_DEBUG_STREAM_BUFFER_BYTES at most,
 * and as many may be about to be freed.
 *
 * A lock guards the list; it is held for no call of HIP. */
#ifndef HA_MODULE_DEBUG_STAGING_H
#define HA_MODULE_DEBUG_STAGING_H

#include <stdbool.h>
#include <stddef.h>

struct ha_debug_block {
    void *memory; /* owned; NULL: the block only counts */
    size_t size;  /* at least what was asked for */
    unsigned forks;
    struct ha_debug_block *next;
};

/* A block of the caller's; NULL: the bound is reached, or there is no memory.  Calls
 * HIP, also while streams are captured.  Without the GIL. */
struct ha_debug_block *ha_debug_staging_take(size_t bytes);

/* The same without memory, for bytes that are elsewhere. */
struct ha_debug_block *ha_debug_staging_count(size_t bytes);

/* It is the pool's again; false: it was that of the process that this one was forked
 * from.  Any thread, host functions too. */
bool ha_debug_staging_give(struct ha_debug_block *block);

/* Before the first of these: 0, or -1 with an exception. */
int ha_debug_staging_init(void);

#endif
