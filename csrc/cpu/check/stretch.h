/* SPDX-License-Identifier: MIT */
/* What memory an operation accesses: sorted lists of ranges.
 *
 * A *stretch* is a range that was accessed from one place in the source, in one way, by
 * one thread or by threads that follow each other:
 *
 *     begin      +unit       +2 unit     end
 *     | thread t  | thread t+1 | t+2     |          unit 0: thread t alone
 *
 * Where there would be many more stretches than the memory is worth, neighbours of one
 * site and way become one, and its thread is the first of theirs.
 *
 * A *layer* has stretches that do not overlap.  An operation has two: plain reads, and
 * everything else, where the strongest access to a byte counts.
 *
 * No lock: a layer belongs to whoever has its operation. */
#ifndef HA_CPU_CHECK_STRETCH_H
#define HA_CPU_CHECK_STRETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ways of access.  Of the first layer, the stronger ones are the greater ones. */
enum ha_way { HA_WAY_READ, HA_WAY_ATOMIC_READ, HA_WAY_ATOMIC, HA_WAY_WRITE };

struct ha_stretch {
    uintptr_t begin, end;
    uint64_t thread; /* the first one, of all of the grid */
    uint32_t unit;   /* bytes */
    uint32_t site : 30;
    uint32_t way : 2;
};

struct ha_layer {
    struct ha_stretch *items; /* owned */
    size_t count, room;
    uint64_t bytes; /* that were added */
};

/* Adds what one thread accessed, behind all that is there; `unit` is not read.  False:
 * no memory. */
bool ha_layer_add(struct ha_layer *layer, const struct ha_stretch *cell);
void ha_layer_release(struct ha_layer *layer);

/* Who accessed the byte at `at` of the stretch. */
uint64_t ha_stretch_thread(const struct ha_stretch *stretch, uintptr_t at);

/* Whether accesses of two operations without an order are a race. */
bool ha_ways_race(enum ha_way a, enum ha_way b);

/* Calls `each` for each overlap of two layers, with the first byte of it. */
void ha_layers_meet(const struct ha_layer *a, const struct ha_layer *b,
                    void (*each)(void *context, const struct ha_stretch *a,
                                 const struct ha_stretch *b, uintptr_t at),
                    void *context);

/* Takes out of `layer` what `later` covers so that whoever races with the one races
 * with the other.  False: no memory; nothing is taken out then. */
bool ha_layer_cover(struct ha_layer *layer, const struct ha_layer *later);

#endif
