/* SPDX-License-Identifier: MIT */
#include "cpu/base/handle.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#define HANDLE_TAG 5u
#define HANDLE_TAG_SHIFT 56
#define GENERATION_SHIFT 32
#define GENERATION_MASK 0xffffffu
#define INDEX_SHIFT 6
#define INDEX_MASK 0x3ffffffu
#define KIND_MASK 0x3fu
#define NO_SLOT UINT32_MAX

/* Chunk k holds CHUNK_FIRST << k slots and is never freed, so slots have fixed places.
 */
#define CHUNK_FIRST 64u
#define CHUNK_COUNT 20u

/* The word of a slot: generation in 63..40, LIVE, references in 31..0. */
#define WORD_GENERATION_SHIFT 40
#define WORD_LIVE ((uint64_t)1 << 32)
#define WORD_REFERENCES 0xffffffffu

struct slot {
    _Atomic uint64_t word;
    void *object;       /* set before the word says LIVE */
    uint32_t next_free; /* table lock */
};

struct table {
    pthread_mutex_t lock;
    _Atomic(struct slot *) chunks[CHUNK_COUNT];
    _Atomic uint32_t count; /* slots ever used; grows under the lock */
    /* Free slots are used first in, first out, so a number stays dead for long. */
    uint32_t free_first; /* lock */
    uint32_t free_last;  /* lock */
};

static struct table tables[HA_HANDLE_KIND_COUNT] = {
    [0 ... HA_HANDLE_KIND_COUNT - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                        .free_first = NO_SLOT,
                                        .free_last = NO_SLOT},
};

/* Generation of the first object of a slot; differs from process to forked child. */
static uint32_t generation_first = 1;

static uint64_t
handle_make(enum ha_handle_kind kind, uint32_t index, uint64_t generation)
{
    return (uint64_t)HANDLE_TAG << HANDLE_TAG_SHIFT | generation << GENERATION_SHIFT |
           (uint64_t)index << INDEX_SHIFT | (uint64_t)kind;
}

static struct slot *
slot_at(struct table *table, uint32_t index)
{
    unsigned chunk = 31u - (unsigned)__builtin_clz(index / CHUNK_FIRST + 1);
    uint32_t first = CHUNK_FIRST * ((1u << chunk) - 1u);
    struct slot *slots =
        atomic_load_explicit(&table->chunks[chunk], memory_order_acquire);
    return slots + (index - first);
}

/* The slot that `handle` names and the generation it must have, or NULL. */
static struct slot *
slot_find(enum ha_handle_kind kind, uint64_t handle, uint64_t *generation)
{
    if (handle >> HANDLE_TAG_SHIFT != HANDLE_TAG ||
        (handle & KIND_MASK) != (uint64_t)kind) {
        return NULL;
    }
    struct table *table = &tables[kind];
    uint32_t index = (uint32_t)(handle >> INDEX_SHIFT) & INDEX_MASK;
    if (index >= atomic_load_explicit(&table->count, memory_order_acquire)) {
        return NULL;
    }
    *generation = handle >> GENERATION_SHIFT & GENERATION_MASK;
    return slot_at(table, index);
}

static bool
word_is_live(uint64_t word, uint64_t generation)
{
    return word >> WORD_GENERATION_SHIFT == generation && (word & WORD_LIVE) != 0;
}

/* A slot that has never been used; NO_SLOT if memory or numbers ran out.  Needs the
 * lock. */
static uint32_t
slot_grow(struct table *table)
{
    uint32_t index = atomic_load_explicit(&table->count, memory_order_relaxed);
    unsigned chunk = 31u - (unsigned)__builtin_clz(index / CHUNK_FIRST + 1);
    if (chunk >= CHUNK_COUNT) {
        return NO_SLOT;
    }
    if (atomic_load_explicit(&table->chunks[chunk], memory_order_relaxed) == NULL) {
        struct slot *slots = calloc((size_t)CHUNK_FIRST << chunk, sizeof *slots);
        if (slots == NULL) {
            return NO_SLOT;
        }
        atomic_store_explicit(&table->chunks[chunk], slots, memory_order_release);
    }
    atomic_store_explicit(&slot_at(table, index)->word,
                          (uint64_t)generation_first << WORD_GENERATION_SHIFT,
                          memory_order_relaxed);
    atomic_store_explicit(&table->count, index + 1, memory_order_release);
    return index;
}

uint64_t
ha_handle_create(enum ha_handle_kind kind, void *object)
{
    struct table *table = &tables[kind];
    uint64_t handle = 0;
    pthread_mutex_lock(&table->lock);
    uint32_t index = table->free_first;
    if (index != NO_SLOT) {
        table->free_first = slot_at(table, index)->next_free;
        if (table->free_first == NO_SLOT) {
            table->free_last = NO_SLOT;
        }
    } else {
        index = slot_grow(table);
    }
    if (index != NO_SLOT) {
        struct slot *slot = slot_at(table, index);
        uint64_t word = atomic_load_explicit(&slot->word, memory_order_relaxed);
        slot->object = object;
        atomic_store_explicit(&slot->word, word | WORD_LIVE | 1u, memory_order_release);
        handle = handle_make(kind, index, word >> WORD_GENERATION_SHIFT);
    }
    pthread_mutex_unlock(&table->lock);
    return handle;
}

