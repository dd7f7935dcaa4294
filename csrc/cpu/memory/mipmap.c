/* SPDX-License-Identifier: MIT */
#include "cpu/memory/mipmap.h"

#include <pthread.h>

#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/slab.h"
#include "cpu/queue/pool.h"

struct mipmap {
    hipMipmappedArray shown; /* what the program sees; first, so that addresses agree */
    struct ha_device *device;                      /* borrowed */
    struct ha_array *levels[HA_MIPMAP_LEVELS_MAX]; /* owned: their handles */
    uint32_t count;
};

#define ITEM_BYTES                                                                     \
    ((sizeof(struct mipmap) + HA_SLAB_ALIGN - 1) / HA_SLAB_ALIGN * HA_SLAB_ALIGN)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ha_slab mipmaps = {.item_bytes = ITEM_BYTES};

static size_t
halved(size_t size, unsigned level)
{
    return size == 0 ? 0 : size >> level != 0 ? size >> level : 1;
}

/* Layers and faces stay; the other sides are halved from level to level. */
static hipExtent
extent_of(hipExtent extent, unsigned flags, unsigned level)
{
    bool layers = (flags & (unsigned)(hipArrayLayered | hipArrayCubemap)) != 0;
    return (hipExtent){
        .width = halved(extent.width, level),
        .height = halved(extent.height, level),
        .depth = layers ? extent.depth : halved(extent.depth, level),
    };
}

static unsigned
levels_of(hipExtent extent, unsigned flags)
{
    size_t side = extent.width > extent.height ? extent.width : extent.height;
    if ((flags & (unsigned)(hipArrayLayered | hipArrayCubemap)) == 0 &&
        extent.depth > side) {
        side = extent.depth;
    }
    unsigned levels = 1;
    while (side > 1) {
        side >>= 1;
        levels++;
    }
    return levels;
}

static void
end_levels(struct ha_array *const *levels, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        ha_array_end_level(levels[i]);
    }
}

hipError_t
ha_mipmap_create(struct ha_device *device, const struct ha_texel *texel,
                 hipExtent extent, unsigned levels, unsigned flags,
                 hipMipmappedArray_t *mipmap)
{
    struct mipmap made = {.device = device};
    struct mipmap *item = NULL;
    hipError_t code = hipSuccess;
    unsigned most = levels_of(extent, flags);
    levels = levels == 0 ? 1 : levels < most ? levels : most;
    while (made.count < levels && code == hipSuccess) {
        code = ha_array_create(device, texel, extent_of(extent, flags, made.count),
                               flags, true, &made.levels[made.count]);
        made.count += code == hipSuccess;
    }
    if (code == hipSuccess) {
        made.shown = (hipMipmappedArray){
            .data = made.levels[0]->data,
            .desc = ha_texel_channels(texel),
            .type = hipResourceTypeMipmappedArray,
            .width = (unsigned)extent.width,
            .height = (unsigned)extent.height,
            .depth = (unsigned)extent.depth,
            .max_mipmap_level = levels - 1,
            .flags = flags,
            .format = ha_texel_format(texel),
            .num_channels = texel->channels,
        };
        pthread_mutex_lock(&lock);
        item = ha_slab_take(&mipmaps);
        if (item != NULL) {
            *item = made;
        }
        pthread_mutex_unlock(&lock);
        if (item == NULL) {
            code = ha_cpu_fail(hipErrorOutOfMemory, "no memory for a mipmapped array");
        }
    }
    if (code != hipSuccess) {
        end_levels(made.levels, made.count);
        return code;
    }
    *mipmap = &item->shown;
    return hipSuccess;
}

static hipError_t
no_mipmap(const char *argument, const void *mipmap, hipError_t missing)
{
    return mipmap == NULL
               ? ha_cpu_fail_null(argument)
               : ha_cpu_fail(missing,
                             "argument '%s' (%p) is not a mipmapped array, or "
                             "was freed",
                             argument, mipmap);
}

/* Takes the item out of use; false if there is none at this address. */
static bool
take_out(void *address, struct mipmap *taken)
{
    pthread_mutex_lock(&lock);
    bool found = ha_slab_has(&mipmaps, address);
    if (found) {
        *taken = *(const struct mipmap *)address;
        ha_slab_give(&mipmaps, address);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static struct ha_device *
device_of(const void *address)
{
    pthread_mutex_lock(&lock);
    struct ha_device *device = ha_slab_has(&mipmaps, address)
                                   ? ((const struct mipmap *)address)->device
                                   : NULL;
    pthread_mutex_unlock(&lock);
    return device;
}

hipError_t
ha_mipmap_free(hipMipmappedArray_t mipmap)
{
    struct mipmap taken;
    struct ha_device *device = device_of(mipmap);
    if (device == NULL) {
        return no_mipmap("mipmappedArray", mipmap, hipErrorContextIsDestroyed);
    }
    hipError_t code = ha_pool_wait_device(device, 0);
    if (code != hipSuccess) {
        return ha_cpu_fail(code, "interrupted; the mipmapped array is not freed");
    }
    if (!take_out(mipmap, &taken)) {
        return no_mipmap("mipmappedArray", mipmap, hipErrorContextIsDestroyed);
    }
    end_levels(taken.levels, taken.count);
    return hipSuccess;
}

hipError_t
ha_mipmap_acquire(const char *argument, hipMipmappedArray_const_t mipmap,
                  struct ha_array *levels[HA_MIPMAP_LEVELS_MAX], uint32_t *count)
{
    pthread_mutex_lock(&lock);
    bool found = ha_slab_has(&mipmaps, mipmap);
    if (found) {
        const struct mipmap *item = (const void *)mipmap;
        *count = item->count;
        for (uint32_t i = 0; i < item->count; i++) {
            levels[i] = item->levels[i];
            ha_array_retain(levels[i]);
        }
    }
    pthread_mutex_unlock(&lock);
    return found ? hipSuccess : no_mipmap(argument, mipmap, hipErrorInvalidHandle);
}

void
ha_mipmaps_reset(struct ha_device *device)
{
    struct mipmap *item;
    uint32_t number = 0;
    do {
        pthread_mutex_lock(&lock);
        do {
            item = ha_slab_next(&mipmaps, &number);
        } while (item != NULL && item->device != device);
        pthread_mutex_unlock(&lock);
        struct mipmap taken;
        if (item != NULL && take_out(item, &taken)) {
            end_levels(taken.levels, taken.count);
        }
    } while (item != NULL);
}

void
ha_mipmap_after_fork_child(void)
{
    pthread_mutex_init(&lock, NULL);
    ha_slab_after_fork_child(&mipmaps);
}
