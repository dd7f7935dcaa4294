/* SPDX-License-Identifier: MIT */
/* Texture objects: a resource, how it is sampled, and what is seen of it.
 *
 * A hipTextureObject_t is the address of a descriptor that kernels read
 * (cpu/headers/hipadapt/texture_object.h); sampling itself is device code
 * (hipadapt/texture.h there).  Descriptors live in a slab (cpu/base/slab.h).  A texture
 * holds references to the arrays that it shows; linear memory is the program's.
 *
 * Locks: one lock inside texture.c; the leaves of cpu/base/handle.h and
 * cpu/memory/memory.h may be taken while it is held. */
#ifndef HA_CPU_MEMORY_TEXTURE_H
#define HA_CPU_MEMORY_TEXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/hip.h"
#include "cpu/headers/hipadapt/texture_object.h"
#include "cpu/memory/array.h"

/* What a texture was made of. */
struct ha_texture_request {
    hipResourceDesc resource;
    hipTextureDesc texture;
    hipResourceViewDesc view;
    bool has_view;
};

hipError_t ha_texture_create(struct ha_device *device,
                             const struct ha_texture_request *request,
                             hipTextureObject_t *object);

/* Waits for the device and takes the object out of use. */
hipError_t ha_texture_destroy(const char *argument, hipTextureObject_t object);

/* The request that it was made from; hipErrorInvalidHandle (NULL: hipErrorInvalidValue)
 * if there is no such object. */
hipError_t ha_texture_get(const char *argument, hipTextureObject_t object,
                          struct ha_texture_request *request);

/* Whether it is an object in use. */
bool ha_texture_is(hipTextureObject_t object);

/* Whether the bytes lie where objects are, in use or not, or what they point at. */
bool ha_texture_holds(const void *address, uint64_t size);

/* Fills shape and image of an array; used by surfaces too. */
void ha_image_of_array(const struct ha_array *array, uint32_t *shape,
                       struct __ha_image *image);

/* Frees those of the device.  Needs: it has no work. */
void ha_textures_reset(struct ha_device *device);

void ha_texture_after_fork_child(void);

#endif
