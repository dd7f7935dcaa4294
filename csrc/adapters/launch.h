/* SPDX-License-Identifier: MIT */
/* Kernel arguments: entries of a tuple, in one of two forms.
 *
 * `extra`: every entry by value, packed with C's alignment; what is memory to us
 * (arrays, buffers, Pointers) is passed as its address.
 *
 * `kernelParams`: one address a value.  ctypes objects, numpy scalars, records, device
 * arrays and handles are copied, and the copy's address is given; host memory (numpy
 * arrays, ListOf*, Pointer, int) is taken to hold the value itself. */
#ifndef HA_ADAPTERS_LAUNCH_H
#define HA_ADAPTERS_LAUNCH_H

#include <Python.h>

#include "adapters/launch_data.h"
#include "adapters/message.h"
#include "adapters/types.h"

/* What C takes for `extra` when `size` bytes of packed values lie at `data`. */
static inline void
ha_extra_fill(void *config[HA_EXTRA_COUNT], void *data, size_t *size)
{
    config[0] = HA_EXTRA_BUFFER_POINTER;
    config[1] = data;
    config[2] = HA_EXTRA_BUFFER_SIZE;
    config[3] = size;
    config[4] = HA_EXTRA_END;
}

/* `extra`: list or tuple of values, a HipModuleLaunchKernel_extra, None, or any address
 * of a ready configuration array. */
int ha_extra_from(struct ha_types *types, PyObject *object,
                  const struct ha_where *where, struct ha_launch_arguments *out);

/* `kernelParams`: list or tuple whose entries hold the values (ctypes cells, numpy,
 * records, ListOf*), device arrays and handles being passed by value; None; or any void
 * **. */
int ha_params_from(struct ha_types *types, PyObject *object,
                   const struct ha_where *where, struct ha_launch_arguments *out);

/* One more value, placed as in `extra` behind what is there.  Gives its place, which
 * the next value may move, its bytes, and whether it is the address of memory, of a
 * handle, or None. */
struct ha_launch_value {
    unsigned char *place;
    size_t size;
    bool address;
};

int ha_launch_add(struct ha_types *types, struct ha_launch_arguments *launch,
                  PyObject *object, const struct ha_where *where,
                  struct ha_launch_value *out);

/* As ha_extra_from, but memory that was given is not read: 1 where values were packed,
 * 0 where there is nothing or an address, or -1. */
int ha_extra_pack(struct ha_types *types, PyObject *object,
                  const struct ha_where *where, struct ha_launch_arguments *out);

#endif
