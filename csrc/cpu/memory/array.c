/* SPDX-License-Identifier: MIT */
#include "cpu/memory/array.h"

#include <stdlib.h>

#include "core/clock.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/handle.h"
#include "cpu/memory/check_memory.h"
#include "cpu/memory/memory.h"
#include "cpu/queue/pool.h"
#include "cpu/queue/ticket.h"

#define ROW_ALIGN ((size_t)64) /* a row begins with a cache line */
#define CUBE_FACES 6u
#define ALL_FLAGS                                                                      \
    ((unsigned)hipArrayLayered | hipArraySurfaceLoadStore | hipArrayCubemap |          \
     hipArrayTextureGather)

static hipError_t
refuse(hipExtent extent, unsigned flags, const char *why)
{
    return ha_cpu_fail(hipErrorInvalidValue,
                       "there is no array of %zu x %zu x %zu elements with flags 0x%x: "
                       "%s",
                       extent.width, extent.height, extent.depth, flags, why);
}

static hipError_t
check_shape(hipExtent extent, unsigned flags)
{
    bool layered = (flags & hipArrayLayered) != 0;
    bool cube = (flags & hipArrayCubemap) != 0;
    if ((flags & ~ALL_FLAGS) != 0) {
        return refuse(extent, flags, "unknown flags");
    }
    if (extent.width == 0) {
        return refuse(extent, flags, "the width is 0");
    }
    if (extent.width > HA_ARRAY_SIDE_MAX || extent.height > HA_ARRAY_SIDE_MAX ||
        extent.depth > HA_ARRAY_DEPTH_MAX) {
        return refuse(extent, flags, "more than hipDeviceProp_t says there can be");
    }
    if (layered && extent.depth == 0) {
        return refuse(extent, flags, "no layers");
    }
    if (!layered && extent.depth != 0 && extent.height == 0) {
        return refuse(extent, flags, "a depth without a height");
    }
    if (cube && (extent.width != extent.height || extent.depth % CUBE_FACES != 0 ||
                 extent.depth == 0 || (!layered && extent.depth != CUBE_FACES))) {
        return refuse(extent, flags, "a cube map has six square faces");
    }
    if ((flags & hipArrayTextureGather) != 0 &&
        (extent.height == 0 || extent.depth != 0)) {
        return refuse(extent, flags, "only 2-D arrays can be gathered from");
    }
    return hipSuccess;
}