void *
ha_handle_acquire(enum ha_handle_kind kind, uint64_t handle)
{
    uint64_t generation;
    struct slot *slot = slot_find(kind, handle, &generation);
    if (slot == NULL) {
        return NULL;
    }
    uint64_t word = atomic_load_explicit(&slot->word, memory_order_acquire);
    do {
        if (!word_is_live(word, generation)) {
            return NULL;
        }
    } while (!atomic_compare_exchange_weak_explicit(
        &slot->word, &word, word + 1, memory_order_acquire, memory_order_acquire));
    return slot->object;
}

void *
ha_handle_peek(enum ha_handle_kind kind, uint64_t handle)
{
    uint64_t generation;
    struct slot *slot = slot_find(kind, handle, &generation);
    if (slot == NULL ||
        !word_is_live(atomic_load_explicit(&slot->word, memory_order_acquire),
                      generation)) {
        return NULL;
    }
    return slot->object;
}

void
ha_handle_retain(uint64_t handle)
{
    uint64_t generation;
    struct slot *slot =
        slot_find((enum ha_handle_kind)(handle & KIND_MASK), handle, &generation);
    atomic_fetch_add_explicit(&slot->word, 1, memory_order_relaxed);
}

/* The object is gone: the next generation may use the slot. */
static void
slot_free(struct table *table, struct slot *slot, uint32_t index, uint64_t generation)
{
    uint64_t next = (generation + 1) & GENERATION_MASK;
    if (next == 0) {
        next = 1;
    }
    pthread_mutex_lock(&table->lock);
    slot->object = NULL;
    slot->next_free = NO_SLOT;
    atomic_store_explicit(&slot->word, next << WORD_GENERATION_SHIFT,
                          memory_order_release);
    if (table->free_last == NO_SLOT) {
        table->free_first = index;
    } else {
        slot_at(table, table->free_last)->next_free = index;
    }
    table->free_last = index;
    pthread_mutex_unlock(&table->lock);
}

bool
ha_handle_release(uint64_t handle)
{
    enum ha_handle_kind kind = (enum ha_handle_kind)(handle & KIND_MASK);
    uint64_t generation;
    struct slot *slot = slot_find(kind, handle, &generation);
    if (slot == NULL) {
        return false;
    }
    uint64_t before = atomic_fetch_sub_explicit(&slot->word, 1, memory_order_acq_rel);
    if ((before & WORD_REFERENCES) != 1) {
        return false;
    }
    slot_free(&tables[kind], slot, (uint32_t)(handle >> INDEX_SHIFT) & INDEX_MASK,
              generation);
    return true;
}

void *
ha_handle_retire(enum ha_handle_kind kind, uint64_t handle)
{
    uint64_t generation;
    struct slot *slot = slot_find(kind, handle, &generation);
    if (slot == NULL) {
        return NULL;
    }
    uint64_t word = atomic_load_explicit(&slot->word, memory_order_acquire);
    do {
        if (!word_is_live(word, generation)) {
            return NULL;
        }
    } while (!atomic_compare_exchange_weak_explicit(
        &slot->word, &word, word & ~WORD_LIVE, memory_order_acq_rel,
        memory_order_acquire));
    return slot->object;
}

void
ha_handle_each(enum ha_handle_kind kind, void (*visit)(uint64_t handle, void *context),
               void *context)
{
    struct table *table = &tables[kind];
    uint32_t count = atomic_load_explicit(&table->count, memory_order_acquire);
    for (uint32_t index = 0; index < count; index++) {
        uint64_t word =
            atomic_load_explicit(&slot_at(table, index)->word, memory_order_acquire);
        if ((word & WORD_LIVE) != 0) {
            visit(handle_make(kind, index, word >> WORD_GENERATION_SHIFT), context);
        }
    }
}

void
ha_handle_after_fork_child(void)
{
    /* Chunks of the parent are left behind: their locks and words may have been in the
     * middle of a change.  The stride keeps the parent's numbers dead. */
    generation_first = (generation_first + 0x10001u) & GENERATION_MASK;
    if (generation_first == 0) {
        generation_first = 1;
    }
    for (unsigned kind = 0; kind < HA_HANDLE_KIND_COUNT; kind++) {
        struct table *table = &tables[kind];
        pthread_mutex_init(&table->lock, NULL);
        for (unsigned chunk = 0; chunk < CHUNK_COUNT; chunk++) {
            atomic_store(&table->chunks[chunk], NULL);
        }
        atomic_store(&table->count, 0);
        table->free_first = NO_SLOT;
        table->free_last = NO_SLOT;
    }
}
