/* SPDX-License-Identifier: MIT */
#include "tool/kernel_label.h"

#include <stdlib.h>
#include <string.h>

#include "core/demangle.h"
#include "tool/name.h"
#include "tool/text.h"

enum { ROOM = 16 }; /* for the end, and what ha_text_json writes behind it */

static const char unknown[] = "unknown kernel";

/* The number of the text of members; 0: no memory. */
static uint32_t
symbol_args(const char *symbol)
{
    static const char begin[] = "\"symbol\":";
    size_t bytes = strlen(symbol);
    char *text = malloc(sizeof begin + HA_JSON_GROWTH * bytes + ROOM);

    if (text == NULL) {
        return 0;
    }
    memcpy(text, begin, sizeof begin - 1);
    *ha_text_quoted(text + sizeof begin - 1, symbol, bytes) = '\0';
    uint32_t number = ha_name_of(text);
    free(text);
    return number;
}

struct ha_kernel_label
ha_kernel_label(struct ha_table *labels, uint64_t kernel)
{
    uint32_t number = ha_kernel_name_get(kernel);

    if (number == 0) {
        return (struct ha_kernel_label){unknown, ""};
    }
    const char *symbol = ha_name_text(number);
    struct ha_table_entry *entry = ha_table_put(labels, number);
    if (entry == NULL) {
        return (struct ha_kernel_label){symbol, ""};
    }
    if (entry->first == 0) {
        char *name = ha_demangle(symbol);
        entry->first = name != NULL ? ha_name_of(name) : 0;
        entry->first = entry->first != 0 ? entry->first : number;
        entry->second = entry->first != number ? symbol_args(symbol) : 0;
        free(name);
    }
    return (struct ha_kernel_label){ha_name_text((uint32_t)entry->first),
                                    ha_name_text((uint32_t)entry->second)};
}
