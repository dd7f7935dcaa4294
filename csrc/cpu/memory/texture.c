/* SPDX-License-Identifier: MIT */
#include "cpu/memory/texture.h"

#include <pthread.h>
#include <string.h>

#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/slab.h"
#include "cpu/memory/mipmap.h"
#include "cpu/memory/sampler.h"
#include "cpu/queue/pool.h"

_Static_assert(__HA_LEVELS_MAX == HA_MIPMAP_LEVELS_MAX, "all levels fit a descriptor");

struct texture {
    struct __hip_texture object; /* first: the handle is its address */
    struct ha_texture_request request;
    struct ha_device *device;                    /* borrowed */
    struct ha_array *held[HA_MIPMAP_LEVELS_MAX]; /* a reference each */
    uint32_t held_count;
};

#define ITEM_BYTES                                                                     \
    ((sizeof(struct texture) + HA_SLAB_ALIGN - 1) / HA_SLAB_ALIGN * HA_SLAB_ALIGN)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ha_slab textures = {.item_bytes = ITEM_BYTES};

static void
release_all(struct ha_array *const *arrays, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        ha_array_release(arrays[i]);
    }
}

/* The arrays that a resource shows, each with one more reference. */
static hipError_t
hold(const hipResourceDesc *resource, struct texture *texture)
{
    hipError_t code = hipSuccess;
    if (resource->resType == hipResourceTypeArray) {
        code = ha_array_acquire("pResDesc->res.array", resource->res.array.array,
                                &texture->held[0]);
        texture->held_count = code == hipSuccess;
    } else if (resource->resType == hipResourceTypeMipmappedArray) {
        code = ha_mipmap_acquire("pResDesc->res.mipmap", resource->res.mipmap.mipmap,
                                 texture->held, &texture->held_count);
    }
    return code;
}

hipError_t
ha_texture_create(struct ha_device *device, const struct ha_texture_request *request,
                  hipTextureObject_t *object)
{
    struct texture made = {.request = *request, .device = device};
    struct texture *item = NULL;
    hipError_t code = hold(&request->resource, &made);
    if (code == hipSuccess) {
        code = ha_sampler_describe(request, made.held, made.held_count, &made.object);
    }
    if (code == hipSuccess) {
        pthread_mutex_lock(&lock);
        item = ha_slab_take(&textures);
        if (item != NULL) {
            *item = made;
        }
        pthread_mutex_unlock(&lock);
        if (item == NULL) {
            code = ha_cpu_fail(hipErrorOutOfMemory, "no memory for another texture");
        }
    }
    if (code != hipSuccess) {
        release_all(made.held, made.held_count);
        return code;
    }
    *object = &item->object;
    return hipSuccess;
}

static hipError_t
no_texture(const char *argument, hipTextureObject_t object)
{
    return object == NULL
               ? ha_cpu_fail_null(argument)
               : ha_cpu_fail(hipErrorInvalidHandle,
                             "argument '%s' (%p) is not a texture object, or was "
                             "destroyed",
                             argument, (void *)object);
}

/* Takes the item out of use; false if there is none at this address. */
static bool
take_out(void *address, struct texture *taken)
{
    pthread_mutex_lock(&lock);
    bool found = ha_slab_has(&textures, address);
    if (found) {
        *taken = *(const struct texture *)address;
        ha_slab_give(&textures, address);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static bool
peek(const void *address, struct ha_texture_request *request, struct ha_device **device)
{
    pthread_mutex_lock(&lock);
    bool found = ha_slab_has(&textures, address);
    if (found) {
        const struct texture *texture = address;
        *request = texture->request;
        *device = texture->device;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

hipError_t
ha_texture_destroy(const char *argument, hipTextureObject_t object)
{
    struct ha_texture_request request;
    struct ha_device *device;
    struct texture taken;
    if (!peek(object, &request, &device)) {
        return no_texture(argument, object);
    }
    hipError_t code = ha_pool_wait_device(device, 0);
    if (code != hipSuccess) {
        return ha_cpu_fail(code, "interrupted; the texture is not destroyed");
    }
    if (!take_out(object, &taken)) {
        return no_texture(argument, object);
    }
    release_all(taken.held, taken.held_count);
    return hipSuccess;
}

hipError_t
ha_texture_get(const char *argument, hipTextureObject_t object,
               struct ha_texture_request *request)
{
    struct ha_device *device;
    return peek(object, request, &device) ? hipSuccess : no_texture(argument, object);
}

bool
ha_texture_is(hipTextureObject_t object)
{
    struct ha_texture_request request;
    struct ha_device *device;
    return peek(object, &request, &device);
}

void
ha_textures_reset(struct ha_device *device)
{
    struct texture *item;
    uint32_t number = 0;
    do {
        pthread_mutex_lock(&lock);
        do {
            item = ha_slab_next(&textures, &number);
        } while (item != NULL && item->device != device);
        pthread_mutex_unlock(&lock);
        struct texture taken;
        if (item != NULL && take_out(item, &taken)) {
            release_all(taken.held, taken.held_count);
        }
    } while (item != NULL);
}

void
ha_texture_after_fork_child(void)
{
    pthread_mutex_init(&lock, NULL);
    ha_slab_after_fork_child(&textures);
}

bool
ha_texture_holds(const void *address, uint64_t size)
{
    pthread_mutex_lock(&lock);
    bool holds =
        ha_slab_holds(&textures, address, size) || ha_sampler_holds(address, size);
    pthread_mutex_unlock(&lock);
    return holds;
}
