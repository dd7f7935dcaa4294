/* SPDX-License-Identifier: MIT */
#include "cpu/memory/shadow_origin.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/base/image.h"

#define ORIGINS_MAX ((uint32_t)1 << 20)
#define NAME_BYTES 120u
#define NAME_SLOTS 4096u /* a power of two */

struct name {
    struct name *next; /* of its slot */
    uint64_t bytes;
    uint32_t origin;
    char text[];
};

static struct {
    pthread_mutex_t lock;
    struct ha_check_memory *items; /* owned; item i is origin HA_ORIGIN_FIRST + i */
    uint32_t count, capacity;
    struct name *names[NAME_SLOTS]; /* owned, for the life of the process */
} origins = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Lock held. */
static uint32_t
add(const struct ha_check_memory *memory)
{
    if (origins.count == ORIGINS_MAX) {
        return HA_ORIGIN_UNKNOWN;
    }
    if (origins.count == origins.capacity) {
        uint32_t capacity = 2 * origins.capacity + 64;
        struct ha_check_memory *grown =
            realloc(origins.items, capacity * sizeof *grown);
        if (grown == NULL) {
            return HA_ORIGIN_UNKNOWN;
        }
        origins.items = grown;
        origins.capacity = capacity;
    }
    origins.items[origins.count] = *memory;
    return HA_ORIGIN_FIRST + origins.count++;
}

uint32_t
ha_origin_memory(const struct ha_check_memory *memory)
{
    pthread_mutex_lock(&origins.lock);
    uint32_t origin = add(memory);
    pthread_mutex_unlock(&origins.lock);
    return origin;
}

static uint32_t
slot_of(const char *text, size_t size, uint64_t bytes)
{
    uint32_t hash = 2166136261u ^ (uint32_t)bytes; /* FNV-1a */

    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    }
    return (hash ^ hash >> 16) % NAME_SLOTS;
}

/* Lock held. */
static uint32_t
add_name(const char *text, size_t size, uint64_t bytes, uint32_t slot)
{
    struct name *name = malloc(sizeof *name + size + 1);
    if (name == NULL) {
        return HA_ORIGIN_UNKNOWN;
    }
    memcpy(name->text, text, size);
    name->text[size] = '\0';
    name->bytes = bytes;
    name->origin = add(&(struct ha_check_memory){.space = HA_SPACE_LOCAL,
                                                 .name = name->text,
                                                 .bytes = bytes,
                                                 .allocated = "",
                                                 .allocated_by = "",
                                                 .freed = "",
                                                 .freed_by = ""});
    name->next = origins.names[slot];
    origins.names[slot] = name;
    return name->origin;
}

uint32_t
ha_origin_variable(const char *text, uint64_t bytes)
{
    size_t size = strnlen(text, NAME_BYTES);
    uint32_t slot = slot_of(text, size, bytes), origin;

    pthread_mutex_lock(&origins.lock);
    const struct name *name = origins.names[slot];
    while (name != NULL &&
           (name->bytes != bytes || strncmp(name->text, text, size) != 0 ||
            name->text[size] != '\0')) {
        name = name->next;
    }
    origin = name != NULL ? name->origin : add_name(text, size, bytes, slot);
    pthread_mutex_unlock(&origins.lock);
    return origin;
}

void
ha_origin_tell(uint32_t origin, struct ha_check_memory *memory)
{
    uint32_t number = origin & ~HA_SHADOW_COMPUTED_BIT;

    *memory = (struct ha_check_memory){
        .name = "", .allocated = "", .allocated_by = "", .freed = "", .freed_by = ""};
    if (number == HA_ORIGIN_SHARED) {
        memory->space = HA_SPACE_SHARED;
    } else if (number == HA_ORIGIN_HEAP) {
        memory->space = HA_SPACE_HEAP;
    }
    pthread_mutex_lock(&origins.lock);
    if (number >= HA_ORIGIN_FIRST && number - HA_ORIGIN_FIRST < origins.count) {
        *memory = origins.items[number - HA_ORIGIN_FIRST];
    }
    pthread_mutex_unlock(&origins.lock);
}

void
ha_origin_after_fork_child(void)
{
    pthread_mutex_init(&origins.lock, NULL);
}
