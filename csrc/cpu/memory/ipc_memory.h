/* SPDX-License-Identifier: MIT */
/* Device memory of another process.
 *
 * hipIpcGetMemHandle makes the pages of an allocation a shared file
 * (cpu/base/shared_file.h) if they are none yet, which needs a moment in which no
 * device works; addresses and contents stay.  The handle is a ticket.  A process that
 * has one can read the whole file: small allocations share a file with others of their
 * size.
 *
 * An opened allocation is mapped once, however often it is opened, until it was closed
 * as often.  It stays valid when the process that allocated it frees it or ends; but a
 * handle opens nothing after the free, whatever lies at the address then.
 *
 * Locks: one inside ipc_memory.c; it is taken before that of cpu/memory/memory.h. */
#ifndef HA_CPU_MEMORY_IPC_MEMORY_H
#define HA_CPU_MEMORY_IPC_MEMORY_H

#include "abi/hip.h"

struct ha_device;

hipError_t ha_ipc_memory_get(const void *ptr, hipIpcMemHandle_t *handle);
hipError_t ha_ipc_memory_open(struct ha_device *device, const hipIpcMemHandle_t *handle,
                              void **ptr);
hipError_t ha_ipc_memory_close(void *ptr);

/* Closes what the device has opened. */
void ha_ipc_memory_reset(const struct ha_device *device);
void ha_ipc_memory_after_fork_child(void);

#endif