hipError_t
ha_array_create(struct ha_device *device, const struct ha_texel *texel,
                hipExtent extent, unsigned flags, bool level, struct ha_array **array)
{
    void *data = NULL;
    struct ha_array *made = NULL;
    hipError_t code = check_shape(extent, flags);
    if (code != hipSuccess) {
        return code;
    }
    made = calloc(1, sizeof *made);
    if (made == NULL) {
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another array");
    }
    made->device = device;
    made->texel = *texel;
    made->extent = extent;
    made->flags = flags;
    made->level = level;
    made->rows = extent.height > 1 ? extent.height : 1;
    made->slices = extent.depth > 1 ? extent.depth : 1;
    made->row_bytes = extent.width * ha_texel_bytes(texel);
    made->pitch = (made->row_bytes + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN;
    size_t bytes = made->pitch * made->rows * made->slices;
    uint64_t begin = ha_activity_wants(HA_WANT_MEMORY) ? ha_clock_ns() : 0;
    ha_checked_call();
    code = ha_memory_alloc(device, HA_MEMORY_ARRAY, flags, bytes, &data);
    if (code != hipSuccess) {
        goto done;
    }
    made->data = data;
    made->handle = ha_handle_create(HA_HANDLE_ARRAY, made);
    if (made->handle == 0) {
        code = ha_cpu_fail(hipErrorOutOfMemory, "no memory for another array");
        goto done;
    }
    if (begin != 0) {
        ha_activity_memory(HA_ACTIVITY_ALLOCATE, device->id, data, bytes, begin);
    }
    *array = made;
    return hipSuccess;
done:
    if (made->data != NULL) {
        struct ha_range range;
        (void)ha_memory_claim(data, 1u << HA_MEMORY_ARRAY, &range);
        (void)ha_memory_release(data);
    }
    free(made);
    return code;
}

/* `missing` is the code for what is no array. */
static hipError_t
acquire(const char *argument, hipArray_const_t handle, hipError_t missing,
        struct ha_array **array)
{
    if (handle == NULL) {
        return ha_cpu_fail_null(argument);
    }
    struct ha_array *found =
        ha_handle_acquire(HA_HANDLE_ARRAY, (uint64_t)(uintptr_t)handle);
    if (found == NULL) {
        return ha_cpu_fail(missing, "argument '%s' (%p) is not an array, or was freed",
                           argument, (const void *)handle);
    }
    *array = found;
    return hipSuccess;
}

hipError_t
ha_array_acquire(const char *argument, hipArray_const_t handle, struct ha_array **array)
{
    return acquire(argument, handle, hipErrorInvalidHandle, array);
}

void
ha_array_retain(struct ha_array *array)
{
    ha_handle_retain(array->handle);
}

void
ha_array_release(struct ha_array *array)
{
    struct ha_range range;
    if (!ha_handle_release(array->handle)) {
        return;
    }
    if (ha_memory_claim(array->data, 1u << HA_MEMORY_ARRAY, &range)) {
        (void)ha_memory_release(array->data);
    }
    free(array);
}

/* Lets go of the table's reference; false if another call did. */
static bool
retire(struct ha_array *array)
{
    uint64_t begin = ha_activity_wants(HA_WANT_MEMORY) ? ha_clock_ns() : 0;
    int device = array->device->id;
    const void *data = array->data;
    if (ha_handle_retire(HA_HANDLE_ARRAY, array->handle) == NULL) {
        return false;
    }
    ha_array_release(array);
    if (begin != 0) {
        ha_activity_memory(HA_ACTIVITY_FREE, device, data, 0, begin);
    }
    return true;
}

hipError_t
ha_array_free(hipArray_t handle)
{
    struct ha_array *array = NULL;
    hipError_t code = acquire("array", handle, hipErrorContextIsDestroyed, &array);
    if (code != hipSuccess) {
        return code;
    }
    if (array->level) {
        goto done; /* it goes with its mipmapped array */
    }
    code = ha_pool_wait_device(array->device, 0);
    if (code != hipSuccess) {
        code = ha_cpu_fail(code, "interrupted; the array is not freed");
        goto done;
    }
    if (!retire(array)) {
        code = ha_cpu_fail(hipErrorContextIsDestroyed, "the array was freed meanwhile");
    }
done:
    ha_array_release(array);
    return code;
}

void
ha_array_end_level(struct ha_array *array)
{
    (void)retire(array);
}

/* Whether [at, at + count) lies in [0, most). */
static bool
inside(size_t at, size_t count, size_t most)
{
    return at <= most && count <= most - at;
}

hipError_t
ha_array_place(const char *argument, const struct ha_array *array, hipPos pos,
               hipExtent extent, struct ha_array_box *box)
{
    if (!inside(pos.x, extent.width, array->row_bytes) ||
        !inside(pos.y, extent.height, array->rows) ||
        !inside(pos.z, extent.depth, array->slices)) {
        return ha_cpu_fail(
            hipErrorInvalidValue,
            "argument '%s': %zu bytes x %zu rows x %zu slices from (%zu, "
            "%zu, %zu) on are not inside of an array of %zu x %zu x %zu",
            argument, extent.width, extent.height, extent.depth, pos.x, pos.y, pos.z,
            array->row_bytes, array->rows, array->slices);
    }
    size_t slice = array->pitch * array->rows;
    *box = (struct ha_array_box){
        .address = array->data + pos.z * slice + pos.y * array->pitch + pos.x,
        .pitch = array->pitch,
        .slice = slice,
    };
    return hipSuccess;
}

hipError_t
ha_array_locate(const char *argument, hipArray_const_t handle, hipPos pos,
                hipExtent extent, struct ha_array_box *box)
{
    struct ha_array *array = NULL;
    hipError_t code = ha_array_acquire(argument, handle, &array);
    if (code == hipSuccess) {
        code = ha_array_place(argument, array, pos, extent, box);
        ha_array_release(array);
    }
    return code;
}

static void
reset_visit(uint64_t handle, void *context)
{
    struct ha_array *array = ha_handle_acquire(HA_HANDLE_ARRAY, handle);
    if (array == NULL) {
        return;
    }
    if (array->device == context) {
        (void)retire(array);
    }
    ha_array_release(array);
}

void
ha_arrays_reset(struct ha_device *device)
{
    ha_handle_each(HA_HANDLE_ARRAY, reset_visit, device);
}
