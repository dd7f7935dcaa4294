/* SPDX-License-Identifier: MIT */
/* Races between operations: kernels, copies, fills, frees and calls of the host.
 *
 * A *deed* is what one operation does with memory.  It is submitted with its operation,
 * with the operation's place in the order (past.h), and ends when its accesses are
 * known: those of a copy at once, those of a kernel when it is over.
 *
 *     submitted    [a] [b] [host waited] [c] [d]     looked at in this order
 *                   .   ^ not over: c and d wait
 *
 * Deeds are looked at in the order of submission, so that the answer does not depend on
 * what threads do.  Each is compared with those before it that it does not know.  Then
 * it stands for the bytes that it accesses in place of those that it knows; what the
 * host has waited for is forgotten.  So what is remembered does not grow with the
 * number of operations.
 *
 * Locks: one, below the pool lock and above that of findings. */
#ifndef HA_CPU_CHECK_DEED_H
#define HA_CPU_CHECK_DEED_H

#include "abi/check.h"
#include "cpu/check/past.h"
#include "cpu/check/stretch.h"

struct ha_deed;

/* Who does it.  Texts are borrowed for the life of the process (ha_text_keep). */
struct ha_doer {
    int device;
    const char *kernel; /* NULL: a call of the host */
    uint32_t grid[3], block[3];
    uint64_t team; /* grids of one launch, which meet while they run; 0: none */
    const char *call;
    const char *stack;
};

/* Says what memory an address belongs to. */
typedef void (*ha_deed_describe)(uintptr_t at, uint64_t bytes,
                                 struct ha_check_memory *memory);
/* Before the first deed. */
void ha_deeds_init(ha_deed_describe describe);

/* ---- making; one thread has it ---- */

/* NULL: no memory. */
struct ha_deed *ha_deed_new(const struct ha_doer *doer);
/* It will not be submitted; NULL does nothing. */
void ha_deed_drop(struct ha_deed *deed);

/* Place and kind of accesses, with kept texts; its number for ha_deed_add. */
uint32_t ha_deed_site(struct ha_deed *deed, const struct ha_check_side *side);
/* One access, in rising order for each layer; the way says which. */
void ha_deed_add(struct ha_deed *deed, const struct ha_stretch *cell);

/* What memory it is about is looked at now: later it may be gone. */
void ha_deed_look(struct ha_deed *deed, uintptr_t at);

/* ---- in the order of submission; the lock of lines is held ---- */

/* From ha_deed_end on it belongs to the list.  `number` 0: who comes later knows it,
 * and it is not remembered.  False: no memory, and it was dropped. */
bool ha_deed_submit(struct ha_deed *deed, struct ha_past *past, uint32_t line,
                    uint64_t number);
void ha_deeds_waited(struct ha_past *past);
/* The bytes are other memory from now on. */
void ha_deeds_forget(uintptr_t begin, uint64_t bytes);

/* ---- at any time ---- */

/* Its accesses are known; with what was added since it was submitted. */
void ha_deed_end(struct ha_deed *deed);
/* Looks at what can be looked at.  No lock held. */
void ha_deeds_settle(void);

void ha_deeds_after_fork_child(void);

/* What is remembered, for tests. */
size_t ha_deeds_remembered(void);

/* A copy of the text for the life of the process; equal ones are one.  "" without
 * memory. */
const char *ha_text_keep(const char *text);

#endif
