/* SPDX-License-Identifier: MIT */
#include "cpu/memory/external_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/handle.h"
#include "cpu/base/shared_file.h"
#include "cpu/memory/memory.h"

struct external {
    int file; /* owned */
    uint64_t size;
};

struct buffer {
    struct buffer *next;
    struct ha_file_view view; /* owned */
    int device;
};

static struct {
    pthread_mutex_t lock;
    struct buffer *all; /* owned */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Why the descriptor can't be device memory of this size, or NULL. */
static const char *
objection(int file, uint64_t size)
{
    struct stat status;
    int seals = fcntl(file, F_GET_SEALS);
    int flags = fcntl(file, F_GETFL);
    if (flags < 0 || fstat(file, &status) != 0) {
        return "is not open";
    }
    if (seals < 0) {
        return "is not a file in memory";
    }
    if ((seals & F_SEAL_SHRINK) == 0) {
        return "is not sealed against shrinking";
    }
    if ((flags & O_ACCMODE) != O_RDWR) {
        return "is not open for reading and writing";
    }
    return status.st_size < 0 || (uint64_t)status.st_size < size ? "is too short"
                                                                 : NULL;
}

static void
external_release(uint64_t handle, struct external *external)
{
    if (ha_handle_release(handle)) {
        close(external->file);
        free(external);
    }
}

hipError_t
ha_external_memory_import(int file, uint64_t size, hipExternalMemory_t *handle)
{
    const char *why = objection(file, size);
    if (why != NULL) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'memHandleDesc': file descriptor %d %s", file,
                           why);
    }
    struct external *external = calloc(1, sizeof *external);
    int copy = ha_shared_file_copy(file);
    uint64_t number = 0;
    if (external != NULL && copy >= 0) {
        external->file = copy;
        external->size = size;
        number = ha_handle_create(HA_HANDLE_EXTERNAL_MEMORY, external);
    }
    if (number == 0) {
        if (copy >= 0) {
            close(copy);
        }
        free(external);
        return ha_cpu_fail(hipErrorOutOfMemory, "no room for another external memory");
    }
    *handle = (hipExternalMemory_t)(uintptr_t)number;
    return hipSuccess;
}

static hipError_t
not_living(hipExternalMemory_t handle)
{
    return ha_cpu_fail(hipErrorInvalidValue,
                       "argument 'extMem' (%p) is not a living external memory",
                       handle);
}

hipError_t
ha_external_memory_destroy(hipExternalMemory_t handle)
{
    uint64_t number = (uint64_t)(uintptr_t)handle;
    struct external *external = ha_handle_retire(HA_HANDLE_EXTERNAL_MEMORY, number);
    if (external == NULL) {
        return not_living(handle);
    }
    external_release(number, external);
    return hipSuccess;
}

static hipError_t
buffer_new(int device, const struct external *external, uint64_t offset, size_t size,
           void **ptr)
{
    struct buffer *buffer = calloc(1, sizeof *buffer);
    if (buffer == NULL ||
        !ha_shared_file_map(external->file, offset, size, &buffer->view)) {
        free(buffer);
        return ha_cpu_fail(hipErrorOutOfMemory, "%zu bytes can't be mapped: %s", size,
                           strerror(errno));
    }
    pthread_mutex_lock(&state.lock);
    hipError_t code =
        ha_memory_add_foreign(device, HA_MEMORY_EXTERNAL, 0, buffer->view.ptr, size);
    if (code == hipSuccess) {
        buffer->device = device;
        buffer->next = state.all;
        state.all = buffer;
        *ptr = buffer->view.ptr;
    }
    pthread_mutex_unlock(&state.lock);
    if (code != hipSuccess) {
        ha_shared_file_unmap(&buffer->view);
        free(buffer);
    }
    return code;
}

hipError_t
ha_external_memory_map(struct ha_device *device, hipExternalMemory_t handle,
                       uint64_t offset, uint64_t size, void **ptr)
{
    uint64_t number = (uint64_t)(uintptr_t)handle;
    struct external *external = ha_handle_acquire(HA_HANDLE_EXTERNAL_MEMORY, number);
    if (external == NULL) {
        return not_living(handle);
    }
    hipError_t code =
        size > external->size || offset > external->size - size
            ? ha_cpu_fail(hipErrorInvalidValue,
                          "argument 'bufferDesc': %llu bytes from %llu on run past the "
                          "external memory, which has %llu bytes",
                          (unsigned long long)size, (unsigned long long)offset,
                          (unsigned long long)external->size)
            : buffer_new(device->id, external, offset, (size_t)size, ptr);
    external_release(number, external);
    return code;
}

/* Lock held; the buffer is on no list any more. */
static void
buffer_end(struct buffer *buffer)
{
    (void)ha_memory_remove_foreign(buffer->view.ptr, HA_MEMORY_EXTERNAL);
    ha_shared_file_unmap(&buffer->view);
    free(buffer);
}

bool
ha_external_memory_unmap(void *ptr)
{
    pthread_mutex_lock(&state.lock);
    struct buffer **link = &state.all;
    while (*link != NULL && (*link)->view.ptr != ptr) {
        link = &(*link)->next;
    }
    struct buffer *buffer = *link;
    if (buffer != NULL) {
        *link = buffer->next;
        buffer_end(buffer);
    }
    pthread_mutex_unlock(&state.lock);
    return buffer != NULL;
}

void
ha_external_memory_reset(const struct ha_device *device)
{
    pthread_mutex_lock(&state.lock);
    struct buffer **link = &state.all;
    while (*link != NULL) {
        struct buffer *buffer = *link;
        if (buffer->device == device->id) {
            *link = buffer->next;
            buffer_end(buffer);
        } else {
            link = &buffer->next;
        }
    }
    pthread_mutex_unlock(&state.lock);
}

void
ha_external_memory_after_fork_child(void)
{
    memset(&state, 0, sizeof state);
    pthread_mutex_init(&state.lock, NULL);
}
