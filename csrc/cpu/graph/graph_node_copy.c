/* SPDX-License-Identifier: MIT */
/* What copies and fills in graphs do. */
#include "cpu/base/error.h"
#include "cpu/graph/graph.h"
#include "cpu/memory/memory.h"
#include "cpu/work/copy_shape.h"

/* Memory of the device has to be there at each launch; the program's own may have been
 * registered for a while only. */
static bool
must_stay(const void *ptr)
{
    struct ha_range range;
    return ha_memory_find(ptr, &range) && range.kind != HA_MEMORY_REGISTERED;
}

static struct ha_copy
with_known_sides(const struct ha_copy *copy)
{
    struct ha_copy known = *copy;
    known.dst_known = copy->dst_known || must_stay(copy->dst);
    known.src_known = copy->src_known || must_stay(copy->src);
    return known;
}

hipError_t
ha_node_set_copy(struct ha_node *node, const hipMemcpy3DParms *params)
{
    struct ha_copy copy;
    bool work = false;
    hipError_t code = ha_copy_shape_3d(params, &copy);
    if (code == hipSuccess) {
        code = ha_copy_check(&copy, &work);
    }
    if (code == hipSuccess) {
        node->copy = (struct ha_copy_node){
            .params = *params, .copy = with_known_sides(&copy), .work = work};
    }
    return code;
}

hipError_t
ha_node_set_copy_1d(struct ha_node *node, void *dst, const void *src, size_t bytes,
                    hipMemcpyKind kind)
{
    const hipMemcpy3DParms params = {
        .srcPtr = {.ptr = (void *)(uintptr_t)src,
                   .pitch = bytes,
                   .xsize = bytes,
                   .ysize = 1},
        .dstPtr = {.ptr = dst, .pitch = bytes, .xsize = bytes, .ysize = 1},
        .extent = {.width = bytes, .height = 1, .depth = 1},
        .kind = kind,
    };
    return ha_node_set_copy(node, &params);
}

hipError_t
ha_node_set_fill(struct ha_node *node, const hipMemsetParams *params)
{
    bool work = false;
    if (params->elementSize != 1 && params->elementSize != 2 &&
        params->elementSize != 4) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "an element of %u bytes can't be filled; 1, 2 and 4 can",
                           params->elementSize);
    }
    if (params->height == 0) {
        return ha_cpu_fail(hipErrorInvalidValue, "a fill has no rows (height is 0)");
    }
    struct ha_fill fill = {.dst = params->dst,
                           .pitch = params->pitch,
                           .height = params->height,
                           .value = params->value,
                           .element_bytes = params->elementSize};
    if (__builtin_mul_overflow(params->width, (size_t)params->elementSize,
                               &fill.width)) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "%zu elements of %u bytes are too many", params->width,
                           params->elementSize);
    }
    hipError_t code = ha_fill_check(&fill, &work);
    if (code == hipSuccess) {
        node->fill =
            (struct ha_fill_node){.params = *params, .fill = fill, .work = work};
    }
    return code;
}

/* What a call in a capture copies, which was checked. */
hipError_t
ha_node_set_copy_bytes(struct ha_node *node, const struct ha_copy *copy)
{
    size_t depth = copy->depth > 1 ? copy->depth : 1;
    node->copy = (struct ha_copy_node){
        .params = {.srcPtr = {.ptr = (void *)(uintptr_t)copy->src,
                              .pitch = copy->src_pitch,
                              .xsize = copy->width,
                              .ysize = depth > 1 && copy->src_pitch > 0
                                           ? copy->src_slice / copy->src_pitch
                                           : copy->height},
                   .dstPtr = {.ptr = copy->dst,
                              .pitch = copy->dst_pitch,
                              .xsize = copy->width,
                              .ysize = depth > 1 && copy->dst_pitch > 0
                                           ? copy->dst_slice / copy->dst_pitch
                                           : copy->height},
                   .extent = {copy->width, copy->height, depth},
                   .kind = hipMemcpyDefault},
        .copy = with_known_sides(copy),
        .work = true,
    };
    return hipSuccess;
}

hipError_t
ha_node_set_fill_bytes(struct ha_node *node, const struct ha_fill *fill)
{
    size_t depth = fill->depth > 1 ? fill->depth : 1;
    node->fill = (struct ha_fill_node){
        .params = {.dst = fill->dst,
                   .elementSize = fill->element_bytes,
                   .height = fill->height * depth,
                   .pitch = fill->pitch,
                   .value = fill->value,
                   .width = fill->width / fill->element_bytes},
        .fill = *fill,
        .work = true,
    };
    return hipSuccess;
}
