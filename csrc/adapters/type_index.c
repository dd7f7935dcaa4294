/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/type_index.h"

#include <stdint.h>

#include "adapters/types.h"

#define FIRST_COUNT 64

struct slot {
    PyTypeObject *type; /* borrowed, the state's entries own it; published */
    unsigned index;
};

/* An open hash table, keyed by the address of the type.  A larger one takes its place
 * when half of it is full; who reads the old one goes on, so that stays until the end.
 */
struct ha_type_table {
    struct ha_type_table *older; /* owned */
    size_t count;
    struct slot slots[];
};

static size_t
slot_of(const PyTypeObject *type, size_t count)
{
    return (((uintptr_t)type >> 4) * (uintptr_t)0x9E3779B97F4A7C15u >> 20) &
           (count - 1);
}

static void
insert(struct ha_type_table *table, PyTypeObject *type, unsigned index)
{
    size_t i = slot_of(type, table->count);
    while (table->slots[i].type != NULL) {
        i = (i + 1) & (table->count - 1);
    }
    table->slots[i].index = index;
    HA_PUBLISH(table->slots[i].type, type);
}

/* A table with more room and the same entries; 0, or -1 without memory. */
static int
grow(struct ha_types *types)
{
    struct ha_type_table *old = types->type_table;
    size_t count = old == NULL ? FIRST_COUNT : 2 * old->count;
    struct ha_type_table *table =
        PyMem_Calloc(1, sizeof *table + count * sizeof table->slots[0]);
    if (table == NULL) {
        return -1;
    }
    table->older = old;
    table->count = count;
    for (size_t i = 0; old != NULL && i < old->count; i++) {
        if (old->slots[i].type != NULL) {
            insert(table, old->slots[i].type, old->slots[i].index);
        }
    }
    HA_PUBLISH(types->type_table, table);
    return 0;
}

int
ha_type_index_add(struct ha_types *types, PyTypeObject *type, unsigned index)
{
    bool room =
        types->type_table != NULL && 2 * types->type_count < types->type_table->count;
    if (!room && grow(types) < 0) {
        return -1;
    }
    insert(types->type_table, type, index);
    types->type_count++;
    return 0;
}

bool
ha_type_index_find(const struct ha_types *types, PyTypeObject *type, unsigned *index)
{
    const struct ha_type_table *table = HA_READ(types->type_table);
    for (; table != NULL && type != NULL; type = type->tp_base) {
        size_t i = slot_of(type, table->count);
        const PyTypeObject *there;
        while ((there = HA_READ(table->slots[i].type)) != NULL) {
            if (there == type) {
                *index = table->slots[i].index;
                return true;
            }
            i = (i + 1) & (table->count - 1);
        }
    }
    return false;
}

PyTypeObject *
ha_type_index_publish(struct ha_types *types, struct ha_type_entry *entry,
                      PyTypeObject *made, unsigned index)
{
    int status = 0;
    ha_guard_take(&types->guard);
    PyTypeObject *there = entry->type;
    if (there == NULL) {
        status = ha_type_index_add(types, made, index);
    }
    if (there == NULL && status == 0) {
        HA_PUBLISH(entry->type, made);
        there = made;
    }
    ha_guard_give(&types->guard);
    if (there != made) {
        Py_DECREF(made); /* another thread was first, or there is no memory */
    }
    return status < 0 ? (PyTypeObject *)PyErr_NoMemory() : there;
}

void
ha_type_index_free(struct ha_types *types)
{
    while (types->type_table != NULL) {
        struct ha_type_table *older = types->type_table->older;
        PyMem_Free(types->type_table);
        types->type_table = older;
    }
}
