/* SPDX-License-Identifier: MIT */
/* Memory of another API or process that comes as a file descriptor: HIP's external
 * memory.
 *
 * An *external memory* stands for a file in memory that is sealed against shrinking, so
 * that nobody can take pages away from under a kernel; nothing else is taken.  What
 * hipMemExportToShareableHandle gives is such a file, and so is any memfd that its
 * maker seals.  The descriptor stays the program's.  A *buffer* is a part of the file,
 * mapped as memory of a device until it is freed; it may outlive the external memory.
 *
 * Ownership: an external memory is kept by its handle and by calls that use it.
 *
 * Locks: one inside external_memory.c for the buffers; it is taken before that of
 * cpu/memory/memory.h. */
#ifndef HA_CPU_MEMORY_EXTERNAL_MEMORY_H
#define HA_CPU_MEMORY_EXTERNAL_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/hip.h"

struct ha_device;

/* The first `size` > 0 bytes of the file. */
hipError_t ha_external_memory_import(int file, uint64_t size,
                                     hipExternalMemory_t *handle);
hipError_t ha_external_memory_destroy(hipExternalMemory_t handle);

/* A new buffer of `size` > 0 bytes. */
hipError_t ha_external_memory_map(struct ha_device *device, hipExternalMemory_t handle,
                                  uint64_t offset, uint64_t size, void **ptr);
/* Unmaps the buffer that begins at `ptr`; false if none does. Needs: no work uses it.
 */
bool ha_external_memory_unmap(void *ptr);

/* Unmaps the buffers of the device. */
void ha_external_memory_reset(const struct ha_device *device);
void ha_external_memory_after_fork_child(void);

#endif
