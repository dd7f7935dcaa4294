/* SPDX-License-Identifier: MIT */
/* Texts and kernels by number: two tables under one lock, that only grow. */
#include "tool/name.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAMES_MAX = 1 << 20,
    FIRST_SIZE = 256, /* slots of a table; always a power of two */
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

/* Names in order, and slots that hold their numbers by hash. */
static char **names;
static uint32_t name_count = 1; /* 0 is none */
static uint32_t name_room;
static uint32_t *slots;
static uint32_t slot_count;

static struct kernel {
    uint64_t id; /* 0: free */
    uint32_t name;
} *kernels;
static uint32_t kernel_count, kernel_room;

static uint64_t
hash_text(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    return hash ^ hash >> 29;
}

/* The slot of the text, or the free one where it would go.  Needs room. */
static uint32_t *
slot_of(const char *text)
{
    uint32_t at = (uint32_t)hash_text(text) & (slot_count - 1);

    while (slots[at] != 0 && strcmp(names[slots[at]], text) != 0) {
        at = (at + 1) & (slot_count - 1);
    }
    return &slots[at];
}

static bool
grow_names(void)
{
    if (name_count + 1 > name_room) {
        uint32_t room = name_room > 0 ? 2 * name_room : FIRST_SIZE;
        char **more = realloc(names, room * sizeof *names);
        if (more == NULL) {
            return false;
        }
        names = more;
        name_room = room;
    }
    if (2 * name_count >= slot_count) {
        uint32_t count = slot_count > 0 ? 2 * slot_count : 2 * FIRST_SIZE;
        uint32_t *more = calloc(count, sizeof *slots);
        if (more == NULL) {
            return false;
        }
        free(slots);
        slots = more;
        slot_count = count;
        for (uint32_t i = 1; i < name_count; i++) {
            *slot_of(names[i]) = i;
        }
    }
    return true;
}

uint32_t
ha_name_of(const char *text)
{
    uint32_t number = 0;

    if (text == NULL || text[0] == '\0') {
        return 0;
    }
    pthread_rwlock_rdlock(&lock);
    number = slot_count > 0 ? *slot_of(text) : 0;
    pthread_rwlock_unlock(&lock);
    if (number != 0) {
        return number;
    }
    pthread_rwlock_wrlock(&lock);
    if (name_count < NAMES_MAX && grow_names()) {
        uint32_t *slot = slot_of(text);
        char *copy = *slot == 0 ? strdup(text) : NULL;
        if (copy != NULL) {
            names[name_count] = copy;
            *slot = name_count++;
        }
        number = *slot;
    }
    pthread_rwlock_unlock(&lock);
    return number;
}

const char *
ha_name_text(uint32_t number)
{
    pthread_rwlock_rdlock(&lock);
    const char *text = number > 0 && number < name_count ? names[number] : "";
    pthread_rwlock_unlock(&lock);
    return text; /* names are never freed */
}

static struct kernel *
kernel_slot(uint64_t id)
{
    uint32_t at =
        (uint32_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (kernel_room - 1);

    while (kernels[at].id != 0 && kernels[at].id != id) {
        at = (at + 1) & (kernel_room - 1);
    }
    return &kernels[at];
}

static bool
grow_kernels(void)
{
    if (2 * (kernel_count + 1) <= kernel_room) {
        return true;
    }
    struct kernel *old = kernels;
    uint32_t old_room = kernel_room;
    uint32_t room = old_room > 0 ? 2 * old_room : FIRST_SIZE;
    struct kernel *more = calloc(room, sizeof *kernels);
    if (more == NULL) {
        return false;
    }
    kernels = more;
    kernel_room = room;
    for (uint32_t i = 0; i < old_room; i++) {
        if (old[i].id != 0) {
            *kernel_slot(old[i].id) = old[i];
        }
    }
    free(old);
    return true;
}

void
ha_kernel_name_set(uint64_t kernel, uint32_t name)
{
    if (kernel == 0 || name == 0) {
        return;
    }
    pthread_rwlock_wrlock(&lock);
    if (grow_kernels()) {
        struct kernel *slot = kernel_slot(kernel);
        kernel_count += slot->id == 0;
        *slot = (struct kernel){kernel, name};
    }
    pthread_rwlock_unlock(&lock);
}

uint32_t
ha_kernel_name_get(uint64_t kernel)
{
    pthread_rwlock_rdlock(&lock);
    uint32_t name = kernel_room > 0 ? kernel_slot(kernel)->name : 0;
    pthread_rwlock_unlock(&lock);
    return name;
}

void
ha_names_forked(void)
{
    (void)pthread_rwlock_init(&lock, NULL);
}
