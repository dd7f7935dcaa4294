/* SPDX-License-Identifier: MIT */
#include "cpu/memory/surface.h"

#include <pthread.h>

#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/slab.h"
#include "cpu/memory/array.h"
#include "cpu/memory/texture.h"
#include "cpu/queue/pool.h"

struct surface {
    struct __hip_surface object; /* first: the handle is its address */
    struct ha_device *device;    /* borrowed */
    struct ha_array *array;      /* a reference */
};

#define ITEM_BYTES                                                                     \
    ((sizeof(struct surface) + HA_SLAB_ALIGN - 1) / HA_SLAB_ALIGN * HA_SLAB_ALIGN)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ha_slab surfaces = {.item_bytes = ITEM_BYTES};

hipError_t
ha_surface_create(struct ha_device *device, const hipResourceDesc *resource,
                  hipSurfaceObject_t *object)
{
    struct ha_array *array;
    if (resource->resType != hipResourceTypeArray) {
        return ha_cpu_fail(
            hipErrorInvalidValue,
            "argument 'pResDesc': a surface shows an array; %d is another "
            "type of resource",
            (int)resource->resType);
    }
    hipError_t code =
        ha_array_acquire("pResDesc->res.array", resource->res.array.array, &array);
    if (code != hipSuccess) {
        return code;
    }
    struct surface made = {.device = device, .array = array};
    made.object.live = __HA_SURFACE_LIVE;
    made.object.channels = array->texel.channels;
    made.object.bits = array->texel.bits;
    made.object.kind = array->texel.kind;
    ha_image_of_array(array, &made.object.shape, &made.object.image);
    pthread_mutex_lock(&lock);
    struct surface *item = ha_slab_take(&surfaces);
    if (item != NULL) {
        *item = made;
    }
    pthread_mutex_unlock(&lock);
    if (item == NULL) {
        ha_array_release(array);
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another surface");
    }
    *object = &item->object;
    return hipSuccess;
}

static hipError_t
no_surface(hipSurfaceObject_t object)
{
    return object == NULL
               ? ha_cpu_fail_null("surfaceObject")
               : ha_cpu_fail(hipErrorInvalidHandle,
                             "argument 'surfaceObject' (%p) is not a surface "
                             "object, or was destroyed",
                             (void *)object);
}

/* Takes the item out of use; false if there is none at this address. */
static bool
take_out(void *address, struct surface *taken)
{
    pthread_mutex_lock(&lock);
    bool found = ha_slab_has(&surfaces, address);
    if (found) {
        *taken = *(const struct surface *)address;
        ha_slab_give(&surfaces, address);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

hipError_t
ha_surface_destroy(hipSurfaceObject_t object)
{
    struct surface taken;
    pthread_mutex_lock(&lock);
    struct ha_device *device = ha_slab_has(&surfaces, object)
                                   ? ((const struct surface *)(void *)object)->device
                                   : NULL;
    pthread_mutex_unlock(&lock);
    if (device == NULL) {
        return no_surface(object);
    }
    hipError_t code = ha_pool_wait_device(device, 0);
    if (code != hipSuccess) {
        return ha_cpu_fail(code, "interrupted; the surface is not destroyed");
    }
    if (!take_out(object, &taken)) {
        return no_surface(object);
    }
    ha_array_release(taken.array);
    return hipSuccess;
}

void
ha_surfaces_reset(struct ha_device *device)
{
    struct surface *item;
    uint32_t number = 0;
    do {
        pthread_mutex_lock(&lock);
        do {
            item = ha_slab_next(&surfaces, &number);
        } while (item != NULL && item->device != device);
        pthread_mutex_unlock(&lock);
        struct surface taken;
        if (item != NULL && take_out(item, &taken)) {
            ha_array_release(taken.array);
        }
    } while (item != NULL);
}

void
ha_surface_after_fork_child(void)
{
    pthread_mutex_init(&lock, NULL);
    ha_slab_after_fork_child(&surfaces);
}

bool
ha_surface_holds(const void *address, uint64_t size)
{
    pthread_mutex_lock(&lock);
    bool holds = ha_slab_holds(&surfaces, address, size);
    pthread_mutex_unlock(&lock);
    return holds;
}
