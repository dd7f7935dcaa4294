/* SPDX-License-Identifier: MIT */
#include "tool/profiler/intern.h"

#include <stdlib.h>
#include <string.h>

uint64_t
ha_text_hash(const char *text, size_t bytes)
{
    uint64_t hash = bytes * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t word = 0;

    for (; bytes >= 8; bytes -= 8, text += 8) {
        memcpy(&word, text, 8);
        hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    word = 0;
    memcpy(&word, text, bytes);
    hash = (hash ^ word) * UINT64_C(0xc4ceb9fe1a85ec53);
    return hash ^ hash >> 29;
}

uint32_t
ha_intern(struct ha_interned *table, uint32_t field, const char *text, size_t bytes)
{
    uint64_t hash = ha_text_hash(text, bytes) + field;
    uint32_t at = (uint32_t)hash & (2 * HA_ITEMS_MAX - 1);

    for (; table->slots[at] != 0; at = (at + 1) & (2 * HA_ITEMS_MAX - 1)) {
        const struct ha_item *item = &table->items[table->slots[at]];
        if (item->hash == hash && item->field == field && item->bytes == bytes &&
            memcmp(item->text, text, bytes) == 0) {
            return table->slots[at];
        }
    }
    if (table->count + 1 == HA_ITEMS_MAX || bytes > HA_ITEM_BYTES_MAX ||
        table->bytes + bytes > HA_ITEMS_BYTES_MAX) {
        return 0;
    }
    char *copy = malloc(bytes + 1);
    if (copy == NULL) {
        return 0;
    }
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    uint32_t number = ++table->count;
    table->items[number] = (struct ha_item){hash, field, (uint32_t)bytes, copy};
    table->slots[at] = number;
    table->bytes += bytes;
    return number;
}

void
ha_interned_free(struct ha_interned *table)
{
    for (uint32_t i = 1; i <= table->count; i++) {
        free(table->items[i].text);
    }
}
