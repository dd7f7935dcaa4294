/* SPDX-License-Identifier: MIT */
/* Pools and their memory in several processes. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/memory/memory_pool_state.h"

_Static_assert(sizeof(hipMemPoolPtrExportData) == sizeof(struct ha_ipc_ticket),
               "a ticket is what is exported");

hipError_t
ha_memory_pool_export(hipMemPool_t handle, int *file)
{
    ha_pool_lock();
    const struct ha_memory_pool *pool = ha_memory_pool_find(handle);
    if (pool == NULL) {
        return hipErrorInvalidValue;
    }
    bool shared = pool->heap.shared && !pool->imported;
    int copy = shared ? ha_shared_file_copy(pool->file) : -1;
    ha_pool_unlock();
    if (!shared) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'mem_pool' was not created with "
                           "hipMemHandleTypePosixFileDescriptor");
    }
    if (copy < 0) {
        return ha_cpu_fail(hipErrorOutOfMemory, "no file descriptor is left");
    }
    *file = copy;
    return hipSuccess;
}

hipError_t
ha_memory_pool_import(struct ha_device *device, int file, hipMemPool_t *handle)
{
    uint64_t inode;
    uint64_t bytes;
    hipMemPoolProps props;
    if (!ha_shared_file_look(HA_SHARED_POOL, file, &inode, &bytes)) {
        return ha_cpu_fail(
            hipErrorInvalidValue,
            "argument 'shared_handle': %d is not a file descriptor of an "
            "exported pool",
            file);
    }
    int copy = ha_shared_file_copy(file);
    if (copy < 0) {
        return ha_cpu_fail(hipErrorOutOfMemory, "no file descriptor is left");
    }
    memset(&props, 0, sizeof props);
    props.allocType = hipMemAllocationTypePinned;
    props.handleTypes = hipMemHandleTypePosixFileDescriptor;
    props.location.type = hipMemLocationTypeDevice;
    props.location.id = device->id;
    ha_pool_lock();
    struct ha_memory_pool *pool = ha_memory_pool_new(device, &props, copy);
    if (pool != NULL) {
        pool->imported = true;
        *handle = (hipMemPool_t)(uintptr_t)pool->handle;
    }
    ha_pool_unlock();
    if (pool == NULL) {
        close(copy);
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another pool");
    }
    return hipSuccess;
}

hipError_t
ha_memory_pool_export_pointer(void *ptr, hipMemPoolPtrExportData *data)
{
    struct ha_range range;
    struct ha_ipc_ticket ticket;
    struct ha_shared_part part;
    int file = -1;
    ha_pool_lock();
    bool shared = ha_memory_find(ptr, &range) && range.kind == HA_MEMORY_POOL &&
                  range.base == ptr && ha_memory_share(ptr, &file, &part) == 0 &&
                  ha_ticket_write(&ticket, HA_SHARED_POOL, file, &part);
    ha_pool_unlock();
    if (!shared) {
        return ha_cpu_fail(
            hipErrorInvalidValue,
            "argument 'dev_ptr' (%p) is not memory of a pool that can be exported",
            ptr);
    }
    memcpy(data, &ticket, sizeof ticket);
    return hipSuccess;
}

static hipError_t
not_of_pool(void)
{
    return ha_cpu_fail(hipErrorInvalidValue,
                       "argument 'export_data' is not for memory of this imported "
                       "pool, or that was freed");
}

/* Lock held. */
static hipError_t
import_new(struct ha_memory_pool *pool, const struct ha_ipc_ticket *ticket, void **ptr)
{
    for (struct ha_import *import = pool->imports; import != NULL;
         import = import->next) {
        if (import->offset == ticket->part.offset &&
            import->size == ticket->part.size) {
            if (!ha_ticket_is_valid(ticket, pool->file)) {
                return not_of_pool();
            }
            import->references++;
            *ptr = import->view.ptr;
            return hipSuccess;
        }
    }
    struct ha_import *import = calloc(1, sizeof *import);
    if (import == NULL ||
        !ha_shared_file_map(pool->file, ticket->part.offset, (size_t)ticket->part.size,
                            &import->view)) {
        free(import);
        return ha_cpu_fail(hipErrorOutOfMemory, "the %llu bytes can't be mapped",
                           (unsigned long long)ticket->part.size);
    }
    hipError_t code =
        ha_ticket_is_valid(ticket, pool->file)
            ? ha_memory_add_foreign(pool->device->id, HA_MEMORY_IMPORTED, 0,
                                    import->view.ptr, (size_t)ticket->part.size)
            : not_of_pool();
    if (code != hipSuccess) {
        ha_shared_file_unmap(&import->view);
        free(import);
        return code;
    }
    import->offset = ticket->part.offset;
    import->size = ticket->part.size;
    import->references = 1;
    import->next = pool->imports;
    pool->imports = import;
    *ptr = import->view.ptr;
    return hipSuccess;
}

hipError_t
ha_memory_pool_import_pointer(hipMemPool_t handle, const hipMemPoolPtrExportData *data,
                              void **ptr)
{
    struct ha_ipc_ticket ticket;
    memcpy(&ticket, data, sizeof ticket);
    ha_pool_lock();
    struct ha_memory_pool *pool = ha_memory_pool_find(handle);
    if (pool == NULL) {
        return hipErrorInvalidValue;
    }
    bool fits = pool->imported && ha_ticket_fits(&ticket, HA_SHARED_POOL, pool->file);
    hipError_t code = fits ? import_new(pool, &ticket, ptr) : not_of_pool();
    ha_pool_unlock();
    return code;
}

static void
import_end(struct ha_import *import)
{
    (void)ha_memory_remove_foreign(import->view.ptr, HA_MEMORY_IMPORTED);
    ha_shared_file_unmap(&import->view);
    free(import);
}

bool
ha_memory_pool_free_imported(void *ptr)
{
    bool found = false;
    ha_pool_lock();
    for (struct ha_memory_pool *pool = ha_memory_pools; pool != NULL && !found;
         pool = pool->next) {
        struct ha_import **link = &pool->imports;
        while (*link != NULL && (*link)->view.ptr != ptr) {
            link = &(*link)->next;
        }
        struct ha_import *import = *link;
        if (import == NULL) {
            continue;
        }
        found = true;
        if (--import->references == 0) {
            *link = import->next;
            import_end(import);
            ha_memory_pool_drop(pool);
            break;
        }
    }
    ha_pool_unlock();
    return found;
}

void
ha_memory_pool_clear_imports(struct ha_memory_pool *pool)
{
    while (pool->imports != NULL) {
        struct ha_import *import = pool->imports;
        pool->imports = import->next;
        import_end(import);
    }
}
