/* SPDX-License-Identifier: MIT */
/* What the files of races share: see cpu/check/race.h. */
#ifndef HA_CPU_CHECK_RACE_STATE_H
#define HA_CPU_CHECK_RACE_STATE_H

#include "cpu/check/race.h"
#include "cpu/check/race_clock.h"

#define HA_RACE_LANES_MAX 1024u

/* What was read and written: row, lane, mark, and whether it was atomic and narrow; 0:
 * nothing. */
typedef uint64_t ha_race_word;
#define HA_RACE_ROW_BITS 30
#define HA_RACE_ROW_MOST (((uint32_t)1 << HA_RACE_ROW_BITS) - 1)

struct ha_race_cell {
    ha_race_word write;    /* the last one that is not atomic */
    ha_race_word reads[2]; /* that are not atomic, since then */
};

/* Of a cell that atomics touch: theirs since the last write that is none. */
struct ha_race_atomics {
    ha_race_word writes[2];
    ha_race_word reads[2];
};

/* A range of memory and its cells: one for four bytes, or for one. */
#define HA_RACE_PAGE_SHIFT 10
struct ha_race_page {
    uintptr_t number;
    bool fine;
    struct ha_race_atomics *atomics; /* owned; one a cell; NULL: no atomics yet */
    /* By cell, what ha_race_each tells: thread, mark and way of the first plain read,
     * and of the first of the strongest other accesses.  Owned; NULL: none. */
    uint64_t *reads, *rest;
    struct ha_race_cell cells[];
};

struct ha_race_pages {
    struct ha_race_page **table; /* owned; open addressing */
    size_t capacity, count;
    struct ha_race_page *last;
};

/* The page with the address, made if need be; with a cell a byte if `fine`.  NULL: no
 * memory. */
struct ha_race_page *ha_race_page_at(struct ha_race_pages *pages, uintptr_t at,
                                     bool fine);
/* Makes the atomics of the page; false: no memory. */
bool ha_race_page_with_atomics(struct ha_race_page *page);
/* Empties the cells of the bytes. */
void ha_race_pages_forget(struct ha_race_pages *pages, uintptr_t at, uint64_t bytes);
void ha_race_pages_release(struct ha_race_pages *pages);

/* ---- order ---- */

/* An address by which lanes hand over, and what the write left there that is read. */
struct ha_race_sync {
    uintptr_t at;               /* 0: none */
    struct ha_race_clock *left; /* owned */
};

struct ha_race_syncs {
    struct ha_race_sync *table; /* owned; open addressing */
    size_t capacity, count;
    uintptr_t first, last; /* addresses are not outside */
};

/* What was left at the address; NULL: nothing ever was. */
struct ha_race_clock **ha_race_syncs_find(struct ha_race_syncs *syncs, uintptr_t at);
/* For an address that is not there; NULL: no memory. */
struct ha_race_clock **ha_race_syncs_add(struct ha_race_syncs *syncs, uintptr_t at);
void ha_race_syncs_release(struct ha_race_syncs *syncs);

/* What was handed to a lane.  All are owned. */
struct ha_race_hand {
    struct ha_race_clock *known;
    struct ha_race_clock *pending;   /* that it has read and does not know yet */
    struct ha_race_clock *fence;     /* all that it knew at its last fence */
    struct ha_race_clock *own_fence; /* at its last one, if that was narrow */
    bool clean;                      /* only atomics since its own last fence */
};

struct ha_race_block {
    uint64_t block;
    bool begun;
    bool handed, fenced;         /* some hand has something; one has a fence */
    uint32_t base;               /* its rows below this are known to all of its lanes */
    struct ha_race_clock *clock; /* owned; what all of its lanes were handed */
    struct ha_race_clock *fence; /* owned; what was fenced before all of them met */
    uint32_t *stamps;            /* owned; by lane: the base for which `known` holds */
    uint32_t *known; /* owned; lane * lanes + other: rows of the other below this */
    struct ha_race_hand hands[]; /* by lane */
};

struct ha_race_order {
    uint32_t lanes, warp_size;
    bool relaxed;
    bool lost;
    uint64_t block;   /* that runs */
    uint32_t row;     /* that runs */
    uint32_t grid;    /* rows below this are known to all */
    uint64_t *owners; /* owned; by row: its block */
    size_t owner_room;
    struct ha_race_block **kept; /* owned, and what they point to, or NULL */
    uint64_t kept_count;
    struct ha_race_block *at; /* of the block that runs */
    struct ha_race_syncs syncs;
    struct ha_race_syncs own; /* by address and block, what was left for that alone */
    bool narrow;              /* there was a narrow atomic */
};

/* `kept`: as ha_race_start says. */
bool ha_race_order_start(struct ha_race_order *order, uint32_t lanes,
                         uint32_t warp_size, bool relaxed, uint64_t kept);
void ha_race_order_release(struct ha_race_order *order);
/* A row begins. */
void ha_race_order_row(struct ha_race_order *order);
/* Whether the lane knows what `other` did in a row. */
bool ha_race_order_knows(const struct ha_race_order *order, uint32_t lane,
                         uint32_t other, uint32_t row);
/* The lane reads, by an atomic, an address by which lanes may hand over. */
void ha_race_order_acquire(struct ha_race_order *order, uint32_t lane, uintptr_t at,
                           bool acquires);
/* It has written it, if the access replaces without having read it. */
void ha_race_order_release_at(struct ha_race_order *order,
                              const struct ha_race_access *access);
/* Somebody has written the bytes by other means than atomics. */
void ha_race_order_overwrite(struct ha_race_order *order, uintptr_t at, uint64_t bytes);

/* Notes the access for ha_race_each; false: no memory. */
bool ha_race_note(struct ha_race_page *page, size_t cell,
                  const struct ha_race_access *access,
                  const struct ha_race_order *order);

struct ha_race {
    struct ha_race_order order;
    struct ha_race_pages pages;
    bool lost;
};

#endif
