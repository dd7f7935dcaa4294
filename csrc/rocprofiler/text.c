/* SPDX-License-Identifier: MIT */
#include "rocprofiler/text.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rocprofiler/lock.h"

enum { BUCKETS = 1024 };

struct kept {
    struct kept *next;
    char text[];
};

static struct kept *buckets[BUCKETS]; /* owned; under HA_LOCK_TEXTS */

static size_t
bucket_of(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    return hash % BUCKETS;
}

const char *
ha_text_keep(const char *text)
{
    if (text == NULL) {
        return NULL;
    }
    size_t bytes = strlen(text) + 1, bucket = bucket_of(text);

    ha_lock(HA_LOCK_TEXTS);
    struct kept *kept = buckets[bucket];
    while (kept != NULL && strcmp(kept->text, text) != 0) {
        kept = kept->next;
    }
    if (kept == NULL) {
        kept = malloc(sizeof *kept + bytes);
        if (kept != NULL) {
            memcpy(kept->text, text, bytes);
            kept->next = buckets[bucket];
            buckets[bucket] = kept;
        }
    }
    ha_unlock(HA_LOCK_TEXTS);
    return kept != NULL ? kept->text : "";
}
