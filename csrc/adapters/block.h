/* SPDX-License-Identifier: MIT */
/* Blocks: memory of our own that Python objects share.
 *
 * A *block* is 16-byte aligned and zeroed.  It never reaches the user but as an owner.
 * Because memory has its own object, a second __init__ or configure of a Pointer never
 * pulls it from under a view.  Pointers that are stored in the memory have owners too:
 * the block keeps them in a dict. */
#ifndef HA_ADAPTERS_BLOCK_H
#define HA_ADAPTERS_BLOCK_H

#include <Python.h>

#include <stdint.h>

struct ha_types;

struct ha_block {
    PyObject_VAR_HEAD
    PyObject *keep; /* owned dict {offset or address: owner}, or NULL */
    _Alignas(16) unsigned char bytes[];
};

/* Zeroed block; a size that no memory can have is a MemoryError.  NULL with an
 * exception. */
struct ha_block *ha_block_new(struct ha_types *types, Py_ssize_t bytes);
/* Remembers `owner` (borrowed; NULL or None forgets) under `key`; *keep is made if
 * NULL.  Nobody else has *keep, or it is in a critical section of what it belongs to:
 * then what was under the key goes to `old` (owned or NULL), to be released behind it;
 * NULL releases it here. */
int ha_keep(PyObject **keep, uintptr_t key, PyObject *owner, PyObject **old);

/* Makes the type; 0 or -1. */
int ha_block_init(struct ha_types *types);

#endif
