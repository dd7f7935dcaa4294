/* SPDX-License-Identifier: MIT */
/* Allocations: memory that is freed with its object, or before that by close().
 *
 * A call that has the address *uses* the allocation from then on until it returns: when
 * another thread closes it meanwhile, it counts as closed at once, and the memory goes
 * with the last use. */
#ifndef HA_ADAPTERS_ALLOCATION_H
#define HA_ADAPTERS_ALLOCATION_H

#include <Python.h>

#include <stdbool.h>

#include "adapters/memory.h"

struct ha_types;

/* Memory of HIP, or of the process (64-byte aligned), that is freed with the object. */
PyObject *ha_allocation_new(struct ha_types *types, enum ha_memory_place place,
                            int device, Py_ssize_t bytes, void **address);
/* True where `owner` is such memory of HIP: what frees it waits for the device, so that
 * work in flight does not have to keep it. */
bool ha_allocation_waits(const struct ha_types *types, PyObject *owner);
/* Whether `owner`, such memory, was closed before its end; and says that HIP has freed
 * it. */
bool ha_allocation_is_closed(const PyObject *owner);
void ha_allocation_forget(PyObject *owner);
/* Begins a use of `owner`: false where it is closed.  The end may free it, which waits
 * for the device. */
bool ha_allocation_use(PyObject *owner);
void ha_allocation_leave(PyObject *owner);
/* Makes the type; 0 or -1. */
int ha_allocation_init(struct ha_types *types);

#endif
