/* SPDX-License-Identifier: MIT */
/* What is remembered of an allocation under check, sorted by address.
 *
 * A *record* lives from the allocation until its addresses are used again, or until too
 * many later ones have been freed.  Records of one tree do not overlap.  A tree is a
 * treap: a search tree by base and a heap by random priorities.
 *
 * Locks: none here; cpu/memory/check_memory.c calls with its lock held. */
#ifndef HA_CPU_MEMORY_CHECK_TREE_H
#define HA_CPU_MEMORY_CHECK_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/check.h"

struct ha_check_stack;

/* KEPT: freed, and its memory is not used for anything else.  GONE: freed, and its
 * addresses may have other memory of the process, or none. */
enum ha_record_state { HA_RECORD_ALIVE, HA_RECORD_KEPT, HA_RECORD_GONE };

struct ha_record {
    uintptr_t base;
    uint64_t bytes;
    uint64_t kept_bytes; /* KEPT: that the memory takes from the machine */
    enum ha_check_space space;
    enum ha_record_state state;
    int device;
    int kind;              /* enum ha_memory_kind */
    bool pending;          /* ALIVE: work that frees it is in a stream */
    bool owned;            /* an object of a language binding frees it */
    bool told;             /* there is a finding about it */
    bool marked;           /* parts of it are allocations of their own */
    uint64_t stream;       /* `pending`: of which stream */
    uint64_t free_number;  /* of the call of hipFreeAsync, or 0 */
    const char *name;      /* of a variable, or NULL; for the life of the process */
    const char *allocated; /* constant text, as is `freed`; may be NULL */
    const char *freed;
    const struct ha_check_stack *allocated_by; /* borrowed, or NULL */
    const struct ha_check_stack *freed_by;
    struct ha_record *parts; /* tree of suballocations; owned */
    struct ha_record *whole; /* of a part: borrowed, else NULL */
    struct ha_record *left, *right;
    uint32_t priority;
    struct ha_record *older, *newer; /* of those with its state, unless ALIVE */
};

/* The record with the highest base that is no higher than `at`, or NULL. */
struct ha_record *ha_tree_floor(struct ha_record *root, uintptr_t at);

/* The record with the lowest base above `at`, or NULL. */
struct ha_record *ha_tree_above(struct ha_record *root, uintptr_t at);

/* The record that holds the byte, or NULL. */
struct ha_record *ha_tree_holder(struct ha_record *root, uintptr_t at);

/* Bytes between the record and [at, at + bytes); 0 if they touch. */
uint64_t ha_record_distance(const struct ha_record *record, uintptr_t at,
                            uint64_t bytes);

/* Puts a record in, whose base nobody has. */
void ha_tree_insert(struct ha_record **root, struct ha_record *record);

/* Takes one out that is in. */
void ha_tree_remove(struct ha_record **root, struct ha_record *record);

#endif
