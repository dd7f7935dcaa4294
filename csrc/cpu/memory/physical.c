/* SPDX-License-Identifier: MIT */
/* Physical allocations: memory without addresses. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/handle.h"
#include "cpu/base/shared_file.h"
#include "cpu/memory/virtual_state.h"

static struct ha_physical *all; /* virtual lock */

struct ha_physical *
ha_physical_find(hipMemGenericAllocationHandle_t handle)
{
    return ha_handle_peek(HA_HANDLE_PHYSICAL, (uint64_t)(uintptr_t)handle);
}

static hipError_t
not_living(hipMemGenericAllocationHandle_t handle)
{
    return ha_cpu_fail(hipErrorInvalidValue,
                       "argument 'handle' (%p) is not a living allocation",
                       (void *)handle);
}

static hipMemGenericAllocationHandle_t
handle_of(const struct ha_physical *physical)
{
    return (hipMemGenericAllocationHandle_t)(uintptr_t)physical->handle;
}

void
ha_physical_drop(struct ha_physical *physical)
{
    if (physical->handle_count > 0 || physical->mapping_count > 0) {
        return;
    }
    if (physical->previous != NULL) {
        physical->previous->next = physical->next;
    } else {
        all = physical->next;
    }
    if (physical->next != NULL) {
        physical->next->previous = physical->previous;
    }
    if (physical->counted) {
        ha_memory_account_remove(physical->device, physical->size);
    }
    close(physical->file);
    free(physical);
}

/* Gives the allocation one more handle; false without memory. Lock held. */
static bool
handle_add(struct ha_physical *physical)
{
    if (physical->handle_count == 0) {
        physical->handle = ha_handle_create(HA_HANDLE_PHYSICAL, physical);
        if (physical->handle == 0) {
            return false;
        }
    }
    physical->handle_count++;
    return true;
}

/* Lock held. */
static void
handle_end(struct ha_physical *physical)
{
    if (ha_handle_retire(HA_HANDLE_PHYSICAL, physical->handle) != NULL) {
        ha_handle_release(physical->handle);
    }
    physical->handle = 0;
    physical->handle_count = 0;
}

/* Makes an allocation of the file, which is stolen if that succeeds. */
static hipError_t
physical_new(struct ha_device *device, int file, size_t size,
             const hipMemAllocationProp *prop, bool counted,
             hipMemGenericAllocationHandle_t *handle)
{
    struct ha_physical *physical = calloc(1, sizeof *physical);
    bool made = false;
    if (physical != NULL) {
        physical->file = file;
        physical->size = size;
        physical->prop = *prop;
        physical->device = device;
        physical->counted = counted;
        ha_virtual_lock();
        made = handle_add(physical);
        if (made) {
            physical->next = all;
            if (all != NULL) {
                all->previous = physical;
            }
            all = physical;
            *handle = handle_of(physical);
        }
        ha_virtual_unlock();
    }
    if (!made) {
        free(physical);
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another allocation");
    }
    return hipSuccess;
}

hipError_t
ha_physical_create(struct ha_device *device, size_t size,
                   const hipMemAllocationProp *prop,
                   hipMemGenericAllocationHandle_t *handle)
{
    int file = -1;
    if (!ha_memory_account_add(device, size)) {
        return ha_memory_full(device, HA_MEMORY_MAPPED, size);
    }
    int error = ha_shared_file_create(HA_SHARED_PHYSICAL, size, &file);
    hipError_t code =
        error == 0 ? physical_new(device, file, size, prop, true, handle)
                   : ha_cpu_fail(hipErrorOutOfMemory, "no file for %zu bytes: %s", size,
                                 strerror(error));
    if (code != hipSuccess) {
        ha_memory_account_remove(device, size);
        if (file >= 0) {
            close(file);
        }
    }
    return code;
}

hipError_t
ha_physical_release(hipMemGenericAllocationHandle_t handle,
                    const struct ha_device **device)
{
    *device = NULL;
    ha_virtual_lock();
    struct ha_physical *physical = ha_physical_find(handle);
    if (physical != NULL) {
        if (physical->handle_count > 1) {
            physical->handle_count--;
        } else {
            *device = physical->device;
            handle_end(physical);
            ha_physical_drop(physical);
        }
    }
    ha_virtual_unlock();
    return physical != NULL ? hipSuccess : not_living(handle);
}

hipError_t
ha_physical_properties(hipMemGenericAllocationHandle_t handle,
                       hipMemAllocationProp *prop)
{
    ha_virtual_lock();
    const struct ha_physical *physical = ha_physical_find(handle);
    if (physical != NULL) {
        *prop = physical->prop;
    }
    ha_virtual_unlock();
    return physical != NULL ? hipSuccess : not_living(handle);
}

hipError_t
ha_physical_export(hipMemGenericAllocationHandle_t handle, int *file)
{
    int copy = -1;
    bool allowed = false;
    ha_virtual_lock();
    const struct ha_physical *physical = ha_physical_find(handle);
    if (physical != NULL) {
        allowed = ((unsigned)physical->prop.requestedHandleTypes &
                   (unsigned)hipMemHandleTypePosixFileDescriptor) != 0;
        copy = allowed ? ha_shared_file_copy(physical->file) : -1;
    }
    ha_virtual_unlock();
    if (physical == NULL) {
        return not_living(handle);
    }
    if (!allowed) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'handle' was not created with "
                           "hipMemHandleTypePosixFileDescriptor");
    }
    if (copy < 0) {
        return ha_cpu_fail(hipErrorOutOfMemory, "no file descriptor is left");
    }
    *file = copy;
    return hipSuccess;
}

hipError_t
ha_physical_import(struct ha_device *device, int file,
                   hipMemGenericAllocationHandle_t *handle)
{
    uint64_t inode;
    uint64_t bytes;
    if (!ha_shared_file_look(HA_SHARED_PHYSICAL, file, &inode, &bytes) || bytes == 0) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'osHandle': %d is not a file descriptor of an "
                           "exported allocation",
                           file);
    }
    int copy = ha_shared_file_copy(file);
    if (copy < 0) {
        return ha_cpu_fail(hipErrorOutOfMemory, "no file descriptor is left");
    }
    hipMemAllocationProp prop;
    memset(&prop, 0, sizeof prop);
    prop.type = hipMemAllocationTypePinned;
    prop.requestedHandleTypes = hipMemHandleTypePosixFileDescriptor;
    prop.location.type = hipMemLocationTypeDevice;
    prop.location.id = device->id;
    hipError_t code = physical_new(device, copy, (size_t)bytes, &prop, false, handle);
    if (code != hipSuccess) {
        close(copy);
    }
    return code;
}

hipError_t
ha_physical_retain(const void *ptr, hipMemGenericAllocationHandle_t *handle)
{
    bool made = false;
    ha_virtual_lock();
    const struct ha_mapping *mapping = ha_mapping_find(ptr);
    if (mapping != NULL) {
        made = handle_add(mapping->physical);
        if (made) {
            *handle = handle_of(mapping->physical);
        }
    }
    ha_virtual_unlock();
    if (mapping == NULL) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'addr' (%p): nothing is mapped there", ptr);
    }
    if (!made) {
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another handle");
    }
    return hipSuccess;
}

void
ha_physical_reset(const struct ha_device *device)
{
    struct ha_physical *next;
    for (struct ha_physical *physical = all; physical != NULL; physical = next) {
        next = physical->next;
        if (physical->device == device) {
            if (physical->handle_count > 0) {
                handle_end(physical);
            }
            ha_physical_drop(physical);
        }
    }
}

void
ha_physical_after_fork_child(void)
{
    all = NULL;
}
