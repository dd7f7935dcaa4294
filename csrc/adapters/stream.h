/* SPDX-License-Identifier: MIT */
/* Streams: handles of ours, objects with __cuda_stream__, and addresses. */
#ifndef HA_ADAPTERS_STREAM_H
#define HA_ADAPTERS_STREAM_H

#include <Python.h>

#include <stdint.h>

#include "adapters/message.h"
#include "adapters/take.h"
#include "adapters/types.h"

/* Row of objects with __cuda_stream__, by method or attribute. */
int ha_take_cuda_stream(struct ha_take *take, PyObject *object);
/* Address of a stream handle, an object with __cuda_stream__, or an address by the
 * adapter order: 0, or -1 with an exception. */
int ha_stream_from(struct ha_types *types, PyObject *object,
                   const struct ha_where *where, uintptr_t *out);

/* The same; NULL and None are the address 0. */
int ha_stream_or_none_from(struct ha_types *types, PyObject *stream,
                           const struct ha_where *where, uintptr_t *out);

#endif
