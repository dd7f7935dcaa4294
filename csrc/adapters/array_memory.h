/* SPDX-License-Identifier: MIT */
/* The bytes behind arrays: memory of their own, copies, and waits for work in flight.
 */
#ifndef HA_ADAPTERS_ARRAY_MEMORY_H
#define HA_ADAPTERS_ARRAY_MEMORY_H

#include <Python.h>

#include <stdbool.h>
#include <stddef.h>

#include "adapters/array.h"
#include "adapters/format.h"
#include "adapters/memory.h"
#include "adapters/types.h"

/* Waits for the array's stream, or for its device where no stream was named. */
int ha_array_wait(struct ha_types *types, const struct ha_device_array *self,
                  int device);
/* Whether the processor can read memory of this place. */
bool ha_array_readable(struct ha_types *types, enum ha_memory_place place);
/* A DeviceArray with memory of its own in C order; device -1 = the current one. */
struct ha_device_array *ha_array_allocate(struct ha_types *types,
                                          enum ha_memory_place place, int device,
                                          int ndim, const Py_ssize_t *dims,
                                          const struct ha_format *format);
/* The same elements in memory of its own, complete on return. */
struct ha_device_array *ha_array_copy(struct ha_types *types,
                                      const struct ha_device_array *array,
                                      enum ha_memory_place place);
/* Copies between places; 0 or -1. */
int ha_array_move(struct ha_types *types, void *dst, enum ha_memory_place to,
                  const void *src, enum ha_memory_place from, size_t bytes);

#endif
