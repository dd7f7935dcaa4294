/* SPDX-License-Identifier: MIT */
/* What calls of the host do wrong with memory, as findings (cpu/check/finding.h).
 *
 * All are to be called only where memory is remembered (ha_checked), on the thread that
 * is in the call.  They find nothing but leaks without HA_CHECK_MEMORY.
 *
 * Locks: none of its own; called with none held, unless it says so. */
#ifndef HA_CPU_MEMORY_CHECK_FOUND_H
#define HA_CPU_MEMORY_CHECK_FOUND_H

#include <stdbool.h>
#include <stdint.h>

/* This call frees what it can't. */
void ha_found_bad_free(const void *ptr);

/* This call would touch bytes that are not memory; `bits` are HA_CHECK_READS and
 * HA_CHECK_WRITES.  `forbidden`: it is memory, to which the device has no such access.
 */
void ha_found_bad_access(const void *ptr, uint64_t bytes, uint32_t bits,
                         bool forbidden);

/* Looks whether this call's work in the stream, which is to touch the bytes, comes
 * behind work that frees them.  `stream` is as for ha_checked_pending.  The pool lock
 * may be held; needs ha_checked_call. */
void ha_found_late_access(const void *ptr, uint64_t bytes, uint32_t bits,
                          uint64_t stream);

/* A call, of that name and stack, brings bytes to the host some of which a kernel
 * computed from what nobody wrote (cpu/memory/shadow_origin.h). */
struct ha_check_stack;
void ha_found_computed(uint64_t bytes, uint32_t origin, const char *call,
                       const struct ha_check_stack *stack);

/* Somebody wrote to `at`, which is past an end of the allocation at `base`, or in it
 * though it is freed.  The pool lock may be held. */
void ha_found_damage(const void *at, const void *base);

/* At the end of the process, checked or not: what was written to without an access that
 * was seen, and, if that is asked for, what the program has not freed. */
void ha_found_at_end(void);

#endif
