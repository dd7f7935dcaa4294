/* SPDX-License-Identifier: MIT */
/* What the files of races share: see cpu/check/race.h. */
#ifndef HA_CPU_CHECK_RACE_STATE_H
#define HA_CPU_CHECK_RACE_STATE_H

#include "cpu/check/race.h"

#define HA_RACE_LANES_MAX 1024u

/* What was read and written: row, lane, mark and whether it was atomic; 0: nothing. */
typedef uint64_t ha_race_word;
#define HA_RACE_ROW_BITS 30
#define HA_RACE_ROW_MOST (((uint32_t)1 << HA_RACE_ROW_BITS) - 1)

struct ha_race_cell {
    ha_race_word write;
    ha_race_word reads[2];
};

/* A range of memory and its cells: one for four bytes, or for one. */
#define HA_RACE_PAGE_SHIFT 10
struct ha_race_page {
    uintptr_t number;
    bool fine;
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
void ha_race_pages_release(struct ha_race_pages *pages);

/* ---- order ---- */

/* What a release left at an address: what the lane knew. */
struct ha_race_entry {
    uint64_t block;
    uint32_t base;   /* rows of the block below this, of all lanes, */
    uint32_t lane;   /* and of this lane */
    uint32_t row;    /* those below this */
    uint32_t before; /* entry of the same block before this one, + 1; 0: none */
    uint32_t knows, knows_count; /* what the lane had from other addresses */
};

/* An address by which lanes hand over. */
struct ha_race_sync {
    uintptr_t at;
    uint32_t begin; /* entries before it were overwritten */
    uint32_t count, capacity;
    struct ha_race_entry *entries; /* owned */
};

/* The entries [begin, end) of an address. */
struct ha_race_view {
    uint32_t sync;
    uint32_t begin, end;
};

/* What a lane has read and does not know yet, or knows before its block does. */
struct ha_race_pending {
    struct ha_race_view view;
    uint32_t lane;
    bool known;
};

struct ha_race_order {
    uint32_t lanes, warp_size;
    bool relaxed;
    bool lost;
    uint64_t block;   /* that runs */
    uint32_t row;     /* that runs */
    uint32_t base;    /* rows below this of the block are known to all of its lanes */
    uint32_t grid;    /* rows below this are known to all */
    uint64_t *owners; /* owned; by row: its block */
    size_t owner_room;
    uint32_t *stamps; /* owned; by lane: the base for which `known` holds, + 1 */
    uint32_t *known;  /* owned; lane * lanes + other: rows of the other below this */
    uint32_t fence_base[HA_RACE_LANES_MAX];
    uint32_t fence_row[HA_RACE_LANES_MAX]; /* 0: no fence in this block */
    uint32_t narrow_base[HA_RACE_LANES_MAX];
    uint32_t narrow_row[HA_RACE_LANES_MAX]; /* the same for fences of any scope */
    bool narrow;                            /* something was left for a block alone */
    struct ha_race_sync *syncs;             /* owned, with their entries */
    uint32_t sync_count, sync_capacity;
    struct ha_race_pending *pending; /* owned; of the block that runs */
    uint32_t pending_count, pending_capacity;
    struct ha_race_view *views; /* owned; what the block that runs knows */
    uint32_t view_count, view_capacity;
    struct ha_race_view *kept; /* owned; what entries know */
    uint32_t kept_count, kept_capacity;
};

bool ha_race_order_start(struct ha_race_order *order, uint32_t lanes,
                         uint32_t warp_size, bool relaxed);
void ha_race_order_release(struct ha_race_order *order);
/* A row begins. */
void ha_race_order_row(struct ha_race_order *order);
/* Whether the lane knows what `other` did in a row. */
bool ha_race_order_knows(const struct ha_race_order *order, uint32_t lane,
                         uint32_t other, uint32_t row);
/* The lane has read, or is going to write, an address by which lanes may hand over. */
void ha_race_order_acquire(struct ha_race_order *order, uint32_t lane, uintptr_t at,
                           bool acquires);
void ha_race_order_release_at(struct ha_race_order *order, uint32_t lane, uintptr_t at,
                              bool releases, bool narrow, bool replaces);
/* Where lanes of the block hand over at that address what is for the block alone. */
uintptr_t ha_race_order_place(const struct ha_race_order *order, uintptr_t at);

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
