/* SPDX-License-Identifier: MIT */
/* From the records with which programs describe copies to the bytes that are copied
 * (struct ha_copy).  Addresses of arrays are looked up here, so a shape is good as long
 * as its arrays live.  No locks. */
#ifndef HA_CPU_WORK_COPY_SHAPE_H
#define HA_CPU_WORK_COPY_SHAPE_H

#include "abi/hip.h"
#include "cpu/work/copy.h"

/* hipMemcpy3D: positions and extent in x are bytes, or elements of an array: each
 * position of its own side, the extent of whichever side is an array. */
hipError_t ha_copy_shape_3d(const hipMemcpy3DParms *params, struct ha_copy *copy);

/* hipDrvMemcpy3D: the driver's record, all in bytes. */
hipError_t ha_copy_shape_driver(const HIP_MEMCPY3D *params, struct ha_copy *copy);

/* The record of hipMemcpy3D that asks for the same copy as the driver's.  Fails where
 * bytes are no whole elements. */
hipError_t ha_copy_shape_from_driver(const HIP_MEMCPY3D *params,
                                     hipMemcpy3DParms *same);

/* Bytes of what is counted in x: 1 for memory (array NULL). */
hipError_t ha_copy_element(hipArray_t array, size_t *bytes);

/* The other way round of from_driver. */
HIP_MEMCPY3D ha_copy_shape_to_driver(const hipMemcpy3DParms *params);

#endif
