/* SPDX-License-Identifier: MIT */
/* Where allocations live: spans of address space, found again from any address inside.
 *
 * A *span* is a mapping aligned to HA_SPAN_BYTES.  A small span is cut into equal
 * *slots*, one allocation each; a large span is one allocation, followed by a page
 * without access.  A *heap* is a set of small spans with room, one list a size class;
 * each kind of memory of each device has its own, so a span knows what its memory is.
 *
 * A heap may be *shared*: its spans are then parts of one file in memory, which other
 * processes can map.  A span of any other heap becomes a file of its own by
 * ha_span_share.  Behind the slots of a span, its file has a word for each, its
 * *serial*: the id of the allocation in it if other processes know of that one, else 0.
 * By it they see whether the allocation still exists.
 *
 * Behind each allocation stand at least HA_RED_ZONE_MIN_BYTES that no allocation uses;
 * they are filled with a pattern that is checked when it is freed.  An allocation may
 * stand *apart*, with more room behind it; a span that is made for one has as much
 * before its first slot.
 *
 * Where allocations are *guarded*, each one has a span of its own, with a page without
 * access before and behind it: an access outside of it fails at once, and so does the
 * use of freed memory.  It ends at the page behind it, but for the bytes to the next
 * multiple of HA_SLOT_ALIGN, which are a red zone, as those before it are.
 *
 * A table of pointers,
 * one for each HA_SPAN_BYTES of address space, leads from an address to its span in two
 * loads.
 *
 * Locks: none here; cpu/memory/memory.c calls with its lock held. */
#ifndef HA_CPU_BASE_SPAN_H
#define HA_CPU_BASE_SPAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HA_SPAN_BYTES ((size_t)2 << 20)
#define HA_SLOT_ALIGN ((size_t)256)
#define HA_CLASS_COUNT 36u
#define HA_RED_ZONE_MIN_BYTES ((size_t)16)

/* One allocation. `state` 0 = free. */
struct ha_slot {
    size_t size;        /* bytes that the program asked for */
    size_t zone;        /* where the red zone begins: at `size` or behind it */
    uint64_t id;        /* unique in the process */
    void *owner;        /* borrowed; for the room that allocated it, or NULL */
    uint32_t flags;     /* as given to the allocating call */
    uint16_t state;     /* enum ha_slot_state */
    bool sync;          /* HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS */
    bool apart;         /* allocated by ha_span_alloc_apart */
    uint32_t next_free; /* of a free slot: the next one, plus 1; 0 = none */
};

/* CACHED: freed by the program, kept by a pool for later.  KEPT: freed, and kept so
 * that its use is recognised. */
enum ha_slot_state {
    HA_SLOT_FREE = 0,
    HA_SLOT_LIVE,
    HA_SLOT_FREEING,
    HA_SLOT_CACHED,
    HA_SLOT_KEPT
};

struct ha_heap;

struct ha_span {
    unsigned char *map;  /* aligned to HA_SPAN_BYTES */
    unsigned char *base; /* of the first slot: the same, or behind some room */
    size_t mapped_bytes;
    size_t slot_bytes; /* of a large span: all up to the page behind it */
    uint32_t slot_count;
    uint32_t used_count;
    uint32_t touched_count;  /* slots from here on were never used */
    uint32_t first_free;     /* plus 1; 0 = none */
    uint32_t class;          /* HA_CLASS_COUNT = large */
    bool listed;             /* on its heap's list of spans with room */
    bool guarded;            /* large, with a page before it too */
    int file;                /* whose pages these are, or -1; owned unless the heap's */
    uint64_t file_offset;    /* of the first slot */
    uint64_t serials_offset; /* in the file */
    _Atomic uint64_t *serials; /* owned: mapped once a slot has one, else NULL */
    struct ha_heap *heap;      /* borrowed; also says what memory it is */
    struct ha_span *room_next, *room_previous;
    struct ha_span *all_next, *all_previous; /* spans of the heap */
    struct ha_slot slots[];
};

struct ha_heap {
    struct ha_span *room[HA_CLASS_COUNT];
    struct ha_span *all; /* owned */
    int device;
    int kind;          /* enum ha_memory_kind */
    bool shared;       /* spans lie in `file` */
    int file;          /* borrowed; only if shared */
    uint64_t file_end; /* bytes of it that were ever used */
};

/* From now on allocations are guarded, except in shared heaps. Before the first one. */
void ha_span_guard(bool guard);

/* Bytes that an allocation of `size` bytes takes; 0 if there can't be one. */
size_t ha_span_footprint(const struct ha_heap *heap, size_t size);

/* A new slot for `size` bytes (> 0) with its red zone set, in state LIVE; false if
 * there is no memory. `footprint` gets the bytes that it takes from the machine. */
bool ha_span_alloc(struct ha_heap *heap, size_t size, struct ha_span **span,
                   uint32_t *slot, size_t *footprint);

/* The same, standing apart: at least 256 bytes, and a quarter of its size up to 1 MiB,
 * lie behind it.  It is never resized.  `footprint` is as if it stood close. */
bool ha_span_alloc_apart(struct ha_heap *heap, size_t size, struct ha_span **span,
                         uint32_t *slot, size_t *footprint);

/* Keeps a freed slot that stands apart: fills its beginning with a pattern, gives big
 * ones back to the machine but for that, and returns what it costs, in bytes. */
size_t ha_span_keep(struct ha_span *span, uint32_t slot);

/* The first byte that somebody wrote past the ends of the slot, or to one that is KEPT;
 * NULL if nobody did. */
const void *ha_span_damage(const struct ha_span *span, uint32_t slot);

/* Whether nobody wrote past the ends of the slot. */
bool ha_span_intact(const struct ha_span *span, uint32_t slot);

/* Changes the size of a slot to one of the same footprint or a smaller one.  If work
 * may still write to what it was (`in_use`), the red zone does not move into that. */
void ha_span_resize(struct ha_span *span, uint32_t slot, size_t size, bool in_use);

/* Moves the pages of the span into a file that other processes can map, unless they are
 * in one; 0, or the number of an error.  Addresses and contents stay.  Nobody may write
 * to the span meanwhile. */
int ha_span_share(struct ha_span *span);

/* Gives the LIVE slot of a shared span its serial; `*place` is where in the file it
 * stands.  0, or the number of an error. */
int ha_span_announce(struct ha_span *span, uint32_t slot, uint64_t *place);

/* Other processes can't open what the slot holds any more. */
void ha_span_recall(struct ha_span *span, uint32_t slot);

/* Frees a slot that is not FREE; false if its red zone was written to. */
bool ha_span_free(struct ha_span *span, uint32_t slot, size_t *footprint);

/* Gives spans without allocations back to the machine. */
void ha_span_trim(struct ha_heap *heap);

/* The allocation that holds the address, or false. */
bool ha_span_find(const void *address, struct ha_span **span, uint32_t *slot);

/* The allocation whose slot the address lies in, be it in it or not. */
bool ha_span_near(const void *address, struct ha_span **span, uint32_t *slot);

static inline void *
ha_span_address(const struct ha_span *span, uint32_t slot)
{
    return span->base + (size_t)slot * span->slot_bytes;
}

/* Whether all of the bytes are a span's: of allocations, used or not, or of the room
 * around them. */
bool ha_span_owns(const void *address, size_t size);

/* True if any allocation lies in [address, address + size). */
bool ha_span_overlaps(const void *address, size_t size);

/* In a forked child: forgets all spans. */
void ha_span_after_fork_child(void);

#endif
