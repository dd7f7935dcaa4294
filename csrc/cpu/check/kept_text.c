/* SPDX-License-Identifier: MIT */
/* Texts of images, which may be unloaded before what they did is told. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/check/deed.h"

#define SLOTS 4096u

struct kept {
    struct kept *next;
    char text[];
};

static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf */
static struct kept *kept[SLOTS];

const char *
ha_text_keep(const char *text)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */

    if (text == NULL || *text == '\0') {
        return "";
    }
    for (const char *at = text; *at != '\0'; at++) {
        hash = (hash ^ (unsigned char)*at) * 1099511628211u;
    }
    struct kept **slot = &kept[hash % SLOTS];
    pthread_mutex_lock(&kept_lock);
    struct kept *found = *slot;
    while (found != NULL && strcmp(found->text, text) != 0) {
        found = found->next;
    }
    if (found == NULL) {
        size_t bytes = strlen(text) + 1;
        found = malloc(sizeof *found + bytes);
        if (found != NULL) {
            memcpy(found->text, text, bytes);
            found->next = *slot;
            *slot = found;
        }
    }
    pthread_mutex_unlock(&kept_lock);
    return found != NULL ? found->text : "";
}
