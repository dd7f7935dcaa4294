/* SPDX-License-Identifier: MIT */
/* HIP entry points: hints about managed memory, and questions about them.
 *
 * All devices work in one address space, so nothing has to be moved.  Hints are only
 * kept (cpu/memory/managed.h).  Discarding gives whole pages back to the machine. */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/hip.h"
#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/base/gone.h"
#include "cpu/base/location.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"
#include "cpu/memory/managed.h"
#include "cpu/memory/memory.h"
#include "cpu/queue/stream.h"
#include "cpu/submit/door.h"

/* The older calls name a place by a number. */
static hipMemLocation
location_of(int device)
{
    hipMemLocation location = {.type = device == HA_HOST_ID ? hipMemLocationTypeHost
                                                            : hipMemLocationTypeDevice,
                               .id = device};
    return location;
}

/* The door of a stream for hints. */
static struct ha_door
door_of(hipStream_t stream, struct ha_device *device)
{
    return (struct ha_door){.handle = stream,
                            .device = device,
                            .refusal = "hints about managed memory are no part of"};
}

/* Whether hints can be given to the stream; they take no time there. */
static hipError_t
check_stream(hipStream_t stream, struct ha_device *device)
{
    struct ha_door door = door_of(stream, device);
    hipError_t code = ha_door_open(&door);
    if (code == hipSuccess) {
        ha_pool_unlock();
    }
    return code;
}

/* ---- advice ---- */

static hipError_t
advise(const char *function, const void *ptr, size_t count, hipMemoryAdvise advice,
       const hipMemLocation *location)
{
    struct ha_device *device;
    int place = HA_NOWHERE_ID;
    int number = (int)advice;
    hipError_t code = ha_enter(function, &device);
    if (code != hipSuccess) {
        return code;
    }
    if ((number < hipMemAdviseSetReadMostly || number > hipMemAdviseUnsetAccessedBy) &&
        number != hipMemAdviseSetCoarseGrain &&
        number != hipMemAdviseUnsetCoarseGrain) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'advice' is %d, which is not a hipMemoryAdvise",
                           number);
    }
    /* Some advice is not about a place; any place is accepted then. */
    if (number == hipMemAdviseSetPreferredLocation ||
        number == hipMemAdviseSetAccessedBy || number == hipMemAdviseUnsetAccessedBy ||
        location->type == hipMemLocationTypeDevice) {
        code = ha_location_id("location", location, hipErrorInvalidDevice, &place);
    }
    if (code == hipSuccess) {
        code = ha_managed_check("dev_ptr", ptr, count);
    }
    return code == hipSuccess ? ha_managed_advise(ptr, count, advice, place) : code;
}

HA_EXPORT hipError_t
hipMemAdvise(const void *dev_ptr, size_t count, hipMemoryAdvise advice, int device)
{
    const hipMemLocation location = location_of(device);
    return advise("hipMemAdvise", dev_ptr, count, advice, &location);
}

HA_EXPORT hipError_t
hipMemAdvise_v2(const void *dev_ptr, size_t count, hipMemoryAdvise advice,
                hipMemLocation location)
{
    return advise("hipMemAdvise_v2", dev_ptr, count, advice, &location);
}

/* ---- prefetches ---- */

static hipError_t
prefetch(const char *function, const void *ptr, size_t count,
         const hipMemLocation *location, unsigned flags, hipStream_t stream)
{
    struct ha_device *device;
    int place = HA_NOWHERE_ID;
    hipError_t code = ha_enter(function, &device);
    if (code == hipSuccess) {
        code = ha_need_no_flags(flags);
    }
    if (code == hipSuccess) {
        code = ha_location_id("location", location, hipErrorInvalidDevice, &place);
    }
    if (code == hipSuccess) {
        code = ha_managed_check("dev_ptr", ptr, count);
    }
    if (code == hipSuccess) {
        code = check_stream(stream, device);
    }
    return code == hipSuccess ? ha_managed_prefetched(ptr, count, place) : code;
}

HA_EXPORT hipError_t
hipMemPrefetchAsync(const void *dev_ptr, size_t count, int device, hipStream_t stream)
{
    const hipMemLocation location = location_of(device);
    return prefetch("hipMemPrefetchAsync", dev_ptr, count, &location, 0, stream);
}

HA_EXPORT hipError_t
hipMemPrefetchAsync_v2(const void *dev_ptr, size_t count, hipMemLocation location,
                       unsigned int flags, hipStream_t stream)
{
    return prefetch("hipMemPrefetchAsync_v2", dev_ptr, count, &location, flags, stream);
}

