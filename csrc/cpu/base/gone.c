/* SPDX-License-Identifier: MIT */
#include "cpu/base/gone.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/readable.h"
#include "cpu/base/error.h"

#define ADDRESS_BITS 48
#define PIECE_SHIFT 21
#define WORD_BITS 64u
#define LEAF_WORDS ((size_t)256)
#define LEAF_PIECES (LEAF_WORDS * WORD_BITS)
#define ROOT_COUNT (((size_t)1 << (ADDRESS_BITS - PIECE_SHIFT)) / LEAF_PIECES)

/* Nothing of a program lies below: not its text, nor what malloc and mmap give. */
#define LOW_BYTES ((uintptr_t)1 << 16)

/* Ranges that are given back at once are never smaller (cpu/base/span.h), so the search
 * steps over no hole. Reserved addresses (cpu/memory/virtual.h) are larger still. */
#define STEP_BYTES ((uintptr_t)64 << 10)

_Static_assert(HA_GONE_PIECE_BYTES == (size_t)1 << PIECE_SHIFT, "a bit a piece");

/* Leaves are made on demand and kept: a bit for each piece. */
static _Atomic(_Atomic uint64_t *) root[ROOT_COUNT];

static _Atomic uint64_t *
leaf_of(size_t piece, bool make)
{
    _Atomic(_Atomic uint64_t *) *place = &root[piece / LEAF_PIECES];
    _Atomic uint64_t *leaf = atomic_load_explicit(place, memory_order_acquire);
    if (leaf == NULL && make) {
        _Atomic uint64_t *made = calloc(LEAF_WORDS, sizeof *made);
        if (made == NULL || atomic_compare_exchange_strong(place, &leaf, made)) {
            return made;
        }
        free((void *)made);
    }
    return leaf;
}

void
ha_gone_add(const void *address, size_t bytes)
{
    uintptr_t begin = (uintptr_t)address;
    if (bytes == 0 || (begin + bytes - 1) >> ADDRESS_BITS != 0) {
        return;
    }
    for (size_t piece = begin >> PIECE_SHIFT;
         piece <= (begin + bytes - 1) >> PIECE_SHIFT; piece++) {
        _Atomic uint64_t *leaf = leaf_of(piece, true);
        if (leaf != NULL) {
            atomic_fetch_or_explicit(&leaf[piece % LEAF_PIECES / WORD_BITS],
                                     (uint64_t)1 << piece % WORD_BITS,
                                     memory_order_relaxed);
        }
    }
}

/* Whether the system has to be asked about some of the addresses. */
static bool
is_odd(uintptr_t begin, uintptr_t last)
{
    if (begin < LOW_BYTES || last >> ADDRESS_BITS != 0 || last < begin) {
        return true;
    }
    for (size_t piece = begin >> PIECE_SHIFT; piece <= last >> PIECE_SHIFT; piece++) {
        const _Atomic uint64_t *leaf = leaf_of(piece, false);
        if (leaf != NULL &&
            (atomic_load_explicit(&leaf[piece % LEAF_PIECES / WORD_BITS],
                                  memory_order_relaxed) >>
                 piece % WORD_BITS &
             1u) != 0) {
            return true;
        }
    }
    return false;
}

bool
ha_gone(const void *address, size_t bytes)
{
    uintptr_t begin = (uintptr_t)address;
    uintptr_t last = begin + bytes - 1;
    if (bytes == 0 || !is_odd(begin, last)) {
        return false;
    }
    if (last < begin) {
        return true;
    }
    for (uintptr_t at = begin; at < last && last - at > STEP_BYTES; at += STEP_BYTES) {
        if (!ha_memory_readable((const void *)at, 1)) {
            return true;
        }
    }
    return !ha_memory_readable(address, 1) ||
           !ha_memory_readable((const void *)last, 1);
}

hipError_t
ha_gone_check(const char *argument, const void *address, size_t bytes)
{
    if (address == NULL) {
        return ha_cpu_fail_null(argument);
    }
    return !ha_gone(address, bytes)
               ? hipSuccess
               : ha_cpu_fail(hipErrorInvalidValue,
                             "argument '%s' (%p): there is no memory at this address",
                             argument, address);
}
