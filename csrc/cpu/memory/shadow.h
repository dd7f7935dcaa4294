/* SPDX-License-Identifier: MIT */
/* Which bytes of the device's memory have a value, for checks of memory that nobody
 * wrote (HIPADAPT_CHECK=init).
 *
 * An allocation under check has a *shadow*: a byte for each byte, whose bits are 1
 * where those of the memory have no value, and an *origin* for each four bytes,
 * aligned, that says where they come from (cpu/memory/shadow_origin.h).  Both lie in
 * one mapping:
 *
 *     | bits: 1 byte a byte | to a multiple of 64 | origins: 4 bytes a 4 bytes |
 *
 * so a shadow is twice as large as its memory, and goes with it.  Memory without a
 * shadow counts as written: what the host may write without a call has none.
 *
 * Lock: one, a leaf.  Kernel code reads and writes shadows that it has found without
 * it; their memory is not freed before the kernel has ended. */
#ifndef HA_CPU_MEMORY_SHADOW_H
#define HA_CPU_MEMORY_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

struct ha_shadow {
    uintptr_t base; /* of the memory */
    uint64_t bytes;
    uint8_t *bits;
    uint8_t *origins;
};

/* Whether there is any shadow.  No lock, as with the next one. */
bool ha_shadow_any(void);
/* Differs from before if there are other shadows. */
uint64_t ha_shadow_changes(void);

/* Memory that is there from now on, with no value if `origin` is not 0.  Without room
 * for its shadow it counts as written. */
void ha_shadow_add(uintptr_t base, uint64_t bytes, uint32_t origin);
/* Memory that begins there goes, if it has a shadow. */
void ha_shadow_remove(uintptr_t base);
/* All that there is counts as written: somebody wrote who does not say where. */
void ha_shadow_forget(void);
void ha_shadow_after_fork_child(void);

/* The shadow of the memory that holds the byte. */
bool ha_shadow_find(uintptr_t at, struct ha_shadow *shadow);

/* The host, or a call of it, has written. */
void ha_shadow_written(uintptr_t at, uint64_t bytes);
/* The bytes lost their value. */
void ha_shadow_lost(uintptr_t at, uint64_t bytes, uint32_t origin);
/* A call of the host has copied. */
void ha_shadow_copied(uintptr_t to, uintptr_t from, uint64_t bytes);
/* Whether the bytes have a part that a kernel computed from what has no value; what
 * nobody wrote may be copied. */
bool ha_shadow_computed(uintptr_t at, uint64_t bytes, uint32_t *origin);

/* The same among shadows that were found. */
void ha_shadow_fill(const struct ha_shadow *to, uintptr_t at, uint64_t bytes,
                    uint32_t origin);
void ha_shadow_move(const struct ha_shadow *to, uintptr_t at,
                    const struct ha_shadow *from, uintptr_t from_at, uint64_t bytes);
void ha_shadow_mark(const struct ha_shadow *to, uintptr_t at, uint64_t bytes);

#endif
