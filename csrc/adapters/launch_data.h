/* SPDX-License-Identifier: MIT */
/* The arguments of one launch: values packed as C lays out a parameter list, and what
 * keeps the memory of those that are pointers.
 *
 * Values go into `small`, on the caller's stack, or into heap memory when they need
 * more room.  What keeps pointer arguments alive is gathered in `owners`; a synchronous
 * call releases it with ha_launch_release, an asynchronous one takes it with
 * ha_launch_hold.  Allocations that it passes are *used* (allocation.h) until the
 * launch is released.  The struct must not be moved once filled: config and slots point
 * into it.
 *
 * The *place* of a value is where it lies in the data; the next value may move all of
 * them.  All functions need the GIL. */
#ifndef HA_ADAPTERS_LAUNCH_DATA_H
#define HA_ADAPTERS_LAUNCH_DATA_H

#include <Python.h>

#include "adapters/types.h"
#include "adapters/view.h"

#define HA_LAUNCH_SMALL_BYTES 512
#define HA_LAUNCH_SMALL_COUNT 32
#define HA_LAUNCH_SMALL_USES 16

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
    void **slots;     /* kernelParams: address of each value; small_slots or heap */
    PyObject *owners; /* owned list, or NULL */
    PyObject **uses;  /* owned references to allocations; small_uses or heap */
    Py_ssize_t use_count, use_room;
    struct ha_view view;          /* where a ready address or object was given */
    void *config[HA_EXTRA_COUNT]; /* of ha_extra_fill */
    void *small_slots[HA_LAUNCH_SMALL_COUNT];
    PyObject *small_uses[HA_LAUNCH_SMALL_USES];
    _Alignas(16) unsigned char small[HA_LAUNCH_SMALL_BYTES];
};

/* Makes an empty one, on which release may be called. */
void ha_launch_init(struct ha_launch_arguments *launch);
void ha_launch_release(struct ha_launch_arguments *launch);
/* Keeps `owner` (borrowed) with the launch. */
int ha_launch_keep(struct ha_launch_arguments *launch, PyObject *owner);
/* Uses the allocation `owner` (stolen, on failure too), which ha_allocation_use has
 * begun, until the launch is released; 0 or -1. */
int ha_launch_use(struct ha_launch_arguments *launch, PyObject *owner);
/* Owned object that keeps every pointer argument's memory (None if nothing needs it).
 */
PyObject *ha_launch_hold(struct ha_types *types, struct ha_launch_arguments *launch);

/* Moves what keeps the view's memory into the owners; 0 or -1. */
int ha_launch_keep_view(struct ha_types *types, struct ha_launch_arguments *launch,
                        struct ha_view *view);

/* Appends a value at its alignment; gaps are zero.  Its place, or NULL with an
 * exception. */
unsigned char *ha_launch_put(struct ha_launch_arguments *launch, const void *value,
                             size_t size, size_t alignment);
/* The same for an address. */
unsigned char *ha_launch_put_address(struct ha_launch_arguments *launch, void *address);

#endif
