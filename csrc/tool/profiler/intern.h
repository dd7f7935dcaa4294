/* SPDX-License-Identifier: MIT */
/* Texts that a Perfetto trace names by number.
 *
 * A text is *interned* under a field of InternedData and gets one number for the whole
 * trace.  A reader must have met the text in each sequence that uses the number, so a
 * sequence has a bit for each number.  The table has an end: texts that don't fit any
 * more are written out each time. */
#ifndef HA_TOOL_PROFILER_INTERN_H
#define HA_TOOL_PROFILER_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HA_ITEMS_MAX = 1 << 15,
    HA_ITEM_BYTES_MAX = 8 << 10, /* of one text */
    HA_ITEMS_BYTES_MAX = 8 << 20,
};

struct ha_item {
    uint64_t hash;
    uint32_t field; /* of InternedData */
    uint32_t bytes;
    char *text; /* owned */
};

struct ha_interned {
    uint32_t count; /* 0 is no item */
    size_t bytes;
    struct ha_item items[HA_ITEMS_MAX];
    uint32_t slots[2 * HA_ITEMS_MAX];
};

/* The number of a text; 0 where there is no room. */
uint32_t ha_intern(struct ha_interned *table, uint32_t field, const char *text,
                   size_t bytes);

void ha_interned_free(struct ha_interned *table);

uint64_t ha_text_hash(const char *text, size_t bytes);

#endif
