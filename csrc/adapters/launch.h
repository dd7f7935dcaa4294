/* SPDX-License-Identifier: MIT */
/* Kernel arguments: tuples of Python values packed as C lays out a parameter list.
 *
 * Values go into `small`, on the caller's stack, or into heap memory when they need
 * more room.  What keeps pointer arguments alive is gathered in `owners`; a synchronous
 * call releases it with ha_launch_release, an asynchronous one takes it with
 * ha_launch_hold. The struct must not be moved once filled: config and slots point into
 * it. */
#ifndef HA_ADAPTERS_LAUNCH_H
#define HA_ADAPTERS_LAUNCH_H

#include <Python.h>

#include "adapters/message.h"
#include "adapters/types.h"
#include "adapters/view.h"

#define HA_LAUNCH_SMALL_BYTES 512
#define HA_LAUNCH_SMALL_COUNT 32

/* Markers of the array that C takes for `extra`, as the HIP headers define them. */
#define HA_EXTRA_BUFFER_POINTER ((void *)1)
#define HA_EXTRA_BUFFER_SIZE ((void *)2)
#define HA_EXTRA_END ((void *)3)
#define HA_EXTRA_COUNT 5

struct ha_launch_arguments {
    void **value; /* what the C call takes for `extra` or `kernelParams`; or NULL */
    unsigned char *data;   /* packed values: small or heap */
    size_t size;           /* bytes used in data */
    size_t capacity;       /* bytes that data has room for */
    Py_ssize_t count;      /* number of arguments, -1 if an address was given */
    Py_ssize_t slot_count; /* slots that are filled (kernelParams only) */
    void **slots;        /* kernelParams: address of each value; small_slots or heap */
    PyObject *owners;    /* owned list, or NULL */
    struct ha_view view; /* where a ready address or object was given */
    void *config[HA_EXTRA_COUNT]; /* of ha_extra_fill */
    void *small_slots[HA_LAUNCH_SMALL_COUNT];
    _Alignas(16) unsigned char small[HA_LAUNCH_SMALL_BYTES];
};

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

/* Keeps `owner` (borrowed) with the launch. */
int ha_launch_keep(struct ha_launch_arguments *launch, PyObject *owner);

/* Makes an empty one, on which release may be called. */
void ha_launch_init(struct ha_launch_arguments *launch);
void ha_launch_release(struct ha_launch_arguments *launch);

/* Owned object that keeps every pointer argument's memory (None if nothing needs it).
 */
PyObject *ha_launch_hold(struct ha_types *types, struct ha_launch_arguments *launch);

#endif
