/* SPDX-License-Identifier: MIT */
/* A table from numbers to numbers that grows: 64-bit keys, none of which is 0, and two
 * words of value.  One thread at a time. */
#ifndef HA_TOOL_TABLE_H
#define HA_TOOL_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct ha_table_entry {
    uint64_t key; /* 0: free */
    uint64_t first;
    uint64_t second;
};

/* Zero is an empty one. */
struct ha_table {
    struct ha_table_entry *entries;
    size_t room; /* a power of two, or 0 */
    size_t count;
};

/* NULL: not there.  Holds until the next put or remove. */
struct ha_table_entry *ha_table_find(const struct ha_table *table, uint64_t key);

/* The entry, made with zeros where it isn't there; NULL: no memory. */
struct ha_table_entry *ha_table_put(struct ha_table *table, uint64_t key);

/* Nothing happens where it isn't there. */
void ha_table_remove(struct ha_table *table, uint64_t key);

void ha_table_free(struct ha_table *table);

#endif