/* ---- batches ---- */

/* The ranges that a call is about. */
struct ranges {
    void **ptrs;
    size_t *sizes;
    size_t count;
};

/* Places to prefetch to: place i is for the ranges from indices[i] to the one before
 * indices[i + 1]. */
struct places {
    hipMemLocation *locations;
    size_t *indices;
    size_t count;
};

/* Ranges that are discarded, or prefetched to places, or both. */
struct batch {
    struct ranges ranges;
    struct places places;
    bool discards;
    unsigned long long flags;
    hipStream_t stream;
};

static hipError_t
check_locations(const struct batch *batch)
{
    int place;
    hipError_t code = hipSuccess;
    if (batch->places.locations == NULL || batch->places.indices == NULL) {
        return ha_cpu_fail_null(batch->places.locations == NULL ? "prefetch_locs"
                                                                : "prefetch_loc_idxs");
    }
    if (batch->places.count == 0 || batch->places.count > batch->ranges.count ||
        batch->places.indices[0] != 0) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "%zu places for %zu ranges; the first one must be for range "
                           "0",
                           batch->places.count, batch->ranges.count);
    }
    for (size_t i = 0; i < batch->places.count && code == hipSuccess; i++) {
        if (batch->places.indices[i] >= batch->ranges.count ||
            (i > 0 && batch->places.indices[i] <= batch->places.indices[i - 1])) {
            return ha_cpu_fail(hipErrorInvalidValue,
                               "argument 'prefetch_loc_idxs' is not rising below %zu",
                               batch->ranges.count);
        }
        code = ha_location_id("prefetch_locs", &batch->places.locations[i],
                              hipErrorInvalidDevice, &place);
    }
    return code;
}

struct discard {
    void *begin; /* whole pages */
    size_t bytes;
};

_Static_assert(sizeof(struct discard) <= HA_OP_PAYLOAD_BYTES, "fits an operation");

static bool
discard_run(struct ha_op *op)
{
    const struct discard *discard = (const void *)op->payload;
    /* The old contents may stay or go, so a failure changes nothing. */
    (void)madvise(discard->begin, discard->bytes, MADV_DONTNEED);
    return true;
}

static const struct ha_op_class discard_class = {.name = "discard", .run = discard_run};

static hipError_t
discard(void *ptr, size_t size, hipStream_t handle, struct ha_device *device)
{
    struct ha_door door = door_of(handle, device);
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ((uintptr_t)ptr + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)ptr + size) / page * page;
    struct ha_range range;
    /* Variables of a module are not ours to give back. */
    if (begin >= end || !ha_memory_find(ptr, &range) || !range.owned) {
        return hipSuccess;
    }
    hipError_t code = ha_door_open(&door);
    if (code != hipSuccess) {
        return code;
    }
    struct ha_op *op = ha_op_new(&discard_class);
    if (op == NULL) {
        ha_pool_unlock();
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another operation");
    }
    *(struct discard *)(void *)op->payload =
        (struct discard){.begin = (void *)begin, .bytes = end - begin};
    op->caller = true;
    return ha_stream_run(door.stream, op, HA_RUN_CHEAP);
}

static hipError_t
run_batch(const char *function, const struct batch *batch)
{
    struct ha_device *device;
    hipError_t code = ha_enter(function, &device);
    if (code == hipSuccess) {
        code = ha_need_no_flags(batch->flags);
    }
    if (code == hipSuccess &&
        (batch->ranges.ptrs == NULL || batch->ranges.sizes == NULL ||
         batch->ranges.count == 0)) {
        code = ha_cpu_fail(hipErrorInvalidValue, "%zu ranges in lists at %p and %p",
                           batch->ranges.count, (void *)batch->ranges.ptrs,
                           (void *)batch->ranges.sizes);
    }
    if (code == hipSuccess && (batch->places.locations != NULL || !batch->discards ||
                               batch->places.count > 0)) {
        code = check_locations(batch);
    }
    for (size_t i = 0; i < batch->ranges.count && code == hipSuccess; i++) {
        code =
            ha_managed_check("dev_ptrs", batch->ranges.ptrs[i], batch->ranges.sizes[i]);
    }
    if (code == hipSuccess) {
        code = check_stream(batch->stream, device);
    }
    size_t next = 0;
    int place = HA_NOWHERE_ID;
    for (size_t i = 0; i < batch->ranges.count && code == hipSuccess; i++) {
        if (batch->discards) {
            code = discard(batch->ranges.ptrs[i], batch->ranges.sizes[i], batch->stream,
                           device);
        }
        if (next < batch->places.count && batch->places.indices[next] == i) {
            (void)ha_location_id("prefetch_locs", &batch->places.locations[next],
                                 hipErrorInvalidDevice, &place);
            next++;
        }
        if (code == hipSuccess && batch->places.count > 0) {
            code = ha_managed_prefetched(batch->ranges.ptrs[i], batch->ranges.sizes[i],
                                         place);
        }
    }
    return code;
}

