/* SPDX-License-Identifier: MIT */
#include "cpu/check/kernel_name.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/demangle.h"

#define SLOTS (2 * HA_KERNEL_NAMES_MAX) /* a power of two */

struct name {
    char *symbol; /* owned; NULL: the slot is free */
    char *name;   /* owned */
};

static pthread_mutex_t name_lock = PTHREAD_MUTEX_INITIALIZER; /* guards both */
static struct name names[SLOTS];
static uint32_t name_count;

/* That of the symbol, or the free one where it would be. */
static struct name *
slot_of(const char *symbol)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */

    for (const char *at = symbol; *at != '\0'; at++) {
        hash = (hash ^ (unsigned char)*at) * 1099511628211u;
    }
    size_t place = hash % SLOTS;
    while (names[place].symbol != NULL && strcmp(names[place].symbol, symbol) != 0) {
        place = (place + 1) % SLOTS;
    }
    return &names[place];
}

static bool
has_other_name(const char *symbol)
{
    return strncmp(symbol, "_Z", 2) == 0;
}

const char *
ha_kernel_name(const char *symbol)
{
    if (!has_other_name(symbol)) {
        return symbol;
    }
    pthread_mutex_lock(&name_lock);
    const struct name *slot = slot_of(symbol);
    const char *name = slot->symbol != NULL ? slot->name : symbol;
    pthread_mutex_unlock(&name_lock);
    return name;
}

void
ha_kernel_name_add(const char *symbol)
{
    if (!has_other_name(symbol) || ha_kernel_name(symbol) != symbol) {
        return;
    }
    struct name made = {strdup(symbol), ha_demangle(symbol)};
    pthread_mutex_lock(&name_lock);
    struct name *slot = slot_of(symbol);
    if (made.symbol != NULL && made.name != NULL && slot->symbol == NULL &&
        name_count < HA_KERNEL_NAMES_MAX) {
        name_count++;
        *slot = made;
        made = (struct name){NULL, NULL};
    }
    pthread_mutex_unlock(&name_lock);
    free(made.symbol);
    free(made.name);
}

void
ha_kernel_name_after_fork_child(void)
{
    (void)pthread_mutex_init(&name_lock, NULL); /* its holder isn't here */
}
