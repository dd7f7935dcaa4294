/* SPDX-License-Identifier: MIT */
/* Surface objects: arrays that kernels read and write by texel.
 *
 * As with textures (cpu/memory/texture.h), the object is the address of a descriptor in
 * a slab, and holds a reference to its array.
 *
 * Locks: one lock inside surface.c; the leaves of cpu/base/handle.h and
 * cpu/memory/memory.h may be taken while it is held. */
#ifndef HA_CPU_MEMORY_SURFACE_H
#define HA_CPU_MEMORY_SURFACE_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/hip.h"

struct ha_device;

hipError_t ha_surface_create(struct ha_device *device, const hipResourceDesc *resource,
                             hipSurfaceObject_t *object);

/* Waits for the device and takes the object out of use. */
hipError_t ha_surface_destroy(hipSurfaceObject_t object);

/* Whether the bytes lie where objects are, in use or not. */
bool ha_surface_holds(const void *address, uint64_t size);

/* Frees those of the device.  Needs: it has no work. */
void ha_surfaces_reset(struct ha_device *device);

void ha_surface_after_fork_child(void);

#endif