HA_EXPORT hipError_t
hipMemPrefetchBatchAsync(void **dev_ptrs, size_t *sizes, size_t count,
                         hipMemLocation *prefetch_locs, size_t *prefetch_loc_idxs,
                         size_t num_prefetch_locs, unsigned long long flags,
                         hipStream_t stream)
{
    const struct batch batch = {
        .ranges = {dev_ptrs, sizes, count},
        .places = {prefetch_locs, prefetch_loc_idxs, num_prefetch_locs},
        .flags = flags,
        .stream = stream};
    return run_batch("hipMemPrefetchBatchAsync", &batch);
}

HA_EXPORT hipError_t
hipMemDiscardBatchAsync(void **dev_ptrs, size_t *sizes, size_t count,
                        unsigned long long flags, hipStream_t stream)
{
    const struct batch batch = {.ranges = {dev_ptrs, sizes, count},
                                .discards = true,
                                .flags = flags,
                                .stream = stream};
    return run_batch("hipMemDiscardBatchAsync", &batch);
}

HA_EXPORT hipError_t
hipDrvMemDiscardBatchAsync(hipDeviceptr_t *dptrs, size_t *sizes, size_t count,
                           unsigned long long flags, hipStream_t stream)
{
    const struct batch batch = {.ranges = {dptrs, sizes, count},
                                .discards = true,
                                .flags = flags,
                                .stream = stream};
    return run_batch("hipDrvMemDiscardBatchAsync", &batch);
}

/* Discards and prefetches. */
static hipError_t
both_batch(const char *function, const struct batch *batch)
{
    if (batch->places.count != 0) {
        return run_batch(function, batch);
    }
    struct ha_device *device;
    hipError_t code = ha_enter(function, &device);
    return code == hipSuccess
               ? ha_cpu_fail(hipErrorInvalidValue, "no places to prefetch to")
               : code;
}

HA_EXPORT hipError_t
hipMemDiscardAndPrefetchBatchAsync(void **dptrs, size_t *sizes, size_t count,
                                   hipMemLocation *prefetchLocs,
                                   size_t *prefetchLocIdxs, size_t numPrefetchLocs,
                                   unsigned long long flags, hipStream_t stream)
{
    const struct batch batch = {
        .ranges = {dptrs, sizes, count},
        .places = {prefetchLocs, prefetchLocIdxs, numPrefetchLocs},
        .discards = true,
        .flags = flags,
        .stream = stream};
    return both_batch("hipMemDiscardAndPrefetchBatchAsync", &batch);
}

HA_EXPORT hipError_t
hipDrvMemDiscardAndPrefetchBatchAsync(hipDeviceptr_t *dptrs, size_t *sizes,
                                      size_t count, hipMemLocation *prefetchLocs,
                                      size_t *prefetchLocIdxs, size_t numPrefetchLocs,
                                      unsigned long long flags, hipStream_t stream)
{
    const struct batch batch = {
        .ranges = {dptrs, sizes, count},
        .places = {prefetchLocs, prefetchLocIdxs, numPrefetchLocs},
        .discards = true,
        .flags = flags,
        .stream = stream};
    return both_batch("hipDrvMemDiscardAndPrefetchBatchAsync", &batch);
}

/* ---- questions ---- */

/* Writes the places of the set, one number each, and "nowhere" after the last. */
static void
write_places(int *list, size_t count, uint32_t set)
{
    size_t used = 0;
    for (int place = HA_HOST_ID; place < HA_DEVICE_MAX && used < count; place++) {
        if ((set >> (place + 1) & 1u) != 0) {
            list[used++] = place;
        }
    }
    while (used < count) {
        list[used++] = HA_NOWHERE_ID;
    }
}

