/* SPDX-License-Identifier: MIT */
#include "cpu/memory/ipc_memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/shared_file.h"
#include "cpu/memory/memory.h"
#include "cpu/queue/pool.h"

struct opened {
    struct opened *next;
    struct ha_file_view view; /* owned */
    uint64_t inode;
    uint64_t offset; /* in that file */
    uint64_t size;
    int device;
    uint32_t references;
};

static struct {
    pthread_mutex_t lock;
    struct opened *all; /* owned */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

_Static_assert(sizeof(hipIpcMemHandle_t) == sizeof(struct ha_ipc_ticket),
               "a ticket is a handle");

/* Returns with the pool lock held while no device has work, so none can begin. */
static hipError_t
lock_quiet(void)
{
    for (;;) {
        bool quiet = true;
        hipError_t code = ha_pool_wait_all();
        if (code != hipSuccess) {
            return code;
        }
        ha_pool_lock();
        for (int id = 0; id < ha_config()->device_count; id++) {
            quiet = quiet && atomic_load(&ha_device_get(id)->busy) == 0;
        }
        if (quiet) {
            return hipSuccess;
        }
        ha_pool_unlock();
    }
}

hipError_t
ha_ipc_memory_get(const void *ptr, hipIpcMemHandle_t *handle)
{
    struct ha_range range;
    struct ha_ipc_ticket ticket;
    struct ha_shared_part part;
    int file = -1;
    if (!ha_memory_find(ptr, &range) || range.kind != HA_MEMORY_DEVICE) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'devPtr' (%p) is not memory of hipMalloc", ptr);
    }
    hipError_t code = lock_quiet();
    if (code != hipSuccess) {
        return code;
    }
    int error = ha_memory_share(ptr, &file, &part);
    bool written =
        error == 0 && ha_ticket_write(&ticket, HA_SHARED_MEMORY, file, &part);
    ha_pool_unlock();
    if (error == EINVAL) {
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'devPtr' (%p) was freed",
                           ptr);
    }
    if (!written) {
        return ha_cpu_fail(hipErrorOutOfMemory,
                           "the memory at %p can't be made a file: %s", ptr,
                           strerror(error));
    }
    memcpy(handle, &ticket, sizeof ticket);
    return hipSuccess;
}

static hipError_t
not_there(const struct ha_ipc_ticket *ticket)
{
    return ha_cpu_fail(hipErrorInvalidDevicePointer,
                       "argument 'handle': process %d has freed the memory, has "
                       "ended, or belongs to another user",
                       ticket->process);
}

/* Lock held; `file` stays the caller's. */
static hipError_t
opened_new(int device, const struct ha_ipc_ticket *ticket, int file, void **ptr)
{
    for (struct opened *opened = state.all; opened != NULL; opened = opened->next) {
        if (opened->inode == ticket->inode && opened->offset == ticket->part.offset &&
            opened->size == ticket->part.size && opened->device == device) {
            if (!ha_ticket_is_valid(ticket, file)) {
                return not_there(ticket);
            }
            opened->references++;
            *ptr = opened->view.ptr;
            return hipSuccess;
        }
    }
    struct opened *opened = calloc(1, sizeof *opened);
    if (opened == NULL ||
        !ha_shared_file_map(file, ticket->part.offset, (size_t)ticket->part.size,
                            &opened->view)) {
        free(opened);
        return ha_cpu_fail(hipErrorOutOfMemory, "%llu bytes can't be mapped",
                           (unsigned long long)ticket->part.size);
    }
    hipError_t code =
        ha_ticket_is_valid(ticket, file)
            ? ha_memory_add_foreign(device, HA_MEMORY_OPENED, 0, opened->view.ptr,
                                    (size_t)ticket->part.size)
            : not_there(ticket);
    if (code != hipSuccess) {
        ha_shared_file_unmap(&opened->view);
        free(opened);
        return code;
    }
    opened->inode = ticket->inode;
    opened->offset = ticket->part.offset;
    opened->size = ticket->part.size;
    opened->device = device;
    opened->references = 1;
    opened->next = state.all;
    state.all = opened;
    *ptr = opened->view.ptr;
    return hipSuccess;
}

hipError_t
ha_ipc_memory_open(struct ha_device *device, const hipIpcMemHandle_t *handle,
                   void **ptr)
{
    struct ha_ipc_ticket ticket;
    int file = -1;
    memcpy(&ticket, handle, sizeof ticket);
    switch (ha_ticket_open(&ticket, HA_SHARED_MEMORY, &file)) {
    case HA_TICKET_BAD:
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'handle' is not from hipIpcGetMemHandle");
    case HA_TICKET_OWN:
        return ha_cpu_fail(hipErrorInvalidContext,
                           "argument 'handle' is for memory of this process");
    case HA_TICKET_GONE:
        return not_there(&ticket);
    case HA_TICKET_OPEN:
        break;
    }
    pthread_mutex_lock(&state.lock);
    hipError_t code = opened_new(device->id, &ticket, file, ptr);
    pthread_mutex_unlock(&state.lock);
    close(file);
    return code;
}

static void
opened_end(struct opened *opened)
{
    (void)ha_memory_remove_foreign(opened->view.ptr, HA_MEMORY_OPENED);
    ha_shared_file_unmap(&opened->view);
    free(opened);
}

hipError_t
ha_ipc_memory_close(void *ptr)
{
    hipError_t code = ha_pool_wait_all();
    if (code != hipSuccess) {
        return code;
    }
    pthread_mutex_lock(&state.lock);
    struct opened **link = &state.all;
    while (*link != NULL && (*link)->view.ptr != ptr) {
        link = &(*link)->next;
    }
    struct opened *opened = *link;
    if (opened != NULL && --opened->references == 0) {
        *link = opened->next;
        opened_end(opened);
    }
    pthread_mutex_unlock(&state.lock);
    return opened != NULL
               ? hipSuccess
               : ha_cpu_fail(hipErrorInvalidValue,
                             "argument 'devPtr' (%p) is not from hipIpcOpenMemHandle",
                             ptr);
}

void
ha_ipc_memory_reset(const struct ha_device *device)
{
    pthread_mutex_lock(&state.lock);
    struct opened **link = &state.all;
    while (*link != NULL) {
        struct opened *opened = *link;
        if (opened->device == device->id) {
            *link = opened->next;
            opened_end(opened);
        } else {
            link = &opened->next;
        }
    }
    pthread_mutex_unlock(&state.lock);
}

void
ha_ipc_memory_after_fork_child(void)
{
    memset(&state, 0, sizeof state);
    pthread_mutex_init(&state.lock, NULL);
}
