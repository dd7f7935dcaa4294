/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/type_index.h"

#include <stdint.h>

#include "adapters/types.h"

/* An open hash table, keyed by the address of the type. */
struct ha_type_slot {
    PyTypeObject *type; /* borrowed; the state's entries own it */
    unsigned index;
};

static size_t
slot_of(const PyTypeObject *type, size_t count)
{
    return (((uintptr_t)type >> 4) * (uintptr_t)0x9E3779B97F4A7C15u >> 20) &
           (count - 1);
}

static void
insert(struct ha_type_slot *slots, size_t count, PyTypeObject *type, unsigned index)
{
    size_t i = slot_of(type, count);
    while (slots[i].type != NULL) {
        i = (i + 1) & (count - 1);
    }
    slots[i].type = type;
    slots[i].index = index;
}

int
ha_type_index_add(struct ha_types *types, PyTypeObject *type, unsigned index)
{
    if (types->type_slot_used * 2 >= types->type_slot_count) {
        size_t count = types->type_slot_count == 0 ? 64 : types->type_slot_count * 2;
        struct ha_type_slot *slots = PyMem_Calloc(count, sizeof *slots);
        if (slots == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        for (size_t i = 0; i < types->type_slot_count; i++) {
            if (types->type_slots[i].type != NULL) {
                insert(slots, count, types->type_slots[i].type,
                       types->type_slots[i].index);
            }
        }
        PyMem_Free(types->type_slots);
        types->type_slots = slots;
        types->type_slot_count = count;
    }
    insert(types->type_slots, types->type_slot_count, type, index);
    types->type_slot_used++;
    return 0;
}

bool
ha_type_index_find(const struct ha_types *types, PyTypeObject *type, unsigned *index)
{
    size_t count = types->type_slot_count;
    for (; count > 0 && type != NULL; type = type->tp_base) {
        for (size_t i = slot_of(type, count); types->type_slots[i].type != NULL;
             i = (i + 1) & (count - 1)) {
            if (types->type_slots[i].type == type) {
                *index = types->type_slots[i].index;
                return true;
            }
        }
    }
    return false;
}
