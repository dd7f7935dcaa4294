/* SPDX-License-Identifier: MIT */
/* Mipmapped arrays: one array for each level.
 *
 * HIP shows the record behind a hipMipmappedArray_t, so it is an address here: of an
 * item of a slab (cpu/base/slab.h), which also knows which addresses are alive.  A
 * mipmapped array owns its levels' handles; textures keep levels alive by references of
 * their own.
 *
 * Locks: one lock inside mipmap.c, a leaf but for those of cpu/base/handle.h and
 * cpu/memory/memory.h. */
#ifndef HA_CPU_MEMORY_MIPMAP_H
#define HA_CPU_MEMORY_MIPMAP_H

#include "abi/hip.h"
#include "cpu/memory/array.h"

#define HA_MIPMAP_LEVELS_MAX 15u /* of 16384 elements */

/* `levels` is cut to what the extent has. */
hipError_t ha_mipmap_create(struct ha_device *device, const struct ha_texel *texel,
                            hipExtent extent, unsigned levels, unsigned flags,
                            hipMipmappedArray_t *mipmap);

/* Takes it and its levels out of use when the device has no more work. */
hipError_t ha_mipmap_free(hipMipmappedArray_t mipmap);

/* The levels, each with one more reference, and their number. */
hipError_t ha_mipmap_acquire(const char *argument, hipMipmappedArray_const_t mipmap,
                             struct ha_array *levels[HA_MIPMAP_LEVELS_MAX],
                             uint32_t *count);

/* Frees those of the device.  Needs: it has no work. */
void ha_mipmaps_reset(struct ha_device *device);

void ha_mipmap_after_fork_child(void);

#endif
