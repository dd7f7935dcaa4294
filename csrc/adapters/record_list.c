/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/record_list.h"

#include <string.h>

#include "adapters/block.h"
#include "adapters/description.h"
#include "adapters/message.h"
#include "adapters/record_from.h"
#include "adapters/types.h"
#include "adapters/view.h"

/* One entry into its place; what its pointers point to stays with the block. */
static int
copy_entry(struct ha_types *types, PyObject *item, struct ha_entry *entry,
           unsigned index, struct ha_block *block, Py_ssize_t i)
{
    size_t size = types->tables->records[index].size;
    struct ha_view view;

    ha_entry_set(entry, i);
    int status = ha_record_from(types, item, &entry->where, index, HA_BY_VALUE, &view);
    if (status == 0) {
        memcpy(block->bytes + (size_t)i * size, view.ptr, size);
        PyObject *owner = ha_view_hold(types, &view);
        status = owner == NULL ? -1 : ha_keep(&block->keep, (uintptr_t)i, owner, NULL);
        Py_XDECREF(owner);
    }
    ha_view_release(&view);
    return status;
}

static int
from_sequence(struct ha_types *types, PyObject *sequence, const struct ha_where *where,
              unsigned index, struct ha_view *out)
{
    Py_ssize_t size = (Py_ssize_t)types->tables->records[index].size;
    struct ha_block *block = NULL;
    struct ha_entry entry;
    int status = -1;

    /* A tuple of its own: conversions run Python code, which may change a list. */
    PyObject *items = PySequence_Tuple(sequence);
    if (items == NULL) {
        return -1;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(items);
    if (size > 0 && count > PY_SSIZE_T_MAX / size) {
        PyErr_NoMemory();
        goto done;
    }
    block = ha_block_new(types, count * size);
    if (block == NULL) {
        goto done;
    }
    ha_entry_init(&entry, where);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (copy_entry(types, PyTuple_GET_ITEM(items, i), &entry, index, block, i) <
            0) {
            goto done;
        }
    }
    out->ptr = block->bytes;
    out->size = count * size;
    out->count = count;
    out->owner = Py_NewRef((PyObject *)block);
    status = 0;
done:
    Py_XDECREF((PyObject *)block);
    Py_DECREF(items);
    return status;
}

int
ha_record_list_from(struct ha_types *types, PyObject *object,
                    const struct ha_where *where, unsigned index, unsigned flags,
                    struct ha_view *out)
{
    ha_view_init(out);
    if (PyList_Check(object) || PyTuple_Check(object)) {
        return from_sequence(types, object, where, index, out);
    }
    /* Its length is checked with the count that the call has. */
    if (ha_record_from(types, object, where, index, flags | HA_ANYWHERE, out) < 0) {
        return -1;
    }
    if (out->ptr == NULL) {
        out->count = 0;
    }
    return 0;
}