static hipError_t
read_attribute(void *data, size_t size, hipMemRangeAttribute attribute,
               const struct ha_advice *advice, bool mixed)
{
    bool list = attribute == hipMemRangeAttributeAccessedBy;
    int value;
    if (data == NULL) {
        return ha_cpu_fail_null("data");
    }
    if (size == 0 || size % sizeof(int) != 0 || (!list && size != sizeof(int))) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'data_size' is %zu; the attribute takes %s4 bytes",
                           size, list ? "a multiple of " : "");
    }
    switch ((int)attribute) {
    case hipMemRangeAttributeReadMostly:
        value = advice->read_mostly;
        break;
    case hipMemRangeAttributePreferredLocation:
        value = advice->preferred;
        break;
    case hipMemRangeAttributeAccessedBy:
        write_places(data, size / sizeof(int), advice->accessed_by);
        return hipSuccess;
    case hipMemRangeAttributeLastPrefetchLocation:
        value = advice->prefetched;
        break;
    case hipMemRangeAttributeCoherencyMode:
        value = mixed            ? hipMemRangeCoherencyModeIndeterminate
                : advice->coarse ? hipMemRangeCoherencyModeCoarseGrain
                                 : hipMemRangeCoherencyModeFineGrain;
        break;
    default:
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'attribute' is %d",
                           (int)attribute);
    }
    memcpy(data, &value, sizeof value);
    return hipSuccess;
}

HA_EXPORT hipError_t
hipMemRangeGetAttribute(void *data, size_t data_size, hipMemRangeAttribute attribute,
                        const void *dev_ptr, size_t count)
{
    struct ha_device *device;
    struct ha_advice advice;
    bool mixed;
    hipError_t code = ha_enter("hipMemRangeGetAttribute", &device);
    if (code == hipSuccess) {
        code = ha_managed_check("dev_ptr", dev_ptr, count);
    }
    if (code != hipSuccess) {
        return code;
    }
    code = data != NULL ? ha_gone_check("data", data, data_size) : hipSuccess;
    if (code != hipSuccess) {
        return code;
    }
    ha_managed_read(dev_ptr, count, &advice, &mixed);
    return read_attribute(data, data_size, attribute, &advice, mixed);
}

HA_EXPORT hipError_t
hipMemRangeGetAttributes(void **data, size_t *data_sizes,
                         hipMemRangeAttribute *attributes, size_t num_attributes,
                         const void *dev_ptr, size_t count)
{
    struct ha_device *device;
    struct ha_advice advice;
    bool mixed;
    hipError_t code = ha_enter("hipMemRangeGetAttributes", &device);
    if (code == hipSuccess && (data == NULL || data_sizes == NULL ||
                               attributes == NULL || num_attributes == 0)) {
        code = ha_cpu_fail(hipErrorInvalidValue,
                           "%zu attributes in lists at %p, %p, %p", num_attributes,
                           (void *)data, (void *)data_sizes, (void *)attributes);
    }
    if (code == hipSuccess) {
        code = ha_managed_check("dev_ptr", dev_ptr, count);
    }
    if (code != hipSuccess) {
        return code;
    }
    ha_managed_read(dev_ptr, count, &advice, &mixed);
    for (size_t i = 0; i < num_attributes && code == hipSuccess; i++) {
        code = read_attribute(data[i], data_sizes[i], attributes[i], &advice, mixed);
    }
    return code;
}

/* ---- streams ---- */

/* Attaching changes nothing: host and devices may always use managed memory at the same
 * time (concurrentManagedAccess). */
HA_EXPORT hipError_t
hipStreamAttachMemAsync(hipStream_t stream, void *dev_ptr, size_t length,
                        unsigned int flags)
{
    struct ha_device *device;
    struct ha_range range;
    hipError_t code = ha_enter("hipStreamAttachMemAsync", &device);
    if (code != hipSuccess) {
        return code;
    }
    if (flags != hipMemAttachGlobal && flags != hipMemAttachHost &&
        flags != hipMemAttachSingle) {
        return ha_cpu_fail(
            hipErrorInvalidValue,
            "argument 'flags' is 0x%x; it must be one of hipMemAttach...", flags);
    }
    code = ha_managed_check("dev_ptr", dev_ptr, length != 0 ? length : 1);
    if (code != hipSuccess) {
        return code;
    }
    if (length != 0 && ha_memory_find(dev_ptr, &range) &&
        (range.base != dev_ptr || range.size != length)) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'length' is %zu; it must be 0 or the whole "
                           "allocation (%zu bytes at %p)",
                           length, range.size, range.base);
    }
    if (flags == hipMemAttachSingle && (stream == NULL || stream == HA_STREAM_LEGACY ||
                                        stream == HA_STREAM_PER_THREAD)) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'stream': memory can't be attached to a default "
                           "stream alone");
    }
    return check_stream(stream, device);
}
