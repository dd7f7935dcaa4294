/* SPDX-License-Identifier: MIT */
/* Turns a program's request for a texture into the descriptor that kernels sample by.
 *
 * HIP's rules for combinations are checked here: how each resource may be filtered,
 * addressed and viewed.  No locks. */
#ifndef HA_CPU_MEMORY_SAMPLER_H
#define HA_CPU_MEMORY_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/hip.h"
#include "cpu/headers/hipadapt/texture_object.h"
#include "cpu/memory/array.h"

struct ha_texture_request;

/* `arrays` are the levels of the resource, borrowed; none for linear memory. */
hipError_t ha_sampler_describe(const struct ha_texture_request *request,
                               struct ha_array *const *arrays, uint32_t array_count,
                               struct __hip_texture *object);

/* Whether the bytes lie in the tables that objects point at. */
bool ha_sampler_holds(const void *address, uint64_t size);

#endif
