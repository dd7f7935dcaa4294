/* SPDX-License-Identifier: MIT */
/* Open addressing with linear steps; a removal closes the gap that it leaves. */
#include "tool/table.h"

#include <stdlib.h>

enum { FIRST_ROOM = 64 };

static size_t
home(const struct ha_table *table, uint64_t key)
{
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (table->room - 1);
}

/* The key's entry, or the free one where it would go.  Needs room. */
static struct ha_table_entry *
seek(const struct ha_table *table, uint64_t key)
{
    size_t at = home(table, key);

    while (table->entries[at].key != 0 && table->entries[at].key != key) {
        at = (at + 1) & (table->room - 1);
    }
    return &table->entries[at];
}

struct ha_table_entry *
ha_table_find(const struct ha_table *table, uint64_t key)
{
    struct ha_table_entry *entry = table->room > 0 ? seek(table, key) : NULL;

    return entry != NULL && entry->key == key ? entry : NULL;
}

static int
grow(struct ha_table *table)
{
    struct ha_table more = {.room = table->room > 0 ? 2 * table->room : FIRST_ROOM};

    more.entries = calloc(more.room, sizeof *more.entries);
    if (more.entries == NULL) {
        return -1;
    }
    for (size_t i = 0; i < table->room; i++) {
        if (table->entries[i].key != 0) {
            *seek(&more, table->entries[i].key) = table->entries[i];
        }
    }
    more.count = table->count;
    free(table->entries);
    *table = more;
    return 0;
}

struct ha_table_entry *
ha_table_put(struct ha_table *table, uint64_t key)
{
    struct ha_table_entry *entry = ha_table_find(table, key);

    if (entry != NULL) {
        return entry;
    }
    if (2 * (table->count + 1) > table->room && grow(table) != 0) {
        return NULL;
    }
    entry = seek(table, key);
    *entry = (struct ha_table_entry){.key = key};
    table->count++;
    return entry;
}

void
ha_table_remove(struct ha_table *table, uint64_t key)
{
    struct ha_table_entry *gap = ha_table_find(table, key);

    if (gap == NULL) {
        return;
    }
    table->count--;
    size_t mask = table->room - 1, hole = (size_t)(gap - table->entries);
    for (size_t at = (hole + 1) & mask; table->entries[at].key != 0;
         at = (at + 1) & mask) {
        size_t wants = home(table, table->entries[at].key);
        if (((at - wants) & mask) >= ((at - hole) & mask)) {
            table->entries[hole] = table->entries[at];
            hole = at;
        }
    }
    table->entries[hole].key = 0;
}

void
ha_table_free(struct ha_table *table)
{
    free(table->entries);
    *table = (struct ha_table){NULL, 0, 0};
}
