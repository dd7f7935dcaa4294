/* SPDX-License-Identifier: MIT */
/* Which allocation an address belongs to, or is nearest to, alive or freed: for checks
 * of memory (HIPADAPT_CHECK=memory).
 *
 * Allocations that are made under check are remembered, with the call and the stack
 * that made them; foreign ranges, variables of modules among them, too.  When they are
 * freed, their memory is *kept* for a while (HIPADAPT_CHECK_QUARANTINE), and what is
 * known of them for longer, so that later uses are recognised.  A program may mark
 * *parts* of an allocation as allocations of their own; from the first mark on, the
 * rest of it is no memory.
 *
 * Questions are answered for memory from before the check as well, but without a story.
 *
 * Locks: one, below that of cpu/memory/memory.c and above none.  Questions may be asked
 * in kernel code within a busy section (cpu/exec/fault.h), with 4 KiB of stack. */
#ifndef HA_CPU_MEMORY_CHECK_MEMORY_H
#define HA_CPU_MEMORY_CHECK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/check.h"
#include "cpu/base/check_kinds.h"
#include "cpu/check/stack.h"
#include "cpu/memory/memory.h"

/* Whether what is allocated and freed in this call is remembered. */
static inline bool
ha_checked(void)
{
    return (ha_check_kinds() &
            (uint32_t)(HA_CHECK_MEMORY | HA_CHECK_LEAKS | HA_CHECK_INIT)) != 0;
}

/* In a call of HIP that allocates or frees, with no lock held: notes its stack. */
static inline void
ha_checked_call(void)
{
    if (ha_checked()) {
        (void)ha_check_stack_take();
    }
}

/* ---- questions ---- */

struct ha_checked_range {
    uintptr_t begin;
    uint64_t bytes;
    enum ha_check_space space; /* UNKNOWN: no memory is near */
    int device;
    bool freed;
    uint64_t free_number; /* of the call of hipFreeAsync (ha_checked_frees), or 0 */
};

/* Whether all of the bytes are in one allocation that is alive, which `range` then is;
 * true of every part of it until ha_checked_changes differs.  If not, `range` is what
 * holds the first byte, or is nearest. */
bool ha_checked_find(uintptr_t at, uint64_t bytes, struct ha_checked_range *range);

/* Differs from before if memory has gone since; never 0.  No lock. */
uint64_t ha_checked_changes(void);

/* The range of ha_checked_find with its story, for a finding.  Texts are borrowed, for
 * as long as the process lives. */
void ha_checked_describe(uintptr_t at, uint64_t bytes, struct ha_check_memory *memory);

/* The same of a record, or of a copy. */
struct ha_record;
void ha_checked_tell(const struct ha_record *record, struct ha_check_memory *memory);

/* What is wrong with an access that is not in memory: HA_FOUND_OUT_OF_BOUNDS,
 * HA_FOUND_USE_AFTER_FREE or HA_FOUND_UNKNOWN_MEMORY. */
enum ha_check_what ha_checked_what(uintptr_t at, uint64_t bytes);

/* Where the bytes are: "8 bytes past the end of the 400 bytes at 0x... of hipMalloc".
 */
#define HA_CHECKED_TEXT_BYTES 192
void ha_checked_relation(uintptr_t at, uint64_t bytes,
                         const struct ha_check_memory *memory,
                         char text[HA_CHECKED_TEXT_BYTES]);

/* ---- what happens; `base` need not be known ---- */

/* Memory that is there from now on; of this call of HIP. */
void ha_checked_add(const struct ha_range *range);

/* The same of memory that malloc of a kernel gave, and free takes. */
void ha_checked_heap_add(void *base, uint64_t bytes, int device);
void ha_checked_heap_freed(const void *base);

/* Says what a variable is called, and whether kernels may only read it; the name is
 * copied. */
void ha_checked_variable(const void *base, const char *name, bool constant);

/* Says that an object of a language binding frees it, so that it is no leak. */
void ha_checked_owned(const void *base);

/* hipFreeAsync was called for it, or that did not come about. */
void ha_checked_pending(const void *base, uint64_t stream);
void ha_checked_unpending(const void *base);

/* How often hipFreeAsync was called for memory that is remembered.  No lock. */
uint64_t ha_checked_frees(void);

/* Whether there is memory that hipFreeAsync was called for and that is not freed yet.
 * No lock. */
bool ha_checked_any_pending(void);

/* Freed, by this call unless it was pending.  `kept_bytes`: that stay, as nobody else
 * gets the memory; 0 if it goes. */
void ha_checked_freed(const void *base, uint64_t kept_bytes);

/* Memory of a graph is free until a launch allocates it again. */
void ha_checked_rest(const void *base);
void ha_checked_again(const void *base);

/* Takes the oldest memory out of those that are kept, if they are more than `limit`
 * bytes; its owner then frees it.  NULL: there is none.  *told: there is a finding. */
void *ha_checked_oldest(uint64_t limit, bool *told);

/* HIPADAPT_CHECK_QUARANTINE in bytes. */
uint64_t ha_checked_quarantine_bytes(void);

/* Bytes that are kept. */
uint64_t ha_checked_kept_bytes(void);

/* Marks a part as an allocation of its own, or with 0 bytes as free; of this call.
 * False: it is not part of one allocation that is alive, or has no part that begins
 * there. */
bool ha_checked_mark(const void *begin, uint64_t bytes);

/* A copy of the record that holds `at`, in *record: borrowed texts, no links.  False if
 * there is none.  If `tell`, there is a finding about it from now on. */
bool ha_checked_look(uintptr_t at, bool tell, struct ha_record *record);

/* Calls `each` for every record that is alive and not pending, by address, without the
 * lock; with a copy. */
void ha_checked_each_alive(void (*each)(const struct ha_record *record));

void ha_checked_after_fork_child(void);

#endif
