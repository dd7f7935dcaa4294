/* SPDX-License-Identifier: MIT */
/* Arrays: memory with a shape and an element type, reached through copies, textures and
 * surfaces only.
 *
 * Vocabulary: a *texel* is one element (cpu/memory/texel.h); a *row* is what differs in
 * x only; a *slice* is a plane of a 3-D array, a layer of a layered one, or a face of a
 * cube map.  A row begins every `pitch` bytes and a slice every `pitch * rows` bytes,
 * so that rows of all slices are equally far apart.
 *
 * Ownership: an array is a handle (cpu/base/handle.h).  Each user of its memory that
 * outlives a call (textures, surfaces) holds a reference; the memory goes with the last
 * one. Levels of a mipmapped array are arrays that belong to it (cpu/memory/mipmap.h).
 *
 * Locks: none; everything but the count of references is constant. */
#ifndef HA_CPU_MEMORY_ARRAY_H
#define HA_CPU_MEMORY_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/hip.h"
#include "cpu/memory/texel.h"

struct ha_device;

struct ha_array {
    uint64_t handle;
    struct ha_device *device; /* borrowed */
    struct ha_texel texel;
    hipExtent extent; /* as asked for: height and depth may be 0 */
    unsigned flags;
    bool level;    /* of a mipmapped array, which frees it */
    size_t rows;   /* of a slice; at least 1 */
    size_t slices; /* at least 1 */
    size_t row_bytes;
    size_t pitch;
    unsigned char *data; /* owned */
};

/* Where a box inside of an array or of pitched memory is. */
struct ha_array_box {
    void *address;
    size_t pitch;
    size_t slice;
};

/* Checks extent and flags and makes an array. */
hipError_t ha_array_create(struct ha_device *device, const struct ha_texel *texel,
                           hipExtent extent, unsigned flags, bool level,
                           struct ha_array **array);

/* The living array with one more reference; else fails with hipErrorInvalidHandle
 * (NULL: hipErrorInvalidValue) and a text that names `argument`. */
hipError_t ha_array_acquire(const char *argument, hipArray_const_t handle,
                            struct ha_array **array);
void ha_array_retain(struct ha_array *array);
void ha_array_release(struct ha_array *array);

/* hipFreeArray: takes the handle out of use when the device has no more work. */
hipError_t ha_array_free(hipArray_t handle);

/* Takes a level's handle out of use and lets go of it. */
void ha_array_end_level(struct ha_array *array);

/* Where the box of `extent` (bytes, rows, slices) at `pos` (the same) is; fails with
 * hipErrorInvalidValue if it is not inside of the array. */
hipError_t ha_array_place(const char *argument, const struct ha_array *array,
                          hipPos pos, hipExtent extent, struct ha_array_box *box);

/* The same with the handle. */
hipError_t ha_array_locate(const char *argument, hipArray_const_t handle, hipPos pos,
                           hipExtent extent, struct ha_array_box *box);

static inline hipArray_t
ha_array_handle(const struct ha_array *array)
{
    return (hipArray_t)(uintptr_t)array->handle;
}

/* Frees the arrays of the device.  Needs: it has no work. */
void ha_arrays_reset(struct ha_device *device);

#endif
