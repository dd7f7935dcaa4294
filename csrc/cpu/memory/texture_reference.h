/* SPDX-License-Identifier: MIT */
/* Texture references: records of the program that hold how to sample, and a texture
 * object once something is bound to them.  Binding anew ends the object before.
 *
 * HIP hands the record over as constant where it binds; the object in it changes all
 * the same.  Nobody but the program knows the record, so that calls on one record from
 * several threads are the program's to order.  No locks. */
#ifndef HA_CPU_MEMORY_TEXTURE_REFERENCE_H
#define HA_CPU_MEMORY_TEXTURE_REFERENCE_H

#include "abi/hip.h"
#include "cpu/memory/texel.h"

struct ha_device;

/* A texture of the resource, whose element is `texel`, sampled as the record says, in
 * place of the one before.  Notes the element in the record. */
hipError_t ha_texture_reference_bind(struct ha_device *device,
                                     const textureReference *reference,
                                     const hipResourceDesc *resource,
                                     const struct ha_texel *texel);

/* Ends the object, if there is one. */
hipError_t ha_texture_reference_unbind(const textureReference *reference);

/* The bound resource; hipErrorInvalidTexture if nothing is bound. */
hipError_t ha_texture_reference_resource(const textureReference *reference,
                                         hipResourceDesc *resource);

#endif
