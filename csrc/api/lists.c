/* SPDX-License-Identifier: MIT */
#include "api/lists.h"

#include <string.h>

#include "adapters/handle.h"
#include "adapters/kind.h"
#include "adapters/list.h"
#include "adapters/list_from.h"
#include "adapters/message.h"
#include "adapters/number.h"
#include "adapters/pointer.h"
#include "adapters/python_version.h"
#include "adapters/record_from.h"
#include "adapters/types.h"
#include "adapters/view.h"
#include "api/api.h"
#include "api/enums.h"
#include "api/generated/enums.h"

static Py_ssize_t
sequence_size(PyObject *sequence)
{
    return PyList_Check(sequence) ? PyList_GET_SIZE(sequence)
                                  : PyTuple_GET_SIZE(sequence);
}

/* Borrowed. */
static PyObject *
sequence_item(PyObject *sequence, Py_ssize_t i)
{
    return PyList_Check(sequence) ? PyList_GET_ITEM(sequence, i)
                                  : PyTuple_GET_ITEM(sequence, i);
}

static bool
is_sequence(PyObject *object)
{
    return PyList_Check(object) || PyTuple_Check(object);
}

/* Entries that are no handles go through ha_ptr_from, as all pointers do. */
static int
check_handles(struct ha_types *types, PyObject *sequence, const struct ha_where *where,
              unsigned index)
{
    for (Py_ssize_t i = 0; i < sequence_size(sequence); i++) {
        PyObject *item = sequence_item(sequence, i); /* borrowed */
        if (PyObject_TypeCheck(item, types->handle)) {
            struct ha_entry entry;
            struct ha_view handle;
            ha_entry_init(&entry, where);
            ha_entry_set(&entry, i);
            if (ha_handle_from(types, item, &entry.where, index, &handle) < 0) {
                return -1;
            }
            ha_view_release(&handle);
        }
    }
    return 0;
}

int
ha_list_handle_from(struct ha_types *types, PyObject *object,
                    const struct ha_where *where, unsigned index, unsigned flags,
                    struct ha_view *out)
{
    ha_view_init(out);
    if (PyObject_TypeCheck(object, types->handle)) {
        return ha_refuse(where, "a list of handles", object);
    }
    if (!is_sequence(object)) {
        return ha_list_ptr_from(types, object, where, flags, out);
    }
    PyObject *held = ha_sequence_hold(object);
    int status = held == NULL ? -1 : check_handles(types, held, where, index);
    if (status == 0) {
        status = ha_list_ptr_from(types, held, where, flags, out);
    }
    Py_XDECREF(held);
    return status;
}

int
ha_list_enum_from(struct ha_api *api, PyObject *object, const struct ha_where *where,
                  enum ha_enum index, unsigned flags, struct ha_view *out)
{
    ha_view_init(out);
    if (!is_sequence(object)) {
        return ha_list_number_from(&api->types, object, where, HA_I32, flags, out);
    }
    int result = -1;
    PyObject *list = NULL, *items = PySequence_Tuple(object);
    if (items == NULL) {
        return -1;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(items);
    list = ha_list_alloc(&api->types, HA_I32, count);
    if (list == NULL) {
        goto done;
    }
    int *values = ha_pointer_of(list);
    for (Py_ssize_t i = 0; i < count; i++) {
        struct ha_entry entry;
        ha_entry_init(&entry, where);
        ha_entry_set(&entry, i);
        if (ha_enum_arg(&api->enums, index, PyTuple_GET_ITEM(items, i), &entry.where,
                        &values[i]) < 0) {
            goto done;
        }
    }
    out->ptr = values;
    out->size = count * (Py_ssize_t)sizeof *values;
    out->count = count;
    out->owner = Py_NewRef(list);
    result = 0;
done:
    Py_XDECREF(list);
    Py_DECREF(items);
    return result;
}

/* No array of HIP is nearly as long; each entry becomes a Python object. */
enum { ENTRIES_MAX = 1 << 20 };

int
ha_slots_make(struct ha_slots *slots, long long entries, const struct ha_where *where)
{
    size_t room = entries > 0 ? (size_t)entries : 0;

    if (entries > ENTRIES_MAX && where == NULL) {
        PyErr_Format(PyExc_ValueError, "HIP found a list of %lld entries, over %d",
                     entries, ENTRIES_MAX);
        return -1;
    }
    if (entries > ENTRIES_MAX) {
        return ha_raise(PyExc_ValueError, where,
                        "asks for a list of %lld entries; at most %d can be had",
                        entries, ENTRIES_MAX);
    }
    /* Never NULL, which would ask HIP for the count. */
    void *memory = PyMem_Calloc(room > 0 ? room : 1, slots->item_bytes);
    if (memory == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    ha_slots_free(slots);
    slots->memory = memory;
    slots->room = room;
    return 0;
}

int
ha_slots_more(struct ha_slots *const *slots, int count, size_t *entries)
{
    bool asked = slots[0]->memory != NULL;

    if (asked ? *entries < slots[0]->room : *entries == 0) {
        return 0;
    }
    size_t room = (asked ? 2 * slots[0]->room : *entries) + 1;
    for (int i = 0; i < count; i++) {
        if (ha_slots_make(slots[i], (long long)room, NULL) < 0) {
            return -1;
        }
    }
    *entries = room;
    return 1;
}

void
ha_slots_free(struct ha_slots *slots)
{
    PyMem_Free(slots->memory);
    slots->memory = NULL;
    slots->room = 0;
}

long long
ha_count_in(const struct ha_view *view, size_t bytes)
{
    uint64_t count = 0;

    if (view->ptr != NULL) {
        memcpy(&count, view->ptr, bytes < sizeof count ? bytes : sizeof count);
    }
    return count <= (uint64_t)PY_SSIZE_T_MAX ? (long long)count : PY_SSIZE_T_MAX;
}

static PyObject *
entry_to(struct ha_api *api, enum ha_kind kind, unsigned index, void *at,
         PyObject *owner)
{
    void *handle = NULL;
    int value = 0;

    switch (kind) {
    case HA_HANDLE:
        memcpy(&handle, at, sizeof handle);
        return ha_handle_new(&api->types, index, handle, owner);
    case HA_RECORD:
        return ha_record_new(&api->types, index, at, 1);
    case HA_ENUM:
        memcpy(&value, at, sizeof value);
        return ha_enum_value(&api->enums, (enum ha_enum)index, value);
    default:
        return ha_number_to(kind, at);
    }
}

PyObject *
ha_out_list(struct ha_api *api, bool good, enum ha_kind kind, unsigned index,
            const struct ha_slots *slots, size_t entries, const void *home)
{
    PyObject *owner = NULL, *list = NULL;
    size_t count = entries < slots->room ? entries : slots->room;

    count = good ? count : 0;
    while (kind == HA_HANDLE && count > 0 &&
           ((void **)slots->memory)[count - 1] == NULL) {
        count--;
    }
    if (home != NULL && (owner = PyLong_FromVoidPtr((void *)home)) == NULL) {
        return NULL;
    }
    list = PyList_New((Py_ssize_t)count);
    for (Py_ssize_t i = 0; list != NULL && i < PyList_GET_SIZE(list); i++) {
        char *at = (char *)slots->memory + (size_t)i * slots->item_bytes;
        PyObject *entry = entry_to(api, kind, index, at, owner);
        if (entry == NULL) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, i, entry);
    }
    Py_XDECREF(owner);
    return list;
}
